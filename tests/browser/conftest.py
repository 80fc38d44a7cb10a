"""A headless Chromium over the built book, opened as a file, with the network cut; and a JupyterLab for the rest.

Nothing here waits for a time. The limits below only end a wait for something that will never come.
"""

import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import NamedTuple

import pytest
from visits import DESKTOP, STILL

from tools.project import BUILD, chapters
from tools.site.pdf import chromium

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--allow-file-access-from-files=false",
]
NEVER = 300_000  # ms: on the busiest machine, what has not come by then does not come


def absent(reason):
    """A missing browser is said aloud; in CI it is a failure."""
    if os.environ.get("CI"):
        pytest.fail(f"browser layer cannot run: {reason}")
    pytest.skip(f"BROWSER LAYER SKIPPED: {reason}")


def only():
    """Addresses of the pages that ``LEARNABLE_ONLY`` (slugs with spaces between) asks for; None for all."""
    slugs = os.environ.get("LEARNABLE_ONLY", "").split()
    if not slugs:
        return None
    known = {chapter.slug: f"{chapter.docname}.html" for chapter in chapters()}
    if unknown := [slug for slug in slugs if slug not in known]:
        raise pytest.UsageError(f"LEARNABLE_ONLY: no chapter is called {', '.join(unknown)}")
    return {known[slug] for slug in slugs}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Keep what ``LEARNABLE_ONLY`` asks for; tests that need JupyterLab share a worker, so that it starts once."""
    here = Path(__file__).parent
    wanted, kept, dropped = only(), [], []
    for item in items:
        if here in item.path.parents:
            if "lab" in item.fixturenames:
                item.add_marker(pytest.mark.xdist_group("lab"))
            parameters = item.callspec.params if hasattr(item, "callspec") else {}
            if wanted is not None and parameters.get("name") not in wanted:
                dropped.append(item)
                continue
        kept.append(item)
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = kept


@pytest.fixture(scope="session")
def browser():
    path = chromium()
    if path is None:
        absent("no Chromium found; install it, or set CHROMIUM to its path")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=FLAGS, timeout=NEVER)
        yield running
        running.close()


@pytest.fixture(scope="session")
def site():
    folder = BUILD / "html"
    if not (folder / "index.html").exists():
        absent("the book is not built; run `make book`")
    return folder


@pytest.fixture
def new_context(browser):
    """Make browser contexts that are closed after the test."""
    contexts = []

    def make(**options):
        contexts.append(browser.new_context(**options))
        contexts[-1].set_default_timeout(NEVER)
        return contexts[-1]

    yield make
    for context in contexts:
        context.close()


@pytest.fixture
def open_page(new_context, site):
    """Open a page of the site at a size; return it with its console errors and outside requests."""

    def opener(name, width=DESKTOP["width"], height=DESKTOP["height"], mode="light", javascript=True):
        context = new_context(
            viewport={"width": width, "height": height},
            color_scheme=mode,
            java_script_enabled=javascript,
            has_touch=width < 600,
        )
        context.set_offline(True)
        context.add_init_script(STILL)
        page = context.new_page()
        page.errors, page.outside = [], []
        page.on("console", lambda message: page.errors.append(_said(message)) if message.type == "error" else None)
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.on(
            "request",
            lambda request: (
                None if request.url.startswith(("file:", "data:", "blob:")) else page.outside.append(request.url)
            ),
        )
        path, *query = name.split("?")
        page.goto("?".join([(site / path).as_uri(), *query]))
        return page

    return opener


def _said(message):
    return f"{message.text} ({message.location.get('url', '')})"


class Lab(NamedTuple):
    """A running JupyterLab, the folder that it shows, and where `learnable` keeps a learner's progress."""

    address: str
    folder: Path
    home: Path


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """A real JupyterLab over an empty folder."""
    folder, home = tmp_path_factory.mktemp("lab"), tmp_path_factory.mktemp("home")
    environment = {
        **os.environ,
        "LEARNABLE_HOME": str(home / "learnable"),
        "LEARNABLE_EXPLORE": "widget",
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "IPYTHONDIR": str(home / "ipython"),
        "JUPYTER_PREFER_ENV_PATH": "1",
    }
    # All cells are there at once; by default JupyterLab makes them as they come into view.
    whole = home / "settings" / "@jupyterlab" / "notebook-extension" / "tracker.jupyterlab-settings"
    whole.parent.mkdir(parents=True)
    whole.write_text('{"windowingMode": "none"}')
    command = [
        str(Path(sys.executable).with_name("jupyter-lab")),
        "--no-browser",
        "--allow-root",
        "--ServerApp.ip=127.0.0.1",
        "--IdentityProvider.token=",
        "--ServerApp.password=",
        "--ServerApp.disable_check_xsrf=True",
        f"--ServerApp.root_dir={folder}",
        "--LabApp.expose_app_in_browser=True",
        "--LabApp.news_url=",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]
    server = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    said = []
    try:
        address = _address(server, said)
        # The rest of what it says has to go somewhere, or it stops when the pipe is full.
        threading.Thread(target=said.extend, args=(server.stdout,), daemon=True).start()
        yield Lab(address, folder, home / "learnable")
    finally:
        server.terminate()
        server.wait()


def _address(server, said):
    """Read what the server says until it names its address; one that ends before has failed."""
    for line in server.stdout:
        said.append(line)
        if found := re.search(r"(http://127\.0\.0\.1:\d+)/lab", line):
            return found[1]
    pytest.fail("JupyterLab did not start:\n" + "".join(said[-20:]))


# What JupyterLab itself knows: the notebook on screen is the wanted one, has cells, and a kernel that waits for work.
READY = """path => {
  const panel = window.jupyterapp?.shell.currentWidget;
  const session = panel?.context?.sessionContext;
  const kernel = session?.session?.kernel;
  return panel?.context?.path === path && panel.context.isReady && panel.content.widgets.length > 0
    && session.isReady && Boolean(kernel?.name) && kernel.connectionStatus === 'connected' && kernel.status === 'idle';
}"""


@pytest.fixture
def open_notebook(new_context, lab):
    """Open a notebook of the lab by its path; return the page once its kernel waits for work."""

    def opener(path, width=1400, height=1000):
        page = new_context(viewport={"width": width, "height": height}).new_page()
        page.goto(f"{lab.address}/lab/tree/{path}?reset")
        page.wait_for_function(READY, arg=path)
        return page

    return opener
