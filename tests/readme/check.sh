#!/bin/sh
# Every snippet of a text does what the text says: sh check.sh [FILE], a path below the repository, by
# default README.md. ATTUNE is the program. A comment before each fence says what it is; a fence without
# one is a failure:
#   <!-- test: file NAME -->                the text of a file; those of README.md are there for other texts too
#   <!-- test: adds to NAME -->             more of such a file
#   <!-- test: shows PATH -->               the repository's file of that path, whole; it is there by its last name
#   <!-- test: patch -->                    a change that applies to the repository
#   <!-- test: run -->                      commands, from the folder of those files; `run, fails`: exit code 1;
#                                           `run with MODULE`: skipped where no Python has that
#   <!-- test: prints -->                   lines that the last commands wrote, in this order;
#                                           `prints, numbers aside`; `prints, numbers aside, all alike`
#   <!-- not run: why -->
set -u
LC_ALL=C
export LC_ALL
: "${ATTUNE:?the path of attune}"
export ATTUNE
root=$(cd "$(dirname "$0")/../.." && pwd)
name=${1:-README.md}
text=$root/$name
[ -f "$text" ] || { echo "there is no $text"; exit 1; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
passed=0 failed=0
pass() { passed=$((passed + 1)); }
fail() {  # MESSAGE [FILE TO SHOW]
  failed=$((failed + 1))
  echo "FAILED $name:$line: $1"
  [ -z "${2-}" ] || tail -n 20 "$2" | sed 's/^/    /'
}

# fences TEXT FOLDER: fences become files 001, 002, ..; `steps` has a line for each: number, line of the text, kind.
fences() {
  awk -v work="$2" '
    fence && /^```/ { fence = 0; close(to); next }
    fence { print > to; next }
    /^```/ {
      to = sprintf("%s/%03d", work, ++count)
      printf "" > to
      print sprintf("%03d", count), NR, kind == "" ? "unmarked" : kind > (work "/steps")
      kind = ""; fence = 1; next
    }
    /^<!-- (test|not run): .* -->$/ { kind = $0; sub(/^<!-- (test: )?/, "", kind); sub(/ -->$/, "", kind); next }
    NF { kind = "" }
    END { if (fence) print "end", NR, "unclosed" > (work "/steps") }' "$1"
}
mkdir "$work/own" "$work/readme"
fences "$text" "$work/own"
[ -s "$work/own/steps" ] || { echo "no snippet in $text"; exit 1; }

# Where the commands run: ./run is the repository's, except that attune is built already, and
# attune/ is the repository.
mkdir "$work/use"
ln -s "$root" "$work/use/attune"
cat >"$work/use/run" <<'RUN'
#!/bin/sh
[ "$1" = attune ] && shift || { echo "./run $1: not in a snippet that is run"; exit 99; }
exec "$ATTUNE" "$@"
RUN
chmod +x "$work/use/run"
mkdir "$work/bin"  # first on the path
if [ "$name" != README.md ]; then
  fences "$root/README.md" "$work/readme"
  while read -r step line kind; do
    case $kind in 'file '*) cp "$work/readme/$step" "$work/use/${kind#file }" ;; esac
  done <"$work/readme/steps"
fi

# A model's file, as those of Hugging Face are; its weights are 0.
layer=model.layers.0.self_attn
header="{\"$layer.q_proj.weight\":{\"dtype\":\"F32\",\"shape\":[256,256],\"data_offsets\":[0,262144]},\"$layer.k_proj.weight\":{\"dtype\":\"F32\",\"shape\":[128,256],\"data_offsets\":[262144,393216]},\"$layer.v_proj.weight\":{\"dtype\":\"F32\",\"shape\":[128,256],\"data_offsets\":[393216,524288]},\"$layer.o_proj.weight\":{\"dtype\":\"F32\",\"shape\":[256,256],\"data_offsets\":[524288,786432]}}"
{
  printf "\\$(printf %o $((${#header} % 256)))\\$(printf %o $((${#header} / 256)))\\0\\0\\0\\0\\0\\0%s" "$header"
  head -c 786432 /dev/zero
} >"$work/use/model.safetensors"
export PYTHONPATH="$root/codegen/cli/python" PYTHONDONTWRITEBYTECODE=1 XDG_CACHE_HOME="$work/cache"

# lines_in WANTED LOG ASIDE: each line of WANTED is part of a line of LOG, in order; blanks are one
# blank, and with ASIDE each number is one number, whatever it is.
lines_in() {
  awk -v aside="$3" '
    function plain(s) {
      if (aside) { gsub(/[0-9]+(\.[0-9]+)?(e[-+][0-9]+)?/, "#", s); gsub(/\342\200[\230\231]/, "\047", s) }
      gsub(/[ \t]+/, " ", s); sub(/^ /, "", s)
      return s
    }
    FNR == NR { log_lines[++lines] = plain($0); next }
    NF {
      wanted = plain($0)
      while (++at <= lines && !index(log_lines[at], wanted)) {}
      if (at > lines) { print "not printed, or not in this order: " $0; exit 1 }
    }' "$2" "$1"
}

log=$work/log skipping= project=
: >"$log"
while read -r step line kind; do
  case $kind in
    'file '*)
      [ "$kind" != 'file CMakeLists.txt' ] || project=$line
      grep -qF "\`${kind#file }\`" "$text" && pass || fail "a reader does not see that this is ${kind#file }"
      cp "$work/own/$step" "$work/use/${kind#file }" && pass ;;
    'adds to '*)
      cat "$work/own/$step" >>"$work/use/${kind#adds to }" && pass ;;
    'shows '*)
      shown=${kind#shows }
      cp "$work/own/$step" "$work/use/${shown##*/}"
      if diff "$root/$shown" "$work/own/$step" >"$log" 2>&1; then pass; else fail "it is not $shown" "$log"; fi ;;
    patch)
      command -v patch >/dev/null || { echo "skipped $name:$line: no patch"; continue; }
      if (cd "$root" && patch -p1 --dry-run --force --fuzz=0) <"$work/own/$step" >"$log" 2>&1; then pass; else fail "it does not apply" "$log"; fi ;;
    run | 'run, fails' | 'run with '*)
      skipping= wanted=0 module=${kind#run with }
      if [ "$module" != "$kind" ]; then
        python=$(sh "$root/tests/python/find.sh" "$module") || { skipping=yes; echo "skipped $name:$line: no Python has $module"; continue; }
        printf '#!/bin/sh\nexec "%s" "$@"\n' "$python" >"$work/bin/python3" && chmod +x "$work/bin/python3"
      fi
      [ "$kind" != 'run, fails' ] || wanted=1
      # Messages are shown as GCC words them.
      (cd "$work/use" && PATH=$work/bin:$PATH CXX=$([ "$wanted" = 1 ] && command -v g++ || echo "${CXX:-c++}") sh -eu "$work/own/$step") >"$log" 2>&1 </dev/null
      status=$?
      if [ "$status" = "$wanted" ]; then pass; else fail "exit code $status, not $wanted" "$log"; fi
      grep -q FAIL "$log" && fail "something failed" "$log" ;;
    prints | 'prints, numbers aside' | 'prints, numbers aside, all alike')
      [ -z "$skipping" ] || continue
      [ "$kind" = prints ] && aside= || aside=yes
      [ "${kind#*all alike}" = "$kind" ] || [ "$(sort -u "$log" | wc -l)" = 1 ] || fail "the lines differ" "$log"
      if lines_in "$work/own/$step" "$log" "$aside" >"$work/why"; then pass; else cat "$log" >>"$work/why"; fail "$(head -n 1 "$work/why")" "$work/why"; fi ;;
    'not run: '?*) ;;
    *) fail "a snippet that is $kind" ;;
  esac
done <"$work/own/steps"

# CMakeLists.txt builds with the program at hand, and configures without it.
line=$project
configure() { cmake -S "$work/use" -DFETCHCONTENT_TRY_FIND_PACKAGE_MODE=NEVER -B "$@"; }  # not what this machine has installed
if [ -n "$project" ] && command -v cmake >/dev/null; then
  if configure "$work/build" -DATTUNE_EXECUTABLE="$ATTUNE" >"$log" 2>&1 && cmake --build "$work/build" >"$log" 2>&1 && "$work/build/app" >"$log"; then pass; else fail "it does not build" "$log"; fi
  grep -q 'out\[0\] = 1\.0000' "$log" && pass || fail "its program is wrong" "$log"
  configure "$work/whole" >"$log" 2>&1 && pass || fail "it does not configure with the repository" "$log"
  [ -e "$work/whole/_deps/attune-build/tests" ] && fail "the repository's tests become the user's" || pass
fi

# Every path of the repository that the text names exists, and so does what it links to.
line=path
folders='dsl codegen generated tests bench docs'
for path in $(grep -o '](\([A-Za-z0-9_./-]*\)[#)]' "$text" | sed 's/^](//; s/.$//' | sort -u); do
  [ -e "$(dirname "$text")/$path" ] && pass || fail "the link to $path leads nowhere"
done
for path in $(grep -o '`[a-z][A-Za-z0-9_./]*`' "$text" | tr -d '`' | sort -u); do
  for folder in $folders; do
    case $path in
      "$folder"/*) [ -e "$root/$path" ] && pass || fail "there is no $path" ;;
    esac
  done
done

echo "$name: $passed passed, $failed failed"
[ "$failed" = 0 ]
