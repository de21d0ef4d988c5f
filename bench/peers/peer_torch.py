"""PyTorch: scaled_dot_product_attention, compiled FlexAttention, nn.Linear, and the module of a block."""
import math

import torch
import torch._dynamo
import torch._inductor.config
import torch.nn.functional as F
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from peers.cases import Attention, Projection
from peers.contender import Contender, Offer
from peers.problem import rotary_angles

PEER = "PyTorch"

torch.set_num_threads(1)
torch.set_num_interop_threads(1)
torch.set_grad_enabled(False)


def version():
    return f"{torch.__version__} ({torch.backends.cpu.get_cpu_capability()})"


def _contender(function, **options):
    last = [None]

    def call():
        last[0] = function()

    return Contender(call, lambda: last[0].numpy(), **options)


def _sdpa(problem):
    q, k, v = map(torch.from_numpy, problem.inputs.values())
    case = problem.case
    if not case.window:
        return _contender(lambda: F.scaled_dot_product_attention(q, k, v, is_causal=case.causal))
    # There is no argument for a window. An additive mask saves the conversion of a boolean one at every call.
    distance = torch.arange(case.seq)[:, None] - torch.arange(case.seq)[None, :]
    bias = torch.zeros(case.seq, case.seq).masked_fill((distance < 0) | (distance >= case.window), -math.inf)
    return _contender(lambda: F.scaled_dot_product_attention(q, k, v, attn_mask=bias), note="with a dense additive mask")


def _flex(problem):
    q, k, v = map(torch.from_numpy, problem.inputs.values())
    case = problem.case
    blocks = None
    if case.causal:
        window = case.window

        def causal(batch, head, q_index, kv_index):
            return kv_index <= q_index

        def windowed(batch, head, q_index, kv_index):
            return (kv_index <= q_index) & (q_index - kv_index < window)

        blocks = create_block_mask(windowed if window else causal, None, None, case.seq, case.seq, device="cpu")
    torch._dynamo.reset()  # after a few shapes code would run uncompiled, with no more than a warning
    compiled = torch.compile(flex_attention, dynamic=False)
    return _contender(lambda: compiled(q, k, v, block_mask=blocks))


def _linear(problem):
    layer = torch.nn.Linear(problem.case.features_in, problem.case.features_out, bias=False).eval()
    layer.weight.copy_(torch.from_numpy(problem.weights["w"]))
    return layer, torch.from_numpy(problem.inputs["x"])


def _linear_eager(problem):
    layer, x = _linear(problem)
    return _contender(lambda: layer(x))


def _module_frozen(module, x, autotuned=False):
    """Freezing folds and packs the weights. Only the global flag does it, and only while the first call
    compiles; as an option of torch.compile it does nothing."""
    torch._dynamo.reset()
    with torch._inductor.config.patch(freezing=True, max_autotune=autotuned):
        compiled = torch.compile(module, dynamic=False)
        for _ in range(3):
            compiled(x)
    return _contender(lambda: compiled(x), note="compiled, weights frozen" + (", max_autotune" if autotuned else ""))


class Attend(torch.nn.Module):
    """The textbook's block: q, k, v of one product, RoPE on interleaved pairs, causal attention, output projection."""

    def __init__(self, case, weights):
        super().__init__()
        self.heads = case.heads
        self.qkv = torch.nn.Linear(case.model, 3 * case.model, bias=False)
        self.out = torch.nn.Linear(case.model, case.model, bias=False)
        self.qkv.weight.copy_(torch.cat([torch.from_numpy(weights[name]) for name in ("wq", "wk", "wv")]))
        self.out.weight.copy_(torch.from_numpy(weights["wo"]))
        angles = torch.from_numpy(rotary_angles(case.seq, case.head_dim))
        self.register_buffer("cos", angles.cos().float())
        self.register_buffer("sin", angles.sin().float())

    def rotate(self, x):
        even, odd = x.unflatten(-1, (-1, 2)).unbind(-1)
        return torch.stack((even * self.cos - odd * self.sin, even * self.sin + odd * self.cos), -1).flatten(-2)

    def forward(self, x):
        batch, seq, model = x.shape
        q, k, v = self.qkv(x).view(batch, seq, 3, self.heads, model // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(self.rotate(q), self.rotate(k), v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(batch, seq, model))


def _block(problem, build):
    module = Attend(problem.case, problem.weights).eval()
    return build(module, torch.from_numpy(problem.inputs["x"]))


def offers(problem):
    case = problem.case
    if isinstance(case, Attention):
        return [
            Offer("PyTorch SDPA", PEER, lambda: _sdpa(problem)),
            Offer("PyTorch FlexAttention", PEER, lambda: _flex(problem)),
        ]
    if isinstance(case, Projection):
        return [
            Offer("PyTorch linear", PEER, lambda: _linear_eager(problem)),
            Offer("PyTorch linear, frozen", PEER, lambda: _module_frozen(*_linear(problem))),
        ]
    return [
        Offer("PyTorch eager", PEER, lambda: _block(problem, lambda module, x: _contender(lambda: module(x)))),
        Offer("PyTorch frozen", PEER, lambda: _block(problem, _module_frozen)),
        Offer("PyTorch frozen, autotuned", PEER, lambda: _block(problem, lambda module, x: _module_frozen(module, x, autotuned=True))),
    ]
