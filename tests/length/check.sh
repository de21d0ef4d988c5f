#!/bin/sh
# ./run length, for one length: both sides are timed, the naive code holds its matrix and the kernel does not.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
: "${ATTUNE:?the path of attune}"
export ATTUNE PYTHONDONTWRITEBYTECODE=1
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
[ -r /proc/self/status ] || { echo "skipped: no /proc/self/status"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
failed=0
fail() {
  echo "FAILED $1"
  cat "$work/out" "$work/err" "$work/length.csv"
  failed=1
}

command -v gnuplot >/dev/null && wanted=0 || wanted=1  # without it there are figures and no picture
python3 "$root/bench/length/measure.py" --lengths 512 --out "$work" >"$work/out" 2>"$work/err"
[ $? = $wanted ] || fail "another exit code than $wanted"
if [ $wanted = 0 ]; then
  grep -q '<svg' "$work/length.svg" || fail "no picture"
else
  grep -q 'no gnuplot, so no picture' "$work/err" || fail "it does not say why there is no picture"
fi
# The matrix is 1 MiB; inputs and result half of that, and the kernel adds its workspace.
awk -F, 'NR == 2 && $1 == 512 && $2 > $4 && $3 > $4 && $4 > 0 && $5 - $7 > 1048576 && $5 - $7 < 1100000 && $6 >= $7 && $6 - $7 < 200000 { right = 1 } END { exit !(NR == 2 && right) }' "$work/length.csv" || fail "odd figures"
python3 "$root/bench/length/measure.py" --lengths 512,none --out "$work" >"$work/out" 2>"$work/err"
[ $? = 2 ] && grep -q -e '--lengths 512,none: ' "$work/err" || fail "lengths that are none"
[ "$failed" = 0 ] && echo "1 length measured"
exit $failed
