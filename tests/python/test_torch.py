"""A kernel as a custom op of PyTorch, as docs/using.md shows it; with torch.compile and without."""
import unittest

import numpy as np
import torch

import attune
import reference

kernel = attune.generate("sdpa<1,3,77,40,true>", isa="portable")


@torch.library.custom_op("attune_test::attend", mutates_args=())
def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(kernel(*(t.numpy(force=True) for t in (q, k, v))))


attend.register_fake(lambda q, k, v: torch.empty_like(q))


class CustomOp(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        self.q, self.k, self.v = (torch.randn(1, 3, 77, 40) for _ in range(3))
        self.right, _ = reference.attention(*(t.numpy() for t in (self.q, self.k, self.v)), np.tri(77, dtype=bool))

    def test_eager(self):
        self.assertLess(abs(attend(self.q, self.k, self.v).numpy() - self.right).max(), 2e-6)
        with self.assertRaisesRegex(ValueError, r"q has shape \(1, 3, 76, 40\), not \(1, 3, 77, 40\)"):
            attend(self.q[:, :, 1:].contiguous(), self.k, self.v)

    def test_opcheck(self):
        torch.library.opcheck(attend, (self.q, self.k, self.v), test_utils=("test_schema", "test_faketensor"))

    def test_compiled(self):
        def model(q, k, v):
            return 2 * attend(q + 1, k, v) - 1

        compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
        right, _ = reference.attention((self.q + 1).numpy(), self.k.numpy(), self.v.numpy(), np.tri(77, dtype=bool))
        self.assertLess(abs(compiled(self.q, self.k, self.v).numpy() - (2 * right - 1)).max(), 4e-6)


if __name__ == "__main__":
    unittest.main()
