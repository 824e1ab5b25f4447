"""What users may rely on changes on purpose only (docs/stability.md)."""

import pytest

from public_names import LIST, lines


def test_public_names_and_signatures_are_those_of_the_list():
    """If the change is meant, write it into CHANGELOG.md and run ``make public``."""
    pytest.importorskip("matplotlib")
    assert list(lines()) == LIST.read_text(encoding="utf-8").splitlines()
