#!/bin/sh
# The counting, the statistics and the command line of ./run peers; installs and measures nothing.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
PYTHONPATH=$root/bench PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH PYTHONDONTWRITEBYTECODE
cd "$root" || exit 1
python3 tests/peers/test_counting.py || exit 1

failed=0
refuses() {  # MESSAGE ARGUMENT...
  message=$1
  shift
  said=$(python3 -m peers "$@" 2>&1)
  code=$?
  [ "$code" = 2 ] && [ "$said" = "peers: $message" ] && return
  echo "FAILED peers $*: exit code $code, '$said'"
  failed=1
}
refuses "no configuration matches 'sdap'; --list names them" sdap
refuses "'(' is no regular expression: missing ), unterminated subpattern at position 0" '('
refuses "--rounds 0: at least 1" --rounds 0
refuses "argument --rounds: invalid int value: 'many'" --rounds many
refuses "unrecognized arguments: --fast" --fast
[ "$(python3 -m peers --list 'T16/full')" = sdpa/H8/D64/T16/full ] || { echo "FAILED peers --list 'T16/full'"; failed=1; }
exit $failed
