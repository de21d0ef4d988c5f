#!/bin/sh
# What completion offers at the end of a command line: completion.sh bash|zsh. ATTUNE is the program.
set -u
LC_ALL=C; export LC_ALL
: "${ATTUNE:?the path of attune}"
export ATTUNE
here=$(cd "$(dirname "$0")" && pwd)
scripts=$here/../../codegen/cli/completion
shell=$1
command -v "$shell" >/dev/null || { echo "skipped: no $shell"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir folder
touch mine.h notes.txt
passed=0 failed=0

# offered WORD...: what it offers for the last word, one a line.
case $shell in
  bash) cat >ask <<'END'
compopt() { :; }
. "$1" && shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_attune "$ATTUNE" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
printf '%s\n' "${COMPREPLY[@]}"
END
    script=$scripts/attune.bash ;;
  # Zsh's own functions are put aside: they work only where someone types.
  zsh) cat >ask <<'END'
_describe() { print -l -- ${${(P)2}%%:*} }
compadd() { print -l -- ${(P)2} }
_files() { [[ $1 == -/ ]] && print -l -- *(/) || print -l -- *.h }
_values() { shift 3; print -l -- $@ }
script=$1 && shift
words=("$@") CURRENT=$#
words[1]=$ATTUNE
complete_now() { source $script }
complete_now | while read -r word; do [[ $word == ${words[CURRENT]##*,}* ]] && print -r -- $word; done
END
    script=$scripts/_attune ;;
esac
offered() { "$shell" ./ask "$script" attune "$@" >"$work/out" 2>"$work/err"; }
offers() {  # TEXT WORD...
  text=$1
  shift
  offered "$@"
  if grep -qxF -e "$text" "$work/out" && [ ! -s "$work/err" ]; then passed=$((passed + 1)); else
    failed=$((failed + 1))
    echo "FAILED: after 'attune $*' $shell does not offer $text"
    head -n 5 "$work/out" "$work/err"
  fi
}
offers_not() {
  text=$1
  shift
  offered "$@"
  if grep -qxF -e "$text" "$work/out" || [ -s "$work/err" ]; then
    failed=$((failed + 1))
    echo "FAILED: after 'attune $*' $shell offers $text"
    head -n 5 "$work/err"
  else passed=$((passed + 1)); fi
}

# Every command and every long option that --help names.
for command in $("$ATTUNE" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
  offers "$command" ''
  "$ATTUNE" "$command" --help | grep -o -- '^  [^ ]*' | grep -o -- '--[a-z-]*' >options
  offered "$command" --
  missing=$(sort "$work/out" | comm -13 - "$(sort -o options options && echo options)")
  if [ -z "$missing" ] && [ -s options ]; then passed=$((passed + 1)); else
    failed=$((failed + 1))
    echo "FAILED: attune $command -- does not offer" $missing
  fi
done
offers gen g
offers_not list g
offers 'textbook_mha<1,512,512,8>' explain textb
offers 'qwen3<512,4096,32,8,128>' bench --workers 2 qwen3
offers mine.h gen m
offers_not notes.txt gen n
offers folder gen mine.h -o ''
offers_not mine.h gen mine.h -o ''
case $shell in
  bash) offers 'avx2,portable' gen x --isa avx2,p ;;
  zsh) offers portable gen x --isa avx2,p ;;
esac
offers_not 'textbook_mha<1,512,512,8>' gen mine.h --spec ''
offers mine.h check --emulate m
echo "completion of $shell: $passed passed, $failed failed"
[ "$failed" = 0 ]
