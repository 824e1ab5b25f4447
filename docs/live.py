"""The explorer as a part of a page of the site. ``pictures.py`` puts it there."""

from html import escape
from typing import Any

from modeshift.report.explorer import script, style
from modeshift.report.page import as_data
from modeshift.report.writing import TAKEN

PART = """<div class="live" role="group" aria-label="{text}" id="{name}">
<style>{style}</style>
<noscript>The explorer draws with JavaScript, which is switched off.</noscript>
<script defer src="{address}"></script>
</div>"""
SCRIPT = """(() => {{
{script}
show({data}, document.getElementById("{name}"));
}})();
"""


def live_part(name: str, text: str, address: str) -> str:
    """Return the part of a page, in HTML, that the script will fill.

    Parameters
    ----------
    name : str
        One for each explorer of the site.
    text : str
        Says what it is to those who do not see it.
    address : str
        Leads from the page to the script.
    """
    return PART.format(name=name, text=escape(text), style=style(), address=address)


def live_script(name: str, content: dict[str, Any]) -> str:
    """Return the script that shows an explorer.

    It is a file of its own, so that the text of the page need not wait. It holds the content,
    because a page that is opened from a disk may read no other file.

    Parameters
    ----------
    name : str
    content : dict
        What a widget shows.
    """
    data = as_data(content | {"taken": TAKEN})
    return SCRIPT.format(name=name, script=script(), data=data)
