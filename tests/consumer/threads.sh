#!/bin/sh
# The adapters of <attune/threads/> by themselves: threads.sh openmp|pool|tbb. CXX is the compiler.
set -u
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
case $1 in
  openmp) class=OpenMp flags=-fopenmp needs='#include <omp.h>' ;;
  pool) class=ThreadPool flags=-pthread needs='#include <thread>' ;;
  tbb) class=Tbb flags=-ltbb needs='#include <tbb/task_arena.h>' ;;
esac
CXX=${CXX:-c++}
printf '%s\nint main() {}\n' "$needs" >"$work/probe.cpp"
"$CXX" -std=c++17 "$work/probe.cpp" $flags -o "$work/probe" >"$work/log" 2>&1 || { echo "skipped: $CXX has no $1 (Debian: libtbb-dev, of Clang libomp-dev)"; exit 77; }
"$CXX" -std=c++17 -O1 -Wall -Wextra -Werror -I "$here/../../dsl" -DADAPTER="<attune/threads/$1.h>" -DTHREADS="attune::$class" "$here/threads.cpp" $flags -pthread -o "$work/threads" && "$work/threads"
