"""The page of a segmentation: slide between the picture and its regions, and through levels.

    content     the picture, the finest labels as runs, the tree
    page.html, page.css, page.js    static files; report/page.py puts them together

The page is one file and needs no network.
"""

from modeshift.image.page.content import make_content, write_page

__all__ = ["make_content", "write_page"]
