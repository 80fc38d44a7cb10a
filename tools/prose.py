"""How long a lecture is: words of its core path, and the minutes that it takes to read."""

from __future__ import annotations

import re
import sys

# What stands beside the path that a reader follows from the question to the use of the method.
BESIDE = ("Going further", "Summary", "Check yourself", "Exercises", "Further reading")
CORE = 3500
# Words a minute of technical prose, and minutes for a displayed formula and a line of code.
PACE, FORMULA, LINE = 200, 0.2, 0.05


def sections(notebook):
    """[(heading, prose, lines of code that are shown)] of a lecture, cut at its headings of the second level."""
    found = [["", "", 0]]
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code":
            hidden = any(tag.startswith(("hide-", "remove-")) for tag in cell["metadata"].get("tags", []))
            found[-1][2] += 0 if hidden else sum(bool(line.strip()) for line in source.splitlines())
        elif cell["cell_type"] == "markdown":
            first, *others = re.split(r"(?m)^## ", source)
            found[-1][1] += first + "\n"
            for part in others:
                heading, _, prose = part.partition("\n")
                found.append([heading.strip(), prose + "\n", 0])
    return [tuple(section) for section in found]


def words(prose):
    """Words of a piece of Markdown; a formula in the line counts as one, a displayed one as none."""
    prose = re.sub(r"\$\$.*?\$\$|```\{math\}.*?```", " ", prose, flags=re.S)
    return len(re.sub(r"\$[^$]*\$", " x ", prose).split())


def core_words(notebook):
    """Words of all sections but those beside the path."""
    return sum(words(prose) for heading, prose, _ in sections(notebook) if not heading.startswith(BESIDE))


def reading_minutes(notebook):
    """Minutes for the whole lecture, in steps of five."""
    minutes = 0.0
    for _, prose, lines in sections(notebook):
        formulas = len(re.findall(r"\$\$.*?\$\$|```\{math\}", prose, flags=re.S))
        minutes += words(prose) / PACE + FORMULA * formulas + LINE * lines
    return max(5, 5 * round(minutes / 5))


if __name__ == "__main__":
    from tools.project import chapters

    for chapter in chapters():
        if not sys.argv[1:] or chapter.slug in sys.argv[1:]:
            length = core_words(chapter.notebook)
            print(f"{chapter.slug}: core {length} of {CORE} words, {chapter.reading_minutes} minutes")
            for heading, prose, lines in sections(chapter.notebook):
                print(f"  {words(prose):5d} words {lines:4d} lines  {heading}")
