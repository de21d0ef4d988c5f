"""OpenBLAS's sgemm from Debian's library. It has no packed weights, so every call packs them anew."""
import ctypes
import ctypes.util
import functools
import glob

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


def _projection(problem):
    case = problem.case
    x, w = problem.inputs["x"], memory.copy(problem.weights["w"])
    y = memory.empty(*problem.expected.shape)
    real, integer = ctypes.c_float, ctypes.c_int
    m, k, n = case.seq, case.features_in, case.features_out
    arguments = [integer(a) for a in (ROW_MAJOR, AS_IS, TRANSPOSED, m, n, k)]
    arguments += [real(1), ctypes.c_void_p(x.ctypes.data), integer(k), ctypes.c_void_p(w.ctypes.data), integer(k)]
    arguments += [real(0), ctypes.c_void_p(y.ctypes.data), integer(n)]
    return Contender(functools.partial(_library().cblas_sgemm, *arguments), lambda: y)


def offers(problem):
    if not isinstance(problem.case, Projection):
        return []
    return [Offer("OpenBLAS sgemm", PEER, lambda: _projection(problem))]
