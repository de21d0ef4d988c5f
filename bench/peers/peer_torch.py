"""PyTorch: scaled_dot_product_attention, compiled FlexAttention, nn.Linear, and the module of a block."""
import torch
import torch._dynamo
import torch._inductor.config
import torch.nn.functional as F
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from peers.cases import Attention, Projection
from peers.contender import DENSE, Contender, Offer, Refused
from peers.problem import rotary_angles
from peers.variants import CAUSAL, FULL

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


def _tensors(problem):
    return {name: torch.from_numpy(array) for name, array in problem.inputs.items()}


def _sdpa(problem):
    q, k, v = (_tensors(problem)[name] for name in "qkv")
    case = problem.case
    if case.plain:
        return _contender(lambda: F.scaled_dot_product_attention(q, k, v, is_causal=case.variant is CAUSAL))
    mask = problem.additive_mask()
    if mask is None:
        raise Refused("scaled_dot_product_attention has no softcap")
    mask = torch.from_numpy(mask)  # additive, since a boolean one would be converted at every call
    return _contender(lambda: F.scaled_dot_product_attention(q, k, v, attn_mask=mask), note=DENSE)


def _mask_mod(variant, tensors):
    keeps, allows = variant.keeps, variant.allows
    if not allows:
        return lambda batch, head, query, key: keeps(query, key)
    table = tensors[variant.table.name]
    return lambda batch, head, query, key: keeps(query, key) & allows(table, query, key)


def _score_mod(variant, tensors):
    if variant.alibi:
        slopes = tensors["slopes"]
        return lambda score, batch, head, query, key: score - slopes[head] * (query - key)
    if variant.bias:
        bias = tensors["bias"][0, 0]
        return lambda score, batch, head, query, key: score + bias[query, key]
    cap = variant.softcap
    return (lambda score, batch, head, query, key: cap * torch.tanh(score / cap)) if cap else None


def _flex(problem):
    tensors, case = _tensors(problem), problem.case
    q, k, v = (tensors[name] for name in "qkv")
    blocks = None
    if case.variant is not FULL:
        blocks = create_block_mask(_mask_mod(case.variant, tensors), None, None, case.seq, case.seq, device="cpu")
    score = _score_mod(case.variant, tensors)
    torch._dynamo.reset()  # after a few shapes code would run uncompiled, with no more than a warning
    compiled = torch.compile(flex_attention, dynamic=False)
    note = "its mask of blocks made beforehand" if case.variant.table else ""
    return _contender(lambda: compiled(q, k, v, score_mod=score, block_mask=blocks), note=note)


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
