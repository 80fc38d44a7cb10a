"""The reference of the package: complete, linked both ways, and every public name shown somewhere."""

import dataclasses
import inspect
import json
import re
import sys

import pytest

from tools.project import PACKAGE, ROOT, chapters
from tools.site import api_pages, chapter_end
from tools.site.traits import cost, traits

sys.path.insert(0, str(ROOT / "book" / "_ext"))
import learnable_reference

ENTRIES = list(api_pages.entries().values())
EXAMPLES = "\n".join(
    line
    for path in PACKAGE.rglob("*.py")
    for line in path.read_text(encoding="utf-8").splitlines()
    if line.strip().startswith((">>>", "..."))
)
DOCUMENTATION = "\n".join(inspect.getdoc(entry.value) or "" for entry in ENTRIES)
MASTERS = "\n".join(
    "".join(cell["source"])
    for path in (ROOT / "exercises" / "solutions").rglob("*.ipynb")
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
)


def is_result(value):
    """What functions return or raise: shown by the function that does so."""
    return inspect.isclass(value) and (dataclasses.is_dataclass(value) or issubclass(value, (tuple, Exception)))


def test_every_public_name_appears_in_a_chapter_or_an_example():
    hidden = []
    for entry in ENTRIES:
        if entry.used_in or not callable(entry.value) or ">>>" in (inspect.getdoc(entry.value) or ""):
            continue
        word = re.compile(rf"\b{re.escape(entry.name)}\b")
        places = [EXAMPLES, MASTERS] + ([DOCUMENTATION] if is_result(entry.value) else [])
        if not any(word.search(place) for place in places):
            hidden.append(entry.label)
    assert hidden == []


def test_every_public_name_is_documented_once():
    labels = [entry.label for entry in ENTRIES]
    assert len(labels) == len(set(labels)) > 500
    undocumented = [e.label for e in ENTRIES if callable(e.value) and not inspect.getdoc(e.value)]
    assert undocumented == []


def test_help_is_readable_in_a_terminal():
    """Formulas are plain text: ½‖w‖² + CΣξ_i, not LaTeX."""
    texts = {entry.label: inspect.getdoc(entry.value) or "" for entry in ENTRIES}
    for entry in ENTRIES:
        if inspect.isclass(entry.value):
            own = [v for v in vars(entry.value).values() if inspect.isfunction(v) or isinstance(v, property)]
            texts |= {f"{entry.label}.{v}": inspect.getdoc(v) or "" for v in own}
    texts |= {module: sys.modules[module].__doc__ or "" for module in {e.module for e in ENTRIES}}
    latex = re.compile(r":math:|\.\. math::|\\[A-Za-z]{2,}|\$[^$]+\$")
    assert [name for name, text in texts.items() if latex.search(text)] == []


@pytest.mark.parametrize("chapter", chapters(), ids=lambda chapter: chapter.slug)
def test_chapter_and_reference_link_to_each_other(chapter, pages):
    own = [entry for entry in api_pages.chapter_entries(chapter) if entry.is_of(chapter)]
    assert own, "a chapter calls what it teaches"
    end = chapter_end.render(chapter, lambda document: f"{document}.html")
    for entry in own:
        assert f" </{chapter.docname}>`" in pages[entry.document]
        assert f'href="{entry.document}.html#{entry.label}"' in end


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The pages of the reference as they are written, by document."""
    folder = tmp_path_factory.mktemp("api")
    (folder / "kernels").mkdir()
    (folder / "kernels" / "Forgotten.rst").write_text("A name that is gone.")
    api_pages.write(folder)
    return {f"{api_pages.API}/{p.relative_to(folder).with_suffix('')}": p.read_text() for p in folder.rglob("*.rst")}


def test_every_name_stands_on_one_page_of_its_own_kind(pages):
    for entry in ENTRIES:
        text = pages[entry.document]
        directives = [line for line in text.splitlines() if line.endswith(f":: {entry.label}")]
        assert len([line for line in directives if "automodule" not in line]) == 1, entry.label
        assert (entry.kind == "estimator") == (text.splitlines()[0] == entry.name)
    assert f"{api_pages.API}/kernels/Forgotten" not in pages


def test_results_stand_apart_from_estimators_and_functions(pages):
    text = pages["book/generated/api/latent/hmm.recursions"]
    assert text.index("forward_backward") < text.index("\nResults\n") < text.index(".Filtered\n")
    kinds = {entry.name: entry.kind for entry in ENTRIES}
    assert (kinds["Filtered"], kinds["HMM"], kinds["NotSeparableError"]) == ("result", "class", "result")


def test_a_page_of_a_part_shows_its_front_door_first(pages):
    text = pages["book/generated/api/kernels"]
    door, modules = text.split("\nModules\n")
    assert "~learnable.kernels.SoftMarginSVM" in door and "NotSeparableError" not in door
    assert "learnable.kernels.smo" in modules and "learnable.chapters" not in text


def test_a_name_that_every_chapter_calls_lists_the_first_few(pages):
    text = pages[f"{api_pages.API}/book/book"]
    entry = next(entry for entry in ENTRIES if entry.label == "learnable.book.claim")
    used = text.split(".. autofunction:: learnable.book.claim\n")[1].strip().splitlines()[0]
    assert used.count(":doc:") == 4
    assert used.endswith(f"and {len(entry.used_in) - 4} further chapters")
    assert max(line.count(":doc:") for page in pages.values() for line in page.splitlines()) <= 5


def test_the_glance_shows_every_estimator(pages):
    text = pages[f"{api_pages.API}/estimators"]
    for entry in ENTRIES:
        assert (f":py:class:`~{entry.label}`" in text) == (entry.kind == "estimator")


def test_long_tables_fold_and_keep_their_names(pages, monkeypatch):
    """Estimators stand open on the page of their part; other tables, and parts of the glance, fold when they grow."""
    graphs, glance = pages[f"{api_pages.API}/graphs"], pages[f"{api_pages.API}/estimators"]
    count = sum(e.exported == "learnable.graphs" and e.kind == "function" for e in ENTRIES)
    assert count > api_pages.MOST_ROWS and f".. dropdown:: {count} functions" in graphs
    monkeypatch.setattr(api_pages, "MOST_ROWS", 0)
    folded = api_pages.glance()
    assert re.search(r"\.\. dropdown:: \d+ estimators: \d+ classification, \d+ regression", folded)
    for old, new in ((glance, folded), (graphs, api_pages._group("graphs", "Graphs"))):
        names = [set(re.findall(r"~learnable[\w.]+", text)) for text in (old, new)]
        assert names[0] == names[1] and new.count(".. dropdown::") > old.count(".. dropdown::")
    door = api_pages._group("graphs", "Graphs").split("\nFunctions\n")[0]
    assert "~learnable.graphs.PC" in door and "dropdown" not in door


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("kernels.SoftMarginSVM", {"task": "classification", "classes": "yes", "weights": "yes", "probabilities": ""}),
        ("kernels.NuSVM", {"task": "classification", "classes": "two"}),
        ("linear.GaussianBayes", {"task": "classification", "classes": "yes", "probabilities": "yes"}),
        ("linear.LeastSquaresClassifier", {"cost": "O(n d²)"}),
        ("foundations.CostSensitiveClassifier", {"task": "classification", "classes": "yes", "sparse": "yes"}),
        ("ensembles.CARTRegressor", {"task": "regression", "classes": ""}),
        ("latent.ICATensor", {"task": "transformation"}),
        ("highdim.GraphicalLassoQUIC", {"task": "unsupervised"}),
    ],
)
def test_traits_are_read_from_tags_signatures_and_docstrings(path, expected):
    found = traits(api_pages.resolve(f"learnable.{path}"))
    assert {key: found[key] for key in expected} == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("Sort. O(n (d + log(n))) at most.", "O(n (d + log(n)))"), ("No cost.", ""), ("Examples\n---\nO(n)", "")],
)
def test_cost_is_the_first_statement_of_order(text, expected):
    assert cost(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("|x| <= 1 and a_b*c, w_", r"\|x\| <= 1 and a_b\*c, w\_"),
        ("see :func:`~learnable.x.solve` or ``y_`` or `z|`", "see :func:`~learnable.x.solve` or ``y_`` or `z|`"),
        ("the *best* of all", "the *best* of all"),
        (r"    * \bar x of x*", r"    * \\bar x of x\*"),
        ("coef_, slack_ : ndarray", "coef_, slack_ : ndarray"),
        (">>> a_ | b", ">>> a_ | b"),
    ],
)
def test_docstrings_are_taken_literally(text, expected):
    lines = [text]
    learnable_reference.escape(None, "function", "x", None, {}, lines)
    assert lines == [expected]


def test_literal_blocks_directives_and_outputs_stay():
    text = "One::\n\n    a_ | b\n\n|c|\n.. math:: x_\n   |y|\n\n>>> 1\na_ |"
    lines = text.splitlines()
    learnable_reference.escape(None, "function", "x", None, {}, lines)
    assert [new for old, new in zip(text.splitlines(), lines, strict=True) if old != new] == [r"\|c\|"]


def test_lines_of_a_signature_are_no_list_of_definitions():
    body = '<dt>f<span class="sig-paren">(</span>\n<dl>\n<dd>a,</dd>\n</dl>\n)</dt><dl><dd>kept</dd></dl>'
    context = {"body": body}
    learnable_reference.plain_signatures(None, "page", "", context, None)
    assert context["body"].count("<dl>") == 1 and '<span class="sig-line">a,</span>' in context["body"]


@pytest.mark.parametrize(
    ("target", "module", "label"),
    [
        ("learnable.kernels.SoftMarginSVM", "", "learnable.kernels.SoftMarginSVM"),
        ("learnable.kernels.svm.SoftMarginSVM", "", "learnable.kernels.SoftMarginSVM"),
        ("NotSeparableError", "learnable.kernels", "learnable.kernels.smo.NotSeparableError"),
        ("SubsetSearch", "learnable.graphs.scores", "learnable.graphs.scores.SubsetSearch"),
        (
            "SubsetSearch",
            "learnable.features.variable_elimination",
            "learnable.features.variable_elimination.SubsetSearch",
        ),
    ],
)
def test_a_name_is_found_in_all_ways_of_writing_it(target, module, label):
    assert api_pages.find(target, module).label == label


def test_no_such_name_is_found():
    assert api_pages.find("learnable.kernels.NoSuchMachine") is None and api_pages.find("tolerance") is None


def test_every_chapter_is_on_the_page_of_methods():
    text = (ROOT / "book" / "which_method.md").read_text(encoding="utf-8")
    assert [chapter.name for chapter in chapters() if f"](/{chapter.docname}.ipynb)" not in text] == []


def test_citation_names_the_edition():
    sentence, record = chapter_end.citation(chapters()[0])
    version = chapter_end.editions()[0][0]
    assert f"edition {version}" in sentence and record.count("{") == record.count("}")


NEEDED = {
    "article": ("author", "title", "journal", "year", "volume", "pages"),
    "inproceedings": ("author", "title", "booktitle", "year", "pages"),
    "book": ("author", "title", "publisher", "year"),
    "incollection": ("author", "title", "booktitle", "year"),
    "phdthesis": ("author", "title", "school", "year"),
}


def test_citations_are_complete():
    text = (ROOT / "book" / "references.bib").read_text(encoding="utf-8")
    records = re.findall(r"@(\w+)\{([^,]+),(.*?)\n\}", text, re.S)
    keys = [key for _, key, _ in records]
    assert len(keys) == len(set(keys)) > 30
    missing = []
    for kind, key, body in records:
        fields = set(re.findall(r"^\s*(\w+)\s*=", body, re.M))
        missing += [f"{key}: {name}" for name in NEEDED.get(kind.lower(), ("title", "year")) if name not in fields]
    assert missing == []


def test_a_name_with_a_leading_dot_is_the_nearest_one():
    """Two chapters may have modules of the same name: each docstring means its own."""
    module = "learnable.latent.entropy.pitman_yor"
    assert learnable_reference.nearest("dirichlet", module) == "learnable.latent.entropy.dirichlet"
    assert learnable_reference.nearest("kernels.smo", module) == "learnable.kernels.smo"
    assert learnable_reference.nearest("dirichlet", "learnable.kernels.smo") is None
    assert (
        learnable_reference.nearest("SoftMarginSVM.fit", "learnable.kernels") == "learnable.kernels.SoftMarginSVM.fit"
    )
    assert learnable_reference.nearest("nothing", "") is None
