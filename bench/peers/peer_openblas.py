"""OpenBLAS's sgemm from Debian's library. It takes no packed weights: every call packs them anew."""
import ctypes
import ctypes.util
import functools
import glob
import time

from peers import memory
from peers.cases import Projection
from peers.contender import Contender, Offer

PEER = "OpenBLAS"
ROW_MAJOR, AS_IS, TRANSPOSED = 101, 111, 112  # cblas.h


@functools.cache
def _library():
    # The serial build if it is there: the threaded one pays for the choice of a thread.
    for path in [*sorted(glob.glob("/usr/lib/*/openblas-serial/libopenblas.so.0")), ctypes.util.find_library("openblas")]:
        if path:
            lib = ctypes.CDLL(path)
            lib.openblas_get_config.restype = lib.openblas_get_corename.restype = ctypes.c_char_p
            lib.openblas_set_num_threads(1)
            return lib
    raise OSError("no libopenblas (Debian's libopenblas0-serial)")


def version():
    lib = _library()
    return f"{lib.openblas_get_config().decode().split()[1]} ({lib.openblas_get_corename().decode()})"


def _product(case, x, w, y, order):
    """y [m, n] = x [m, k] w, with w [n, k] if it is TRANSPOSED, else [k, n]."""
    real, integer = ctypes.c_float, ctypes.c_int
    m, k, n = case.seq, case.features_in, case.features_out
    arguments = [integer(a) for a in (ROW_MAJOR, AS_IS, order, m, n, k)]
    arguments += [real(1), ctypes.c_void_p(x.ctypes.data), integer(k), ctypes.c_void_p(w.ctypes.data), integer(k if order == TRANSPOSED else n)]
    arguments += [real(0), ctypes.c_void_p(y.ctypes.data), integer(n)]
    return functools.partial(_library().cblas_sgemm, *arguments)


def _seconds(call, calls=20):
    least = float("inf")
    for _ in range(calls):
        begin = time.perf_counter()
        call()
        least = min(least, time.perf_counter() - begin)
    return least


def _projection(problem):
    """Which order of the weights is faster depends on the shape; the weights lie still, so the better one is free."""
    x, w = problem.inputs["x"], problem.weights["w"]
    y = memory.empty(*problem.expected.shape)
    orders = {"w [out, in]": (memory.copy(w), TRANSPOSED), "w [in, out]": (memory.copy(w.T), AS_IS)}
    calls = {note: _product(problem.case, x, weights, y, order) for note, (weights, order) in orders.items()}
    note = min(calls, key=lambda n: _seconds(calls[n]))
    return Contender(calls[note], lambda: y, note=note)


def offers(problem):
    if not isinstance(problem.case, Projection):
        return []
    return [Offer("OpenBLAS sgemm", PEER, lambda: _projection(problem))]
