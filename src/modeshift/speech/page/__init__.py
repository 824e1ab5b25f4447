"""The page of a diarization: see who speaks when, hear it, rename and merge speakers.

    content     turns, speakers, the curve, and links to the recordings
    page.html, page.css, page.js    static files; report/page.py puts them together

The page is one file and needs no network. It plays the recordings from where they are.
"""

from modeshift.speech.page.content import make_content, write_page

__all__ = ["make_content", "write_page"]
