"""Turns cover the segments and nothing else, and the vote is that of the naive twin."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modeshift.speech import Segment, Turn, Windows, cut_windows, speaker_turns
from modeshift.speech.segments import own_time
from modeshift.speech.turns import joined
from twins.timeline import votes

HUNDREDTHS = st.integers(1, 900).map(lambda n: n / 100)


@st.composite
def segments(draw, apart=True):
    """Segments of two recordings; those of a recording do not overlap if ``apart``."""
    found = []
    for name in ("a", "ä b"):
        time = 0.0
        for _ in range(draw(st.integers(0, 3))):
            start = time + draw(st.sampled_from([0.0, 0.4, 3.0]))
            end = start + draw(HUNDREDTHS)
            found.append(Segment(name, start, end))
            time = end if apart else start + 0.1
    return found


def union(parts):
    """Disjoint (recording, start, end) of any parts; those that touch are one."""
    turns = joined([Turn(*part[:3], "x") for part in parts])
    return [(turn.recording, round(turn.start, 6), round(turn.end, 6)) for turn in turns]


@settings(max_examples=60)
@given(segments(), st.data())
def test_windows_cover_the_segments_evenly(found, data):
    length, step = data.draw(st.sampled_from([(1.5, 0.75), (0.5, 0.5), (1.44, 0.24), (2.0, 0.1)]))
    windows = cut_windows(found, length=length, step=step)
    for number, (_, start, end) in enumerate(found):
        mine = windows.segment == number
        starts, ends = windows.start[mine], windows.end[mine]
        assert starts[0] == start
        assert ends[-1] == pytest.approx(end)
        assert (np.diff(starts) <= step + 1e-6).all()
        assert ends - starts == pytest.approx(min(length, end - start))
    assert own_time(found, windows).sum() == pytest.approx(sum(e - s for _, s, e in found))


@settings(max_examples=60)
@given(segments(), st.integers(1, 4), st.integers(0, 1000))
def test_turns_cover_the_segments_and_nothing_else(found, n_speakers, seed):
    windows = cut_windows(found)
    labels = np.random.default_rng(seed).integers(n_speakers, size=len(windows.start))
    turns = speaker_turns(found, windows, labels)
    assert union(turns) == union(found)
    assert {turn.speaker for turn in turns} == {f"SPEAKER_{label:02d}" for label in labels}
    total = sum(turn.end - turn.start for turn in turns)
    assert total == pytest.approx(sum(end - start for _, start, end in found))


@settings(max_examples=60)
@given(st.integers(20, 400), st.sampled_from([0.24, 0.5, 0.75]), st.integers(0, 1000))
def test_the_vote_is_that_of_the_twin(hundredths, step, seed):
    found = [Segment("a", 2.0, 2.0 + hundredths / 100)]
    windows = cut_windows(found, step=step)
    labels = np.random.default_rng(seed).integers(3, size=len(windows.start))
    turns = speaker_turns(found, windows, labels, ["0", "1", "2"])
    pairs = list(zip(windows.start.tolist(), windows.end.tolist(), strict=True))
    moments = [2.005 + frame / 100 for frame in range(hundredths)]
    polls = [votes(moment, pairs, labels.tolist()) for moment in moments]
    if {max(poll, key=poll.get) for poll in polls} != set(labels.tolist()):
        return  # a speaker who was outvoted everywhere gets time back
    for moment, poll in zip(moments, polls, strict=True):
        (speaker,) = [turn.speaker for turn in turns if turn.start < moment < turn.end]
        assert poll[int(speaker)] >= max(poll.values()) - 1e-9


def test_windows_that_disagree_change_speakers_halfway():
    found = [Segment("a", 0.0, 3.0)]
    turns = speaker_turns(found, cut_windows(found), [0, 1, 0])
    assert [turn.start for turn in turns] == pytest.approx([0.0, 1.125, 1.875], abs=0.0051)


def test_a_speaker_who_is_outvoted_everywhere_keeps_a_turn():
    found = [Segment("a", 0.0, 6.0)]
    windows = cut_windows(found, length=1.5, step=0.1)
    labels = np.zeros(len(windows.start), dtype=int)
    labels[20] = 1
    turns = speaker_turns(found, windows, labels)
    assert {turn.speaker for turn in turns} == {"SPEAKER_00", "SPEAKER_01"}


def test_speakers_at_once_stay_apart():
    """Segments that overlap vote for themselves."""
    found = [Segment("a", 0.0, 4.0), Segment("a", 2.0, 5.0)]
    windows = cut_windows(found)
    turns = speaker_turns(found, windows, windows.segment)
    assert [turn[1:] for turn in turns] == [(0.0, 4.0, "SPEAKER_00"), (2.0, 5.0, "SPEAKER_01")]


def test_time_without_windows_goes_to_the_nearest():
    found = [Segment("a", 0.0, 10.0)]
    windows = Windows(np.array([0, 0]), np.array([1.0, 7.0]), np.array([2.0, 8.0]))
    turns = speaker_turns(found, windows, [0, 1])
    assert [round(turn.end, 6) for turn in turns] == [4.5, 10.0]


def test_no_windows_no_turns():
    assert speaker_turns([], cut_windows([]), []) == []


@pytest.mark.parametrize(("length", "step", "overlap"), [(1.5, 0.75, 2), (1.5, 0.5, 3), (1, 1, 1)])
def test_windows_know_how_many_in_a_row_have_common_sound(length, step, overlap):
    segments = [Segment("a", 0.0, 9.3), Segment("a", 10.0, 10.4), Segment("b", 2.0, 20.0)]
    assert cut_windows(segments, length=length, step=step).overlap == overlap
    assert cut_windows(segments[1:2]).overlap == 1
