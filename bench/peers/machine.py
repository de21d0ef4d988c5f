"""What the numbers hold for: CPU, date, commit, compiler."""
import datetime
import os
import platform
import shlex
import subprocess


def _output(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def cpu_name():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as f:
            for line in f:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def commit_of(root):
    """The commit that is checked out; "+" after it: with changes that are not in it."""
    commit = _output("git", "-C", str(root), "rev-parse", "--short=12", "HEAD")
    changed = commit and _output("git", "-C", str(root), "status", "--porcelain", "--untracked-files=no")
    return commit + ("+" if changed else "") or "unknown"


def describe(root):
    compiler = shlex.split(os.environ.get("CXX") or "g++")
    version = _output(*compiler, "--version").splitlines()
    return {
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "date": datetime.date.today().isoformat(),
        "commit": commit_of(root),
        "compiler": version[0] if version else "",
        "system": platform.platform(),
        "python": platform.python_version(),
    }
