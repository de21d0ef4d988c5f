#!/bin/sh
# The machine code of kernels that this compiler builds: hot loops without spills worth the name, without
# round trips through scalar registers, and with the share of multiply-adds that their tiles allow.
# ATTUNE is the program, CXX the compiler; objdump missing: skipped.
set -u
LC_ALL=C; export LC_ALL
attune=${ATTUNE:?the path of attune}
here=$(cd "$(dirname "$0")" && pwd)
command -v objdump >/dev/null 2>&1 || { echo "SKIPPED: no objdump"; exit 77; }
command -v "$CXX" >/dev/null 2>&1 || { echo "SKIPPED: no $CXX"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
failed=0 loops=0
cached=$(command -v ccache || true)
for spec in 'textbook_mha<1,512,512,8>' 'textbook_mha<1,137,320,5>' 'sdpa<1,8,512,64,false>' 'sdpa<1,8,512,128,true>' 'sdpa<1,3,77,40,true>'; do
  for isa in avx2 avx512; do
    rm -rf "$work/k"
    "$attune" gen "$spec" --isa "$isa" -o "$work/k" --quiet || exit 1
    # As the test of the contract compiles them, so that they may be had from the cache.
    $cached "$CXX" -std=c++17 -O2 -Wall -Wextra -c "$work/k"/*_$isa.cpp -o "$work/k.o" || exit 1
    objdump -d --no-show-raw-insn -C "$work/k.o" | awk -f "$here/loops.awk" >"$work/loops"
    [ -s "$work/loops" ] || { echo "FAILED $spec $isa: no hot loop was found"; failed=$((failed + 1)); }
    loops=$((loops + $(wc -l <"$work/loops")))
    # A step of rows x vectors: as many multiply-adds on rows + vectors loads, and two instructions of the loop.
    awk -v lanes=$([ $isa = avx2 ] && echo 8 || echo 16) '
      match($1, /_[0-9]+x[0-9]+/) {
        split(substr($1, RSTART + 1, RLENGTH - 1), size, "x")
        rows = size[1]; vectors = int((size[2] + lanes - 1) / lanes)
        bound = 0.93 * rows * vectors / (rows * vectors + rows + vectors + 2)
        if (size[2] % lanes) bound *= 0.7  # a part of a vector takes masks
        if ($2 / $3 < bound) print $1 ": " $2 " of " $3 " instructions multiply and add, which is less than " bound
        if ($4 > $2 / 12) print $1 ": " $4 " vectors go to the stack and back at " $2 " multiply-adds"
        if ($5 > 0) print $1 ": " $5 " moves between vector and scalar registers"
      }' "$work/loops" >"$work/complaints"
    while read -r line; do
      echo "FAILED $CXX $spec $isa: $line"
      failed=$((failed + 1))
    done <"$work/complaints"
  done
done
echo "machine code of $CXX: $loops hot loops, $failed complaints"
[ "$failed" = 0 ]
