# Sourced by the scripts here: every kernel of the zoo, generated into a folder.
: "${ATTUNE:?the path of attune}"
LC_ALL=C
export LC_ALL
root=$(cd "$(dirname "$0")/../.." && pwd)

# The named specs of the textbook, one a line: those of models stand behind a blank line.
specs() { "$ATTUNE" list | awk '!NF { exit } NR > 1 { print $1 }'; }

# generate FOLDER: the files of each, as `attune gen SPEC` writes them.
generate() {
  specs >"$1.specs"
  [ -s "$1.specs" ] || { echo "attune list names no spec"; return 1; }
  mkdir -p "$1"
  while read -r spec; do
    "$ATTUNE" gen "$spec" --quiet -o "$1" </dev/null || { echo "attune gen '$spec' fails"; return 1; }
  done <"$1.specs"
}

# manifest FOLDER: name, ISA, bytes and sha256 of every kernel.
manifest() {
  (
    cd "$1" || exit 1
    for file in *_*.cpp; do
      isa=${file##*_}
      isa=${isa%.cpp}
      name=${file%_*.cpp}
      [ -f "$name.h" ] || continue  # a dispatcher, not the kernel of an ISA
      echo "$name $isa $(($(wc -c <"$file"))) $(sha256sum <"$file" | cut -d ' ' -f 1)"
    done
  )
}
