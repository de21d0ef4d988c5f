"""The coefficients of exponentials.cpp.

A polynomial for a function f on an interval, minimax in the relative error: Lawson's iteration, which
reweights a least-squares fit by its errors until they level out. Coefficients are rounded to float
one at a time, from the lowest power on, and the higher ones fitted anew after each.
"""
import math
import struct


def to_float(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def solve(a, b):
    rows = [row[:] + [y] for row, y in zip(a, b)]
    n = len(rows)
    for i in range(n):
        pivot = max((abs(rows[k][i]), k) for k in range(i, n))[1]
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for k in range(i + 1, n):
            factor = rows[k][i] / rows[i][i]
            for j in range(i, n + 1):
                rows[k][j] -= factor * rows[i][j]
    x = [0.0] * n
    for i in reversed(range(n)):
        x[i] = (rows[i][n] - sum(rows[i][j] * x[j] for j in range(i + 1, n))) / rows[i][i]
    return x


def value(coefficients, x):
    return sum(c * x**p for p, c in coefficients.items())


def fit(f, powers, fixed, low, high, points=400, rounds=300):
    middle, half = (low + high) / 2, (high - low) / 2
    xs = [middle - half * math.cos(math.pi * (i + 0.5) / points) for i in range(points)]
    weights = [1.0 / points] * points
    best = None
    for _ in range(rounds):
        a = [[sum(w * x**(p + q) / f(x)**2 for x, w in zip(xs, weights)) for q in powers] for p in powers]
        b = [sum(w * x**p * (f(x) - value(fixed, x)) / f(x)**2 for x, w in zip(xs, weights)) for p in powers]
        found = {**fixed, **dict(zip(powers, solve(a, b)))}
        errors = [abs(value(found, x) / f(x) - 1) for x in xs]
        if best is None or max(errors) < best[0]:
            best = (max(errors), found)
        total = sum(w * e for w, e in zip(weights, errors))
        weights = [w * e / total for w, e in zip(weights, errors)]
    return best[1]


def rounded_fit(name, f, degree, low, high, found):
    found = dict(found)
    for power in range(len(found), degree + 1):
        found[power] = to_float(fit(f, range(power, degree + 1), found, low, high)[power])
    xs = [low + (high - low) * i / 10000 for i in range(10001)]
    error = max(abs(value(found, x) / f(x) - 1) for x in xs)
    print(f"{name} on [{low:.3g}, {high:.3g}], degree {degree}, error {error:.2g}:", ", ".join(f"{c:.9g}f" for c in found.values()))


ONE = {0: 1.0}   # exactly 1 at 0
MARGIN = 1.0002  # the reduced argument may lie just beyond the middle
EXP, POWER = MARGIN * math.log(2) / 2, MARGIN / 2
rounded_fit("e^r", math.exp, 5, -EXP, EXP, ONE)
rounded_fit("2^r", lambda r: 2.0**r, 5, -POWER, POWER, ONE)
rounded_fit("2^r", lambda r: 2.0**r, 5, 0, 1, {})
rounded_fit("2^r", lambda r: 2.0**r, 3, -1 / 16, 1 / 16, ONE)
rounded_fit("(e^r - 1) / r", lambda r: math.expm1(r) / r if r else 1.0, 5, -EXP, EXP, ONE)
