"""What is stored of a lecture's run: text, whole and in order, and no pictures."""

import nbformat

from tools.run.notebooks import strip


def test_a_text_that_came_in_pieces_is_stored_as_one():
    out = nbformat.v4.new_output
    pieces = [
        out("stream", name="stdout", text="a "),
        out("stream", name="stdout", text="b\n"),
        out("display_data", data={"image/png": "…", "text/plain": "[figure] c"}),
        out("stream", name="stdout", text="d\n"),
        out("stream", name="stderr", text="e\n"),
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("print()", outputs=pieces)])
    kept = strip(notebook).cells[0].outputs
    assert [output.get("text", output.get("data")) for output in kept] == [
        "a b\n",
        {"text/plain": "[figure] c"},
        "d\n",
        "e\n",
    ]
