"""Execute the lectures in place, keep their text outputs, and check what is stored.

python -m tools.run.notebooks run [NAME ...]     execute and store text outputs, without image payloads
python -m tools.run.notebooks check              fail on stored images, missing outputs or messy notebooks
"""

from __future__ import annotations

import argparse
import ast
import sys

import nbformat
from tqdm import tqdm

from tools.project import ROOT, executable_pages, selected
from tools.run.kernels import execute_all
from tools.site import references

IMAGES = ("image/png", "image/jpeg")  # nbval does not compare these two
FORBIDDEN = ("image/png", "image/jpeg", "image/svg+xml", "application/vnd.jupyter.widget-view+json")
MAX_HTML = 20_000
MAX_COLUMNS = 80
CELL_KEYS = {"tags", "mystnb", "editable", "slideshow"}


def strip(notebook):
    """Drop image payloads and oversized HTML but keep the text beside them; forget run-dependent metadata."""
    notebook.metadata = {key: notebook.metadata[key] for key in ("kernelspec", "learnable") if key in notebook.metadata}
    notebook.metadata["language_info"] = {"name": "python"}
    number = 0
    for index, cell in enumerate(notebook.cells):
        cell["id"] = f"c{index:03d}"
        cell.metadata = {key: value for key, value in cell.metadata.items() if key in CELL_KEYS}
        if cell.cell_type != "code":
            continue
        number += 1
        cell.execution_count = number  # nbval takes a cell without a number for one that never ran
        kept = []
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output["execution_count"] = number
            if "data" in output:
                for mime in IMAGES:
                    output.data.pop(mime, None)
                if len(output.data.get("text/html", "")) > MAX_HTML and "text/plain" in output.data:
                    del output.data["text/html"]
                output["metadata"] = {}
                if not output.data:
                    continue
            if output.output_type == "stream" and kept and kept[-1].get("name") == output.name:
                kept[-1]["text"] += output.text  # a busy machine sends one text in several messages
                continue
            kept.append(output)
        cell.outputs = kept
    return notebook


def _import_lines(source):
    """How many lines of a cell are imports: these may be as many as the cell needs."""
    try:
        tree = ast.parse(source)
    except SyntaxError:  # a cell with a magic
        return 0
    imports = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    return sum(node.end_lineno - node.lineno + 1 for node in imports)


def problems(path, root=ROOT):
    """What is wrong with a stored notebook, one sentence each."""
    notebook = nbformat.read(path, as_version=4)
    where = path.relative_to(root).with_suffix("").as_posix()
    found = [f"{where}: {problem}" for problem in references.problems(notebook)]
    outputs = 0
    for number, cell in enumerate(c for c in notebook.cells if c.cell_type == "code"):
        if not cell.source.strip():
            found.append(f"{where}, code cell {number}: is empty")
        if len(cell.source.splitlines()) - _import_lines(cell.source) > 15:
            found.append(f"{where}, code cell {number}: longer than 15 lines; move it into the package")
        wide = max((len(line) for line in cell.source.splitlines()), default=0)
        if wide > MAX_COLUMNS and not {"hide-input", "remove-input"} & set(cell.metadata.get("tags", [])):
            found.append(f"{where}, code cell {number}: a line of {wide} columns; the page shows {MAX_COLUMNS}")
        for output in cell.outputs:
            outputs += 1
            if output.output_type == "error":
                found.append(f"{where}, code cell {number}: an error is stored ({output.ename}: {output.evalue})")
            for mime in output.get("data", {}):
                if mime in FORBIDDEN:
                    found.append(f"{where}, code cell {number}: a stored {mime} payload (run `make notebooks`)")
            text = str(output.get("text", "")) + str(output.get("data", {}))
            if "Warning" in text and output.get("name") == "stderr":
                found.append(f"{where}, code cell {number}: a warning is stored")
            if str(root) in text:
                found.append(f"{where}, code cell {number}: a path of this machine is stored")
    if not outputs:
        found.append(f"{where}: no outputs are stored (run `make notebooks`)")
    return found


def describe_failure(path, error):
    """Name the chapter and the cell of a failed execution."""
    notebook = nbformat.read(path, as_version=4)
    lines = str(error).strip().splitlines()
    source = getattr(error, "ename", type(error).__name__)
    for number, cell in enumerate(c for c in notebook.cells if c.cell_type == "code"):
        if cell.source.strip() and cell.source.strip() in str(error):
            return f"{path.parent.name}/{path.stem}, code cell {number}: {source}\n" + "\n".join(lines[-12:])
    return f"{path.parent.name}/{path.stem}: {source}\n" + "\n".join(lines[-12:])


def run(names):
    pages = selected(names)
    failures = []
    progress = tqdm(total=len(pages), desc="executing notebooks", unit="nb")
    for done in execute_all(pages, jobs=2, LEARNABLE_EXPLORE="text"):
        progress.update()
        if done.failure:
            failures.append(done.failure)
            continue
        notebook = done.parse()
        references.spell_out(notebook, done.path.parent)
        nbformat.write(strip(notebook), done.path)
        tqdm.write(f"{done.seconds['total']:6.1f} s  {done.path.relative_to(ROOT)}")
    progress.close()
    return failures


def check():
    return [problem for page in executable_pages() for problem in problems(page)]


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["run", "check"])
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args(argv)
    try:
        selected(arguments.names)
    except ValueError as error:
        parser.error(str(error))
    found = run(arguments.names) if arguments.command == "run" else check()
    print("\n".join(found) if found else f"notebooks: {arguments.command} passed")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
