"""Time and memory of attention against its length T, one head of 64, full: naive code and the generated kernel.

    ./run length [--lengths 64,128,..] [--out FOLDER]

Times are medians of `attune bench`, which verifies both and runs them in turns in one process. Memory is what
a process of memory.c held at most that ran the kernel, or the naive code of naive.h, once. Writes length.csv
and, by gnuplot, length.svg.
"""
import argparse
import datetime
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ATTUNE = os.environ["ATTUNE"]
KERNELS = ("avx512", "avx2", "portable")  # the first that this CPU runs
HEAD_DIM = 64


def output_of(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"length: exit code {done.returncode} of: {' '.join(map(str, command))}")
    return done.stdout


def seconds(spec):
    """Median seconds of a call, by contender, and the instruction set of the kernel."""
    runs = json.loads(output_of(ATTUNE, "bench", spec, "--json", "-"))["benchmarks"]
    medians = {r["run_name"].split("/")[1]: r["real_time"] / 1e6 for r in runs if r.get("aggregate_name") == "median"}
    kernel = next(isa for isa in KERNELS if isa in medians)
    return medians["naive, textbook order"], medians["naive, vectorisable"], medians[kernel], kernel


def bytes_held(spec):
    """Bytes that a process held at most beyond its start: of the naive code, of the kernel."""
    with tempfile.TemporaryDirectory() as folder:
        output_of(ATTUNE, "gen", spec, "--name", "attention", "--quiet", "-o", folder)
        program = Path(folder, "memory")
        objects = [Path(folder, "memory.o"), *(f.with_suffix(".o") for f in sorted(Path(folder).glob("*.cpp")))]
        output_of(os.environ.get("CC", "cc"), "-O2", f"-I{folder}", "-c", HERE / "memory.c", "-o", objects[0])
        for o in objects[1:]:
            output_of(os.environ.get("CXX", "c++"), "-O2", "-c", o.with_suffix(".cpp"), "-o", o)
        output_of(os.environ.get("CXX", "c++"), *objects, "-o", program, "-lm")
        return [int(output_of(program, which)) for which in ("naive", "kernel")]


def cpu():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return "unknown CPU"


def main():
    parser = argparse.ArgumentParser(prog="./run length", description=__doc__.splitlines()[0])
    parser.add_argument("--lengths", default="64,128,256,512,1024,2048,4096,8192", help="separated by commas (default: %(default)s, which takes ten minutes)")
    parser.add_argument("--out", type=Path, default=Path("out/length"), help="folder for length.csv and length.svg (default: %(default)s)")
    options = parser.parse_args()
    try:
        lengths = [int(t) for t in options.lengths.split(",")]
    except ValueError:
        parser.error(f"--lengths {options.lengths}: whole numbers, separated by commas, as in 64,128")
    try:
        options.out.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        sys.exit(f"length: cannot make the folder {options.out}: {e.strerror}")
    rows = []
    for t in lengths:
        spec = f"sdpa<1,1,{t},{HEAD_DIM},false>"
        print(f"{spec} ..", file=sys.stderr)
        textbook, vectorisable, attune, kernel = seconds(spec)
        naive_bytes, attune_bytes = bytes_held(spec)
        rows.append((t, f"{textbook:.4g}", f"{vectorisable:.4g}", f"{attune:.4g}", naive_bytes, attune_bytes, 4 * t * HEAD_DIM * 4))
    text = "T,naive textbook s,naive vectorisable s,attune s,naive bytes,attune bytes,inputs and result bytes\n"
    text += "".join(",".join(map(str, row)) + "\n" for row in rows)
    print(text, end="")
    (options.out / "length.csv").write_text(text)
    if not shutil.which("gnuplot"):
        sys.exit("length: no gnuplot, so no picture; install gnuplot-nox and run it again")
    caption = f"one head of {HEAD_DIM}, full attention, {kernel}, one core of {cpu()}; {datetime.date.today()}"
    subprocess.run(["gnuplot", "-c", HERE / "picture.gp", caption], cwd=options.out, check=True)


main()
