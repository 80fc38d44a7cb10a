"""Every chapter has its rooms, its metadata, its claims; the reading order respects what chapters need."""

import html
import itertools
import re

import nbformat
import pytest
import yaml

from tools import prose
from tools.check import chapter_test
from tools.project import PARTS, ROOT, chapters, executable_pages, settings, toc_documents
from tools.run.dependencies import Dependencies
from tools.run.notebooks import problems, strip
from tools.site import ledger_page, maps, pages, parts_page, read_next, readme, toc
from tools.site.paths_page import routes

CHAPTERS = chapters()
IDS = [chapter.name for chapter in CHAPTERS]
each_chapter = pytest.mark.parametrize("chapter", CHAPTERS, ids=IDS)


@each_chapter
def test_all_rooms_exist(chapter):
    missing = [room for room, path in chapter.rooms.items() if not path.exists()]
    assert not missing, f"{chapter.name} misses: {', '.join(missing)}"


@each_chapter
def test_metadata_is_complete(chapter):
    data = chapter.metadata
    assert set(data) >= {"source", "needs", "teaches", "short_title", "problem"}, (
        f"{chapter.name}: metadata['learnable'] is {data}"
    )
    assert isinstance(data["source"], str) and len(data["source"]) > 8
    assert "reading_minutes" not in data, "reading minutes are computed (tools/prose.py)"
    assert 5 <= chapter.reading_minutes <= 120
    assert 5 <= len(data["short_title"]) <= 30
    assert len(data["problem"].split()) >= 8


@each_chapter
def test_the_exercise_seals_what_the_lecture_teaches(chapter):
    sealed = nbformat.read(chapter.master, as_version=4).metadata["learnable"]["sealed"]
    left = set(chapter.teaches) - set(sealed)
    assert not left, f"{chapter.master.name} leaves {left} open"


def test_table_of_contents_follows_from_the_chapters():
    assert toc.current() == (ROOT / "_toc.yml").read_text(encoding="utf-8")


@pytest.mark.parametrize("part", dict.fromkeys(chapter.part for chapter in CHAPTERS))
def test_part_says_what_its_chapters_share(part):
    shared = (ROOT / "book" / "parts" / f"{part}.md").read_text(encoding="utf-8")
    assert "**In practice**" in shared and "**Order.**" in shared
    page = parts_page.text(part, CHAPTERS)
    assert all(chapter.metadata["problem"] in html.unescape(page) for chapter in CHAPTERS if chapter.part == part)


def test_maps_draw_only_what_does_not_follow():
    nodes = [maps.Node(k, k, k, "", tuple(needs)) for k, needs in (("a", ""), ("b", "a"), ("c", "ab"))]
    assert set(maps._direct(nodes)) == {("a", "b"), ("b", "c")}


@pytest.mark.parametrize("size", maps.WIDTHS)
def test_no_arrow_of_a_map_runs_behind_a_box(size):
    """Thirty chapters in three levels, far more than a row holds, with needs across."""
    nodes = [maps.Node(f"a{n}", "", "", "") for n in range(9)]
    nodes += [maps.Node(f"b{n}", "", "", "", (f"a{n}", f"a{(5 * n + 3) % 9}")) for n in range(9)]
    nodes += [maps.Node(f"c{n}", "", "", "", (f"b{n % 9}", f"a{(4 * n + 7) % 9}")) for n in range(12)]
    places, gutters, number, height = maps._places(nodes, maps.WIDTHS[size])
    boxes = [(x, y, x + maps.BOX, y + maps.HEIGHT) for x, y in places.values()]
    assert all(0 <= left and right <= maps.WIDTHS[size] and low <= height for left, _, right, low in boxes)
    assert not any(a != b and a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3] for a in boxes for b in boxes)
    for path in maps._edges(nodes, places, gutters, number):
        if "C" in path:  # within the gap between two rows
            points = list(map(float, re.findall(r"-?\d+", path)))
            assert not any(points[1] < top < points[-1] for _, top, _, _ in boxes)
            continue
        x, y, *moves = re.findall(r"-?\d+|[HV]-?\d+", path.removeprefix("M"))
        x, y = float(x), float(y)
        for move in moves:
            new = (float(move[1:]), y) if move[0] == "H" else (x, float(move[1:]))
            low, high = sorted((y, new[1]))
            near, far = sorted((x, new[0]))
            crossed = [b for b in boxes if near < b[2] and far > b[0] and low < b[3] and high > b[1]]
            assert not crossed, f"{path} runs behind {crossed}"
            x, y = new


def test_every_page_of_a_path_leads_to_the_next():
    for route in routes(CHAPTERS):
        for before, after in itertools.pairwise(route.steps):
            assert f'rel="next" href="{after.docname}"' in read_next.path_steps(before.docname, CHAPTERS, str)


def test_needs_are_known_and_come_before():
    planned = {entry["slug"] for entry in yaml.safe_load((ROOT / "book/data/sources.json").read_text())["chapters"]}
    seen = set()
    for chapter in CHAPTERS:
        for slug in chapter.metadata["needs"]:
            assert slug in planned, f"{chapter.name} needs {slug}, which is no chapter"
            written = {c.slug for c in CHAPTERS}
            assert slug not in written or slug in seen, f"{chapter.name} needs {slug}, which comes later in _toc.yml"
        seen.add(chapter.slug)


def test_needs_form_no_cycle():
    graph = {chapter.slug: chapter.metadata["needs"] for chapter in CHAPTERS}
    done, path = set(), []

    def visit(slug):
        assert slug not in path, f"prerequisites form a cycle: {' -> '.join([*path, slug])}"
        if slug not in done and slug in graph:
            path.append(slug)
            for other in graph[slug]:
                visit(other)
            path.pop()
            done.add(slug)

    for slug in graph:
        visit(slug)


def test_every_lecture_is_in_the_table_of_contents():
    found = {f"lectures/{path.parent.name}/{path.stem}" for path in (ROOT / "lectures").glob("*/*.ipynb")}
    assert found == {chapter.docname for chapter in CHAPTERS}
    assert {chapter.part for chapter in CHAPTERS} <= set(PARTS)
    documents = toc_documents()
    assert len(documents) == len(set(documents))


@pytest.mark.parametrize("page", executable_pages(), ids=lambda page: page.stem)
def test_stored_notebook_is_clean(page):
    assert problems(page) == []


@each_chapter
def test_chapter_claims_and_explores(chapter):
    code = "\n".join("".join(cell["source"]) for cell in chapter.code_cells())
    assert len(pages.claims(chapter)) >= 3, f"{chapter.name}: a chapter runs at least three claims"
    assert "explore(" in code, f"{chapter.name}: a chapter has an explorer"
    ids = [claim.id for claim in pages.claims(chapter)]
    assert len(ids) == len(set(ids)), f"{chapter.name}: two claims with the same statement"


@each_chapter
def test_the_core_is_read_in_one_sitting(chapter):
    length = prose.core_words(chapter.notebook)
    assert length <= prose.CORE, f"{chapter.slug}: {length} words; see python -m tools.prose {chapter.slug}"


@each_chapter
def test_at_most_eight_boxes_stand_in_a_chapter(chapter):
    shown = [
        "".join(output["data"]["text/html"])
        for cell in chapter.code_cells()
        for output in cell["outputs"]
        if "text/html" in output.get("data", {})
    ]
    boxes = sum(html.count('class="claim claim-') for html in shown)
    assert boxes <= 8, f"{chapter.name}: {boxes} boxes; whole tables are shown by the record"


@each_chapter
def test_chapter_ends_like_every_chapter(chapter):
    text = "\n".join("".join(c["source"]) for c in chapter.notebook["cells"] if c["cell_type"] == "markdown")
    headings = re.findall(r"^## (.+)$", text, re.M)
    for wanted in ("Use it tomorrow", "Summary", "Check yourself", "Exercises", "Further reading"):
        assert any(wanted in heading for heading in headings), f"{chapter.name}: no section “{wanted}”"
    assert text.count("{dropdown}") >= 3, f"{chapter.name}: three to five self-check questions with folded answers"


def test_errata_name_tests_that_exist():
    slugs, dependencies = {chapter.slug: chapter for chapter in CHAPTERS}, Dependencies()
    for slug, entry in pages.errata_entries():
        assert slug in slugs, f"book/errata/{slug}.yml belongs to no chapter"
        assert {"where", "printed", "right"} <= set(entry), entry
        if entry.get("test"):
            tests = [path.read_text() for path in chapter_test.tests_of(slugs[slug], dependencies)]
            assert any(f"def {entry['test']}(" in text for text in tests), f"{slug}: no test {entry['test']}"


def test_readme_lists_the_chapters():
    text = (ROOT / "README.md").read_text()
    assert readme.updated(text) == text


def test_sources_cover_every_planned_chapter_once():
    data = yaml.safe_load((ROOT / "book/data/sources.json").read_text())
    planned = [entry["slug"] for entry in data["chapters"]]
    covered = [slug for document in data["documents"] for slug in document["chapters"]]
    assert len(data["documents"]) == 72
    assert sorted(planned) == sorted(covered) and len(planned) == len(set(planned)) == 91


def test_generated_pages_are_stable(tmp_path):
    pages.write_all(tmp_path)
    assert pages.write_all(tmp_path) == []
    rows = (tmp_path / "ledger.md").read_text().count("<tr data-chapter")
    assert rows == len(ledger_page.entries(CHAPTERS, pages.claims)) > 0


def test_no_link_needs_an_unset_address():
    if settings()["repository"]:
        pytest.skip("the repository has an address")
    assert pages.report_url("x") is None


def test_strip_removes_images_but_keeps_text():
    cell = nbformat.v4.new_code_cell("1")
    data = {"image/png": "AAAA", "text/plain": "[figure] words", "text/html": "<p>" + "x" * 50_000}
    cell.outputs = [
        nbformat.v4.new_output("display_data", data=data, metadata={"image/png": {"alt": "a"}}),
        nbformat.v4.new_output("display_data", data={"image/jpeg": "AAAA"}),
        nbformat.v4.new_output("stream", name="stdout", text="1\n"),
    ]
    cell.metadata = {"tags": ["keep"], "execution": {"iopub": "2026"}, "mystnb": {"figure": {}}}
    notebook = strip(nbformat.v4.new_notebook(cells=[cell], metadata={"widgets": {}, "learnable": {"needs": []}}))
    assert [dict(output.get("data", {})) for output in notebook.cells[0].outputs] == [
        {"text/plain": "[figure] words"},
        {},
    ]
    assert dict(notebook.cells[0].metadata) == {"tags": ["keep"], "mystnb": {"figure": {}}}
    assert set(notebook.metadata) == {"learnable", "language_info"}


@pytest.mark.parametrize(
    ("mime", "payload", "message"),
    [
        ("image/png", "AAAA", "a stored image/png payload"),
        ("image/svg+xml", "<svg/>", "a stored image/svg"),
        (None, None, "no outputs are stored"),
    ],
)
def test_check_finds_stored_images_and_missing_outputs(tmp_path, mime, payload, message):
    cell = nbformat.v4.new_code_cell("1")
    if mime:
        cell.outputs = [nbformat.v4.new_output("display_data", data={mime: payload})]
    path = tmp_path / "chapter.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), path)
    assert any(message in problem for problem in problems(path, root=tmp_path))


def test_check_finds_long_cells_errors_and_machine_paths(tmp_path):
    long = nbformat.v4.new_code_cell("\n".join(["x = 1"] * 16))
    long.outputs = [nbformat.v4.new_output("stream", name="stdout", text=f"saved to {tmp_path}/x\n")]
    failed = nbformat.v4.new_code_cell("1 / 0")
    failed.outputs = [nbformat.v4.new_output("error", ename="ZeroDivisionError", evalue="division", traceback=[])]
    path = tmp_path / "chapter.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[long, failed]), path)
    found = "\n".join(problems(path, root=tmp_path))
    for expected in ("cell 0: longer than 15 lines", "cell 0: a path of this machine", "cell 1: an error is stored"):
        assert expected in found
