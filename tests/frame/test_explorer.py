"""Explorers: the same drawing function with a kernel, without one, and under the notebook checks."""

import base64
import io
import json
import re

import numpy as np
import pytest
from PIL import Image

from learnable.book import Slider, explore
from learnable.book._layers import AxisLayers
from learnable.book.explorer import MAX_FRAME_BYTES, _encode, _moving


@pytest.fixture
def shown(monkeypatch):
    outputs = []
    monkeypatch.setattr("IPython.display.display", lambda data, **_: outputs.append(data))
    return outputs


def draw(a, b=0.0, c=1):
    from matplotlib.figure import Figure

    fig = Figure(figsize=(3, 2))
    ax = fig.add_subplot()
    ax.plot([0, a], [b, c])
    return fig, f"a is {a:g}, b is {b:g}, c is {c:g}"


def test_static_page_holds_every_state_in_order(shown, monkeypatch):
    monkeypatch.setenv("LEARNABLE_EXPLORE", "static")
    explore(draw, title="lines <x>", a=Slider(0, 4, 1, 2), b=(0.0, 1.0, 0.5, 0.5), c=Slider(1, 3, 1, 2, static=1))
    page = shown[0]["text/html"]
    data = json.loads(re.search(r'class="explorer-data">(.*?)</script>', page, re.S)[1].replace("<\\/", "</"))
    assert len(data["frames"]) == len(data["texts"]) == 15
    expected = [f"a is {a:g}, b is {b:g}, c is 2" for a in range(5) for b in (0, 0.5, 1)]
    assert data["texts"] == expected
    frame = Image.open(io.BytesIO(base64.b64decode(data["frames"][3])))
    assert frame.format == "WEBP"
    assert 'value="2"' in page and 'value="1"' in page
    assert "a is 2, b is 0.5, c is 2" in page.split("<script")[0]
    assert "lines &lt;x&gt;" in page
    assert page.count("fixed here") == 1
    assert "http" not in page.replace("http://www.w3.org", "")


def test_text_mode_draws_the_start_only(shown, monkeypatch):
    monkeypatch.setenv("LEARNABLE_EXPLORE", "text")
    explore(draw, title="t", a=Slider(0, 4, 1, 2))
    assert shown == [{"text/plain": "[explorer] t: a from 0 to 4\na is 2, b is 0, c is 1"}]


def test_widget_mode_redraws_when_a_slider_moves(monkeypatch):
    import ipywidgets

    boxes, seen = [], []
    monkeypatch.setattr("IPython.display.display", boxes.append)
    monkeypatch.setenv("LEARNABLE_EXPLORE", "widget")

    def record(a):
        seen.append(a)
        return draw(a)

    explore(record, title="t", a=Slider(0, 4, 1, 2))
    box = next(item for item in boxes if isinstance(item, ipywidgets.VBox))
    slider = next(child for child in box.children if isinstance(child, ipywidgets.IntSlider))
    slider.value = 3
    assert seen == [2, 3]


def test_thinning_keeps_both_ends_and_the_start():
    slider = Slider(0.0, 10.0, 0.1, 3.3)
    for count in (2, 3, 7, 20):
        kept = slider.thin(count)
        assert kept[0] == 0 or count == 2
        assert 3.3 in kept and len(kept) <= count
    assert len(slider.thin(1000)) == 101


@pytest.mark.parametrize("bad", [(1, 0, 1), (0, 1, 0), (0, 1, 0.1, 5)])
def test_impossible_sliders_are_refused(bad):
    with pytest.raises(ValueError):
        Slider(*bad)


def test_bad_calls(monkeypatch):
    monkeypatch.setenv("LEARNABLE_EXPLORE", "text")
    with pytest.raises(ValueError, match="sliders are"):
        explore(draw, title="t", z=(0, 1, 1))
    with pytest.raises(ValueError, match="figure, text"):
        explore(lambda a: None, title="t", a=(0, 1, 1))
    with pytest.raises(ValueError, match="at most 150"):
        _moving({"a": Slider(0, 100, 1, static=20), "b": Slider(0, 100, 1, static=20)})
    monkeypatch.setenv("LEARNABLE_EXPLORE", "hologram")
    with pytest.raises(ValueError, match="hologram"):
        explore(draw, title="t", a=(0, 1, 1))


def test_frames_are_compressed_until_they_fit_or_refused():
    rng = np.random.default_rng(0)
    noise = [Image.fromarray(rng.integers(0, 255, (300, 400, 4), dtype=np.uint8), "RGBA") for _ in range(12)]
    frames, size = _encode(noise)
    assert size == (400, 300)
    assert sum(len(base64.b64decode(frame)) for frame in frames) <= MAX_FRAME_BYTES
    with pytest.raises(ValueError, match="do not fit"):
        _encode(noise * 12)
    with pytest.raises(ValueError, match="same size"):
        _encode([noise[0], noise[1].resize((40, 30))])


def _drawn_both_ways(make, count):
    """Pixels of ``make(i)`` for i < count, drawn plainly and with shared axis layers; and the layers."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    layers, pairs = AxisLayers(), []
    for i in range(count):
        plain, shared = (FigureCanvasAgg(make(i)) for _ in range(2))
        plain.draw()
        layers.draw(shared.figure, shared)
        pairs.append((np.array(plain.buffer_rgba()), np.array(shared.buffer_rgba())))
    return pairs, layers


def _curve(i, log=False, grid=False, ticks=None, label="x", title=None, high=10):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3, 2), dpi=100)
    axes = figure.add_axes((0.2, 0.3, 0.7, 0.6))
    axes.imshow(np.arange(4.0).reshape(2, 2), extent=(1, 10, 1, 10), aspect="auto", cmap="Blues")
    axes.plot([1, 10], [1, 1 + i])
    axes.set(xlim=(1, 10), ylim=(1, high), title=title, xlabel=label, xscale="log" if log else "linear")
    axes.grid(grid)
    if ticks is not None:
        axes.set_xticks([2, 4], ticks)
    return figure


@pytest.mark.parametrize("look", [{}, {"log": True}, {"grid": True}, {"ticks": ["two", "four"]}, {"title": "a title"}])
def test_axes_drawn_once_look_as_if_drawn_each_time(look):
    pairs, layers = _drawn_both_ways(lambda i: _curve(i, **look), 4)
    assert sum(layer is not None for layer in layers._layers.values()) == 2  # the other frames took these two
    for plain, shared in pairs:
        assert np.abs(plain.astype(int) - shared).max() <= 2  # blending twice rounds twice


def test_an_axis_that_changes_is_drawn_anew():
    def recoloured(i):
        figure = _curve(0)
        figure.axes[0].get_xticklabels()[1].set_color(["black", "red"][i // 2])
        return figure

    changing = [
        lambda i: _curve(0, label=f"x {i // 2}"),
        lambda i: _curve(0, ticks=["two", f"four {i // 2}"]),
        lambda i: _curve(0, title="above the power of ten", high=10.0 ** (8 + i // 2)),
        recoloured,
    ]
    for make in changing:
        pairs, _ = _drawn_both_ways(make, 4)
        assert (pairs[0][0] != pairs[2][0]).any()
        for plain, shared in pairs:
            assert np.abs(plain.astype(int) - shared).max() <= 2
