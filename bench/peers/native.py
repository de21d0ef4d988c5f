"""The FMA peak, the read bandwidth and the cost of a call, as this process sees them."""
import ctypes
import time

from peers import memory

READ_BYTES = 256 << 20  # more than a core's share of any cache


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

    def read_bandwidth(self, tries=3):
        """Bytes/s of the fastest of a few sequential reads."""
        room = memory.empty(READ_BYTES, dtype="uint8")
        at, size = ctypes.c_void_p(room.ctypes.data), ctypes.c_long(READ_BYTES)
        least = float("inf")
        for _ in range(tries):
            begin = time.perf_counter()
            self._lib.peers_read(at, size)
            least = min(least, time.perf_counter() - begin)
        return READ_BYTES / least

    def call_seconds(self, calls=20000):
        """Seconds that Python takes to call a C function that does nothing; contained in every time."""
        nothing = self._lib.peers_nothing
        begin = time.perf_counter()
        for _ in range(calls):
            nothing()
        return (time.perf_counter() - begin) / calls
