"""Write the list of chapters into the README, or check (``--check``) that it is current."""

from __future__ import annotations

import sys

from tools.project import PARTS, ROOT, chapters

BEGIN, END = "<!-- chapters -->", "<!-- /chapters -->"


def listing():
    lines = []
    found = chapters()
    for part, title in PARTS.items():
        members = [chapter for chapter in found if chapter.part == part]
        if members:
            lines.append(f"\n**{title}**\n")
            lines += [f"- [{c.title}](lectures/{c.name}.ipynb)" for c in members]
    return "\n".join(lines).strip() + "\n"


def updated(text):
    if BEGIN not in text or END not in text:
        raise ValueError(f"README.md must contain the marks {BEGIN} and {END}")
    head, rest = text.split(BEGIN, 1)
    return head + BEGIN + "\n" + listing() + END + rest.split(END, 1)[1]


def main(arguments):
    path = ROOT / "README.md"
    text = path.read_text(encoding="utf-8")
    new = updated(text)
    if "--check" in arguments:
        if new != text:
            print("README.md: the list of chapters is not current; run `python -m tools.site.readme`")
            return 1
        print("README: list of chapters is current")
        return 0
    path.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
