"""The FMA peak, the read bandwidth and the cost of a call, as this process sees them."""
import ctypes
import time

from peers import memory

# More than a core's share of any cache; and what the second level of most holds, but not the first.
MEMORY_BYTES, CACHE_BYTES = 256 << 20, 192 << 10


class Native:
    def __init__(self, library):
        self._lib = ctypes.CDLL(str(library))
        self._lib.peers_peak_flops.restype = ctypes.c_double
        self._lib.peers_fastest_isa.restype = ctypes.c_char_p
        self._lib.peers_read.restype = ctypes.c_long
        self.isa = self._lib.peers_fastest_isa().decode()
        self._isa = ctypes.c_char_p(self.isa.encode())

    def peak(self):
        """FLOP/s of independent multiply-adds in registers; takes about 0.2 ms."""
        return self._lib.peers_peak_flops(self._isa)

    def read_bandwidth(self, size, tries):
        """Bytes/s of the fastest of a few sequential reads of `size` bytes."""
        room = memory.empty(size, dtype="uint8")
        at, size_ = ctypes.c_void_p(room.ctypes.data), ctypes.c_long(size)
        least = float("inf")
        for _ in range(tries):
            begin = time.perf_counter()
            self._lib.peers_read(at, size_)
            least = min(least, time.perf_counter() - begin)
        return size / least

    def call_seconds(self, calls=20000):
        """Seconds that Python takes to call a C function that does nothing; contained in every time."""
        nothing = self._lib.peers_nothing
        begin = time.perf_counter()
        for _ in range(calls):
            nothing()
        return (time.perf_counter() - begin) / calls
