#!/bin/sh
# The text of every generated file: clang-format leaves it as it is, its lines are short, and
# nothing in it grows with the length of the sequence.
set -u
. "$(dirname "$0")/files.sh"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
generate "$work/files" || exit 1
failed=0
fail() {
  failed=$((failed + 1))
  echo "FAILED $1"
}

cd "$work/files" || exit 1
awk 'length($0) > 100 { print FILENAME ":" FNR ": " length($0) " columns: " $0 }' ./* >"$work/log"
[ -s "$work/log" ] && fail "lines of more than 100 columns" && head -n 5 "$work/log"
grep -n '[[:space:]]$' ./* >"$work/log" && fail "blanks at the end of a line" && head -n 5 "$work/log"
grep -n 'clang-format off' ./* >"$work/log" && fail "clang-format is switched off" && head -n 5 "$work/log"
grep -L '#error "compile this file without -ffast-math' ./*_portable.cpp ./*_avx2.cpp ./*_avx512.cpp >"$work/log"
[ -s "$work/log" ] && fail "-ffast-math is not refused" && head -n 5 "$work/log"
for f in ./*; do head -n 5 "$f" | grep -q '^//   attune gen .* --isa ' || fail "$f does not open with the command that made it"; done

# Tables: at most 4 kB.
awk 'FNR == 1 { in_table = 0 }
     /static const .*\[\].*= \{/ { in_table = 1; values = 0 }
     in_table { values += gsub(/,/, ","); if (/\};/) { in_table = 0; if (values > 1023) print FILENAME ":" FNR ": a table of " values + 1 " values" } }' ./*.cpp >"$work/log"
[ -s "$work/log" ] && fail "a long table" && head -n 5 "$work/log"
# And the text of a kernel for 16 times the length is as long, but for a last block of another height.
for length in 4096 65536; do
  "$ATTUNE" gen "textbook_mha<1,$length,64,1>" --isa avx2 --name long_$length --quiet -o "$work/long" || fail "textbook_mha of $length"
done
short=$(wc -c <"$work/long/long_4096_avx2.cpp") long=$(wc -c <"$work/long/long_65536_avx2.cpp")
[ $((long * 4)) -lt $((short * 5)) ] || fail "the text grows with the length: $short bytes at 4096, $long at 65536"

if command -v clang-format >/dev/null; then
  mkdir "$work/formatted"
  cp "$root/generated/.clang-format" ./* "$work/formatted"
  (cd "$work/formatted" && clang-format -i ./*.h ./*.hpp ./*.cpp)
  diff -r -x .clang-format . "$work/formatted" >"$work/log" || { fail "clang-format moves something"; head -n 30 "$work/log"; }
else
  echo "skipped: clang-format is not installed"
  [ "$failed" = 0 ] && exit 77
fi
echo "text of generated code: $failed failed"
[ "$failed" = 0 ]
