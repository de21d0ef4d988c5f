"""Contenders take turns in random order; each is warmed up, timed, and the FMA peak measured beside it."""
import gc
import itertools
import math
import random
import time

SAMPLE_SECONDS = 2e-3  # drowns the clock's cost, fits between two interruptions
BUDGET_SECONDS = 90    # of one configuration; the rounds then end early
FEWEST_ROUNDS = 5


def _seconds(call, calls):
    turns = itertools.repeat(None, calls)
    begin = time.perf_counter()
    for _ in turns:
        call()
    return (time.perf_counter() - begin) / calls


def take_samples(calls, peak, rounds, seed=1):
    """calls: {name: call}. Returns {name: [(seconds of a call, FLOP/s of the peak), ...]}, one of each round."""
    repeats = {}
    for name, call in calls.items():
        call()
        repeats[name] = max(1, math.ceil(SAMPLE_SECONDS / min(_seconds(call, 1), _seconds(call, 1))))
    samples = {name: [] for name in calls}
    order = list(calls)
    shuffle = random.Random(seed).shuffle
    gc.collect()
    gc.disable()
    begin = time.perf_counter()
    try:
        for done in range(rounds):
            if done >= FEWEST_ROUNDS and time.perf_counter() - begin > BUDGET_SECONDS:
                break
            shuffle(order)
            for name in order:
                call = calls[name]
                call()  # the others have had the caches
                before = peak()
                seconds = _seconds(call, repeats[name])
                samples[name].append((seconds, max(before, peak())))
    finally:
        gc.enable()
    return samples
