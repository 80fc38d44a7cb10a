"""The contents beside every page: resolved once, filled in for each."""

import sys

import pytest
from bs4 import BeautifulSoup

from tools.project import ROOT, chapters, read_data

sys.path.insert(0, str(ROOT / "book" / "_ext"))

from learnable_contents import Contents, ancestors

FRAGMENT = """<p class="caption" role="heading"><span class="caption-text">Chapters</span></p>
<ul>
<li class="toctree-l1"><a class="reference internal" href="book/parts/one.html">One</a><ul>
<li class="toctree-l2"><a class="reference internal" href="lectures/one/first.html">1. The "first"</a></li>
<li class="toctree-l2"><a class="reference internal" href="lectures/one/second.html">2. Second</a></li>
</ul></li>
<li class="toctree-l1"><a class="reference internal" href="book/parts/two.html">Two</a><ul>
<li class="toctree-l2"><a class="reference internal" href="lectures/two/third.html">3. Third</a></li>
</ul></li>
</ul>"""


@pytest.fixture(scope="module")
def contents():
    return Contents(FRAGMENT, lambda document: f"{document}.html")


def links(html):
    return {link.get_text(): link for link in BeautifulSoup(html, "html.parser")("a")}


def test_links_lead_from_where_the_page_is(contents):
    found = links(contents.render("lectures/one/first", ["book/parts/one"]))
    assert found["2. Second"]["href"] == "../../lectures/one/second.html"
    assert found['1. The "first"']["href"] == "#"
    assert links(contents.render("genindex", []))["Two"]["href"] == "book/parts/two.html"


def test_the_way_to_the_page_is_marked_and_open(contents):
    soup = BeautifulSoup(contents.render("lectures/one/first", ["book/parts/one"]), "html.parser")
    marked = {item.a.get_text() for item in soup("li", class_="current")}
    assert marked == {"One", '1. The "first"'} == {item.a.get_text() for item in soup("li", class_="active")}
    assert [link.get_text() for link in soup("a", class_="current")] == ['1. The "first"']
    assert [details.has_attr("open") for details in soup("details")] == [True, False]


def test_one_page_leaves_no_trace_on_the_next(contents):
    before = contents.render("lectures/two/third", ["book/parts/two"])
    contents.render("lectures/one/first", ["book/parts/one"])
    assert contents.render("lectures/two/third", ["book/parts/two"]) == before
    assert "\0" not in before and not BeautifulSoup(contents.render("search", []), "html.parser")(
        "li", class_="current"
    )


def test_pages_below_those_that_are_listed_open_their_part():
    class Environment:
        toctree_includes = {"book/intro": ["api/index"], "api/index": ["api/kernels"], "api/kernels": ["api/SVM"]}

    assert ancestors(Environment, "api/SVM") == ["api/kernels", "api/index", "book/intro"]
    assert ancestors(Environment, "search") == []


def test_a_file_is_parsed_once_and_again_when_it_changes(tmp_path):
    path = tmp_path / "a.yml"
    path.write_text("a: 1")
    assert read_data(path) is read_data(path) == {"a": 1}
    path.write_text("a: 2")
    assert read_data(path) == {"a": 2}
    assert chapters()[0].notebook is chapters()[0].notebook
