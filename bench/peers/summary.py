"""Statistics of samples taken in turns. No import beyond the standard library.

A sample is (seconds of one call, FLOP/s of the FMA peak beside it); round r of every contender was
taken in the same short while, so that what a round slows, it slows for all.
"""
import statistics


def quartiles(values):
    """(first quartile, median, third quartile), by linear interpolation between the sorted values."""
    v = sorted(values)

    def at(share):
        place = share * (len(v) - 1)
        low = int(place)
        return v[low] + (place - low) * (v[min(low + 1, len(v) - 1)] - v[low])

    return at(0.25), at(0.5), at(0.75)


def summarise(samples, ours, flops):
    """What is reported of each contender.

    samples: {name: [(seconds, peak), ...]}, equally many of each. ours: the name that ratios are to.
    """
    highest = max(peak for rounds in samples.values() for _, peak in rounds)
    result = {}
    for name, rounds in samples.items():
        seconds = [s for s, _ in rounds]
        summary = {
            "best_seconds": min(seconds),
            "median_seconds": statistics.median(seconds),
            "best_percent": 100 * flops / (min(seconds) * highest),
            "median_percent": statistics.median(100 * flops / (s * peak) for s, peak in rounds),
        }
        if ours in samples:
            low, mid, high = quartiles(s / o for (s, _), (o, _) in zip(rounds, samples[ours]))
            summary["ratio"] = {"q1": low, "median": mid, "q3": high}
        result[name] = summary
    return result
