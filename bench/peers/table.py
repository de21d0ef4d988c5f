"""The results as text."""


def time_text(seconds):
    if seconds < 1e-3:
        return f"{seconds * 1e6:.1f} us"
    return f"{seconds * 1e3:.2f} ms" if seconds < 1 else f"{seconds:.2f} s"


def timed(result):
    return [c for c in result["contenders"] if c["status"] == "ok" and "best_percent" in c]


def best_peer(result):
    """The contender with the least median of ratios to ours, or None."""
    others = [c for c in timed(result) if "ratio" in c and c["name"] != "Attune"]
    return min(others, key=lambda c: c["ratio"]["median"], default=None)


def case_table(result):
    """Everyone in one configuration; the fastest peer has a star."""
    head = f"{result['case']}   {result['flops'] / 1e6:.1f} MFLOP, {result['isa']} peak {result['peak_flops'] / 1e9:.1f} GFLOP/s, {result['rounds']} rounds, {100 * result['share_of_core']:.0f} % of the core, {result['on_huge_pages'][0]} of {result['on_huge_pages'][1]} MB on huge pages"
    width = max([len(c["name"]) for c in result["contenders"]] + [9]) + 2
    lines = [head, f"  {'':<{width}}{'% of FMA peak':>16}{'median':>12}{'time over ours':>26}"]
    lines.append(f"  {'contender':<{width}}{'best':>8}{'median':>8}{'time':>12}{'median [quartiles]':>26}  {'error':>8}")
    best = best_peer(result)
    for c in result["contenders"]:
        name = c["name"] + (" *" if c is best else "")
        if "best_percent" not in c:
            lines.append(f"  {name:<{width}}{c['status']}: {c['message']}")
            continue
        r = c.get("ratio")
        ratio = f"{r['median']:.2f} [{r['q1']:.2f}, {r['q3']:.2f}]" if r and c["name"] != "Attune" else "-"
        lines.append(
            f"  {name:<{width}}{c['best_percent']:>8.1f}{c['median_percent']:>8.1f}{time_text(c['median_seconds']):>12}{ratio:>26}  {c['error']:>8.1e}"
            + (f"  {c['note']}" if c["note"] and c["name"] != "Attune" else "")
        )
    return "\n".join(lines)


def closing_table(results):
    """One line a configuration: ours, and the fastest peer."""
    width = max([len(r["case"]) for r in results] + [13])
    lines = [f"{'':<{width}}  {'Attune, %':>15}  {'fastest peer':<28}{'its %':>15}  time over ours"]
    lines.append(f"{'configuration':<{width}}  {'best':>7} {'median':>7}  {'':<28}{'best':>7} {'median':>7}  median [quartiles]")
    for r in results:
        ours = next((c for c in timed(r) if c["name"] == "Attune"), None)
        best = best_peer(r)
        line = f"{r['case']:<{width}}  " + (f"{ours['best_percent']:>7.1f} {ours['median_percent']:>7.1f}" if ours else f"{'-':>7} {'-':>7}")
        if best:
            q = best["ratio"]
            line += f"  {best['name']:<28}{best['best_percent']:>7.1f} {best['median_percent']:>7.1f}  {q['median']:.2f} [{q['q1']:.2f}, {q['q3']:.2f}]"
        lines.append(line)
    return "\n".join(lines)
