"""Weights by name, from the files that models come in."""
import difflib
import json
import math
import os
import zipfile

import numpy as np

FLOATS = {"F32": "<f4", "F16": "<f2", "BF16": "<u2"}


def _safetensors(path):
    """By name the type, and a function that reads it, of a file as https://github.com/huggingface/safetensors says.
    What the file says of itself is checked before it is believed."""
    size = os.path.getsize(path)

    def wrong(why):
        return ValueError(f"{path} is no safetensors file: {why}")

    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if size < 8 or length > size - 8:
            raise wrong(f"it has {size} bytes, and its header would end at {8 + length}: is it whole?")
        try:
            header = json.loads(file.read(length))
            entries = {name: (e["dtype"], tuple(e["shape"]), *e["data_offsets"]) for name, e in header.items() if name != "__metadata__"}
        except (ValueError, KeyError, TypeError, AttributeError) as e:
            raise wrong(f"its header can't be read ({e})") from None

    def entry(name, dtype, shape, *place):
        if len(place) != 2 or not all(type(n) is int and n >= 0 for n in (*shape, *place)) or place[0] > place[1]:
            raise wrong(f"of {name} the shape or the place")
        begin, end = (8 + length + n for n in place)
        if end > size:
            raise wrong(f"{name} ends at byte {end} of {size}: is it whole?")

        def read():
            kind = np.dtype(FLOATS[dtype])
            if end - begin != kind.itemsize * math.prod(shape):
                raise wrong(f"{name} {shape} of {dtype} takes {end - begin} bytes")
            stored = np.memmap(path, kind, "r", begin, shape) if end > begin else np.empty(shape, kind)
            if dtype == "BF16":  # the upper half of an f32
                return (stored.astype("<u4") << 16).view("<f4")
            return np.require(stored, "<f4", "CA")

        return dtype, read

    return {name: entry(name, *e) for name, e in entries.items()}


def _npz(path):
    try:
        with open(path, "rb") as file, np.load(file) as archive:
            arrays = dict(archive)
    except (zipfile.BadZipFile, ValueError, EOFError) as e:
        raise ValueError(f"{path} is no .npz file: {e}") from None
    types = {"float32": "F32", "float16": "F16"}
    return {name: (types.get(a.dtype.name, a.dtype.name), lambda a=a: np.require(a, "<f4", "CA")) for name, a in arrays.items()}


def weights(files, names=None):
    """Arrays by name, float32, from .safetensors and .npz files: what kernel.pack() takes.

    files: a path, or several of one model. names: which to take, as {"wq": "layers.0.self_attn.q_proj.weight", ..}
    with the kernel's names first; default: all floats under their own. F16 and BF16 are converted up, F32 is mapped and
    not copied. Raises ValueError if there is none of a name, a file is damaged, or a type is not of floats.
    """
    files = [files] if isinstance(files, (str, os.PathLike)) else list(files)
    stored = {}
    for path in files:
        for name, entry in (_npz if str(path).endswith(".npz") else _safetensors)(path).items():
            if name in stored:
                raise ValueError(f"{path}: {name} is in another of the files, too")
            stored[name] = entry
    if names is None:
        names = {name: name for name, (dtype, _) in stored.items() if dtype in FLOATS}
    taken = {}
    for ours, theirs in names.items():
        if theirs not in stored:
            near = difflib.get_close_matches(theirs, stored, 1)
            raise ValueError(f"there is no {theirs} in {', '.join(map(str, files))}{f'; did you mean {near[0]}?' if near else ''}")
        dtype, read = stored[theirs]
        if dtype not in FLOATS:
            raise ValueError(f"{theirs} is of {dtype}; weights are of {', '.join(FLOATS)}")
        taken[ours] = read()
    return taken
