#!/bin/sh
# Every case of this folder, with every compiler there is: with -DMISTAKE it must give exactly one
# error, with the message and the lines that the case names; without, it must compile without a
# warning. In a case
#   // expect: TEXT   stands in the compiler's output
#   // shows: TEXT    likewise: a compared number, a name
#   // here           ends a line that the trace must name
#   // line           ends the two lines that a fault of the whole graph must name
#   // fault          ends the one line that such a fault must name
# Usage: check.sh [CASE...]      COMPILERS="g++ clang++" unless set; JOBS: as many as processors
set -u
LC_ALL=C; export LC_ALL
here=$(cd "$(dirname "$0")" && pwd)
dsl=$here/../../dsl
flags="-std=c++20 -Wall -Wextra -fsyntax-only"

lines_marked() { awk -v mark="// $2\$" '$0 ~ mark { print NR }' "$1"; }

# Why the case in $1 fails with compiler $2, or nothing.
check_one() {
  file=$here/$1.cpp
  case $2 in
    *clang*) pch="-include-pch $work/$2/attune.h.pch" ;;
    *) pch="-I $work/$2" ;;
  esac
  log=$work/$2.$1
  # shellcheck disable=SC2086
  "$2" $flags $pch -I "$dsl" "$file" >"$log" 2>&1 || { echo "the twin does not compile"; return; }
  [ -s "$log" ] && { echo "the twin compiles with a warning"; return; }
  # shellcheck disable=SC2086
  "$2" $flags $pch -I "$dsl" -DMISTAKE "$file" >"$log" 2>&1 && { echo "the mistake compiles"; return; }
  errors=$(grep -c 'error:' "$log")
  [ "$errors" = 1 ] || { echo "$errors errors instead of one"; return; }
  grep -q '^// expect: ' "$file" || { echo "the case expects nothing"; return; }
  sed 's/\\"/"/g' "$log" >"$log.text"  # Clang shows a message as it stands in the source
  sed -n 's|^// expect: ||p; s|^// shows: ||p' "$file" >"$log.wanted"
  while read -r text; do
    grep -qF -e "$text" "$log.text" || echo "not shown: $text"
  done <"$log.wanted"
  [ -n "$(lines_marked "$file" '(here|line|fault)')" ] || echo "the case marks no line"
  grep -q "$1\.cpp:[0-9]" "$log" || echo "the case's file is not in the trace"
  for n in $(lines_marked "$file" here); do
    grep -q "$1\.cpp:$n:" "$log" || echo "line $n is not in the trace"
  done
  two=$(lines_marked "$file" line | paste -s -d ' ')
  one=$(lines_marked "$file" fault)
  [ -n "$one" ] && two="$one $one"
  if [ -n "$two" ]; then  # GCC: Line = 3; int Other = 4   Clang: report_fault<.., 3, 4, ..>
    grep -qE "Line = ${two% *}; int Other = ${two#* };|, ${two% *}, ${two#* }," "$log" || echo "lines $two are not shown"
  fi
}

if [ "${1-}" = --one ]; then
  work=$4
  why=$(check_one "$2" "$3")
  if [ -z "$why" ]; then
    echo pass >>"$work/result.$3.$2"
  else
    echo fail >>"$work/result.$3.$2"
    printf 'FAILED %s with %s: %s\n' "$2" "$3" "$why"
    sed 's/^/    /' "$work/$3.$2" | head -n 40
  fi
  exit 0
fi

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
[ $# -gt 0 ] || set -- $(cd "$here" && ls ./*.cpp | sed 's|^\./||; s|\.cpp$||')
skipped=0
for compiler in ${COMPILERS:-g++ clang++}; do
  if ! command -v "$compiler" >/dev/null; then
    echo "skipped: $compiler is not installed"
    skipped=$((skipped + $#))
    continue
  fi
  mkdir "$work/$compiler"
  echo "#include \"$dsl/attune.h\"" >"$work/$compiler/attune.h"
  case $compiler in
    *clang*) precompiled=attune.h.pch ;;
    *) precompiled=attune.h.gch ;;
  esac
  # shellcheck disable=SC2086
  "$compiler" -std=c++20 -Wall -Wextra -I "$dsl" -x c++-header "$work/$compiler/attune.h" -o "$work/$compiler/$precompiled" || exit 1
  for case in "$@"; do echo "$case $compiler $work"; done >>"$work/todo"
done
[ -s "$work/todo" ] && xargs -n 3 -P "${JOBS:-$(getconf _NPROCESSORS_ONLN)}" sh "$0" --one <"$work/todo"
passed=$(cat "$work"/result.* 2>/dev/null | grep -c pass)
failed=$(cat "$work"/result.* 2>/dev/null | grep -c fail)
echo "error messages: $passed passed, $failed failed, $skipped skipped"
[ $((passed + failed)) = 0 ] && exit 77
[ "$failed" = 0 ]
