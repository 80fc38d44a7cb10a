"""Citations and references to figures: links in the notebook, roles in the book."""

import json

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tools.project import ROOT, executable_pages
from tools.run import notebooks
from tools.run.kernels import Execution
from tools.site import references

FOLDER = ROOT / "lectures" / "kernels"


def notebook(text):
    return new_notebook(cells=[new_markdown_cell(text), new_code_cell('show(fig, alt="a", name="fig-town")')])


@pytest.mark.parametrize(
    ("role", "link"),
    [
        ("{cite:t}`rudin2004`", "[Rudin et al. (2004)](../../book/references.bib#rudin2004)"),
        (
            "{cite:p}`platt1999, fan2005`",
            "[(Platt, 1999; Fan et al., 2005)](../../book/references.bib#platt1999,fan2005)",
        ),
        ("{cite:t}`buhlmann2003`", "[Bühlmann and Yu (2003)](../../book/references.bib#buhlmann2003)"),
        ("See {numref}`fig-town`.", "See [the figure below](#fig-town)."),
        ("{numref}`fig-town` shows", "[The figure below](#fig-town) shows"),
    ],
)
def test_roles_are_spelled_out_and_read_again(role, link):
    made = notebook(role)
    assert references.problems(made)
    assert references.spell_out(made, FOLDER) == 1
    assert made.cells[0].source == link
    assert references.problems(made) == []
    assert references.as_roles(link) == role.replace(", ", ",")


def test_a_stored_lecture_has_its_roles_spelled_out(tmp_path, monkeypatch):
    path = tmp_path / "lecture.ipynb"
    done = Execution(
        path, nbformat.writes(notebook("As {cite:t}`rudin2004` say, see {numref}`fig-town`.")), {"total": 0.0}
    )
    monkeypatch.setattr(notebooks, "selected", lambda names: [path])
    monkeypatch.setattr(notebooks, "execute_all", lambda pages, **_: [done])
    monkeypatch.setattr(notebooks, "ROOT", tmp_path)
    assert notebooks.run([]) == []
    stored = nbformat.read(path, as_version=4).cells[0].source
    assert stored.startswith("As [Rudin et al. (2004)](") and stored.endswith("see [the figure below](#fig-town).")


def test_a_link_to_the_exercise_page_becomes_a_reference():
    link = "[the page](../../book/generated/exercises.md#exercises-vc-theory)"
    assert references.as_roles(link) == "{ref}`the page <exercises-vc-theory>`"


def test_a_wrong_name_or_place_is_found():
    wrong = notebook("[Rudin (2004)](../../book/references.bib#rudin2004), [the figure above](#fig-town), [x](#fig-no)")
    found = "\n".join(references.problems(wrong))
    assert "Rudin et al. (2004)" in found and "fig-town stands below" in found and "no cell draws fig-no" in found


def test_an_unknown_key_is_refused():
    with pytest.raises(KeyError, match="nobody1900"):
        references.spell_out(notebook("{cite:t}`nobody1900`"), FOLDER)


def test_reading_changes_only_the_text():
    path = executable_pages()[-1]
    before = json.loads(path.read_text(encoding="utf-8"))
    after = json.loads(references.notebook_as_roles(path.read_text(encoding="utf-8")))
    assert "{cite:" in str(after) and "{cite:" not in str(before)
    assert [c for c in before["cells"] if c["cell_type"] == "code"] == [
        c for c in after["cells"] if c["cell_type"] == "code"
    ]
    nbformat.validate(nbformat.from_dict(after))


def test_chapters_send_nobody_to_a_tracked_exercise():
    for path in sorted((ROOT / "lectures").glob("*/*.ipynb")):
        text = path.read_text(encoding="utf-8")
        assert f"exercises/{path.parent.name}/{path.stem}.ipynb" not in text, path
        assert f"learnable start {path.stem}`" in text, path
        assert f"generated/exercises.md#exercises-{path.stem.replace('_', '-')}" in text, path
