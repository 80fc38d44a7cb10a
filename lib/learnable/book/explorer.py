"""Explorers: one drawing function, sliders with a live kernel, and a page that works without one.

``explore(draw, delta=Slider(0, 4, 0.25, 2), t=(0, 0.5, 0.05))`` has three faces, chosen by the environment variable
``LEARNABLE_EXPLORE``:

* ``widget`` (default): ipywidgets sliders, redrawn by the kernel at every move;
* ``static``: set by the book build. All states of at most two sliders are drawn once, compressed as WebP frames, and
  put in the page with a few lines of plain JavaScript: it answers mouse, keyboard and touch, needs no kernel, no
  network and no server, and shows its default state where JavaScript is off;
* ``text``: set by the notebook checks. Draws the default state only and prints its description.
"""

from __future__ import annotations

import base64
import inspect
import io
import itertools
import json
import math
import os
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from learnable._html import fill, markup, render

__all__ = ["MAX_STATES", "Slider", "explore"]

MAX_STATES = 150
USUAL_STATES = 64  # where a lecture does not say how many
MAX_FRAME_BYTES = 440_000  # of all frames together: 0.6 MB once they are base64
DPI = 150
_TEMPLATES = Path(__file__).with_name("templates")

frame_seconds = 0.0  # processor time spent on frames so far: the book's budget counts them apart from the chapter


@dataclass(frozen=True)
class Slider:
    """The range of one slider: from ``low`` to ``high`` by ``step``, starting at ``value``.

    ``static`` is how many positions it has in the page without a kernel; 1 keeps it fixed there.
    """

    low: float
    high: float
    step: float
    value: float | None = None
    label: str | None = None
    static: int | None = None

    def __post_init__(self):
        if not (self.low < self.high and self.step > 0):
            raise ValueError(f"a slider needs low < high and step > 0, got {self}")
        if self.value is not None and not self.low <= self.value <= self.high:
            raise ValueError(f"the slider's value {self.value} is outside [{self.low}, {self.high}]")
        if self.static is not None and self.static < 1:
            raise ValueError("static must be at least 1")

    @property
    def is_integer(self):
        return all(float(v).is_integer() for v in (self.low, self.high, self.step))

    @property
    def start(self):
        return self.grid()[-1 if self.value is None else int(np.argmin(np.abs(self.grid() - self.value)))]

    def grid(self):
        count = math.floor((self.high - self.low) / self.step + 1e-9) + 1
        points = np.round(self.low + self.step * np.arange(count), 10)
        return points.astype(int) if self.is_integer else points

    def thin(self, count):
        """About ``count`` of the grid's points, both ends and the start among them."""
        grid = self.grid()
        if count >= len(grid):
            return grid
        keep = np.round(np.linspace(0, len(grid) - 1, count)).astype(int)
        start = int(np.flatnonzero(grid == self.start)[0])
        keep[np.argmin(np.abs(keep - start))] = start
        return grid[np.unique(keep)]


def explore(draw, *, title, **sliders):
    """Let the reader move the parameters of a picture.

    Parameters
    ----------
    draw : callable
        ``draw(**values)`` returns ``(figure, text)``: a matplotlib figure, and one or two sentences that say what it
        shows in this state, with its numbers. The text is shown under the picture and is its alternative text.
    title : str
        What there is to explore.
    **sliders : Slider or tuple
        One per parameter of ``draw``, as a `Slider` or as ``(low, high, step[, value])``. In the page without a
        kernel the first two move (give ``static=1`` to keep one fixed); the others say that they need a kernel.

    Returns
    -------
    None
    """
    sliders = {name: s if isinstance(s, Slider) else Slider(*s) for name, s in sliders.items()}
    accepted = inspect.signature(draw).parameters
    missing = [name for name in sliders if name not in accepted]
    if missing or not sliders:
        raise ValueError(f"draw takes {list(accepted)}, but the sliders are {list(sliders)}")
    mode = os.environ.get("LEARNABLE_EXPLORE", "widget")
    if mode not in ("widget", "static", "text"):
        raise ValueError(f"LEARNABLE_EXPLORE must be widget, static or text, got {mode!r}")
    {"widget": _widget, "static": _static, "text": _text}[mode](draw, title, sliders)


def _frame(draw, values):
    result = draw(**values)
    if not (isinstance(result, tuple) and len(result) == 2 and isinstance(result[1], str) and result[1].strip()):
        raise ValueError("draw must return (figure, text): the text describes the picture in this state")
    return result


def _text(draw, title, sliders):
    from IPython.display import display
    from matplotlib import pyplot as plt

    figure, text = _frame(draw, {name: s.start for name, s in sliders.items()})
    plt.close(figure)
    display({"text/plain": _describe(title, sliders, text)}, raw=True)


def _describe(title, sliders, text):
    """What a notebook stores of an explorer, whichever way it is shown."""
    ranges = "; ".join(f"{s.label or name} from {s.low:g} to {s.high:g}" for name, s in sliders.items())
    return f"[explorer] {title}: {ranges}\n{text}"


def _widget(draw, title, sliders):
    import ipywidgets as widgets
    from IPython.display import display
    from matplotlib import pyplot as plt

    controls = {}
    for name, s in sliders.items():
        kind = widgets.IntSlider if s.is_integer else widgets.FloatSlider
        controls[name] = kind(
            value=s.start,
            min=s.low,
            max=s.high,
            step=s.step,
            description=s.label or name,
            continuous_update=False,
            style={"description_width": "10em"},
            layout=widgets.Layout(width="36em", max_width="100%"),
        )

    def redraw(**values):
        figure, text = _frame(draw, values)
        display(figure)
        plt.close(figure)
        print(text)

    view = widgets.interactive_output(redraw, controls)
    heading = widgets.HTML(str(fill("<b>{{ title }}</b>", title=title)))
    display(widgets.VBox([heading, *controls.values(), view]))


def _moving(sliders):
    """The sliders that move in the page without a kernel, with their positions there."""
    free = [name for name, s in sliders.items() if s.static != 1][:2]
    left, positions = USUAL_STATES, {}
    # The shortest grid first: what it leaves goes to the other slider.
    for rest, name in zip(range(len(free), 0, -1), sorted(free, key=lambda n: len(sliders[n].grid())), strict=True):
        usual = left if rest == 1 else math.isqrt(left)
        positions[name] = sliders[name].thin(sliders[name].static or usual)
        left = max(1, left // len(positions[name]))
    positions = {name: positions[name] for name in free}
    states = math.prod(len(p) for p in positions.values())
    if states > MAX_STATES:
        raise ValueError(f"{states} states in the page without a kernel; at most {MAX_STATES} are allowed")
    return positions


def _static(draw, title, sliders):
    from IPython.display import display
    from matplotlib import pyplot as plt

    from learnable.book._layers import AxisLayers

    global frame_seconds
    begun = time.process_time()
    positions = _moving(sliders)
    fixed = {name: s.start for name, s in sliders.items() if name not in positions}
    shape = tuple(len(p) for p in positions.values())
    states = [
        {name: grid[i] for (name, grid), i in zip(positions.items(), state, strict=True)}
        for state in np.ndindex(*shape)
    ]
    start = next(i for i, values in enumerate(states) if all(v == sliders[n].start for n, v in values.items()))
    corners = {np.ravel_multi_index(at, shape) for at in itertools.product(*({0, n - 1} for n in shape))}
    drawn = {index: _frame(draw, {**fixed, **states[index]}) for index in sorted({start, *corners})}
    places = _common_places([figure for figure, _ in drawn.values()])
    layers, images, texts = AxisLayers(), [], []
    for index, values in enumerate(states):
        figure, text = drawn.pop(index, None) or _frame(draw, {**fixed, **values})
        _put(figure, places)
        images.append(_pixels(figure, layers))
        plt.close(figure)
        texts.append(text)
    frames, size = _encode(images)
    frame_seconds += time.process_time() - begun
    display(
        {
            "text/html": str(_page(title, sliders, positions, fixed, frames, texts, start, size)),
            "text/plain": _describe(title, sliders, texts[start]),
        },
        raw=True,
    )


def _common_places(figures):
    """Places of the axes in which every one of the figures has room for its labels, or None.

    Laying out a figure costs as much as drawing it, and axes that move from frame to frame distract. The layouts of the
    extreme states and of the first are found; each axes gets the part that it has in all of them.
    """
    boxes = []
    for figure in figures:
        engine = figure.get_layout_engine()
        if engine is None or figure._suptitle or figure.legends or figure.subfigs:
            return None
        figure.set_dpi(DPI)
        engine.execute(figure)
        boxes.append([axes.get_position(original=True).extents for axes in figure.axes])
    if len({len(b) for b in boxes}) != 1 or not boxes[0]:
        return None
    boxes = np.array(boxes)
    return np.concatenate([boxes[:, :, :2].max(axis=0), boxes[:, :, 2:].min(axis=0)], axis=1)


def _put(figure, places):
    """Place the axes and switch the layout off, where the figure has the axes that the places were found for."""
    from matplotlib.transforms import Bbox

    if places is None or len(figure.axes) != len(places):
        return
    figure.set_layout_engine("none")
    for axes, box in zip(figure.axes, places, strict=True):
        axes.set_position(Bbox.from_extents(box), which="original")


def _pixels(figure, layers):
    """The drawn figure as an image; drawn straight into memory, without a file format in between."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image

    figure.set_dpi(DPI)
    canvas = FigureCanvasAgg(figure)
    layers.draw(figure, canvas)
    return Image.fromarray(np.array(canvas.buffer_rgba()))


def _encode(images):
    """Lossless WebP frames of few colours within the byte budget: fewer colours first, then fewer pixels."""
    size = images[0].size
    if any(image.size != size for image in images):
        raise ValueError("every state must draw a figure of the same size")
    # Every step by the golden ratio: evenly spread, and never in step with the rows of a grid of states.
    probe = sorted({int(len(images) * (0.618 * i % 1)) for i in range(8)})
    for factor, colours in ((1.0, 96), (1.0, 48), (0.75, 48), (0.75, 24), (0.6, 24)):
        frames = {i: _compress(images[i], factor, colours) for i in probe}
        if sum(map(len, frames.values())) / len(frames) * len(images) > MAX_FRAME_BYTES:
            continue
        frames = [frames.get(i) or _compress(image, factor, colours) for i, image in enumerate(images)]
        if sum(map(len, frames)) <= MAX_FRAME_BYTES:
            return [base64.b64encode(frame).decode() for frame in frames], size
    raise ValueError(
        f"{len(images)} frames do not fit into {MAX_FRAME_BYTES} bytes: fewer positions (static=) or a plainer figure"
    )


def _compress(image, factor, colours):
    """One frame. Line drawings have few colours; a palette keeps text sharp at a third of a lossy frame's size."""
    small = image if factor == 1.0 else image.resize([round(side * factor) for side in image.size])
    buffer = io.BytesIO()
    small.quantize(colours, method=2).convert("RGBA").save(buffer, "WEBP", lossless=True, quality=50, method=2)
    return buffer.getvalue()


def _page(title, sliders, positions, fixed, frames, texts, start, size):
    labels = {name: slider.label or name for name, slider in sliders.items()}
    moving = []
    for name, grid in positions.items():
        at = int(np.flatnonzero(grid == sliders[name].start)[0])
        moving.append((labels[name], [f"{value:g}" for value in grid], at))
    # The build moves these data into a script of their own (data-src), which is loaded when the explorer comes into
    # view; a page that was not touched by the build finds them inline.
    payload = json.dumps({"frames": frames, "texts": texts}).replace("</", "<\\/")
    return render(
        _TEMPLATES / "explorer.html",
        title=title,
        width=round(size[0] * 100 / DPI),
        height=round(size[1] * 100 / DPI),
        frame=frames[start],
        text=texts[start],
        moving=moving,
        fixed=[(labels[name], f"{value:g}") for name, value in fixed.items()],
        payload=markup(payload),
        script=markup((_TEMPLATES / "explorer.js").read_text(encoding="utf-8").strip()),
        dumps=json.dumps,
    )
