"""One configuration in one process, pinned to one core: builds, verifies and times everybody.

    python -m peers.worker CASE --kernel FILE --libraries FOLDER --rounds N --result FILE [--without NAME]...

Says on stderr, in lines that begin with MARK, whose turn it is, so that a crash has a name.
"""
import argparse
import importlib
import json
import os
import sys
import time
import traceback
from pathlib import Path

from peers.cases import Attention, Projection, all_cases

MARK = "@@ "
ONE_THREAD = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "TORCHINDUCTOR_COMPILE_THREADS")
# Module: whether it takes part in a case.
PEERS = {
    "peer_torch": lambda case: True,
    "peer_onnxruntime": lambda case: True,
    "peer_openvino": lambda case: True,
    "peer_ggml": lambda case: isinstance(case, Attention),
    "peer_openblas": lambda case: isinstance(case, Projection),
    "peer_onednn": lambda case: isinstance(case, Projection),
}
NAMES = {
    "peer_torch": "PyTorch", "peer_onnxruntime": "ONNX Runtime", "peer_openvino": "OpenVINO",
    "peer_ggml": "ggml", "peer_openblas": "OpenBLAS", "peer_onednn": "oneDNN",
}


def mark(name):
    print(f"{MARK}{name}", file=sys.stderr, flush=True)


def first_line(error):
    """What an exception says, in one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0]}"[:300] if lines else type(error).__name__


def share_of(core, seconds=0.05):
    """The share of a core that a busy loop gets."""
    os.sched_setaffinity(0, {core})
    cpu, begin = time.thread_time(), time.perf_counter()
    while time.perf_counter() - begin < seconds:
        pass
    return (time.thread_time() - cpu) / (time.perf_counter() - begin)


def pin_to_one_core():
    """Keeps this process, and the threads that libraries start later, on the idlest of a few cores it may use."""
    os.sched_setaffinity(0, {max(sorted(os.sched_getaffinity(0))[-8:], key=share_of)})


def import_peers(case, libraries, without):
    """(offers makers by peer, versions, unavailable): whoever can't be imported is listed, and the rest go on."""
    makers, versions, unavailable = {}, {}, {}
    for module, takes_part in PEERS.items():
        name = NAMES[module]
        if not takes_part(case):
            continue
        if name in without:
            unavailable[name] = "the process crashed while it was loaded"
            continue
        mark(name)
        folder = (libraries,) if module == "peer_onednn" else ()
        try:
            peer = importlib.import_module(f"peers.{module}")
            versions[name] = peer.version(*folder)
            makers[name] = lambda problem, peer=peer, folder=folder: peer.offers(problem, *folder)
        except Exception as e:
            traceback.print_exc()
            unavailable[name] = first_line(e)
    return makers, versions, unavailable


def enter(offer, problem):
    """Builds and verifies: (contender or None, what is to be told of it)."""
    from peers.contender import Refused

    told = {"name": offer.name, "peer": offer.peer}
    try:
        contender = offer.build()
        contender.call()
        told["error"] = problem.error_of(contender.output())
    except Refused as e:
        return None, told | {"status": "refuses", "message": str(e)}
    except Exception as e:
        traceback.print_exc()
        return None, told | {"status": "refuses", "message": first_line(e)}
    told |= {"tolerance": contender.tolerance, "note": contender.note}
    if told["error"] > contender.tolerance:
        return None, told | {"status": "fails", "message": f"wrong: error {told['error']:.1e} of the root mean square, {contender.tolerance:.0e} allowed"}
    return contender, told | {"status": "ok", "message": ""}


def measure(case, kernel, libraries, rounds, without):
    from peers import attune_kernel, memory
    from peers.native import CACHE_BYTES, MEMORY_BYTES, Native
    from peers.problem import Problem
    from peers.compile import native_library
    from peers.summary import summarise
    from peers.timing import take_samples

    native = Native(native_library(libraries))
    makers, versions, unavailable = import_peers(case, libraries, without)
    mark("reference")
    problem = Problem(case)
    offers = attune_kernel.offers(problem, kernel)
    for make in makers.values():
        offers += make(problem)
    told, contenders = [], {}
    for offer in offers:
        if offer.name in without:
            told.append({"name": offer.name, "peer": offer.peer, "status": "fails", "message": "the process crashed"})
            continue
        mark(offer.name)
        contender, what = enter(offer, problem)
        told.append(what)
        if contender:
            contenders[offer.name] = contender
    told += [{"name": name, "peer": name, "status": "not available", "message": why} for name, why in unavailable.items()]
    mark("timing")
    samples, share = take_samples({name: c.call for name, c in contenders.items()}, native.peak, rounds)
    summaries = summarise(samples, attune_kernel.NAME, case.flops) if samples else {}
    for what in told:
        name = what["name"]
        if name in summaries:
            what |= summaries[name] | {"seconds": [s for s, _ in samples[name]], "peaks": [p for _, p in samples[name]]}
    return {
        "case": case.name,
        "spec": case.spec,
        "flops": case.flops,
        "bytes": case.bytes,
        "isa": native.isa,
        "rounds": max((len(s) for s in samples.values()), default=0),
        "share_of_core": share,
        "on_huge_pages": memory.on_huge_pages(),
        "peak_flops": max((p for rounds_ in samples.values() for _, p in rounds_), default=0),
        "read_bandwidth": {"memory": native.read_bandwidth(MEMORY_BYTES, 3), "L2": native.read_bandwidth(CACHE_BYTES, 500)},
        "call_seconds": native.call_seconds(),
        "versions": versions,
        "contenders": told,
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("case")
    parser.add_argument("--kernel", type=Path, required=True)
    parser.add_argument("--libraries", type=Path, required=True)
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--result", type=Path, required=True)
    parser.add_argument("--without", action="append", default=[])
    args = parser.parse_args()
    for variable in ONE_THREAD:
        os.environ[variable] = "1"
    pin_to_one_core()
    case = next(c for c in all_cases(long=True) if c.name == args.case)
    result = measure(case, args.kernel, args.libraries, args.rounds, args.without)
    args.result.write_text(json.dumps(result))


if __name__ == "__main__":
    main()
