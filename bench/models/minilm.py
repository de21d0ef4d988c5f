"""all-MiniLM-L6-v2 (https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2): projections, attention and the
feed-forward halves of its six layers by generated kernels, sums and LayerNorm by NumPy."""
from pathlib import Path

import attune
import numpy as np

LAYERS, HEADS, MODEL, INNER = 6, 12, 384, 1536
EPSILON = 1e-12

# The kernels' names of the weights, and the model's, behind encoder.layer.N.
ATTENTION = {
    f"{kind}{ours}": f"attention.{theirs}.{name}"
    for kind, name in (("w", "weight"), ("b", "bias"))
    for ours, theirs in (("q", "self.query"), ("k", "self.key"), ("v", "self.value"), ("o", "output.dense"))
}
FEED_FORWARD = {"w1": "intermediate.dense.weight", "b1": "intermediate.dense.bias", "w2": "output.dense.weight", "b2": "output.dense.bias"}


def normalised(x, weight, bias):
    """LayerNorm (arXiv:1607.06450), in place."""
    x -= x.mean(-1, keepdims=True)
    x /= np.sqrt(np.einsum("...i,...i->...", x, x)[..., None] / x.shape[-1] + np.float32(EPSILON))
    x *= weight
    x += bias
    return x


class Encoder:
    """Of `batch` texts of at most `seq` tokens; `file` is model.safetensors."""

    def __init__(self, file, batch, seq):
        weights = attune.weights(file)
        self.words = weights["embeddings.word_embeddings.weight"]
        self.places = weights["embeddings.position_embeddings.weight"][:seq] + weights["embeddings.token_type_embeddings.weight"][0]

        def norm(name):
            return weights[f"{name}.LayerNorm.weight"], weights[f"{name}.LayerNorm.bias"]

        attention = attune.generate(f"bert<{batch},{seq},{MODEL},{HEADS}>")
        feed_forward = attune.generate(Path(__file__).with_name("minilm.h"), f"feed_forward<{batch},{seq},{MODEL},{INNER}>")
        self.norm = norm("embeddings")
        self.layers = []
        for i in range(LAYERS):
            layer = f"encoder.layer.{i}"
            self.layers.append((
                attention.pack({ours: weights[f"{layer}.{theirs}"] for ours, theirs in ATTENTION.items()}),
                norm(f"{layer}.attention.output"),
                feed_forward.pack({ours: weights[f"{layer}.{theirs}"] for ours, theirs in FEED_FORWARD.items()}),
                norm(f"{layer}.output"),
            ))

    def __call__(self, ids, lengths):
        """ids: int [batch, seq], of which the first lengths[i] of a row count. Returns float32 [batch, seq, 384]."""
        x = normalised(self.words[ids] + self.places, *self.norm)
        for attention, first, feed_forward, second in self.layers:
            x += attention(x, lengths)
            x = normalised(x, *first)
            x += feed_forward(x)
            x = normalised(x, *second)
        return x


def pooled(hidden, lengths):
    """Embeddings, as the model's 1_Pooling and 2_Normalize say: the mean over the tokens that count, of length 1."""
    counts = np.arange(hidden.shape[1]) < lengths[:, None]
    mean = np.einsum("bsm,bs->bm", hidden, counts.astype(np.float32)) / lengths[:, None]
    return mean / np.linalg.norm(mean, axis=1, keepdims=True)
