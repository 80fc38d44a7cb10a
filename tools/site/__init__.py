"""What the book shows besides its lectures: generated pages, charts, maps, links, table of contents."""

from pathlib import Path

TEMPLATES = Path(__file__).with_name("templates")
