"""Arrays on huge pages: what is measured is the kernel, not the table of pages."""
import mmap

import numpy as np

HUGE_PAGE = 2 << 20
_mappings = []  # alive as long as the process: arrays point into them


def on_huge_pages():
    """Of the memory of this process, (MB on huge pages, MB in all); (0, 0) if the system does not say."""
    try:
        lines = dict(line.split()[:2] for line in open("/proc/self/smaps_rollup") if line.endswith("kB\n"))
    except OSError:
        return 0, 0
    return int(lines["AnonHugePages:"]) >> 10, int(lines["Anonymous:"]) >> 10


def empty(*shape, dtype=np.float32):
    """A zeroed array, aligned to a huge page of its own if the system grants one."""
    size = max(1, int(np.prod(shape)) * np.dtype(dtype).itemsize)
    # Private: what is shared between processes gets no huge pages.
    mapping = mmap.mmap(-1, (size + 2 * HUGE_PAGE - 1) // HUGE_PAGE * HUGE_PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        try:
            mapping.madvise(mmap.MADV_HUGEPAGE)  # a wish
        except OSError:
            pass
    whole = np.frombuffer(mapping, np.uint8)
    _mappings.append(mapping)
    start = -whole.ctypes.data % HUGE_PAGE
    array = whole[start : start + size].view(dtype).reshape(shape)
    array[...] = 0  # touched now, not by whoever comes first
    return array


def copy(array, dtype=None):
    """A contiguous copy of its own, on huge pages."""
    result = empty(*array.shape, dtype=dtype or array.dtype)
    result[...] = array
    return result
