"""Makes the virtual environment that the peers live in. Runs on the system's Python alone.

    python3 install.py FOLDER

Every package is installed by itself, so that one that cannot be had keeps none of the others out.
FOLDER/installed.json then says of each what came of it: null, or why it is not there.
"""
import json
import os
import subprocess
import sys
from pathlib import Path

# What the harness itself needs; without these there is nothing to run.
NEEDED = ["numpy", "matplotlib"]

# Peer: requirements, and what its build is told. PyPI's PyTorch brings its GPU libraries along, 5 GB of
# them, and can't be loaded without. ggml comes as source and is built for this CPU.
PEERS = {
    "PyTorch": (["torch"], {}),
    "ONNX Runtime": (["onnxruntime", "onnx"], {}),
    "OpenVINO": (["openvino"], {}),
    "ggml": (["ggml-py"], {"CMAKE_ARGS": "-DGGML_NATIVE=ON -DCMAKE_BUILD_TYPE=Release"}),
}
LOG = "pip.log"
RECORD = "installed.json"


def pip(folder, requirements, environment):
    """Installs; returns None, or pip's own last word on why not."""
    env = {**os.environ, "CMAKE_BUILD_PARALLEL_LEVEL": os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL", str(os.cpu_count() or 1)), **environment}
    command = [str(folder / "bin" / "python"), "-m", "pip", "install", "--disable-pip-version-check", *requirements]
    done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    with open(folder / LOG, "a", encoding="utf-8") as log:
        log.write(f"== {' '.join(command)}\n{done.stdout}\n")
    if done.returncode == 0:
        return None
    errors = [line.strip() for line in done.stdout.splitlines() if line.lstrip().lower().startswith("error:")]
    return f"pip install {' '.join(requirements)} failed: {errors[-1] if errors else 'see ' + str(folder / LOG)}"


def say(text):
    print(text, file=sys.stderr, flush=True)


def make(folder):
    """An empty virtual environment, unless there is one."""
    if (folder / "bin" / "python").exists():
        return
    say(f"making {folder}")
    made = subprocess.run([sys.executable, "-m", "venv", str(folder)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if made.returncode != 0:
        sys.exit(f"python3 -m venv failed: {made.stdout.strip().splitlines()[0] if made.stdout.strip() else made.returncode}")


def main(folder):
    make(folder)
    record = folder / RECORD
    outcome = json.loads(record.read_text()) if record.exists() else {}
    if "harness" not in outcome:
        say(f"installing {' '.join(NEEDED)}")
        why = pip(folder, NEEDED, {})
        if why:
            sys.exit(f"peers: {why}")
        outcome["harness"] = None
        record.write_text(json.dumps(outcome, indent=1))
    for peer, (requirements, environment) in PEERS.items():
        if peer in outcome:
            continue
        say(f"installing {' '.join(requirements)} (once)")
        outcome[peer] = pip(folder, requirements, environment)
        if outcome[peer]:
            say(f"{peer}: not available: {outcome[peer]} (remove {folder} to try again)")
        record.write_text(json.dumps(outcome, indent=1))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: install.py FOLDER")
    main(Path(sys.argv[1]))
