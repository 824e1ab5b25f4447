"""Plain data in a file: what can be saved comes back, and nothing else can be made of a file."""

import io
import json
import re
from collections import namedtuple

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import modeshift
from modeshift.io.models import FORMAT, load, save

Point = namedtuple("Point", "x y")
REGISTER = {"point": Point}
PLAIN = {
    "numbers": [1, 2.5, True, None, np.inf, -np.inf, "é"],
    "nested": (1, (2, [3])),
    "named": Point(1.0, {"deep": (None,)}),
    "NumPy": [np.float32(0.5), np.int64(3), np.bool_(True)],
}


def put(path, value):
    with path.open("wb") as file:
        save(file, value, REGISTER)
    return path


def test_plain_data_come_back(tmp_path):
    again = load(put(tmp_path / "x", PLAIN), REGISTER)
    assert again == PLAIN
    assert type(again["named"]) is Point
    assert [type(value) for value in again["NumPy"]] == [float, int, bool]
    assert np.isnan(load(put(tmp_path / "x", float("nan")), REGISTER))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.uint8, bool, "U3", object])
def test_arrays_come_back(dtype, tmp_path):
    array = np.array(["a", "bc"] if dtype in ("U3", object) else [[0, 1]]).astype(dtype)
    again = load(put(tmp_path / "x", [array, array]), REGISTER)
    for each in again:
        assert_array_equal(each, array)
        assert each.dtype == array.dtype


@pytest.mark.parametrize(
    "value", [object(), {1, 2}, np.array([object()]), np.ones(2) * 1j, namedtuple("Other", "x")(1)]
)
def test_other_things_are_not_saved(value, tmp_path):
    with pytest.raises(TypeError, match="cannot be saved"):
        put(tmp_path / "x", value)


CONTENT = io.BytesIO()
save(CONTENT, {**PLAIN, "array": np.arange(9.0)}, REGISTER)
CONTENT = CONTENT.getvalue()


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(where=0.95, new=b"\x01", cut=False)  # says that it is encrypted
@given(where=st.floats(0, 1, exclude_max=True), new=st.binary(max_size=9), cut=st.booleans())
def test_damaged_files_are_read_or_refused(where, new, cut, tmp_path):
    place = int(where * len(CONTENT))
    rest = b"" if cut else CONTENT[place + len(new) :]
    path = tmp_path / "model.npz"
    path.write_bytes(CONTENT[:place] + new + rest)
    try:
        load(path, REGISTER)
    except ValueError as error:
        message = str(error)
        assert message.startswith(f"{path} cannot be loaded: ")
        assert "\n" not in message


def put_tree(path, tree, number=FORMAT):
    text = json.dumps({"format": number, "modeshift": "0.1.0.dev0", "value": tree}).encode()
    np.savez(path, tree=np.frombuffer(text, dtype=np.uint8))


@pytest.mark.parametrize(
    "tree",
    [
        {"named": "os.stat_result", "fields": {}},
        {"named": "modeshift.io.models.load", "fields": {}},
        {"named": ["os", "stat_result"], "fields": {}},
        {"named": "point", "fields": {"no field": 1}},
        {"array": "none"},
    ],
)
def test_files_can_name_nothing_else(tree, tmp_path):
    put_tree(tmp_path / "model.npz", tree)
    with pytest.raises(ValueError, match="cannot be loaded: "):
        load(tmp_path / "model.npz", REGISTER)


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (
            1,
            r"by a development version of modeshift \(0.1.0.dev0\). Fit the model again",
        ),
        (
            9,
            f"its format is 9, and modeshift {re.escape(modeshift.__version__)} reads format 2",
        ),
        ("2", "its format is '2'"),
        (None, "its format is None"),
    ],
)
def test_other_formats_are_refused_in_one_line(number, words, tmp_path):
    put_tree(tmp_path / "model.npz", 1, number)
    with pytest.raises(ValueError, match=words) as caught:
        load(tmp_path / "model.npz", REGISTER)
    assert "\n" not in str(caught.value)


def test_pickles_are_refused(tmp_path):
    np.savez(tmp_path / "model.npz", tree=np.array([print]), allow_pickle=True)
    with pytest.raises(ValueError, match="cannot be loaded: "):
        load(tmp_path / "model.npz", REGISTER)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "model.npz", REGISTER)
