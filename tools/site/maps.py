"""Maps of what builds on what, as inline SVG: of the parts, of one part, and around one chapter.

Each map is drawn twice, for a wide page and for a phone, and the style sheet shows one of them. Levels go down the
page: a chapter stands below everything that it needs.
"""

from __future__ import annotations

from dataclasses import dataclass

from learnable._html import fill, render
from tools.project import PARTS
from tools.site import TEMPLATES

WIDTHS = {"wide": 840, "narrow": 346}
BOX, HEIGHT, GAP, ROW = 163, 46, 18, 78
BETWEEN = 30  # rows of one level
LANES = 4  # arrows that can go side by side between two boxes
LETTERS = 20  # that fit on a line of a box
MORE = 9  # neighbours that are drawn before the rest is only counted


@dataclass(frozen=True)
class Node:
    """A box: what it says, where it leads, what it needs, and how it looks."""

    key: str
    label: str
    title: str
    link: str
    needs: tuple = ()
    kind: str = "node-0"


def colour(part):
    return f"node-{list(PARTS).index(part) % 6}"


def draw(nodes, label):
    """The map in both widths; `label` says what it shows."""
    return "".join(
        fill('<div class="map-{{ size }}">{{ drawn }}</div>', size=size, drawn=_svg(nodes, label, width, size))
        for size, width in WIDTHS.items()
    )


def of_parts(found, link):
    """One box for each part, with an arrow where some chapter of it needs a chapter of another part."""
    home = {chapter.slug: chapter.part for chapter in found}
    nodes = []
    for part in dict.fromkeys(home.values()):
        members = [chapter for chapter in found if chapter.part == part]
        needs = {home[slug] for c in members for slug in c.metadata["needs"] if slug in home} - {part}
        count = f"{len(members)} chapter{'s' if len(members) > 1 else ''}"
        nodes.append(Node(part, PARTS[part], f"{PARTS[part]}: {count}", link(part), tuple(needs), colour(part)))
    return draw(nodes, "How the parts build on each other: every part is a link")


def of_part(part, found, link):
    """The chapters of a part, and in dashed boxes what they need from other parts and not from each other."""
    members = {chapter.slug for chapter in found if chapter.part == part}
    everything = [_node(chapter, link, "") for chapter in found]
    wanted = {need for need, slug in _direct(everything) if slug in members}
    nodes = [
        _node(c, link, colour(c.part)) if c.slug in members else _node(c, link, f"{colour(c.part)} outside", needs=())
        for c in found
        if c.slug in members | wanted
    ]
    return draw(nodes, f"What builds on what in {PARTS[part]}: every chapter is a link")


def around(chapter, found, link):
    """A chapter between what it needs and what builds on it."""
    before = [c for c in found if c.slug in chapter.metadata["needs"]]
    after = [c for c in found if chapter.slug in c.metadata["needs"]]
    if not before and not after:
        return ""
    nodes = [_node(c, link, f"{colour(c.part)} outside", needs=()) for c in before]
    nodes.append(_node(chapter, link, f"{colour(chapter.part)} here", needs=[c.slug for c in before]))
    nodes += [_node(c, link, f"{colour(c.part)} outside", needs=[chapter.slug]) for c in after[:MORE]]
    more = len(after) - MORE
    note = f"<p>{more} more chapters build on it.</p>" if more > 0 else ""
    return draw(nodes, f"What {chapter.short_title} builds on, and what builds on it") + note


def _node(chapter, link, kind, needs=None):
    title = f"{chapter.title} ({PARTS[chapter.part]})"
    needs = tuple(chapter.metadata["needs"] if needs is None else needs)
    return Node(chapter.slug, chapter.short_title, title, link(chapter), needs, kind)


def _levels(nodes):
    """Keys by level: the longest chain of needs above a node."""
    known = {node.key: node for node in nodes}
    depth = {}

    def level(key):
        if key not in depth:
            depth[key] = 1 + max((level(need) for need in known[key].needs if need in known), default=-1)
        return depth[key]

    rows = {}
    for node in nodes:
        rows.setdefault(level(node.key), []).append(node)
    return [rows[number] for number in sorted(rows)]


def _rows(nodes, width):
    """Nodes by row: a level that is too wide goes on in a second one; with each row, whether it begins a level."""
    across = max(1, (width + GAP) // (BOX + GAP))
    return [
        (level[start : start + across], start == 0)
        for level in _levels(nodes)
        for start in range(0, len(level), across)
    ]


def _places(nodes, width):
    """Left upper corners, the lines on which an arrow gets past a row, the number of each node's row, the height.

    A row is centred, unless an arrow has to get past it: then it stands in the columns that all such rows share.
    """
    rows = _rows(nodes, width)
    number = {node.key: n for n, (row, _) in enumerate(rows) for node in row}
    passed = {n for need, key in _direct(nodes) for n in range(number[need] + 1, number[key])}
    columns = max(len(row) for row, _ in rows)
    step = BOX + GAP
    edge = (width - columns * step + GAP) / 2
    places, y = {}, 2
    for n, (row, begins) in enumerate(rows):
        y += 0 if n == 0 else ROW if begins else HEIGHT + BETWEEN
        free = columns - len(row)
        left = edge + (free // 2 if n in passed else free / 2) * step
        places |= {node.key: (left + k * step, y) for k, node in enumerate(row)}
    gutters = [edge + k * step - GAP / 2 for k in range(1, columns)]
    return places, gutters, number, y + HEIGHT + 2


def _edges(nodes, places, gutters, number):
    """The arrows as paths: to the next row a curve, past other rows between the boxes, each source on its own line."""
    order = {node.key: n for n, node in enumerate(nodes)}
    for need, key in _direct(nodes):
        (x0, y0), (x1, y1) = places[need], places[key]
        a, b, c, d = x0 + BOX / 2, y0 + HEIGHT, x1 + BOX / 2, y1 - 3
        if number[key] == number[need] + 1 or not gutters:
            bend = (d - b) / 2
            yield f"M{a:.0f} {b:.0f} C{a:.0f} {b + bend:.0f} {c:.0f} {d - bend:.0f} {c:.0f} {d:.0f}"
        else:
            lane = order[need] % LANES
            past = min(gutters, key=lambda x: abs(x - a) + abs(x - c)) + 4 * lane - 2 * (LANES - 1)
            yield f"M{a:.0f} {b:.0f} V{b + 5 + 2 * lane:.0f} H{past:.0f} V{y1 - 11 - 2 * lane:.0f} H{c:.0f} V{d:.0f}"


def _direct(nodes):
    """Pairs (need, node) without those that follow from others: a need of a need is not drawn."""
    known = {node.key: node for node in nodes}
    reach = {}

    def above(key):
        if key not in reach:
            needs = [need for need in known[key].needs if need in known]
            reach[key] = set(needs).union(*[above(need) for need in needs])
        return reach[key]

    for node in nodes:
        needs = [need for need in node.needs if need in known]
        for need in needs:
            if not any(need in above(other) for other in needs if other != need):
                yield need, node.key


def _svg(nodes, label, width, size):
    places, gutters, number, height = _places(nodes, width)
    boxes = []
    for node in nodes:
        x, y = places[node.key]
        lines = wrap(node.label)
        boxes.append({"node": node, "x": f"{x:.0f}", "y": y, "middle": f"{x + BOX / 2:.0f}", "lines": lines})
    return render(
        TEMPLATES / "map.svg",
        width=width,
        height=height,
        label=label,
        tip=f"tip-{size}",
        edges=_edges(nodes, places, gutters, number),
        boxes=boxes,
        box_width=BOX,
        box_height=HEIGHT,
    )


def wrap(title, limit=LETTERS):
    """Two lines at most; a longer title ends in an ellipsis."""
    first, second = "", ""
    for word in title.split():
        if not second and len(first) + len(word) + 1 <= limit:
            first = f"{first} {word}".strip()
        elif len(second) + len(word) + 1 <= limit - 1:
            second = f"{second} {word}".strip()
        else:
            return first, second.rstrip(",:;") + "…"
    return first, second
