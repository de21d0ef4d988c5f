"""Contenders take turns in random order; each is warmed up, timed, and the FMA peak measured beside it.

Time is the CPU time of the process. It is pinned to one core, so that an idle machine shows the same as
elapsed time; on a shared one, what other processes take of the core does not count. Were a contender to
sleep in a call, that would be in its favour.
"""
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
    begin = time.process_time()
    for _ in turns:
        call()
    return (time.process_time() - begin) / calls


def take_samples(calls, peak, rounds, seed=1):
    """calls: {name: call}. Returns {name: [(seconds of a call, FLOP/s of the peak), ...]}, one of each round,
    and the share of the core that this process got meanwhile."""
    repeats = {}
    for name, call in calls.items():
        call()
        repeats[name] = max(1, math.ceil(SAMPLE_SECONDS / max(1e-7, min(_seconds(call, 1), _seconds(call, 1)))))
    samples = {name: [] for name in calls}
    order = list(calls)
    shuffle = random.Random(seed).shuffle
    gc.collect()
    gc.disable()
    begin, cpu = time.perf_counter(), time.process_time()
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
    return samples, (time.process_time() - cpu) / (time.perf_counter() - begin)
