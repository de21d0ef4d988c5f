#!/bin/sh
# Python's package, with a Python that has NumPy; PyTorch's custom op with one that has PyTorch. ATTUNE is the program.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
PYTHONPATH=$root/codegen/cli/python PYTHONDONTWRITEBYTECODE=1 XDG_CACHE_HOME=$work
export PYTHONPATH PYTHONDONTWRITEBYTECODE XDG_CACHE_HOME

python_with() { sh "$root/tests/python/find.sh" "$1"; }
failed=0
numpy=$(python_with numpy) || { echo "skipped: no Python with NumPy"; exit 77; }
"$numpy" "$root/tests/python/test_kernel.py" 2>&1 || failed=1
"$numpy" "$root/tests/python/test_weights.py" 2>&1 || failed=1
if torch=$(python_with torch); then
  "$torch" "$root/tests/python/test_torch.py" 2>&1 || failed=1
else
  echo "skipped: the custom op of PyTorch, for no Python has it"
fi
exit $failed
