"""attune.generate, and the module of `attune gen --python` by itself."""
import os
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from unittest import mock

import numpy as np

import attune
import reference
from attune.command import run

SPECS = Path(__file__).with_name("specs.h")
random = np.random.default_rng(1)


def normal(*shape):
    return random.standard_normal(shape, dtype=np.float32)


class Padded(unittest.TestCase):
    """No weights, integers, two outputs."""

    @classmethod
    def setUpClass(cls):
        cls.kernel = attune.generate(SPECS, "padded", isa="portable")
        cls.q, cls.k, cls.v = normal(2, 2, 12, 8), normal(2, 2, 12, 8), normal(2, 2, 12, 8)
        cls.lengths = np.array([5, 12], np.int32)
        cls.y, cls.lse = reference.attention(cls.q, cls.k, cls.v, np.arange(12) < cls.lengths[:, None, None, None])

    def refused(self, error, message, *arrays, **named):
        with self.assertRaisesRegex(error, message):
            self.kernel(*arrays, **named)

    def test_call(self):
        result = self.kernel(self.q, self.k, self.v, self.lengths)
        self.assertLess(abs(result.y - self.y).max(), 1e-6)
        self.assertLess(abs(result.lse - self.lse).max(), 1e-6)
        again = self.kernel(v=self.v, lengths=self.lengths, q=self.q, k=self.k, workers=3)
        self.assertTrue((again.y == result.y).all() and (again.lse == result.lse).all())

    def test_out(self):
        y, lse = np.full((2, 2, 12, 8), np.nan, np.float32), np.full((2, 2, 12), np.nan, np.float32)
        result = self.kernel(self.q, self.k, self.v, self.lengths, out=(y, lse))
        self.assertIs(result.y, y)
        self.assertLess(abs(y - self.y).max(), 1e-6)
        self.refused(TypeError, "out holds 1 arrays, not 2", self.q, self.k, self.v, self.lengths, out=[y])
        self.refused(ValueError, "overlaps", self.q, self.k, self.v, self.lengths, out=(self.q, lse))
        y.flags.writeable = False
        self.refused(ValueError, "y can't be written to", self.q, self.k, self.v, self.lengths, out=(y, lse))

    def test_threads_at_the_same_time(self):
        inputs = [normal(2, 2, 12, 8) for _ in range(4)]
        alone = [self.kernel(q, self.k, self.v, self.lengths).y for q in inputs]
        wrong = []

        def call(q, right):
            for _ in range(300):
                if not (self.kernel(q, self.k, self.v, self.lengths).y == right).all():
                    wrong.append(q)

        threads = [threading.Thread(target=call, args=pair) for pair in zip(inputs, alone)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])

    def test_refused(self):
        q, k, v, n = self.q, self.k, self.v, self.lengths
        self.refused(TypeError, "q is of float64, not float32", q.astype(float), k, v, n)
        self.refused(TypeError, "lengths is of int64, not int32", q, k, v, n.astype(np.int64))
        self.refused(ValueError, r"v has shape \(2, 2, 12\), not \(2, 2, 12, 8\)", q, k, v[..., 0], n)
        self.refused(ValueError, "k does not lie densely", q, k[:, :, ::-1], v, n)
        self.refused(TypeError, "v is a list", q, k, v.tolist(), n)
        self.refused(TypeError, r"missing input: lengths \(2,\)", q, k, v)
        self.refused(TypeError, "no input 'bias'; it has q, k, v, lengths", q, k, v, n, bias=v)
        self.refused(TypeError, "takes 4 arrays", q, k, v, n, v)
        self.refused(TypeError, "k is given twice", q, k, k=k)
        self.refused(ValueError, "workers=0", q, k, v, n, workers=0)

    def test_text(self):
        self.assertIn("lengths: int32 [2]", self.kernel.__doc__)
        self.assertEqual(list(self.kernel.source), ["padded.h", "padded.cpp", "padded_portable.cpp"])
        self.assertIn("kv_index < lengths(batch_index)", self.kernel.explain())


class Llama(unittest.TestCase):
    """Weights, and the two forms of RoPE."""

    def test_weights(self):
        kernel = attune.generate(SPECS, "llama", isa="portable")
        w = {"wq": normal(32, 16), "wk": normal(16, 16), "wv": normal(16, 16), "wo": normal(16, 32)}
        x = normal(1, 6, 16)
        right = reference.grouped_causal_block(x, w)

        def error(result):
            return abs(result - right).max() / abs(right).max()

        with self.assertRaisesRegex(TypeError, "no weights yet"):
            kernel(x)
        w["wq_hf"], w["wk_hf"] = reference.huggingface(w["wq"], 4), reference.huggingface(w["wk"], 2)
        packed = kernel.pack(w)
        self.assertLess(error(packed(x).meta), 1e-5)
        self.assertLess(error(packed(x).hf), 1e-5)
        mistaken = kernel.pack({**w, "wq_hf": w["wq"], "wk_hf": w["wk"]})
        self.assertGreater(error(mistaken(x).hf), 0.01)
        self.assertLess(error(packed(x).hf), 1e-5)  # other weights are another kernel's

        for kind, message, wrong in (
            (TypeError, r"missing weight: wv \(16, 16\), wo \(16, 32\)", {n: w[n] for n in ("wq", "wk", "wq_hf", "wk_hf")}),
            (ValueError, r"wo has shape \(32, 16\), not \(16, 32\)", {**w, "wo": np.ascontiguousarray(w["wo"].T)}),
            (ValueError, "wo does not lie densely", {**w, "wo": np.ascontiguousarray(w["wo"].T).T}),
            (TypeError, "no weight 'bq'", {**w, "bq": w["wq"]}),
        ):
            with self.assertRaisesRegex(kind, message):
                kernel.pack(wrong)


class Alone(unittest.TestCase):
    def test_module(self):
        """Without the package: by the files of gen alone."""
        with tempfile.TemporaryDirectory() as folder:
            run("gen", SPECS, "--spec", "padded", "--isa", "portable", "--python", "-o", folder, "--quiet")
            code = "import numpy as np; from padded import Kernel; q = np.ones((2, 2, 12, 8), np.float32); print(Kernel()(q, q, q, np.array([3, 3], np.int32)).y.mean())"
            done = subprocess.run([sys.executable, "-B", "-c", code], cwd=folder, env={**os.environ, "PYTHONPATH": ""}, capture_output=True, text=True)
            self.assertEqual((done.stdout, done.stderr), ("1.0\n", ""))

    def refused(self, message, error=RuntimeError, **environment):
        with tempfile.TemporaryDirectory() as cache, mock.patch.dict(os.environ, {"XDG_CACHE_HOME": cache, **environment}):
            with self.assertRaisesRegex(error, message):
                attune.generate("sdpa<1,3,77,40,true>", isa="portable")
            self.assertEqual([p for p in Path(cache).rglob("*") if p.is_file()], [])

    def test_no_compiler(self):
        self.refused("no host compiler: cannot run '/no/such/compiler'", CXX="/no/such/compiler")
        self.refused("does not compile: exit code 1", CXX="false")
        self.refused("can't be kept in /proc/none/attune: .*XDG_CACHE_HOME", XDG_CACHE_HOME="/proc/none")
        self.refused("cannot run /no/such/attune", attune.Error, ATTUNE="/no/such/attune")

    def test_wrong_spec(self):
        with self.assertRaisesRegex(attune.Error, "did you mean 'sdpa"):
            attune.generate("spda")
        with self.assertRaisesRegex(attune.Error, "there is no file .*none.h"):
            attune.generate("none.h", "x")
        with self.assertRaisesRegex(attune.Error, "no ISA 'avx1024'"):
            attune.generate("sdpa<1,3,77,40,true>", isa=["avx2", "avx1024"])


if __name__ == "__main__":
    unittest.main()
