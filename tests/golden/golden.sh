#!/bin/sh
# generated/ holds what `attune gen` writes for every named spec today, byte for byte.
#   golden.sh            compares, and shows what differs
#   golden.sh --update   rewrites generated/
# ATTUNE is the program; GENERATED the folder, if it is another one.
set -u
. "$(dirname "$0")/files.sh"
held=${GENERATED:-$root/generated}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

new=$work/new
generate "$new" || exit 1
manifest "$new" >"$work/MANIFEST"
mv "$work/MANIFEST" "$new/MANIFEST"

if [ "${1-}" = --update ]; then
  mkdir -p "$held" || exit 1
  rm -f "$held"/*.h "$held"/*.hpp "$held"/*.cpp "$held/MANIFEST"
  cp "$new"/* "$held"/ || exit 1
  echo "golden files: $(($(ls "$new" | wc -l))) written to $held"
  exit 0
fi

differ=0 same=0
for name in $( (ls "$new"; cd "$held" && ls ./*.h ./*.hpp ./*.cpp MANIFEST 2>/dev/null) | sed 's|^\./||' | sort -u); do
  if cmp -s "$held/$name" "$new/$name"; then
    same=$((same + 1))
    continue
  fi
  differ=$((differ + 1))
  [ "$differ" = 11 ] && echo "and more"
  [ "$differ" -gt 10 ] && continue
  if [ ! -f "$new/$name" ]; then
    echo "$name: held, but no longer generated"
  elif [ ! -f "$held/$name" ]; then
    echo "$name: generated, but not held"
  elif [ "$differ" -le 5 ] && [ "$name" != MANIFEST ]; then
    diff -u --label "held/$name" --label "new/$name" "$held/$name" "$new/$name" | head -n 20
  else
    echo "$name: differs"
  fi
done
echo "golden files: $same are the same, $differ differ"
[ "$differ" = 0 ] && exit 0
echo "If this change of the generated code is meant: ./run test --update-golden"
exit 1
