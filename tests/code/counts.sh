#!/bin/sh
# How many instructions a call of each named kernel takes, counted by valgrind's callgrind and held
# against counts.txt. More than 2 % above it is a failure, and so is a kernel without a row.
#   counts.sh            compares
#   counts.sh --update   rewrites counts.txt
# ATTUNE is the program, CXX the compiler; no valgrind, or a compiler of another version than the table's: skipped.
set -u
. "$(dirname "$0")/../golden/files.sh"
here=$root/tests/code
table=$here/counts.txt
: "${CXX:=g++}"
isas='portable avx2'  # valgrind (3.19) knows no AVX-512

# count SPEC ISA FOLDER: compiles the kernel and prints "SPEC ISA INSTRUCTIONS FLOPs", or why it can't.
count() {
  spec=$1 isa=$2 folder=$3
  "$ATTUNE" gen "$spec" --name kernel --isa "$isa" --quiet -o "$folder" || { echo "FAILED $spec $isa: attune gen"; return; }
  floats() {  # STRUCT [const]: the sizes of its fields, separated by commas
    sed -n "/^typedef struct $1 {/,/^}/s/^  ${2-}float\* \([A-Za-z0-9_]*\);.*/kernel_\1_FLOATS/p" "$folder/kernel.h" | paste -s -d ,
  }
  weights=$(floats kernel_weights 'const ')
  { "$CXX" -std=c++17 -O2 -c "$folder/kernel.cpp" -o "$folder/1.o" && "$CXX" -std=c++17 -O2 -c "$folder/kernel_$isa.cpp" -o "$folder/2.o" &&
    "$CXX" -x c -std=c11 -include "$folder/kernel.h" -DNAME=kernel "-DINPUTS=$(floats kernel_args 'const ')" "-DOUTPUTS=$(floats kernel_args)" ${weights:+"-DWEIGHTS=$weights"} -c "$here/call.c" -o "$folder/3.o" &&
    "$CXX" "$folder"/?.o -o "$folder/call"; } >&2 || { echo "FAILED $spec $isa: it does not compile"; return; }
  valgrind --tool=callgrind --toggle-collect=kernel --callgrind-out-file=/dev/null "$folder/call" 2>"$folder/log"
  status=$?
  [ $status = 77 ] && { echo "SKIPPED $spec $isa: this CPU does not run it"; return; }
  [ $status = 0 ] || { echo "FAILED $spec $isa: the call ends with $status"; tail -n 5 "$folder/log"; return; }
  echo "$spec $isa $(sed -n 's/.*Collected : //p' "$folder/log") $(sed -n 's/^#define kernel_FLOPS \([0-9.]*\).*/\1/p' "$folder/kernel.h")"
}
if [ "${1-}" = --one ]; then
  folder=$(mktemp -d "$4/XXXXXX") && count "$2" "$3" "$folder" >"$folder.count"
  exit
fi

command -v valgrind >/dev/null || { echo "SKIPPED: no valgrind"; exit 77; }
"$CXX" --version 2>/dev/null | grep -q 'Free Software Foundation' || { echo "SKIPPED: $CXX is no GCC"; exit 77; }
major=$("$CXX" -dumpversion | cut -d . -f 1)
if [ "${1-}" != --update ]; then
  held=$(sed -n 's/^# compiled by GCC \([0-9]*\).*/\1/p' "$table")
  [ -n "$held" ] || { echo "FAILED: no table in $table"; exit 1; }
  [ "$major" = "$held" ] || { echo "SKIPPED: the table is of GCC $held, and this is GCC $major"; exit 77; }
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

# Of 512 tokens one head: valgrind takes 30 ns a FLOP of AVX2 code.
specs | sed -e 's/^sdpa<1,8,512,/sdpa<1,1,512,/' -e 's/^textbook_mha<1,512,512,8>/textbook_mha<1,512,64,1>/' >"$work/specs"
while read -r spec; do
  for isa in $isas; do printf '%s %s\n' "$spec" "$isa"; done
done <"$work/specs" >"$work/kernels"
[ -s "$work/kernels" ] || { echo "attune list names no spec"; exit 1; }
xargs -L 1 -P "$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)" sh -c 'exec sh "$0" --one "$2" "$3" "$1"' "$here/counts.sh" "$work" <"$work/kernels"
cat "$work"/*.count >"$work/counts"

if [ "${1-}" = --update ]; then
  grep -E '^(FAILED|SKIPPED)' "$work/counts" && { echo "counts: nothing written"; exit 1; }
  {
    echo "# Instructions of one call, and of 1000 FLOP, by valgrind's callgrind; counts.sh holds kernels to them."
    echo "# Multiply-adds alone would be 62.5 of AVX2, and multiplications and additions 250 of the portable code's SSE2."
    echo "# AVX-512 has no rows: valgrind (3.19) does not know it."
    echo "# compiled by GCC $major, -O2"
    awk 'NR == FNR { count[$1 " " $2] = $3; flops[$1 " " $2] = $4; next }
      { printf "%-30s %-8s %10d %7.1f\n", $1, $2, count[$1 " " $2], 1000 * count[$1 " " $2] / flops[$1 " " $2] }' "$work/counts" "$work/kernels"
  } >"$work/table"
  cp "$work/table" "$table" && echo "counts: $(($(wc -l <"$work/kernels"))) kernels written to $table"
  exit
fi

grep -E '^(FAILED|SKIPPED)' "$work/counts"
awk '
  FNR == NR && /^#/ { next }
  FNR == NR { held[$1 " " $2] = $3; next }
  /^SKIPPED/ { delete held[$2 " " $3]; next }
  /^FAILED/ { ++failed; delete held[$2 " " substr($3, 1, length($3) - 1)]; next }
  NF == 4 {
    kernel = $1 " " $2
    if (!(kernel in held)) { print "FAILED " kernel ": " $3 " instructions, and no row in the table"; ++failed; next }
    change = $3 / held[kernel] - 1
    if (change > 0.02) { printf "FAILED %s: %d instructions, %.1f %% more than the %d held\n", kernel, $3, 100 * change, held[kernel]; ++failed }
    else { ++kept; if (change < -0.02) printf "note: %s takes %.1f %% fewer; --update holds that\n", kernel, -100 * change }
    delete held[kernel]
  }
  END {
    for (kernel in held) { print "FAILED " kernel ": a row of no kernel"; ++failed }
    print "instruction counts: " kept + 0 " kept, " failed + 0 " failed"
    exit failed > 0
  }' "$table" "$work/counts" || { echo "If the change is meant: ./run test --update-counts"; exit 1; }
