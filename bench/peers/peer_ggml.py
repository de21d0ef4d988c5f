"""ggml's fused attention, through the C libraries that its Python package brings."""
import ctypes
import importlib.metadata
import importlib.util
from pathlib import Path

import numpy as np

from peers import memory
from peers.cases import Attention
from peers.contender import DENSE, Contender, Offer
from peers.variants import FULL

PEER = "ggml"
F32, F16, PRECISE = 0, 1, 10  # ggml_type, ggml_type, ggml_prec
HALF_TOLERANCE = 3e-2
SLOPES_SUM = 8  # max_bias: of so much, 8 heads have slopes 1/2 to 1/256
pointer, integer, real = ctypes.c_void_p, ctypes.c_int64, ctypes.c_float


def _folder():
    # Not imported: its declarations are older than the library beside them.
    return Path(importlib.util.find_spec("ggml").origin).parent / "lib"


def _library(stem):
    return ctypes.CDLL(str(sorted(_folder().glob(f"lib{stem}.so*"))[0]), mode=ctypes.RTLD_GLOBAL)


_base, _cpu = _library("ggml-base"), _library("ggml-cpu")


class InitParams(ctypes.Structure):
    _fields_ = [("mem_size", ctypes.c_size_t), ("mem_buffer", pointer), ("no_alloc", ctypes.c_bool)]


def _declare(library, name, result, *arguments):
    function = getattr(library, name)
    function.restype, function.argtypes = result, arguments
    return function


_init = _declare(_base, "ggml_init", pointer, InitParams)
_new_tensor = _declare(_base, "ggml_new_tensor_3d", pointer, pointer, ctypes.c_int, integer, integer, integer)
_data_of = _declare(_base, "ggml_get_data", pointer, pointer)
_flash = _declare(_base, "ggml_flash_attn_ext", pointer, *[pointer] * 5, real, real, real)
_set_precision = _declare(_base, "ggml_flash_attn_ext_set_prec", None, pointer, ctypes.c_int)
_new_graph = _declare(_base, "ggml_new_graph", pointer, pointer)
_expand = _declare(_base, "ggml_build_forward_expand", None, pointer, pointer)
_compute = _declare(_base, "ggml_backend_graph_compute", ctypes.c_int, pointer, pointer)
_backend = _declare(_cpu, "ggml_backend_cpu_init", pointer)()
_declare(_cpu, "ggml_backend_cpu_set_n_threads", None, pointer, ctypes.c_int)(_backend, 1)


def version():
    return f"{importlib.metadata.version('ggml-py')} (ggml-py)"


def _mask(problem):
    """(What is added to scores [seq, seq] or None, what to say of it.) For ALiBi the operator has slopes of its own."""
    case = problem.case
    if case.variant is FULL:
        return None, ""
    query, key = np.arange(case.seq)[:, None], np.arange(case.seq)
    added = problem.inputs["bias"][0, 0] if case.variant.bias else key - query if case.variant.alibi else 0
    return np.where(problem.sees(query, key), added, -np.inf), DENSE


def _attention(problem, kind, tolerance):
    case = problem.case
    shape = (case.head_dim, case.seq, case.heads)  # fastest first: [1, heads, seq, head_dim] as it lies
    size = 8 * case.bytes + 2 * case.seq * case.seq + (16 << 20)
    room = memory.empty(size, dtype=np.uint8)
    context = _init(InitParams(size, room.ctypes.data, False))

    def tensor(array, kind, *ne):
        t = _new_tensor(context, kind, *ne)
        dtype = np.float32 if kind == F32 else np.float16
        bits = ctypes.c_uint8 * (array.size * np.dtype(dtype).itemsize)
        np.frombuffer(bits.from_address(_data_of(t)), dtype)[...] = array.ravel().astype(dtype)
        return t

    q = tensor(problem.inputs["q"], F32, *shape)
    k, v = (tensor(problem.inputs[n], kind, *shape) for n in "kv")
    mask, note = _mask(problem)
    if mask is not None:
        if kind == F32 and not np.array_equal(mask, mask.astype(np.float16)):
            tolerance, note = HALF_TOLERANCE, f"{note} in f16"  # it takes no other
        mask = tensor(mask, F16, case.seq, case.seq, 1)
    y = _flash(context, q, k, v, mask, case.head_dim**-0.5, SLOPES_SUM if case.variant.alibi else 0, case.variant.softcap)
    _set_precision(y, PRECISE)
    graph = _new_graph(context)
    _expand(graph, y)

    def call():
        if _compute(_backend, graph) != 0:
            raise RuntimeError("ggml_backend_graph_compute failed")

    def output():  # [seq, heads, head_dim] as it lies
        bits = (ctypes.c_float * problem.expected.size).from_address(_data_of(y))
        return np.ctypeslib.as_array(bits).reshape(1, case.seq, case.heads, case.head_dim).transpose(0, 2, 1, 3)

    call()
    return Contender(call, output, tolerance=tolerance, note=note)


def offers(problem):
    if not isinstance(problem.case, Attention):
        return []
    return [
        Offer("ggml, f32 cache", PEER, lambda: _attention(problem, F32, 1e-4)),
        Offer("ggml, f16 cache", PEER, lambda: _attention(problem, F16, HALF_TOLERANCE)),
    ]
