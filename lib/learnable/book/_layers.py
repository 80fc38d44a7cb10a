"""Ticks, tick labels and axis labels, drawn once for all the frames of an explorer that show the same ones.

Four fifths of the time to draw a plain figure go into its axes: every tick makes three lines and two texts, and every
text is measured before it is drawn. From frame to frame they seldom change. The second time that an axis comes in the
same state it is drawn into a layer of its own; from then on the layer is laid into the frame, at its place in the order
of drawing.
"""

from __future__ import annotations

import functools
import types

import numpy as np
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.transforms import TransformNode

# Attributes that say where an artist belongs, or what was computed for it, and not how it looks.
_ELSEWHERE = set(
    "axis axes figure draw get_tightbbox callbacks stale_callback _axes _parent_figure _callbacks _remove_method "
    "_converter _renderer _stale".split()
)


class AxisLayers:
    """The axes of many figures with the same size and resolution."""

    def __init__(self):
        self._layers, self._boxes = {}, {}

    def draw(self, figure, canvas):
        """Draw ``figure`` on ``canvas``, an Agg canvas of it."""
        for axes in figure.axes:
            for axis in (axes.xaxis, axes.yaxis):
                axis.draw = functools.partial(self._draw_axis, axis, axis.draw)
                axis.get_tightbbox = functools.partial(self._measure_axis, axis, axis.get_tightbbox)
        canvas.draw()

    def _draw_axis(self, axis, draw, renderer):
        key = _key(axis)
        if key is None:
            return draw(renderer)
        if key not in self._layers:
            self._layers[key] = None
            return draw(renderer)
        if self._layers[key] is None:
            self._layers[key] = _layer(draw, renderer)
        left, bottom, pixels = self._layers[key]
        if pixels.size:
            gc = renderer.new_gc()
            renderer.draw_image(gc, left, bottom, pixels)
            gc.restore()
        axis.stale = False

    def _measure_axis(self, axis, measure, renderer, **options):
        """The box of an axis, which a title asks for to stay clear of it; measuring makes all the ticks."""
        key = _key(axis), tuple(options.items())
        if key[0] is not None and key in self._boxes:
            return self._boxes[key]
        box = measure(renderer, **options)
        if not axis.offsetText.get_text():  # measuring has written a power of ten, which the title looks at
            self._boxes[key] = box
        return box


def _key(axis):
    """Equal for axes that look the same; None where that cannot be told, as with a formatter of another library."""
    try:
        spines = [(spine.get_position(), spine.get_visible()) for spine in axis.axes.spines.values()]
        return *axis.axes.bbox.extents, *axis.get_view_interval(), _look(spines), _look(axis)
    except TypeError:
        return None


def _layer(draw, renderer):
    """Left, bottom, and the pixels that ``draw`` touches on an empty canvas like that of ``renderer``."""
    own = RendererAgg(renderer.width, renderer.height, renderer.dpi)
    draw(own)
    pixels = np.asarray(own.buffer_rgba())
    rows, columns = (np.flatnonzero(pixels[..., 3].any(axis=side)) for side in (1, 0))
    if not rows.size:
        return 0, 0, pixels[:0, :0]
    box = pixels[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    return int(columns[0]), int(pixels.shape[0] - rows[-1] - 1), box[::-1].copy()


def _look(thing):
    """All values that the look of an artist depends on, as one hashable; TypeError for a value of an unknown kind.

    Transforms are not compared: the frames come from one drawing function, and the box and limits are in the key.
    """
    if thing is None or isinstance(thing, (bool, int, float, str, np.generic)):
        return thing
    if isinstance(thing, np.ndarray):
        return thing.dtype.str, thing.shape, _look(thing.tolist()) if thing.dtype.hasobject else thing.tobytes()
    if isinstance(thing, (list, tuple)):
        return tuple([_look(value) for value in thing])
    if isinstance(thing, dict):
        return tuple([(name, _look(value)) for name, value in thing.items() if name not in _ELSEWHERE])
    if isinstance(thing, types.FunctionType):
        cells = [cell.cell_contents for cell in thing.__closure__ or ()]
        return thing.__code__, _look(thing.__defaults__), _look(cells)
    if isinstance(thing, functools.partial):
        return _look(thing.func), _look(thing.args), _look(thing.keywords)
    if isinstance(thing, types.MethodType):
        return thing.__func__
    if isinstance(thing, TransformNode):
        return type(thing)
    if type(thing).__module__.startswith("matplotlib.") and hasattr(thing, "__dict__"):
        return type(thing), _look(vars(thing))
    raise TypeError(f"cannot compare a {type(thing).__name__}")
