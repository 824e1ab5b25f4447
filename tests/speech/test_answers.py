"""Files of turns and segments: what is written is read again, and wrong lines are named."""

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modeshift.io.errors import FileError
from modeshift.speech import (
    Segment,
    Turn,
    read_rttm,
    read_segments,
    read_uem,
    write_csv,
    write_labels,
    write_rttm,
)

TURNS = [
    Turn("Gespräch", 0.0, 1.2345, "Zoë"),
    Turn("Gespräch", 1.2345, 2.0, "李 雷"),
    Turn("talk", 10.0, 3600.5, "MÉO069"),
]


@given(
    st.lists(st.tuples(st.floats(0, 1e4), st.floats(0.01, 50)), max_size=5),
    st.text(st.characters(categories=["L", "N"]), min_size=1),
)
def test_rttm_comes_back_to_the_millisecond(tmp_path_factory, times, name):
    path = tmp_path_factory.mktemp("rttm") / "a.rttm"
    turns = [Turn(name, start, start + length, name) for start, length in times]
    write_rttm(path, turns)
    back = read_rttm(path)
    assert [(turn.recording, turn.speaker) for turn in back] == [(name, name)] * len(turns)
    for turn, found in zip(turns, back, strict=True):
        assert found[1:3] == pytest.approx(turn[1:3], abs=0.0006)


def test_turns_that_touch_still_do_in_rttm(tmp_path):
    write_rttm(tmp_path / "a.rttm", TURNS)
    first, second, _ = read_rttm(tmp_path / "a.rttm")
    assert first.end == pytest.approx(second.start, abs=1e-9)


def test_blanks_in_names_do_not_break_rttm(tmp_path):
    write_rttm(tmp_path / "a.rttm", TURNS)
    assert read_rttm(tmp_path / "a.rttm")[1].speaker == "李_雷"


def test_csv_and_labels_keep_names(tmp_path):
    write_csv(tmp_path / "a.csv", TURNS)
    lines = (tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()
    rows = list(csv.DictReader(lines))
    assert [row["speaker"] for row in rows] == ["Zoë", "李 雷", "MÉO069"]
    assert rows[2]["end"] == "3600.500"
    write_labels(tmp_path / "a.txt", TURNS[:2])
    lines = (tmp_path / "a.txt").read_text(encoding="utf-8").splitlines()
    assert lines[1].split("\t") == ["1.234", "2.000", "李 雷"]


def test_other_lines_of_rttm_are_left_out(tmp_path):
    (tmp_path / "a.rttm").write_text(
        ";; a comment\n\nSPKR-INFO talk 1 <NA> <NA> <NA> unknown Ann <NA>\r\n"
        "SPEAKER talk 1 1.0 0.0 <NA> <NA> Ann <NA> <NA>\r\n"
        "SPEAKER talk 1 1.0 2.5 <NA> <NA> Ann <NA>\n",
        encoding="utf-8-sig",
    )
    assert read_rttm(tmp_path / "a.rttm") == [Turn("talk", 1.0, 3.5, "Ann")]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("SPEAKER talk 1 1.0", "line 1 has 4 fields instead of 10"),
        ("SPEAKER talk 1 one 2.0 <NA> <NA> A <NA> <NA>", "line 1 has 'one' instead of a time"),
        ("SPEAKER talk 1 1.0 -2 <NA> <NA> A <NA> <NA>", "line 1 has '-2' instead of a time"),
        ("SPEAKER talk 1 nan 2 <NA> <NA> A <NA> <NA>", "line 1 has 'nan' instead of a time"),
    ],
)
def test_a_wrong_line_of_rttm_is_named(tmp_path, line, message):
    (tmp_path / "a.rttm").write_text(line)
    with pytest.raises(FileError, match=message):
        read_rttm(tmp_path / "a.rttm")


def test_rttm_that_is_no_text(tmp_path):
    (tmp_path / "a.rttm").write_bytes(b"RIFF\xff\xfe\x00")
    with pytest.raises(FileError, match="is no text in UTF-8"):
        read_rttm(tmp_path / "a.rttm")
    with pytest.raises(FileError, match="cannot be read"):
        read_rttm(tmp_path / "missing.rttm")


def test_uem(tmp_path):
    path = tmp_path / "a.uem"
    path.write_text("b NA 5 6\na 1 3 4\na NA 0.5 2\n")
    assert read_uem(path) == {"b": [(5.0, 6.0)], "a": [(0.5, 2.0), (3.0, 4.0)]}
    path.write_text("")
    assert read_uem(path) == {}
    path.write_text("a NA 3\n")
    with pytest.raises(FileError, match="line 1 has 3 fields instead of 4"):
        read_uem(path)
    path.write_text("a NA 3 2\n")
    with pytest.raises(FileError, match="line 1 ends at 2, before its start 3"):
        read_uem(path)


def test_segments_from_csv(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("recording,start,end\ntalk,0.5,2\nÜbung,3,4\n", encoding="utf-8")
    assert read_segments(path) == [Segment("talk", 0.5, 2.0), Segment("Übung", 3.0, 4.0)]
    path.write_text("end,start\n2,0.5\n")
    assert read_segments(path, "talk") == [Segment("talk", 0.5, 2.0)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("onset,end\n1,2\n", "has no column 'start'"),
        ("start,end\n1,2\n", "line 2 names no recording"),
        ("recording,start,end\na,x,2\n", "line 2 has 'x' as start"),
        ("recording,start,end\na,2,2\n", "line 2 ends at 2, not after its start"),
        ("recording,start,end\na,2\n", "line 2 has None as end"),
    ],
)
def test_a_wrong_line_of_csv_is_named(tmp_path, text, message):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(FileError, match=message):
        read_segments(tmp_path / "a.csv")


def test_segments_of_an_unknown_format(tmp_path):
    with pytest.raises(FileError, match=r"does not end in \.rttm, \.csv or \.tsv"):
        read_segments(tmp_path / "a.txt")
