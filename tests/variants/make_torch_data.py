#!/usr/bin/env python3
"""Regenerates data/torch.txt with PyTorch: what each variant of specs.h computes, in float64 on the
CPU, of the inputs that host::standard_inputs makes. Usage: python3 make_torch_data.py > data/torch.txt"""
import torch

import torch_attention  # noqa: F401  its cases, and then those of the next, in the order of the file
import torch_structure  # noqa: F401
import torch_rotary  # noqa: F401
from torch_common import CASES


def main():
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    print(f"# by make_torch_data.py, torch {torch.__version__.split('+')[0]}: name, count, values in row-major order")
    for name, f in CASES.items():
        result = f()
        for key, t in (result.items() if isinstance(result, dict) else [("", result)]):
            values = t.flatten().tolist()
            print(name + ("." + key if key else ""), len(values))
            for i in range(0, len(values), 12):
                print(" ".join(f"{v:.7g}" for v in values[i:i + 12]))


main()
