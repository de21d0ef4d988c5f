"""A spec as a callable."""
import importlib.util
import json
import os
import tempfile
from pathlib import Path

from attune.command import run


def _imported(path):
    described = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(described)
    described.loader.exec_module(module)
    return module


def generate(target, spec=None, *, isa=None, name=None, wisdom=None):
    """The kernel of a spec, compiled by the host compiler (once: see $XDG_CACHE_HOME) and called with NumPy's arrays.

    target: a spec of the zoo, as in "sdpa<1,8,512,64,true>", or the path of a header that defines `spec`.
    isa: "avx2", or several: ["avx2", "avx512"]; default: all, of which each call takes the best that the CPU has.
    name, wisdom: as --name and --wisdom of `attune gen`.

    kernel.pack(wq=.., ..) is the kernel with those weights; kernel(x, ..) calls it: help(kernel) shows shapes.
    kernel.source is the C++ by name of file, kernel.explain() what was decided and why, kernel.benchmark() times it.
    Raises attune.Error if the spec is wrong, RuntimeError if the kernel does not compile.
    """
    what = [str(target) if spec is None else os.path.abspath(target)]
    if spec is not None:
        what += ["--spec", spec]
    if isa is not None:
        what += ["--isa", isa if isinstance(isa, str) else ",".join(isa)]
    if wisdom is not None:
        what += ["--wisdom", os.path.abspath(wisdom)]
    named = [] if name is None else ["--name", name]
    with tempfile.TemporaryDirectory() as folder:
        run("gen", *what, *named, "--python", "--quiet", "-o", folder)
        (path,) = Path(folder).glob("*.py")
        module = _imported(path)

        class Kernel(module.Kernel):
            __doc__ = module.Kernel.__doc__

            def explain(self):
                """What was decided: the graph, the blocks that the mask keeps, memory, tiles, predicted time."""
                return run("explain", *what, *named)

            def benchmark(self, workers=1):
                """Times the kernel against naive code and the machine's peak, as `attune bench`: the medians, a dict for
                each row, as Google Benchmark names them ("run_name", "real_time", "pct_fma_peak", ..). Takes seconds."""
                with tempfile.TemporaryDirectory() as results:
                    report = Path(results) / "bench.json"
                    run("bench", *what, "--workers", workers, "--json", report)
                    return [row for row in json.loads(report.read_text())["benchmarks"] if row.get("aggregate_name") == "median"]

        return Kernel()
