"""Masks, scores, tables and row reductions of attention, by PyTorch."""
import math

import torch
import torch.nn.functional as F

from torch_common import CASES, CAUSAL, D, H, I, J, T, case, indices, qkv, scores, softmax, tensors


# ---- masks --------------------------------------------------------------------------------------------

MASKS = {
    "causal": CAUSAL,
    "sliding_window": CAUSAL & (I - J < 7),
    "two_sided_window": (I - J).abs() <= 5,
    "dilated_window": CAUSAL & ((I - J) % 3 == 0) & (I - J < 15),
    "chunked": CAUSAL & (I // 8 == J // 8),
    "block_local": I // 8 == J // 8,
    "block_and_neighbours": (I // 4 - J // 4).abs() <= 1,
    "prefix_lm": CAUSAL | (J < 6),
    "global_tokens": (I < 2) | (J < 2) | ((I - J).abs() <= 5),
    "strided": CAUSAL & ((I - J < 4) | ((I - J) % 4 == 0)),
    "fixed_stride": CAUSAL & ((I // 4 == J // 4) | (J % 4 == 3)),
    "a_shaped": CAUSAL & ((J < 3) | (I - J < 5)),
    "neighbourhood_1d": (I - J).abs() <= 2,
    "neighbourhood_2d": ((I // 6 - J // 6).abs() <= 1) & ((I % 6 - J % 6).abs() <= 1),
    "neighbourhood_3d": ((I // 9 - J // 9).abs() <= 1) & ((I // 3 % 3 - J // 3 % 3).abs() <= 1) & ((I % 3 - J % 3).abs() <= 1),
    "local_head": torch.stack([torch.ones(T, T, dtype=torch.bool), CAUSAL & (I - J < 7)]),
}


def masked(keep, **sizes):
    q, k, v = qkv(**sizes)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=keep)


for name, keep in MASKS.items():
    CASES[name] = lambda keep=keep: masked(keep)


@case
def causal_to_the_end():
    i, j = indices(7, T)
    return masked(j <= i + T - 7, queries=7)


@case
def padded_by_constants():
    return masked(torch.stack([J < 11, J < 14])[:, None].expand(2, 1, T, T), batch=2)


# ---- scores -------------------------------------------------------------------------------------------

def with_more(*more):
    """q, k, v and the tensors of these shapes, which the spec names between k and v or behind v."""
    qkv_shapes = [(1, H, T, D)] * 3
    return tensors(qkv_shapes + list(more))


@case
def bias_of_pairs():
    q, k, v, bias = with_more((1, 1, T, T))
    return softmax(scores(q, k) + bias) @ v


@case
def bias_of_keys():
    q, k, v, bias = with_more((1, H, 1, T))
    return softmax(scores(q, k) + bias, CAUSAL) @ v


@case
def bias_of_queries():
    q, k, v, factor, bias = with_more((1, 1, T, 1), (1, H, T, T))
    return softmax(scores(q, k) * factor + bias) @ v


def alibi_with(slopes):
    n = len(slopes)
    q, k, v = tensors([(1, n, T, D)] * 3)
    return softmax(scores(q, k) - torch.tensor(slopes, dtype=torch.float64)[:, None, None] * (I - J), CAUSAL) @ v


@case
def alibi():
    return alibi_with([2.0**-4, 2.0**-8])


@case
def alibi_of_three_heads():
    return alibi_with([2.0**-4, 2.0**-8, 2.0**-2])  # two heads' slopes, then the first of four heads'


@case
def alibi_two_sided():
    q, k, v = qkv()
    return softmax(scores(q, k) - 0.25 * (I - J).abs()) @ v


@case
def softcap():
    q, k, v = qkv()
    return softmax(2 * torch.tanh(scores(q, k) / 2), CAUSAL) @ v


@case
def softcap_then_bias():
    q, k, v, bias = with_more((1, 1, T, T))
    return softmax(2 * torch.tanh(scores(q, k) / 2) + bias) @ v


@case
def bias_then_softcap():
    q, k, v, bias = with_more((1, 1, T, T))
    return softmax(2 * torch.tanh((scores(q, k) + bias) / 2)) @ v


@case
def negative_scale():
    q, k, v = qkv()
    return softmax(scores(q, k) * -1.5, CAUSAL) @ v


@case
def scale_of_head():
    q, k, v, scale = with_more((1, H, 1, 1))
    return softmax(scores(q, k) * scale, CAUSAL) @ v


@case
def scale_at_run_time():
    q, k, v, scale = with_more((1,))
    return softmax(scores(q, k) * scale, CAUSAL) @ v


@case
def clipped():
    q, k, v = qkv()
    return softmax(scores(q, k).clamp(-0.5, 0.75), CAUSAL) @ v


@case
def temperature_by_input():
    q, k, v, temperature = with_more((T, 1))
    return softmax(scores(q, k) * temperature, CAUSAL) @ v


@case
def temperature_of_chunk():
    q, k, v = qkv()
    return softmax(scores(q, k) * (1 + 0.1 * torch.log(1 + torch.floor(torch.arange(T) / 4)))[:, None], CAUSAL) @ v


@case
def log_n_scaling():
    q, k, v = qkv()
    return softmax(scores(q, k) * (torch.log(1.0 + torch.arange(T)) / math.log(5)).clamp(min=1)[:, None], CAUSAL) @ v


# ---- tables that are known at run time ----------------------------------------------------------------

def with_table(*shape, batch=1):
    return tensors([(batch, H, T, D)] * 3 + [shape])


@case
def key_padding():
    q, k, v, lengths = with_table("integers", 2, batch=2)
    p = softmax(scores(q, k), (J < lengths[:, None, None])[:, None].expand(2, H, T, T))
    return p.nan_to_num(0) @ v  # a sequence of length 0


@case
def documents():
    q, k, v, document = with_table("integers", 2, T, batch=2)
    return softmax(scores(q, k), (CAUSAL & (document[:, :, None] == document[:, None, :]))[:, None].expand(2, H, T, T)) @ v


@case
def document_offsets():
    q, k, v, first = with_table("integers", T)
    return softmax(scores(q, k), CAUSAL & (first[:, None] <= J)).nan_to_num(0) @ v


@case
def tree_of_drafts():
    q, k, v, ancestor = with_table("integers", T, T)
    return softmax(scores(q, k), (I == J) | (ancestor > 1)) @ v


@case
def boolean_mask():
    q, k, v, kept = with_table("integers", 2, 1, T, T, batch=2)
    return softmax(scores(q, k), ((kept != 0) | (J < 1)).expand(2, H, T, T)) @ v


@case
def alibi_by_table():
    q, k, v, slopes = with_table(H)
    return softmax(scores(q, k) - slopes[:, None, None] * (I - J), CAUSAL) @ v


@case
def relative_bias():
    q, k, v, relative = with_table(H, 2 * T - 1)
    return softmax(scores(q, k) + relative[:, J - I + T - 1]) @ v


# ---- learned tables -----------------------------------------------------------------------------------

def with_weights(*shapes, batch=1, queries=T):
    return tensors([(batch, H, queries, D)] + [(batch, H, T, D)] * 2, shapes)


def bucket(relative, both_sides, buckets=8, farthest=16):
    """_relative_position_bucket of transformers' modeling_t5.py, relative = key - query."""
    result = torch.zeros_like(relative)
    if both_sides:
        buckets //= 2
        result += (relative > 0).long() * buckets
        n = relative.abs()
    else:
        n = -torch.min(relative, torch.zeros_like(relative))
    exact = buckets // 2
    far = exact + (torch.log(n.float() / exact) / math.log(farthest / exact) * (buckets - exact)).long()
    return result + torch.where(n < exact, n, torch.min(far, torch.full_like(far, buckets - 1)))


@case
def bucketed_bias():
    q, k, v, table = with_weights((8, H))
    return softmax(scores(q, k) + table[bucket(J - I, True)].permute(2, 0, 1)) @ v


@case
def bucketed_bias_behind():
    q, k, v, table = with_weights((8, H))
    return softmax(scores(q, k) + table[bucket(J - I, False)].permute(2, 0, 1), CAUSAL) @ v


@case
def grid_bias():
    """As Swin's relative_position_index, of 3 rows of 6 patches."""
    q, k, v, table = with_weights((5 * 11, H))
    places = torch.stack(torch.meshgrid(torch.arange(3), torch.arange(6), indexing="ij")).flatten(1)
    apart = (places[:, :, None] - places[:, None, :]).permute(1, 2, 0) + torch.tensor([2, 5])
    return softmax(scores(q, k) + table[apart[..., 0] * 11 + apart[..., 1]].permute(2, 0, 1)) @ v


@case
def learned_of_places():
    q, k, v, table, kept = with_weights((4, 3), (6,), batch=2, queries=7)
    b, i, j = torch.arange(2)[:, None, None, None], torch.arange(7)[:, None], torch.arange(T)[None, :]
    return softmax(scores(q, k) + table[torch.clamp(j // 5 + b, max=3), i % 3], (kept[j % 6] > 0) | (j < 1)) @ v


# ---- row reductions -----------------------------------------------------------------------------------

@case
def learned_sink():
    q, k, v, sinks = with_weights((H,))
    s = scores(q, k).masked_fill(~MASKS["sliding_window"], -math.inf)
    return torch.softmax(torch.cat([s, sinks[None, :, None, None].expand(1, H, T, 1)], -1), -1)[..., :-1] @ v


@case
def softmax_one():
    q, k, v = qkv()
    e = torch.exp(scores(q, k)).masked_fill(~CAUSAL, 0)
    return e / (1 + e.sum(-1, keepdim=True)) @ v


@case
def sigmoid():
    q, k, v = qkv()
    return torch.sigmoid(scores(q, k) - 2.5).masked_fill(~CAUSAL, 0) @ v


@case
def relu():
    q, k, v = qkv()
    return F.relu(scores(q, k)).masked_fill(~CAUSAL, 0) / T @ v


@case
def squared_relu():
    q, k, v = qkv()
    return F.relu(scores(q, k)).masked_fill(~CAUSAL, 0) ** 2 / T @ v


@case
def own_reduction():
    q, k, v = qkv()
    w = torch.sigmoid(scores(q, k)) + 0.25
    return w / (w.sum(-1, keepdim=True) + 0.5) @ v


# ---- what a row's reduction has carried ---------------------------------------------------------------

@case
def log_sum_exp():
    q, k, v = qkv()
    return {"y": softmax(scores(q, k), CAUSAL) @ v, "lse": torch.logsumexp(scores(q, k).masked_fill(~CAUSAL, -math.inf), -1)}


@case
def log_sum_exp_with_sink():
    q, k, v, sinks = with_weights((H,))
    s = scores(q, k).masked_fill(~MASKS["sliding_window"], -math.inf)
    s = torch.cat([s, sinks[None, :, None, None].expand(1, H, T, 1)], -1)
    return {"y": torch.softmax(s, -1)[..., :-1] @ v, "lse": torch.logsumexp(s, -1)}


CASES["merged_halves"] = log_sum_exp  # attention over all keys


# ---- weights that the sum has taken --------------------------------------------------------------------

@case
def dropout():
    q, k, v, kept = with_more((1, H, T, T))
    return softmax(scores(q, k), CAUSAL) * kept / 0.9 @ v


@case
def decayed_weights():
    q, k, v, relative = with_table(H, 2 * T - 1)
    return softmax(scores(q, k), CAUSAL) * torch.exp(-0.2 * (I - J)) * relative[:, J - I + T - 1] @ v


@case
def differential_dropout():
    lambda_, q1, k1, q2, k2, kept, v = tensors([(1, H, 1, 1)] + [(1, H, T, D)] * 4 + [(T, T), (1, H, T, 8)])
    return (softmax(scores(q1, k1), CAUSAL) - lambda_ * softmax(scores(q2, k2), CAUSAL)) * kept @ v
