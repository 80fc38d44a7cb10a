"""A headless Chromium over the built book, opened as a file, with the network cut."""

import os

import pytest

from tools.pdf import chromium
from tools.project import BUILD

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--allow-file-access-from-files=false",
]


def absent(reason):
    """A missing browser is said aloud; in CI it is a failure."""
    if os.environ.get("CI"):
        pytest.fail(f"browser layer cannot run: {reason}")
    pytest.skip(f"BROWSER LAYER SKIPPED: {reason}")


@pytest.fixture(scope="session")
def browser():
    path = chromium()
    if path is None:
        absent("no Chromium found; install it, or set CHROMIUM to its path")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield running
        running.close()


@pytest.fixture(scope="session")
def site():
    folder = BUILD / "html"
    if not (folder / "index.html").exists():
        absent("the book is not built; run `make book`")
    return folder


@pytest.fixture
def open_page(browser, site):
    """Open a page of the site at a width and in a mode; return it with its console errors and outside requests."""
    contexts = []

    def opener(name, width=1280, height=900, mode="light", javascript=True):
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=mode,
            java_script_enabled=javascript,
            has_touch=width < 600,
        )
        context.set_offline(True)
        contexts.append(context)
        page = context.new_page()
        page.errors, page.outside = [], []
        page.on("console", lambda message: page.errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.on(
            "request",
            lambda request: (
                None if request.url.startswith(("file:", "data:", "blob:")) else page.outside.append(request.url)
            ),
        )
        page.goto((site / name).as_uri())
        return page

    yield opener
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def wait_for_formulas():
    """Wait until all formulas of a page are typeset: by itself, a page does so as they come into view."""

    def wait(page):
        page.wait_for_function("window.MathJax && MathJax.startup && MathJax.startup.promise")
        page.evaluate("MathJax.startup.promise.then(() => MathJax.startup.document.lazyTypesetAll())")

    return wait


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """A real JupyterLab over an empty folder: (address, folder)."""
    import socket
    import subprocess
    import sys
    import time
    import urllib.request

    folder = tmp_path_factory.mktemp("lab")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home = tmp_path_factory.mktemp("home")
    environment = {
        **os.environ,
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "LEARNABLE_EXPLORE": "widget",
    }
    command = [sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root", f"--port={port}"]
    command += [
        "--ip=127.0.0.1",
        "--IdentityProvider.token=",
        "--ServerApp.password=",
        "--ServerApp.disable_check_xsrf=True",
    ]
    command += [
        f"--notebook-dir={folder}",
        "--LabApp.news_url=",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]
    log = (home / "log").open("w")
    server = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    address = f"http://127.0.0.1:{port}"
    for _ in range(120):
        try:
            urllib.request.urlopen(f"{address}/api/status", timeout=1)
            break
        except OSError:
            time.sleep(0.5)
    else:
        server.kill()
        absent("JupyterLab did not start: " + (home / "log").read_text()[-1000:])
    yield address, folder
    server.terminate()
    server.wait(timeout=20)
