"""Weights by name from a model's files: `attune pack`, and attune.weights for the same files."""
import json
import struct
import tempfile
import unittest
import zipfile
from pathlib import Path

import numpy as np

import attune
from attune.command import run

SPEC = "textbook_mha<2,64,256,4>"  # wq, wk, wv, wo, each [256, 256]: as many elements as a half has values
TYPES = {"F32": "<f4", "F16": "<f2", "BF16": "<u2", "F64": "<f8", "I32": "<i4"}
random = np.random.default_rng(1)
everything = np.arange(65536, dtype="<u2").reshape(256, 256)


def file_of(tensors, change=lambda header: None):
    """The bytes of a safetensors file of {name: (type, array)}, its header changed first."""
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, (dtype, array) in tensors.items():
        raw = np.ascontiguousarray(array, TYPES[dtype]).tobytes()
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    change(header)
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


class Weights(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.model = Path(self.folder.name, "model.safetensors")
        self.out = Path(self.folder.name, "packed.safetensors")
        self.tensors = {
            "layer.q": ("F16", everything.view("<f2")),
            "layer.k": ("BF16", everything),
            "wv": ("F32", random.standard_normal((256, 256), dtype=np.float32)),
            "layer.o": ("F32", random.standard_normal((256, 256), dtype=np.float32)),
            "wide": ("F32", np.zeros((256, 512), np.float32)),
            "double": ("F64", np.zeros((256, 256))),
            "a": ("F16", np.ones((3,), "<f2")),
        }
        self.names = {"wq": "layer.q", "wk": "layer.k", "wo": "layer.o"}

    def pack(self, names=None, *more):
        names = self.names if names is None else names
        options = ["--map", ",".join(f"{a}={b}" for a, b in names.items())] if names else []
        return run("pack", SPEC, "--weights", self.model, *options, *more, "-o", self.out)

    def test_converted(self):
        self.model.write_bytes(file_of(self.tensors))
        self.pack()
        with np.errstate(invalid="ignore"):
            right = {"wq": everything.view("<f2").astype("<f4"), "wk": (everything.astype("<u4") << 16).view("<f4"), "wv": self.tensors["wv"][1], "wo": self.tensors["layer.o"][1]}
        # As docs/using.md says that C reads it: the weights in order, behind a header.
        raw = self.out.read_bytes()
        start = 8 + struct.unpack("<Q", raw[:8])[0]
        self.assertEqual((start % 64, len(raw)), (0, start + 4 * 4 * 65536))
        np.testing.assert_array_equal(np.frombuffer(raw, "<f4", offset=start), np.concatenate([a.ravel() for a in right.values()]))
        for got in (attune.weights(self.out), attune.weights(self.model, {**self.names, "wv": "wv"})):
            self.assertEqual(set(got), set(right))
            for name, array in right.items():
                self.assertEqual(got[name].dtype, np.float32)
                np.testing.assert_array_equal(got[name], array)
        self.assertEqual(set(attune.weights(self.model)), set(self.tensors) - {"double"})

    def test_several_files(self):
        second = Path(self.folder.name, "second.safetensors")
        self.model.write_bytes(file_of({n: t for n, t in self.tensors.items() if n != "wv"}))
        second.write_bytes(file_of({"wv": self.tensors["wv"]}))
        self.pack(None, "--weights", second)
        np.testing.assert_array_equal(attune.weights(self.out)["wv"], self.tensors["wv"][1])
        np.testing.assert_array_equal(attune.weights([self.model, second], {"wv": "wv"})["wv"], self.tensors["wv"][1])
        self.model.write_bytes(file_of(self.tensors))
        with self.assertRaisesRegex(attune.Error, "wv is in .*model.safetensors and in .*second.safetensors"):
            self.pack(None, "--weights", second)
        with self.assertRaisesRegex(ValueError, "wv is in another of the files"):
            attune.weights([self.model, second])

    def test_npz(self):
        path = Path(self.folder.name, "model.npz")
        np.savez(path, wq=everything.view("<f2").T, n=np.arange(3))
        with np.errstate(invalid="ignore"):
            np.testing.assert_array_equal(attune.weights(path)["wq"], everything.view("<f2").T.astype("<f4"))
        with self.assertRaisesRegex(ValueError, "n is of int64"):
            attune.weights(path, {"wq": "n"})
        path.write_bytes(path.read_bytes()[:-30])
        with self.assertRaisesRegex(ValueError, "is no .npz file"):
            attune.weights(path)

    def test_npz_packed(self):
        self.model = self.model.with_suffix(".npz")
        whole = {"layer.q": everything.view("<f2").T, "layer.k": self.tensors["wv"][1].T, "wv": self.tensors["wv"][1], "layer.o": self.tensors["layer.o"][1]}
        beside = {"double": np.zeros((256, 256)), "n": np.arange(3), "big": np.zeros((256, 256), ">f4"), "rows": np.zeros(3, [("a", "f4")])}
        for save in (np.savez, np.savez_compressed):
            with open(self.model, "wb") as file:
                save(file, **whole, **beside)
            self.pack()
            got = attune.weights(self.out)
            with np.errstate(invalid="ignore"):
                for ours, theirs in {**self.names, "wv": "wv"}.items():
                    np.testing.assert_array_equal(got[ours], whole[theirs].astype("<f4"))
            self.out.unlink()
            for theirs, message in {"double": "double is of F64; weights are F32", "big": "big is of >f4; weights", "rows": r"wq \[256, 256\]: rows has shape \[3\]", "q": "there is no q in .*model.npz"}.items():
                self.packing_fails(message, {**self.names, "wq": theirs})
            raw = self.model.read_bytes()
            for size in (0, 100, len(raw) // 2, len(raw) - 1):
                self.damaged(raw[:size], "is no .npz file")
            flipped = bytearray(raw)
            flipped[raw.index(b"layer.o.npy") + 1000] ^= 64
            self.model.write_bytes(flipped)
            self.packing_fails("cannot read layer.o of .*model.npz: ")
        self.model.unlink()
        self.packing_fails("cannot read .*model.npz: No such file")
        for content, message in {b"": "ends too early", b"PNG" * 9: "does not begin as an array", b"\x93NUMPY\1\0\x09\0{'descr':": "has no descr"}.items():
            with zipfile.ZipFile(self.model, "w") as archive:
                archive.writestr("wq.npy", content)
            self.packing_fails(f"is no .npz file: wq.npy: it.* {message}")
        with zipfile.ZipFile(self.model, "w") as archive:  # more is said than there is
            archive.writestr("wq.npy", b"\x93NUMPY\1\0\x4f\0" + b"{'descr': '<f4', 'fortran_order': False, 'shape': (256, 256), }".ljust(79) + bytes(4096))
        self.packing_fails(r"is no .npz file: wq.npy: wq \[256, 256\] of F32 takes 4096 bytes")

    def packing_fails(self, message, names=None):
        with self.assertRaisesRegex(attune.Error, message):
            self.pack(names)
        self.assertFalse(self.out.exists())

    def test_wrong_names(self):
        self.model.write_bytes(file_of(self.tensors))
        self.packing_fails(r"(?s)does not get its weights:\n  wq \[256, 256\]: there is no q in .*model.safetensors\n  wk \[256, 256\]: wide has shape \[256, 512\]\n  wo \[256, 256\]: there is no wo .*--map wo=\.\.", {"wq": "q", "wk": "wide"})
        self.packing_fails("double is of F64; weights are F32, F16 or BF16", {**self.names, "wq": "double"})
        self.packing_fails(r"has no weight of this name; it has wq \[256, 256\]", {**self.names, "bq": "layer.q"})
        self.packing_fails("--map wq=: write kernel's name=file's name", {"wq": ""})
        with self.assertRaisesRegex(attune.Error, "wq is mapped twice"):
            self.pack(None, "--map", "wq=layer.k")
        with self.assertRaisesRegex(attune.Error, "sdpa<1,3,77,40,true> has no weights"):
            run("pack", "sdpa<1,3,77,40,true>", "--weights", self.model)
        with self.assertRaisesRegex(ValueError, "there is no layer.qq in .*; did you mean layer.q?"):
            attune.weights(self.model, {"wq": "layer.qq"})
        with self.assertRaisesRegex(ValueError, "double is of F64"):
            attune.weights(self.model, {"wq": "double"})

    def damaged(self, content, message):
        """Both readers refuse it."""
        self.model.write_bytes(content)
        self.packing_fails(message)
        with self.assertRaisesRegex(ValueError, message):
            attune.weights(self.model)

    def test_damaged_files(self):
        def changed(place, value):
            return file_of(self.tensors, lambda header: header["wv"].__setitem__(place, value))

        whole = file_of(self.tensors)
        self.damaged(whole[:-1], "is no safetensors file: a ends at byte .* is it whole")
        self.damaged(whole[:100], "is it whole")
        self.damaged(whole[:5], "has 5 bytes, .* is it whole")
        self.damaged(b"", "is it whole")
        self.damaged(struct.pack("<Q", 2**63) + whole[8:], "is it whole")
        self.damaged(struct.pack("<Q", 9) + b"[1, 2, 3]", "header can't be read")
        self.damaged(struct.pack("<Q", 4) + b"nope", "header can't be read")
        self.damaged(file_of(self.tensors, lambda header: header["wv"].pop("dtype")), "header can't be read")
        self.damaged(changed("data_offsets", [0, 2**62]), "wv ends at byte .* is it whole")
        self.damaged(changed("data_offsets", [8, 4]), "wv")
        self.damaged(changed("data_offsets", [-4, 4]), "no safetensors file")
        self.damaged(changed("data_offsets", [0]), "no safetensors file")
        self.damaged(changed("shape", [256, 257]), r"wv [\[(]256, 257[\])] of F32 takes 262144 bytes")
        self.damaged(changed("shape", [2**40, 2**40]), "wv .* of F32 takes 262144 bytes")
        self.damaged(changed("shape", [256, -256]), "no safetensors file")
        self.damaged(changed("shape", "wide"), "no safetensors file")
        self.model.unlink()
        with self.assertRaisesRegex(attune.Error, "cannot read .*model.safetensors: No such file"):
            self.pack()
        with self.assertRaises(FileNotFoundError):
            attune.weights(self.model)


if __name__ == "__main__":
    unittest.main()
