"""One look for every figure, and `show`, which no figure can pass without a description."""

from __future__ import annotations

import base64
import io

from learnable.book._session import live

__all__ = ["COLORS", "CYCLE", "show", "use_style"]

# Okabe-Ito, reordered so that the first two also differ in lightness; safe for the common colour deficiencies.
COLORS = {
    "blue": "#0072b2",
    "orange": "#d55e00",
    "green": "#009e73",
    "purple": "#b0569a",
    "amber": "#b77f00",
    "sky": "#3a93c8",
    "ink": "#1c2430",
    "muted": "#667080",
    "band": "#c9d2dc",
}
CYCLE = [COLORS[name] for name in ("blue", "orange", "green", "purple", "amber", "sky")]

_RC = {
    "axes.axisbelow": True,
    "axes.edgecolor": COLORS["muted"],
    "axes.grid": False,
    "axes.labelcolor": COLORS["ink"],
    "axes.labelsize": 11,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 11.5,
    "figure.autolayout": False,
    "figure.constrained_layout.use": True,
    "figure.dpi": 150,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "figure.figsize": (7.0, 3.6),
    "font.family": "DejaVu Sans",
    "font.size": 10.5,
    "legend.frameon": False,
    "lines.linewidth": 1.9,
    "text.color": COLORS["ink"],
    "xtick.color": COLORS["muted"],
    "xtick.labelcolor": COLORS["ink"],
    "ytick.color": COLORS["muted"],
    "ytick.labelcolor": COLORS["ink"],
}


def use_style():
    """Set the book's matplotlib style for the running session.

    Backgrounds are transparent and text is dark: the book's pages recolour figures in dark mode.

    >>> use_style()
    >>> import matplotlib
    >>> matplotlib.rcParams["axes.spines.top"]
    False
    """
    import matplotlib as mpl
    from cycler import cycler

    mpl.rcParams.update(_RC)
    mpl.rcParams["axes.prop_cycle"] = cycler(color=CYCLE)


def show(fig, *, alt, caption=None, name=None):
    """Display a figure with its alternative text, and close it.

    Parameters
    ----------
    fig : matplotlib.figure.Figure
    alt : str
        What a reader who cannot see the figure should know: what is drawn and what it shows. Required.
    caption : str, optional
        MyST text below the figure; a figure with a caption is numbered in the book.
    name : str, optional
        Target of references, ``[the figure below](#fig-town)``; needs a caption.
    """
    import matplotlib.pyplot as plt
    from IPython.display import Markdown, display

    if not isinstance(alt, str) or len(alt.split()) < 4:
        raise ValueError("alt must describe the figure in words: what is drawn, and what it shows")
    if name is not None and not caption:
        raise ValueError("a figure with a name needs a caption: only numbered figures can be referred to")
    png = io.BytesIO()
    fig.savefig(png, format="png", dpi=fig.dpi, metadata={"Software": None})
    width, height = (round(side * 100) for side in fig.get_size_inches())
    plt.close(fig)
    options = {"alt": alt, "width": width, "height": height}
    if caption:
        options |= {"caption": caption, "name": name}
    display(
        {"image/png": base64.b64encode(png.getvalue()).decode(), "text/plain": f"[figure] {alt}"},
        metadata={"image/png": options},
        raw=True,
    )
    if caption and live():  # the book makes a numbered figure of the two; a session shows them one below the other
        display(Markdown(caption))
