"""The command line, as a function."""
import os
import shutil
import subprocess
from pathlib import Path


class Error(Exception):
    """What attune says is wrong, and how to mend it."""


def _program():
    installed = Path(__file__).resolve().parent / "installed" / "bin" / "attune"
    program = os.environ.get("ATTUNE") or (str(installed) if installed.exists() else shutil.which("attune"))
    if not program:
        raise Error("there is no program 'attune': install the package with pip, or say where it is in $ATTUNE")
    return program


def run(*arguments):
    """What `attune ARGUMENTS` prints. Raises Error with what it says is wrong."""
    command = [_program(), *map(str, arguments)]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    except OSError as e:
        raise Error(f"cannot run {command[0]}: {e.strerror}") from None
    if done.returncode != 0:
        said = done.stderr.strip() or done.stdout.strip() or f"attune {command[1]} returned {done.returncode}"
        raise Error(said.removeprefix("attune: "))
    return done.stdout
