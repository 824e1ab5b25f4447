"""Build the site in build/site, check its links, or show it: ``make docs``, ``make docs-serve``.

``python tools/site.py keep`` copies pictures of a built gallery to docs/images, for pages that are
also read on a code host.

Extensions write pages of the gallery and of the reference beside their sources. So the sources are
a copy of docs/ in build/site/source, and docs/ itself stays as it is.
"""

import argparse
import gzip
import sys
from functools import cache, lru_cache
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from shutil import copy2, copytree, rmtree
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "build" / "site"
SOURCE = SITE / "source"
HTML = SITE / "html"
BESIDE = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE", "benchmarks", "src", "tools"]
WRITTEN = ("gallery", "api")  # folders that extensions write
COPIED_AS = {"gallery": "examples"}  # sphinx-gallery reads examples and writes gallery
KEPT = {  # of docs/images, and what the gallery calls them
    "bandwidth": "start/images/sphx_glr_plot_tree_001",
    "tree": "start/images/sphx_glr_plot_tree_002",
    "variants": "methods/images/sphx_glr_plot_variants_001",
    "photo": "pictures/images/sphx_glr_plot_photo_001",
    "bands": "pictures/images/sphx_glr_plot_bands_001",
    "volume": "pictures/images/sphx_glr_plot_volume_001",
    "video": "pictures/images/sphx_glr_plot_video_001",
}
PACKED = (".html", ".css", ".js", ".svg", ".json")


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task", choices=["build", "links", "serve", "keep"])
    parser.add_argument("--port", type=int, default=8000)
    asked = parser.parse_args()
    if asked.task == "serve":
        return serve(asked.port)
    if asked.task == "keep":
        return keep()
    return (asked.task == "build" and build()) or check_links()


def build() -> int:
    """Run Sphinx; warnings are errors."""
    from sphinx.cmd.build import main as sphinx

    copy_sources()
    options = ["-W", "--keep-going", "-q", "-b", "html", "-d", str(SITE / "doctrees")]
    return sphinx([*options, str(SOURCE / "docs"), str(HTML)])


def copy_sources() -> None:
    """Make the folder of sources again, but keep what was written there for scripts that exist."""
    docs = SOURCE / "docs"
    if pages_of("*.rst", docs / "gallery") - pages_of("*.py", ROOT / "docs" / "gallery"):
        rmtree(SITE)
    docs.mkdir(parents=True, exist_ok=True)
    for old in [*SOURCE.iterdir(), *docs.iterdir()]:
        if old.name not in ("docs", *WRITTEN):
            rmtree(old) if old.is_dir() and not old.is_symlink() else old.unlink()
    for name in BESIDE:
        (SOURCE / name).symlink_to(ROOT / name)
    for path in (ROOT / "docs").iterdir():
        target = docs / COPIED_AS.get(path.name, path.name)
        copytree(path, target) if path.is_dir() else copy2(path, target)


def keep() -> int:
    """Copy the pictures of ``KEPT`` from the gallery."""
    for name, source in KEPT.items():
        picture = SOURCE / "docs" / "gallery" / f"{source}.png"
        copy2(picture, ROOT / "docs" / "images" / f"{name}.png")
    return 0


def pages_of(pattern: str, folder: Path) -> set[Path]:
    """Return the pages of a gallery that have a script, without endings."""
    return {path.relative_to(folder).with_suffix("") for path in folder.rglob(f"plot_{pattern}")}


class Page(HTMLParser):
    """The links and the places of a page, and its pictures without an alternative text."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.mute: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Note what leads somewhere and what can be led to."""
        values = dict(attributes)
        self.links += [values[key] or "" for key in ("href", "src") if values.get(key)]
        self.places |= {values[key] or "" for key in ("id", "name") if values.get(key)}
        source = values.get("src") or ""
        if tag == "img" and not values.get("alt") and "_thumb." not in source:  # titled beside
            self.mute.append(source)


@cache
def page_of(path: Path) -> Page:
    """Return a page, read once."""
    return Page(path)


def check_links() -> int:
    """Print each link of the site that leads nowhere, and each picture without a text."""
    pages = [path for path in sorted(HTML.rglob("*.html")) if "_static" not in path.parts]
    faults = [f"{path.relative_to(HTML)}: {fault}" for path in pages for fault in faults_of(path)]
    print("\n".join(faults), file=sys.stderr, end="\n" if faults else "")
    print(f"{len(pages)} pages in {HTML.relative_to(ROOT)}, {len(faults)} faults")
    return 1 if faults or not pages else 0


def faults_of(path: Path) -> list[str]:
    """Return what is wrong with the links and pictures of a page."""
    page = page_of(path)
    faults = [f"{link} leads nowhere" for link in page.links if not leads_somewhere(path, link)]
    return faults + [f"the picture {source} has no text" for source in page.mute]


def leads_somewhere(path: Path, link: str) -> bool:
    """Return whether a link leads to a file of the site and to a place in it, or out of it."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return True
    target = path.parent / unquote(parts.path) if parts.path else path
    if target.is_dir():
        target = target / "index.html"
    if not target.exists():
        return False
    place = unquote(parts.fragment)
    return not place or target.suffix != ".html" or place in page_of(target.resolve()).places


class Packing(SimpleHTTPRequestHandler):
    """Serve files packed, as hosts of static pages do."""

    def do_GET(self) -> None:
        """Answer with a packed file, if it is text."""
        path = Path(self.translate_path(self.path))
        path = path / "index.html" if path.is_dir() and self.path.endswith("/") else path
        if path.suffix not in PACKED or not path.is_file():
            return super().do_GET()
        body = packed(path, path.stat().st_mtime_ns)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "max-age=600")
        self.end_headers()
        self.wfile.write(body)
        return None

    def log_message(self, *args: object) -> None:
        """Say nothing."""


@lru_cache(maxsize=512)
def packed(path: Path, time: int) -> bytes:
    """Return the packed bytes of a file; ``time`` is that of its last change."""
    return gzip.compress(path.read_bytes())


def serve(port: int) -> int:
    """Show the site until Ctrl-C."""
    if not (HTML / "index.html").exists():
        print("There is no site yet: run make docs first.", file=sys.stderr)
        return 1
    with ThreadingHTTPServer(("127.0.0.1", port), lambda *a: Packing(*a, directory=HTML)) as server:
        print(f"http://127.0.0.1:{port} shows build/site/html. Ctrl-C ends it.")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
