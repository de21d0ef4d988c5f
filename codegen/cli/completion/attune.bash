# Completion of attune for bash, from what attune itself says of its commands, options and specs.
_attune() {
  local attune=$1 cur=${2//\\/} before=$3 command=${COMP_WORDS[1]} choices=
  COMPREPLY=()
  if [ "$COMP_CWORD" = 1 ]; then
    choices="$("$attune" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z]*\) .*/\1/p') --help --version"
  else
    case $before in
      -o | --out | --precompiled) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$cur"); return ;;
      --json | --wisdom | --weights | --map | --depfile) compopt -o default; return ;;
      --isa)
        compopt -o nospace
        local first=
        [[ $cur == *,* ]] && first=${cur%,*},
        for isa in $("$attune" gen --help | sed -n 's/.*--isa.*all of \([a-z0-9,]*\)).*/\1/p' | tr , ' '); do choices+=" $first$isa"; done ;;
      -*)
        # After a flag, or after the value of an option, whatever may stand anywhere.
        "$attune" "$command" --help 2>/dev/null | grep -Eq -- "^  (-.,)?$before +[A-Z]" && return ;;&
      *)
        if [[ $cur == -* ]]; then
          choices=$("$attune" "$command" --help 2>/dev/null | sed -n 's/^  \(-.,\)\{0,1\}\(--[a-z-]*\).*/\2/p')
        else
          compopt -o filenames  # so that the < of a spec is quoted
          mapfile -t COMPREPLY < <(compgen -W "$("$attune" list | sed -n 's/^\([^ ]*<[^ ]*\).*/\1/p')" -- "$cur"; compgen -f -- "$cur" | grep -E '\.(h|hpp|hh|hxx)$'; compgen -d -- "$cur")
          return
        fi ;;
    esac
  fi
  mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$cur")
}
complete -F _attune attune
