"""What every chapter shares: run claims, explorers, figures in one style.

>>> from learnable.book import claim, explore, show, use_style
"""

from learnable.book.claims import ClaimError, at_least, at_most, between, claim, finding
from learnable.book.explorer import Slider, explore
from learnable.book.printed import show_printed, show_record
from learnable.book.style import COLORS, show, use_style

__all__ = [
    "COLORS",
    "ClaimError",
    "Slider",
    "at_least",
    "at_most",
    "between",
    "claim",
    "explore",
    "finding",
    "show",
    "show_printed",
    "show_record",
    "use_style",
]
