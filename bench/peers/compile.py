"""Shared libraries for ctypes: the generated kernels, as a user would build them, and small shims."""
import hashlib
import os
import shlex
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


class Failed(Exception):
    """A command failed; the message is its first error."""


def _run(command):
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    except OSError as e:
        raise Failed(f"{command[0]}: {e.strerror}") from None
    if done.returncode != 0:
        lines = [line for line in done.stdout.splitlines() if "error" in line] or done.stdout.splitlines()
        raise Failed(f"{Path(command[0]).name}: {lines[0].strip() if lines else f'exit code {done.returncode}'}")


def shared_library(sources, target, flags=()):
    """Compiles with plain -O2; `target` is kept as long as no source and no flag changes. Returns its path."""
    compiler = shlex.split(os.environ.get("CXX") or "g++")
    command = [*compiler, "-O2", "-fPIC", "-shared", *map(str, sources), *flags, "-o"]
    digest = hashlib.sha256(" ".join(command).encode())
    for source in sources:
        digest.update(Path(source).read_bytes())
    stamp = target.with_suffix(".stamp")
    if not (target.exists() and stamp.exists() and stamp.read_text() == digest.hexdigest()):
        target.parent.mkdir(parents=True, exist_ok=True)
        _run([*command, str(target)])
        stamp.write_text(digest.hexdigest())
    return target


def kernel_library(case, attune, folder):
    """Generates the kernel of a case, named `kernel`, with every ISA, and compiles it. Returns the library's path."""
    folder = folder / case.name.replace("/", "_")
    spec = [str(HERE / "specs.h"), "--spec", case.spec] if case.header else [case.spec]
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("kernel*.cpp"):
        old.unlink()
    _run([str(attune), "gen", *spec, "--name", "kernel", "--quiet", "-o", str(folder)])
    return shared_library(sorted(folder.glob("kernel*.cpp")), folder / "kernel.so", [])


def native_library(folder):
    """The FMA peak and the like."""
    sources = [HERE / "native.cpp", ROOT / "bench" / "peak.cpp", *sorted((ROOT / "codegen" / "isa").glob("*.cpp"))]
    return shared_library(sources, folder / "native.so", ["-std=c++20", "-march=native", f"-I{ROOT}", f"-I{ROOT / 'codegen'}", "-lfmt"])
