"""Settings of all tests, and the fields to run through."""

import os

import pytest
from hypothesis import HealthCheck, settings

from covering import mark_the_rest
from helpers import JIT, MISSING
from modeshift.engines.cpu.fields import FIELDS

# Kernels for the GPU run as Python, before anything imports Triton; make test-gpu says otherwise.
os.environ.setdefault("TRITON_INTERPRET", "1")

settings.register_profile(
    "modeshift",
    deadline=None,  # the first call of a kernel compiles it
    derandomize=bool(os.environ.get("CI")),
    max_examples=60 if JIT else 15,
    suppress_health_check=[] if JIT else [HealthCheck.too_slow],
)
settings.load_profile("modeshift")


@pytest.hookimpl(tryfirst=True)  # before pytest leaves the slow ones out
def pytest_collection_modifyitems(items):
    mark_the_rest(items, pytest.mark.slow)


def pytest_terminal_summary(terminalreporter):
    if MISSING:
        terminalreporter.write_line(
            f"The GPU's kernels were left out: no {' and '.join(MISSING)} here (make kernels)."
        )


@pytest.fixture(params=sorted(FIELDS))
def field_kind(request):
    """The name of each field in turn."""
    return request.param
