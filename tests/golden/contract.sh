#!/bin/sh
# Every kernel of the zoo keeps the contract of generated code with one compiler: contract.sh COMPILER
# - plain `COMPILER -std=c++17 -O2 -c` takes each file without a warning and without an -m flag;
# - NAME.h is C and C++; -ffast-math is refused in one sentence;
# - objects need no symbol from outside and hold nothing that can be written;
# - linked kernels agree with the interpreter.
set -u
. "$(dirname "$0")/files.sh"
compiler=$1
command -v "$compiler" >/dev/null || { echo "skipped: $compiler is not installed"; exit 77; }
case $compiler in *clang*) c_compiler=clang ;; *) c_compiler=gcc ;; esac
cached=$(command -v ccache || true)
jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)

# What is wrong with the object of a file, or nothing.
check_object() {  # FILE OBJECT LOG
  # shellcheck disable=SC2086
  $cached "$compiler" -std=c++17 -O2 -Wall -Wextra -c "$1" -o "$2" 2>"$3" || { echo "it does not compile"; return; }
  [ -s "$3" ] && { echo "it compiles with a warning"; return; }
  # Writable sections, by their sizes: text, data, bss.
  [ "$(size "$2" | awk 'NR == 2 { print $2 + $3 }')" = 0 ] || { size -A "$2" >"$3"; echo "it has writable data"; return; }
  nm "$2" >"$3"
  grep -q ' [DdBbCGgSs] ' "$3" && { echo "it has writable data"; return; }
  name=$(basename "$1" .cpp)
  # Of a dispatcher: its ISAs' functions, and libgcc's CPU identification. Compilers may make
  # memcpy and memset of any loop; freestanding environments have these.
  allowed='_GLOBAL_OFFSET_TABLE_|memcpy|memset'
  case $name in
    *_portable | *_avx2 | *_avx512) ;;
    *) allowed="$allowed|__cpu_model|__cpu_indicator_init|__cpu_features2|_ZN[0-9]*${name}_[a-z0-9]*[A-Z0-9].*" ;;
  esac
  awk '$1 == "U" { print $2 }' "$3" | grep -vxE "$allowed" >"$3.undefined" && echo "it needs $(paste -s -d ' ' "$3.undefined")"
}

if [ "${2-}" = --one ]; then
  log=$4.log
  why=$(check_object "$3" "$4" "$log")
  [ -z "$why" ] && exit 0
  printf 'FAILED %s: %s\n' "$(basename "$3")" "$why" >"$4.failed"
  head -n 20 "$log" | sed 's/^/    /' >>"$4.failed"
  exit 0
fi

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
generate "$work/files" || exit 1
cd "$work/files" || exit 1
passed=0 failed=0
pass() { passed=$((passed + 1)); }
fail() {
  failed=$((failed + 1))
  echo "FAILED $1"
}

# The slowest first. "$0" is relative to where we were.
this=$root/tests/golden/contract.sh
ls -S ./*.cpp | while read -r f; do echo "$f"; done >"$work/todo"
xargs -I '{}' -P "$jobs" sh "$this" "$compiler" --one '{}' '{}.o' <"$work/todo"
for f in *.cpp; do
  if [ -f "$f.o.failed" ]; then
    cat "$f.o.failed"
    failed=$((failed + 1))
  else
    pass
  fi
done

for h in *.h; do echo "#include \"$h\""; done >"$work/all.h"
for standard in c99 c11; do
  if "$c_compiler" -std=$standard -Wall -Wextra -pedantic -Werror -fsyntax-only -I . -x c "$work/all.h" 2>"$work/log"; then pass; else
    fail "the headers are no $standard"
    head -n 5 "$work/log"
  fi
done
if "$compiler" -std=c++17 -Wall -Wextra -pedantic -Werror -fsyntax-only -I . -x c++ "$work/all.h" 2>"$work/log"; then pass; else
  fail "the headers are no C++"
  head -n 5 "$work/log"
fi

for f in $(ls ./sdpa_*_*.cpp | head -n 4); do
  case $f in *_portable.cpp | *_avx2.cpp | *_avx512.cpp) ;; *) continue ;; esac
  for flag in -ffast-math -Ofast; do
    if "$compiler" -std=c++17 -O2 $flag -fsyntax-only "$f" 2>"$work/log"; then fail "$f compiles with $flag"; continue; fi
    [ "$(grep -c 'error:' "$work/log")" = 1 ] && grep -q 'error:.*compile this file without -ffast-math: it relies on NaN, infinities and the order of sums' "$work/log" && pass || fail "$f says something else of $flag"
  done
done

for spec in 'sdpa<1,3,77,40,true>' 'textbook_mha<2,64,256,4>'; do
  if CXX=$compiler "$ATTUNE" check "$spec" >"$work/log" 2>&1; then pass; else
    fail "attune check '$spec' with $compiler"
    grep FAIL "$work/log"
  fi
done

echo "generated code with $compiler: $passed passed, $failed failed"
[ "$failed" = 0 ]
