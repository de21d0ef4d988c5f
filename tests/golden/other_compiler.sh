#!/bin/sh
# A generator built by the other compiler, and without optimisation, writes the same bytes. BUILD:
# where it is built, kept for the next time.
set -u
. "$(dirname "$0")/files.sh"
case ${CXX:-g++} in
  *clang*) other=g++ ;;
  *) other=clang++ ;;
esac
command -v "$other" >/dev/null || { echo "skipped: $other is not installed"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
build=${BUILD:-$work/build}
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DCMAKE_CXX_COMPILER=$other -DBUILD_TESTING=OFF >"$work/log" 2>&1 &&
  cmake --build "$build" --target attune >>"$work/log" 2>&1 || {
  tail -n 20 "$work/log"
  echo "FAILED: attune does not build with $other"
  exit 1
}
generate "$work/ours" || exit 1
ATTUNE=$build/attune
generate "$work/theirs" || exit 1
diff -r "$work/ours" "$work/theirs" >"$work/log" || {
  head -n 30 "$work/log"
  echo "FAILED: attune built with $other writes something else"
  exit 1
}
echo "attune built with $other writes the same $(($(ls "$work/ours" | wc -l))) files"
