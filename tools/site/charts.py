"""Charts of the generated pages, as inline SVG: sharp, small, and in the page's own colours in both modes."""

from __future__ import annotations

import math
import statistics

from learnable._html import render
from tools.site import TEMPLATES
from tools.site.maps import wrap


def machine_line(result):
    machine = result.get("machine", {})
    versions = ", ".join(f"{name} {version}" for name, version in sorted(result.get("versions", {}).items()))
    place = ", ".join(str(machine[key]) for key in ("cpu", "system") if machine.get(key))
    threads = f", {machine['threads']} thread(s)" if machine.get("threads") else ""
    return f"*Measured on {place or 'an unnamed machine'}{threads}; {versions}.*"


def all_ratios(groups, bounds, width=720, row=26):
    """Every stored comparison as a mark on one logarithmic axis, a row for each chapter; ``bounds`` are shared."""
    ratios = [float(r["ratio"]) for rows in groups.values() for r in rows]
    low, high = min(0.5, bounds[0]) / 1.2, max(2.0, bounds[1]) * 1.2
    left, right, top = 210, width - 12, 8
    bottom = top + row * len(groups)

    def across(ratio):
        return left + (right - left) * math.log(ratio / low) / math.log(high / low)

    rows = []
    for number, (title, found) in enumerate(groups.items()):
        first, second = wrap(title, 32)
        marks = [(one, f"{across(float(one['ratio'])):.1f}", _size(float(one["size"]))) for one in found]
        name = first + ("…" if second and not first.endswith("…") else "")
        rows.append({"name": name, "y": top + row * (number + 0.5), "marks": marks})
    chart = render(
        TEMPLATES / "ratios.svg",
        width=width,
        left=left,
        right=right,
        top=top,
        bottom=bottom,
        parity=f"{across(1) - left:.1f}",
        ticks=[(tick, f"{across(tick):.1f}") for tick in _ticks(low, high)],
        rows=rows,
        label=f"Speed ratios of all comparisons, from {min(ratios):.2g} to {max(ratios):.2g}",
    )
    return str(chart)


def ratio_charts(result, name):
    """A chart for each case, and the table behind it."""
    cases = {}
    for row in result["rows"]:
        cases.setdefault(row["case"], {}).setdefault(row["peer"], []).append(row)
    blocks = []
    for number, (case, peers) in enumerate(cases.items()):
        values = {"chart": _ratio_chart(case, peers), "growth": _growth(peers), "rows": _rows(peers)}
        blocks.append(render(TEMPLATES / "benchmark.html", id=f"bench-{name}-{number}", case=case, **values))
    return "\n".join(blocks)


def _ratio_chart(case, peers, width=640, height=250):
    rows = [row for group in peers.values() for row in group]
    sizes = sorted({float(row["size"]) for row in rows})
    ratios = [float(row["ratio"]) for row in rows]
    low, high = min(0.5, *ratios) / 1.3, max(2.0, *ratios) * 1.3
    left, right, top, bottom = 56, width - 170, 14, height - 40

    def across(size):
        if len(sizes) == 1:
            return (left + right) / 2
        span = math.log(sizes[-1] / sizes[0])
        return left + 14 + (right - left - 28) * math.log(size / sizes[0]) / span

    def up(ratio):
        return bottom - (bottom - top) * math.log(ratio / low) / math.log(high / low)

    shown = sizes if len(sizes) <= 6 else [sizes[round(i * (len(sizes) - 1) / 5)] for i in range(6)]
    lines, taken = [], []
    for index, (peer, group) in enumerate(peers.items()):
        group = sorted(group, key=lambda row: float(row["size"]))
        points = [(across(float(row["size"])), up(float(row["ratio"]))) for row in group]
        y = points[-1][1]
        while any(abs(y - other) < 14 for other in taken):
            y += 14
        taken.append(y)
        place = {"points": [(f"{a:.1f}", f"{b:.1f}") for a, b in points], "y": f"{y + 4:.1f}"}
        lines.append({"name": peer[:26], "colour": f"series-{index % 6}", **place})
    worst, best = min(ratios), max(ratios)
    return render(
        TEMPLATES / "ratio.svg",
        width=width,
        height=height,
        left=left,
        right=right,
        bottom=bottom,
        parity=f"{up(1):.1f}",
        loss=f"{bottom - up(1):.1f}",
        ticks=[(tick, up(tick)) for tick in _ticks(low, high)],
        sizes=[(_size(size), f"{across(size):.1f}") for size in shown],
        lines=lines,
        label=f"{case}: speed ratio over size, from {worst:.2g} to {best:.2g} times the peer's speed",
    )


def _ticks(low, high):
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [m * 10.0**d for d in decades for m in (1, 2, 5)]
    ticks = [tick for tick in ticks if low <= tick <= high]
    if len(ticks) > 7:
        ticks = [tick for tick in ticks if tick in (1, 10, 100, 1000, 0.1, 0.01)]
    return ticks


def _size(size):
    if size >= 1000:
        power = math.floor(math.log10(size))
        lead = size / 10**power
        digits = str(power).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
        return f"10{digits}" if lead == 1 else f"{lead:g}·10{digits}"
    return f"{size:g}"


def _seconds(value):
    for unit, scale in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def _growth(peers):
    """How time grows with the size, over the whole range: the slope of the logarithms, ours and each peer's."""
    found = []
    for peer, group in peers.items():
        sizes = [math.log(float(row["size"])) for row in group]
        if len(set(sizes)) < 3:
            continue
        for name, field in (("ours", "ours_seconds"), (peer, "peer_seconds")):
            if name == "ours" and found:
                continue
            slope = statistics.linear_regression(sizes, [math.log(row[field]) for row in group]).slope
            found.append((name, f"{slope:.2f}"))
    return found


def _memory(row):
    """Peak memory of both sides, and the size of the data, in MB; nothing where it was not measured."""
    values = [row.get(field) for field in ("ours_peak_mb", "peer_peak_mb", "data_mb")]
    return "" if row.get("ours_peak_mb") is None else " / ".join("–" if v is None else f"{v:.3g}" for v in values)


def _rows(peers):
    """The cells of the table behind a chart."""
    return [
        (
            _size(float(row["size"])),
            peer,
            _seconds(row["ours_seconds"]),
            _seconds(row["peer_seconds"]),
            f"{row['ratio']:.2f}×",
            _memory(row),
            row.get("accuracy", ""),
        )
        for peer, group in peers.items()
        for row in group
    ]
