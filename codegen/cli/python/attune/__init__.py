"""Attention kernels for CPUs, compiled from specs of fixed shape, for NumPy's arrays.

    import attune
    kernel = attune.generate("sdpa<1,8,512,64,true>")             # a spec of the zoo
    kernel = attune.generate("my_attention.h", "my_attention<512>")  # or of a header of yours
    out = kernel(q, k, v)

generate() runs the command line, `attune gen --python`, and imports the module that it writes.
"""
from attune.command import Error
from attune.kernel import generate
from attune.model_file import weights

__all__ = ["Error", "generate", "weights"]
