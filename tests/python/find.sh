#!/bin/sh
# The first Python of this machine that has the module $1; exit code 1 if none has.
root=$(cd "$(dirname "$0")/../.." && pwd)
for python in python3 /usr/bin/python3 "$root/build/peers-venv/bin/python3"; do
  "$python" -c "import $1" >/dev/null 2>&1 && command -v "$python" && exit
done
exit 1
