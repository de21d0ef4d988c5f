"""Whole models with generated kernels, held against other software: ./run model."""
