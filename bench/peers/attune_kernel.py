"""The generated kernel, called through its C interface."""
import ctypes
import functools
import re

from peers import memory
from peers.contender import Contender, Offer

NAME = "Attune"


def _pointers(arrays):
    """A struct of pointers to the arrays, in order: NAME_args and NAME_weights are no more than that."""
    return (ctypes.c_void_p * len(arrays))(*[a.ctypes.data for a in arrays])


def _bytes(count):
    return memory.empty(max(64, count), dtype="uint8")


def flops_in(header):
    """What the generated interface says that one call takes."""
    return float(re.search(r"^#define kernel_FLOPS (\S+)", header, re.M).group(1))


def arguments_in(header):
    """The names of NAME_args' pointers, in order."""
    return re.findall(r"(\w+);", re.search(r"^typedef struct kernel_args \{(.*?)^\}", header, re.M | re.S).group(1))


def _build(problem, library):
    header = library.with_name("kernel.h").read_text()
    counted = flops_in(header)
    if counted != problem.case.countable_flops:
        raise ValueError(f"the interface counts {counted:.0f} FLOPs, the harness {problem.case.countable_flops}")
    lib = ctypes.CDLL(str(library))
    lib.kernel_workspace_bytes.restype = lib.kernel_packed_bytes.restype = ctypes.c_size_t
    packed_bytes = lib.kernel_packed_bytes()
    workspace_bytes = lib.kernel_workspace_bytes(1)
    packed, workspace = _bytes(packed_bytes), _bytes(workspace_bytes)
    if packed_bytes:
        lib.kernel_pack_weights(_pointers(list(problem.weights.values())), ctypes.c_void_p(packed.ctypes.data))
    out = memory.empty(*problem.expected.shape)
    args = _pointers([{**problem.inputs, "out": out}[name] for name in arguments_in(header)])
    at = [ctypes.c_void_p(packed.ctypes.data), ctypes.c_void_p(workspace.ctypes.data)]
    code = lib.kernel_checked(args, at[0], at[1], ctypes.c_size_t(workspace_bytes), 1, None, None)
    if code != 0:
        raise ValueError(f"it returned {code}")
    kernel = lib.kernel
    kernel.restype = None
    call = functools.partial(kernel, args, *at, ctypes.c_int(1), None, None)
    return Contender(call, lambda: out, note=f"workspace {workspace_bytes} bytes, packed weights {packed_bytes} bytes")


def offers(problem, library):
    return [Offer(NAME, NAME, lambda: _build(problem, library))]
