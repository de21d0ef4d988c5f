"""The command line: installs the peers, then measures one configuration after the other, each in a process of its own.

Runs on the system's Python alone; what needs a library runs in the virtual environment.
"""
import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from peers import cases, compile, install, machine, table
from peers.worker import MARK

ROOT = compile.ROOT
BUILD = ROOT / "build"
ROUNDS, QUICK_ROUNDS = 30, 7
PATIENCE_SECONDS = 1800  # with one configuration
CRASHES = 4  # of one configuration; then it is given up


def arguments(argv):
    class Parser(argparse.ArgumentParser):
        def error(self, message):
            self.exit(2, f"peers: {message}\n")

    parser = Parser(prog="./run peers", description="Generated kernels against other libraries and the FMA peak, on one core.")
    parser.add_argument("patterns", nargs="*", metavar="REGEX", help="measure the configurations whose name matches one of these (default: all)")
    parser.add_argument("--list", action="store_true", help="name the configurations and stop")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_ROUNDS} rounds, and of the configurations only a few unless some are named")
    parser.add_argument("--long", action="store_true", help="attention at T 4096, too")
    parser.add_argument("--rounds", type=int, metavar="N", help=f"samples of each contender (default {ROUNDS})")
    parser.add_argument("--out", type=Path, metavar="FOLDER", default=ROOT / "out" / "peers", help="for results.json, table.txt, pictures and logs (default out/peers)")
    parser.add_argument("--attune", type=Path, default=os.environ.get("ATTUNE", BUILD / "gcc" / "attune"), help=argparse.SUPPRESS)
    args = parser.parse_intermixed_args(argv)
    if args.rounds is not None and args.rounds < 1:
        parser.error(f"--rounds {args.rounds}: at least 1")
    args.rounds = args.rounds or (QUICK_ROUNDS if args.quick else ROUNDS)
    try:
        args.cases = cases.select(args.patterns, args.quick, args.long)
    except ValueError as e:
        parser.error(str(e))
    return args


def say(text):
    print(text, file=sys.stderr, flush=True)


def run_worker(case, kernel, args, python, log, without):
    """The result, or (None, whose turn it was when the process died, how it died)."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "result.json"
        command = [str(python), "-m", "peers.worker", case.name, "--kernel", str(kernel), "--libraries", str(BUILD / "peers"), "--rounds", str(args.rounds), "--result", str(path)]
        for name in without:
            command += ["--without", name]
        # What malloc and PyTorch allocate, on huge pages where they can.
        environment = {**os.environ, "PYTHONPATH": str(compile.HERE.parent), "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1", "THP_MEM_ALLOC_ENABLE": "1"}
        with open(log, "w", encoding="utf-8") as f:
            try:
                code = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=f, stderr=subprocess.STDOUT, env=environment, timeout=PATIENCE_SECONDS).returncode
            except subprocess.TimeoutExpired:
                code = None
        if code == 0 and path.exists():
            return json.loads(path.read_text()), None, None
    lines = log.read_text(errors="replace").splitlines()
    marks = [line[len(MARK) :] for line in lines if line.startswith(MARK)]
    if code is None:
        how = f"no end after {PATIENCE_SECONDS} s"
    else:
        how = f"signal {-code}" if code < 0 else lines[-1] if lines else f"exit code {code}"
    return None, marks[-1] if marks else None, how


def measure(case, args, python):
    """The worker's result, without those that crash it. Raises compile.Failed if there is none."""
    kernel = compile.kernel_library(case, args.attune, BUILD / "peers")
    log = args.out / "logs" / f"{case.name.replace('/', '_')}.log"
    without, crashed = [], {}
    while True:
        result, culprit, how = run_worker(case, kernel, args, python, log, without)
        if result:
            for c in result["contenders"]:
                if c["name"] in crashed:
                    c["message"] = f"the process crashed: {crashed[c['name']]}"
            return result
        if culprit in (None, "reference", "timing") or culprit in without or len(without) == CRASHES:
            raise compile.Failed(f"{how} (while: {culprit}; see {log})")
        say(f"  {culprit} crashed ({how}); once more without it")
        without.append(culprit)
        crashed[culprit] = how


def mark_unavailable(result, installed):
    """pip's reason says more than a failed import."""
    for c in result["contenders"]:
        if c["status"] == "not available" and installed.get(c["name"]):
            c["message"] = installed[c["name"]]


def write_results(document, args, python):
    head = json.dumps({name: value for name, value in document.items() if name != "results"}, indent=1).removesuffix("\n}")
    lines = ",\n".join(json.dumps(r) for r in document["results"])  # a line a configuration: samples are many
    (args.out / "results.json").write_text(f'{head},\n "results": [\n{lines}\n]}}\n')
    text = "\n\n".join(table.case_table(r) for r in document["results"]) + "\n\n" + table.closing_table(document["results"]) + "\n"
    (args.out / "table.txt").write_text(text)
    environment = {**os.environ, "PYTHONPATH": str(compile.HERE.parent)}
    drawn = subprocess.run([str(python), "-m", "peers.pictures", str(args.out / "results.json"), str(args.out)], env=environment, capture_output=True, text=True)
    if drawn.returncode != 0:
        say(f"peers: the pictures could not be drawn: {drawn.stderr.strip().splitlines()[-1:]}")


def main(argv):
    args = arguments(argv)
    if args.list:
        print("\n".join(c.name for c in args.cases))
        return 0
    try:
        (args.out / "logs").mkdir(parents=True, exist_ok=True)
    except OSError as e:
        say(f"peers: {args.out}: {e.strerror}")
        return 1
    venv = BUILD / "peers-venv"
    install.main(venv)
    installed = json.loads((venv / install.RECORD).read_text())
    python = venv / "bin" / "python"
    document = {"command": shlex.join(["./run", "peers", *argv]), "machine": machine.describe(ROOT), "isa": "", "versions": {}, "rounds": args.rounds, "results": [], "failures": {}}
    say(f"{len(args.cases)} configurations, {args.rounds} rounds each")
    for i, case in enumerate(args.cases):
        say(f"{i + 1}/{len(args.cases)} {case.name}")
        try:
            result = measure(case, args, python)
        except compile.Failed as e:
            say(f"  {case.name} failed: {e}")
            document["failures"][case.name] = str(e)
            continue
        mark_unavailable(result, installed)
        document["results"].append(result)
        document["versions"] |= result["versions"]
        document["isa"] = result["isa"]
        print(table.case_table(result) + "\n", flush=True)
    if not document["results"]:
        say("peers: nothing could be measured")
        return 1
    write_results(document, args, python)
    print(table.closing_table(document["results"]))
    m = document["machine"]
    print(f"\n{m['cpu']}, one core; {m['date']}, commit {m['commit']}; " + ", ".join(f"{n} {v}" for n, v in document["versions"].items()))
    overhead = max(r["call_seconds"] for r in document["results"])
    print(f"Everybody is called from Python; a C function that does nothing takes {overhead * 1e9:.0f} ns so.")
    print(f"Written to {args.out}: results.json, table.txt, and what there is to draw of percent_of_peak, roofline, fastest_peer and variants as .png and .svg")
    wrong = [c for r in document["results"] for c in r["contenders"] if c["name"] == "Attune" and c["status"] != "ok"]
    return 1 if document["failures"] or wrong else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
