"""oneDNN's matmul, its weights in the format that it asks for; Debian's library behind a shim of ours."""
import ctypes
import functools

from peers import memory
from peers.cases import Projection
from peers.compile import HERE, shared_library
from peers.contender import Contender, Offer, Refused

PEER = "oneDNN"


@functools.cache
def _library(folder):
    lib = ctypes.CDLL(str(shared_library([HERE / "onednn.cpp"], folder / "onednn.so", ["-std=c++17", "-ldnnl"])))
    for function in (lib.onednn_error, lib.onednn_version, lib.onednn_implementation):
        function.restype = ctypes.c_char_p
    lib.onednn_new.restype = ctypes.c_void_p
    return lib


def version(folder):
    return _library(folder).onednn_version().decode()


def _projection(problem, folder):
    lib, case = _library(folder), problem.case
    x, w = problem.inputs["x"], memory.copy(problem.weights["w"])
    y = memory.empty(*problem.expected.shape)
    sizes = map(ctypes.c_long, (case.seq, case.features_in, case.features_out))
    product = lib.onednn_new(*sizes, *(ctypes.c_void_p(a.ctypes.data) for a in (x, w, y)))
    if not product:
        raise Refused(lib.onednn_error().decode())
    handle = ctypes.c_void_p(product)
    return Contender(functools.partial(lib.onednn_run, handle), lambda: y, note=lib.onednn_implementation(handle).decode())


def offers(problem, folder):
    if not isinstance(problem.case, Projection):
        return []
    return [Offer("oneDNN matmul", PEER, lambda: _projection(problem, folder))]
