"""Draws the results: share of the FMA peak against T, the roofline, and how far behind the peers are.

    python -m peers.pictures RESULTS.json FOLDER
"""
import json
import re
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend is chosen first)

from peers.table import best_peer, timed  # noqa: E402

OURS = {"color": "#c1121f", "linewidth": 2.6, "zorder": 5}
# By name, so that a contender looks the same in every panel.
LOOKS = {
    "PyTorch SDPA": ("#ee6c4d", "s"),
    "PyTorch FlexAttention": ("#f4a261", "D"),
    "ORT MultiHeadAttention": ("#457b9d", "^"),
    "ORT GroupQueryAttention": ("#1d3557", "v"),
    "ORT Attention": ("#7fb3d5", "<"),
    "OpenVINO SDPA": ("#6a4c93", "P"),
    "ggml, f32 cache": ("#2a9d8f", "X"),
    "ggml, f16 cache": ("#8ab17d", "*"),
}


def save(figure, folder, name):
    for kind in ("png", "svg"):
        figure.savefig(folder / f"{name}.{kind}", dpi=160, bbox_inches="tight")
    plt.close(figure)


def caption(document):
    m = document["machine"]
    return f"{m['cpu']}, one core, {document['isa']}, f32; {m['date']}, commit {m['commit']}"


def percent_against_length(document, folder, heads=8, head_dim=64):
    """Best % of the FMA peak against T; one panel for full attention and one for causal."""
    panels = {}
    for result in document["results"]:
        found = re.fullmatch(rf"sdpa/H{heads}/D{head_dim}/T(\d+)/(full|causal)", result["case"])
        for c in timed(result) if found else []:
            panels.setdefault(found[2], {}).setdefault(c["name"], []).append((int(found[1]), c["best_percent"]))
    if not panels:
        return
    figure, axes = plt.subplots(1, len(panels), figsize=(6 * len(panels), 4.6), sharey=True, squeeze=False)
    for axis, kind in zip(axes[0], sorted(panels, key=["full", "causal"].index)):
        for name, points in panels[kind].items():
            points.sort()
            if name == "Attune":
                axis.plot(*zip(*points), marker="o", label=name, **OURS)
            else:
                color, marker = LOOKS.get(name, ("gray", "."))
                axis.plot(*zip(*points), marker=marker, color=color, linewidth=1.3, markersize=5, label=name)
        ticks = sorted({t for points in panels[kind].values() for t, _ in points})
        axis.set_xscale("log", base=2)
        axis.set_xticks(ticks, [str(t) for t in ticks])
        axis.set_ylim(0, 100)
        axis.grid(alpha=0.3)
        axis.set_title(f"{kind} attention, {heads} heads of {head_dim}")
        axis.set_xlabel("T (queries and keys)")
    axes[0][0].set_ylabel("% of the FMA peak (best; kept pairs only)")
    handles = {label: h for axis in axes[0] for h, label in zip(*axis.get_legend_handles_labels())}
    figure.legend(handles.values(), handles.keys(), loc="lower center", ncols=4, bbox_to_anchor=(0.5, -0.17), frameon=False)
    figure.suptitle(caption(document), fontsize=9)
    save(figure, folder, "percent_of_peak")


def kind_of(case):
    return case.split("/")[0]


def roofline(document, folder):
    """GFLOP/s against FLOPs per byte that must move: inputs, weights and outputs, each once."""
    results = [r for r in document["results"] if timed(r)]
    if not results:
        return
    peak = max(r["peak_flops"] for r in results) / 1e9
    bandwidths = {level: max(r["read_bandwidth"][level] for r in results) / 1e9 for level in ("memory", "L2")}
    figure, axis = plt.subplots(figsize=(7.5, 5))
    intensity = [r["flops"] / r["bytes"] for r in results]
    low = min(intensity) / 2
    high = 2 * max(intensity + [peak / b for b in bandwidths.values()])
    for (level, bandwidth), style in zip(bandwidths.items(), ("-", "--")):
        xs = [low, peak / bandwidth, high] if low < peak / bandwidth else [low, high]
        axis.plot(xs, [min(peak, x * bandwidth) for x in xs], color="black", linestyle=style, linewidth=1.4, label=f"read from {level}, {bandwidth:.1f} GB/s")
    axis.annotate(f"FMA peak {peak:.0f} GFLOP/s", (high, peak), ha="right", va="bottom", fontsize=9)
    axis.set_ylim(top=peak * 1.5)
    markers = {}
    for r in results:
        kind = kind_of(r["case"])
        marker = markers.setdefault(kind, "osD^v"[len(markers) % 5])
        for c, color, label in ((best_peer(r), "#457b9d", "fastest peer"), (next((c for c in timed(r) if c["name"] == "Attune"), None), OURS["color"], "Attune")):
            if c:
                axis.scatter(r["flops"] / r["bytes"], r["flops"] / c["best_seconds"] / 1e9, color=color, marker=marker, s=34, label=f"{label}: {kind}", zorder=4)
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel("FLOPs per byte of inputs, weights and outputs")
    axis.set_ylabel("GFLOP/s (best)")
    axis.grid(alpha=0.3, which="both")
    unique = dict(zip(*reversed(axis.get_legend_handles_labels())))
    axis.legend(unique.values(), unique.keys(), fontsize=8, loc="lower right")
    axis.set_title(caption(document), fontsize=9)
    save(figure, folder, "roofline")


def behind(document, folder):
    """Time of the fastest peer over ours, with quartiles, a bar a configuration."""
    rows = [(r["case"], best_peer(r)) for r in document["results"] if best_peer(r)]
    if not rows:
        return
    figure, axis = plt.subplots(figsize=(8, 0.28 * len(rows) + 1.2))
    ys = range(len(rows))
    ratios = [c["ratio"] for _, c in rows]
    medians = [q["median"] for q in ratios]
    spread = [[q["median"] - q["q1"] for q in ratios], [q["q3"] - q["median"] for q in ratios]]
    axis.barh(ys, medians, xerr=spread, color=[OURS["color"] if m >= 1 else "#457b9d" for m in medians], alpha=0.85, height=0.7, error_kw={"linewidth": 1})
    axis.axvline(1, color="black", linewidth=1)
    for y, (_, c) in zip(ys, rows):
        axis.annotate(f" {c['ratio']['median']:.2f}  {c['name']}", (c["ratio"]["q3"], y), va="center", fontsize=8)
    axis.set_yticks(ys, [name for name, _ in rows], fontsize=8)
    axis.invert_yaxis()
    axis.set_xlim(0, max(q["q3"] for q in ratios) * 1.45)
    axis.set_xlabel("time of the fastest peer over Attune's (median of rounds, quartiles)")
    axis.set_title(caption(document), fontsize=9)
    save(figure, folder, "fastest_peer")


def variants(document, folder):
    """Time of every peer over ours, a row a variant."""
    rows = [r for r in document["results"] if kind_of(r["case"]) == "variant" and best_peer(r)]
    if not rows:
        return
    figure, axis = plt.subplots(figsize=(8, 0.42 * len(rows) + 1.4))
    for y, r in enumerate(rows):
        for c in timed(r):
            if c["name"] != "Attune" and "ratio" in c:
                q, (color, marker) = c["ratio"], LOOKS.get(c["name"], ("gray", "."))
                axis.errorbar(q["median"], y, xerr=[[q["median"] - q["q1"]], [q["q3"] - q["median"]]], color=color, marker=marker, linestyle="", markersize=7, elinewidth=1, label=c["name"])
    axis.axvline(1, linewidth=2, color=OURS["color"])
    axis.axvline(2, linewidth=1, color="black", linestyle="--")
    axis.set_xscale("log", base=2)
    axis.xaxis.set_major_formatter("{x:g}")
    axis.set_yticks(range(len(rows)), [r["case"] for r in rows], fontsize=8)
    axis.invert_yaxis()
    axis.grid(alpha=0.3)
    axis.set_xlabel("time over Attune's (median of rounds, quartiles)")
    unique = dict(zip(*reversed(axis.get_legend_handles_labels())))
    axis.legend(unique.values(), unique.keys(), fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    axis.set_title(caption(document), fontsize=9)
    save(figure, folder, "variants")


def draw(document, folder):
    folder.mkdir(parents=True, exist_ok=True)
    percent_against_length(document, folder)
    roofline(document, folder)
    behind(document, folder)
    variants(document, folder)


if __name__ == "__main__":
    draw(json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2]))
