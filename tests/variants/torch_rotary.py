"""Rotary embeddings and norms, by PyTorch."""
import math

import torch
import torch.nn.functional as F

from torch_common import D, H, T, case, merge, softmax, split, tensors


# ---- rotary embeddings: frequencies as transformers' modeling_rope_utils.py computes them -------------

PAIRS = torch.arange(4, dtype=torch.float64)


def theta(base=100.0):
    return 1.0 / base ** (PAIRS / 4)


def turned(t, angle, amplitude=1.0, adjacent=False):
    """t [.., T, 8] by angles [.., T, 4], as apply_rotary_pos_emb (or, of adjacent pairs, as complex numbers)."""
    if adjacent:
        z = torch.view_as_complex(t.reshape(*t.shape[:-1], 4, 2).contiguous())
        return torch.view_as_real(z * torch.polar(torch.full_like(angle, amplitude), angle)).flatten(-2)
    cos, sin = torch.cat([angle, angle], -1).cos() * amplitude, torch.cat([angle, angle], -1).sin() * amplitude
    return t * cos + torch.cat([-t[..., 4:], t[..., :4]], -1) * sin


def rotated_attention(q, k, v, angle, **how):
    return F.scaled_dot_product_attention(turned(q, angle, **how), turned(k, angle, **how), v, is_causal=True)


def scaled(frequencies, weights=(), **how):
    q, k, v, *_ = tensors([(1, 2, T, 8)] * 3, weights)
    return rotated_attention(q, k, v, torch.outer(torch.arange(T, dtype=torch.float64), frequencies), **how)


def yarn(factor, length, fast, slow, truncate):
    def correction(rotations):
        return 8 * math.log(length / (rotations * 2 * math.pi)) / (2 * math.log(100.0))

    low, high = correction(fast), correction(slow)
    if truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, 7)
    ramp = torch.clamp((PAIRS - low) / (high - low), 0, 1)
    return theta() / factor * ramp + theta() * (1 - ramp), 0.1 * math.log(factor) + 1


def llama3(frequencies, factor, low, high, length):
    wavelength = 2 * math.pi / frequencies
    smooth = (length / wavelength - low) / (high - low)
    between = (1 - smooth) * frequencies / factor + smooth * frequencies
    slowed = torch.where(wavelength > length / low, frequencies / factor, frequencies)
    return torch.where((wavelength >= length / high) & (wavelength <= length / low), between, slowed)


@case
def latent_expanded():
    """Multi-head latent attention as DeepSeek-V2's modeling code has it, its rotation by complex numbers."""
    x, wq, wkv_a, norm, wkv_b, wo = tensors([(1, T, 12)], [(24, 12), (14, 12), (6,), (16, 6), (12, 8)])
    frequencies, _ = yarn(4, 16, 2, 0.25, truncate=True)
    angle = torch.outer(torch.arange(T, dtype=torch.float64), frequencies)
    plain, q_turned = split(F.linear(x, wq)).split([4, 8], -1)
    latent, k_turned = F.linear(x, wkv_a).split([6, 8], -1)
    expanded = split(F.linear(F.rms_norm(latent, (6,), norm, 1e-6), wkv_b))
    k_plain, v = expanded.split([4, 4], -1)
    q = torch.cat([plain, turned(q_turned, angle, adjacent=True)], -1)
    k = torch.cat([k_plain, turned(k_turned[:, None], angle, adjacent=True).expand(1, 2, T, 8)], -1)
    return F.linear(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)), wo)


@case
def rope_linear():
    return scaled(theta() / 4, adjacent=True)


@case
def rope_ntk():
    return scaled(theta(100.0 * 4 ** (8 / 6)))


@case
def rope_dynamic_ntk():
    return scaled(theta(100.0 * ((2 * 18 / 7) - (2 - 1)) ** (8 / 6)))


@case
def rope_yarn():
    frequencies, amplitude = yarn(4, 16, 2, 0.25, True)
    return scaled(frequencies, amplitude=amplitude)


@case
def rope_yarn_untruncated():
    frequencies, amplitude = yarn(32, 16, 2, 0.25, False)
    return scaled(frequencies, amplitude=amplitude)


@case
def rope_llama3():
    return scaled(llama3(theta(), 8, 0.25, 1.5, 16))


@case
def rope_longrope():
    factors = tensors([(1, 2, T, 8)] * 3, [(4,)])[-1]
    return scaled(1.0 / (factors * 100.0 ** (PAIRS / 4)), [(4,)], amplitude=math.sqrt(1 + math.log(4) / math.log(16)))


@case
def rope_positions():
    q, k, v, at = tensors([(2, 2, T, 8)] * 3 + [("integers", 2, T)])
    return rotated_attention(q, k, v, at.double()[:, None, :, None] * theta())


def by_section(section):
    q, k, v, at = tensors([(1, 2, T, 8)] * 3 + [("integers", 3, T)])
    return rotated_attention(q, k, v, at.double()[section].T * theta())


@case
def rope_sections():
    return by_section([0, 1, 1, 2])


@case
def rope_interleaved_sections():
    return by_section([0, 1, 2, 0])


@case
def rope_grid():
    q, k, v = tensors([(1, 2, T, 8)] * 3)
    t, axis = torch.arange(T), 1.0 / 100.0 ** (torch.arange(2, dtype=torch.float64) / 2)
    return rotated_attention(q, k, v, torch.cat([torch.outer((t // 6).double(), axis), torch.outer((t % 6).double(), axis)], -1))


# ---- norms ----------------------------------------------------------------------------------------------

@case
def qk_norm():
    x, wq, q_norm, wk, k_norm, wv, wo = tensors([(1, T, 8)], [(8, 8), (4,), (8, 8), (4,), (8, 8), (8, 8)])
    q, k = F.rms_norm(split(F.linear(x, wq)), (4,), q_norm, 1e-5), F.rms_norm(split(F.linear(x, wk)), (4,), k_norm, 1e-5)
    angle = torch.outer(torch.arange(T, dtype=torch.float64), 10000.0 ** (-torch.arange(2, dtype=torch.float64) / 2))
    cos, sin = torch.cat([angle, angle], -1).cos(), torch.cat([angle, angle], -1).sin()
    rotate = lambda t: t * cos + torch.cat([-t[..., 2:], t[..., :2]], -1) * sin
    return F.linear(merge(F.scaled_dot_product_attention(rotate(q), rotate(k), split(F.linear(x, wv)), is_causal=True)), wo)


@case
def norm_of_all_heads():
    x, wq, q_norm, wk, k_norm, wv = tensors([(1, T, 8)], [(8, 8), (8,), (8, 8), (8,), (8, 8)])
    q, k = F.rms_norm(F.linear(x, wq), (8,), q_norm, 1e-5), F.rms_norm(F.linear(x, wk), (8,), k_norm, 1e-5)
    return merge(F.scaled_dot_product_attention(split(q), split(k), split(F.linear(x, wv)), is_causal=True))


@case
def cosine_scores():
    q, k, scale, v = tensors([(1, H, T, D)] * 2 + [(1, H, 1, 1), (1, H, T, D)])
    return softmax(F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1) * scale) @ v
