"""Kernels on disk."""

import importlib.util
import pickle

import pytest

CODE = """
from modeshift.engines.cpu.jit import kernel

@kernel
def double(x):
    return 2 * x
"""


def load(path):
    spec = importlib.util.spec_from_file_location("kernel_on_disk", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.jit
def test_kernels_of_an_older_version_are_compiled_anew(tmp_path, monkeypatch):
    """Their files may name classes that the present version does not have."""
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))
    path = tmp_path / "kernel_on_disk.py"
    path.write_text(CODE)
    assert load(path).double(3) == 6
    (index,) = tmp_path.rglob("*.nbi")
    with index.open("rb") as file:
        version = pickle.load(file)
    index.write_bytes(pickle.dumps(version) + b"cmodeshift.gone\nNothing\n.")
    assert load(path).double(3) == 6
    again = load(path)
    assert again.double(3) == 6
    assert sum(again.double.stats.cache_hits.values()) == 1
