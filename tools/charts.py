"""Charts of the generated pages, as inline SVG: sharp, small, and in the page's own colours in both modes."""

from __future__ import annotations

import html
import math
import statistics

from tools.maps import wrap


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

    parts = [f'<rect class="loss" x="{left}" y="{top}" width="{across(1) - left:.1f}" height="{bottom - top}"/>']
    for tick in _ticks(low, high):
        strong = " parity" if tick == 1 else ""
        x = f"{across(tick):.1f}"
        parts.append(f'<line class="grid{strong}" x1="{x}" x2="{x}" y1="{top}" y2="{bottom}"/>')
        parts.append(f'<text x="{x}" y="{bottom + 17}" text-anchor="middle">{tick:g}×</text>')
    for number, (title, rows) in enumerate(groups.items()):
        y = top + row * (number + 0.5)
        first, second = wrap(title, 32)
        short = first + ("…" if second and not first.endswith("…") else "")
        parts.append(f'<text x="{left - 10}" y="{y + 4:.1f}" text-anchor="end">{html.escape(short)}</text>')
        for one in rows:
            lost = "series-1" if float(one["ratio"]) < 1 else "series-0"
            parts.append(
                f'<circle class="mark {lost}" cx="{across(float(one["ratio"])):.1f}" cy="{y:.1f}" r="4">'
                f"<title>{html.escape(one['case'])}, size {_size(float(one['size']))}, against "
                f"{html.escape(one['peer'])}: {one['ratio']:.2g}×</title></circle>"
            )
    parts.append(
        f'<text x="{(left + right) / 2}" y="{bottom + 36}" text-anchor="middle">times faster than the peer</text>'
    )
    label = f"Speed ratios of all comparisons, from {min(ratios):.2g} to {max(ratios):.2g}"
    return (
        '<div class="table-scroll" tabindex="0" role="region" aria-label="All comparisons">'
        f'<svg class="chart wide" viewBox="0 0 {width} {bottom + 42}" role="img" aria-label="{label}">'
        + "".join(parts)
        + "</svg></div>"
    )


def ratio_charts(result, name):
    """A chart for each case, and the table behind it."""
    cases = {}
    for row in result["rows"]:
        cases.setdefault(row["case"], {}).setdefault(row["peer"], []).append(row)
    blocks = []
    for number, (case, peers) in enumerate(cases.items()):
        blocks.append(
            f'<figure class="bench" id="bench-{name}-{number}"><figcaption>{html.escape(case)}</figcaption>'
            f"{_ratio_chart(case, peers)}{_growth(peers)}{_table(peers)}</figure>"
        )
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

    parts = [f'<rect class="loss" x="{left}" y="{up(1):.1f}" width="{right - left}" height="{bottom - up(1):.1f}"/>']
    for tick in _ticks(low, high):
        strong = " parity" if tick == 1 else ""
        parts.append(f'<line class="grid{strong}" x1="{left}" x2="{right}" y1="{up(tick):.1f}" y2="{up(tick):.1f}"/>')
        parts.append(f'<text x="{left - 8}" y="{up(tick) + 4:.1f}" text-anchor="end">{tick:g}×</text>')
    shown = sizes if len(sizes) <= 6 else [sizes[round(i * (len(sizes) - 1) / 5)] for i in range(6)]
    for size in shown:
        parts.append(f'<text x="{across(size):.1f}" y="{bottom + 18}" text-anchor="middle">{_size(size)}</text>')
    parts.append(f'<text x="{(left + right) / 2}" y="{height - 4}" text-anchor="middle">size</text>')
    taken = []
    for index, (peer, group) in enumerate(peers.items()):
        group = sorted(group, key=lambda row: float(row["size"]))
        points = [(across(float(row["size"])), up(float(row["ratio"]))) for row in group]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        colour = f"series-{index % 6}"
        parts.append(f'<polyline class="line {colour}" points="{path}"/>')
        parts += [f'<circle class="dot {colour}" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>' for x, y in points]
        y = points[-1][1]
        while any(abs(y - other) < 14 for other in taken):
            y += 14
        taken.append(y)
        parts.append(f'<text class="{colour} label" x="{right + 8}" y="{y + 4:.1f}">{html.escape(peer[:26])}</text>')
    worst, best = min(ratios), max(ratios)
    label = html.escape(
        f"{case}: speed ratio over size, from {worst:.2g} to {best:.2g} times the peer's speed", quote=True
    )
    return (
        f'<svg class="chart" viewBox="0 0 {width} {height}" role="img" aria-label="{label}">'
        + "".join(parts)
        + "</svg>"
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
            found.append(f"{html.escape(name)} {slope:.2f}")
    return f"<p>Time grows like size to the power: {', '.join(found)}.</p>" if found else ""


def _memory(row):
    """Peak memory of both sides, and the size of the data, in MB; nothing where it was not measured."""
    values = [row.get(field) for field in ("ours_peak_mb", "peer_peak_mb", "data_mb")]
    return "" if row.get("ours_peak_mb") is None else " / ".join("–" if v is None else f"{v:.3g}" for v in values)


def _table(peers):
    rows = "".join(
        f"<tr><td>{_size(float(row['size']))}</td><td>{html.escape(peer)}</td><td>{_seconds(row['ours_seconds'])}</td>"
        f"<td>{_seconds(row['peer_seconds'])}</td><td>{row['ratio']:.2f}×</td><td>{_memory(row)}</td>"
        f"<td>{html.escape(str(row.get('accuracy', '')))}</td></tr>"
        for peer, group in peers.items()
        for row in group
    )
    return (
        '<details><summary>Figures</summary><div class="table-scroll" tabindex="0" role="region" aria-label="Figures">'
        "<table><thead><tr><th>size</th><th>peer</th><th>ours</th><th>peer's</th><th>ratio</th>"
        "<th>MB at peak: ours / peer's / data</th><th>equal in</th></tr>"
        f"</thead><tbody>{rows}</tbody></table></div></details>"
    )
