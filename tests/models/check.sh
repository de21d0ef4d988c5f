#!/bin/sh
# A whole model against ONNX Runtime and published results, where ./run model has installed what that needs. ATTUNE is the program.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
python=$root/build/model-venv/bin/python
[ -e "$root/build/model-venv/installed" ] || { echo "skipped: ./run model installs the model and ONNX Runtime"; exit 77; }
PYTHONPATH=$root/bench:$root/codegen/cli/python PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH PYTHONDONTWRITEBYTECODE
exec "$python" -m models --rounds 1
