"""Diarization errors against counting by hand, pyannote.metrics and simpleder."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modeshift.speech import (
    Turn,
    diarization_errors,
    errors_by_recording,
    pooled_errors,
    read_uem,
)
from twins import diarization as twin


def turns(names, most=8):
    one = st.tuples(st.integers(0, 40), st.integers(0, 15), st.sampled_from(names))
    return st.lists(one.map(lambda t: (t[0], t[0] + t[1], t[2])), min_size=1, max_size=most)


def merged(segments):
    """Turns of a speaker that touch or overlap, as one."""
    result = []
    for name in sorted({s for *_, s in segments}):
        seconds = sorted({t for a, b, s in segments if s == name for t in range(a, b)})
        for t in seconds:
            if result and result[-1][2] == name and result[-1][1] == t:
                result[-1] = (result[-1][0], t + 1, name)
            else:
                result.append((t, t + 1, name))
    return result


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_errors_equal_counted_seconds(data):
    reference, found = data.draw(turns("abc")), data.draw(turns("wxyz"))
    regions = st.tuples(st.integers(0, 30), st.integers(1, 30)).map(lambda t: (t[0], sum(t)))
    options = {
        "evaluated": data.draw(st.none() | st.lists(regions, min_size=1, max_size=3)),
        "collar": data.draw(st.integers(0, 3)),
        "skip_overlap": data.draw(st.booleans()),
    }
    errors = diarization_errors(reference, found, **options)
    expected = twin.errors(merged(reference), found, **options) if merged(reference) else None
    if expected is None:
        assert errors.speech == 0.0
        assert np.isnan(errors.der)
        return
    for name, value in expected.items():
        assert getattr(errors, name) == pytest.approx(value, nan_ok=True), name


def conversation(seed, names, length=120.0, overlap=0.3):
    """Turns with gaps and overlaps; a speaker never overlaps with itself."""
    rng = np.random.RandomState(seed)
    result, time, last = [], 0.0, {}
    while time < length:
        name = names[rng.randint(len(names))]
        start = max(time + rng.uniform(-overlap, 0.4) * 4.0, last.get(name, 0.0) + 0.01, 0.0)
        end = start + rng.uniform(0.4, 9.0)
        last[name] = end
        result.append((round(start, 3), round(end, 3), name))
        time = max(time, end)
    return result


CASES = [(seed, collar, skip) for seed in range(4) for collar in (0.0, 0.25) for skip in (0, 1)]
REGIONS = [(3.0, 50.5), (60.0, 110.25)]


def pyannote(segments):
    core = pytest.importorskip("pyannote.core")
    annotation = core.Annotation(uri="recording")
    for i, (start, end, name) in enumerate(segments):
        annotation[core.Segment(start, end), i] = name
    return annotation


@pytest.mark.parametrize(("seed", "collar", "skip"), CASES)
def test_der_is_that_of_pyannote_metrics(seed, collar, skip):
    theirs = pytest.importorskip("pyannote.metrics.diarization")
    core = pytest.importorskip("pyannote.core")
    reference, found = conversation(seed, "abcd"), conversation(seed + 100, "wxyz"[: 2 + seed % 3])
    # There a collar is the whole width.
    metric = theirs.DiarizationErrorRate(collar=2.0 * collar, skip_overlap=bool(skip))
    uem = core.Timeline([core.Segment(*region) for region in REGIONS])
    parts = metric(pyannote(reference), pyannote(found), uem=uem, detailed=True)
    errors = diarization_errors(
        reference, found, evaluated=REGIONS, collar=collar, skip_overlap=bool(skip)
    )
    assert errors.der == pytest.approx(parts["diarization error rate"], abs=5e-5)
    assert errors.missed == pytest.approx(parts["missed detection"], abs=1e-3)
    assert errors.false_alarm == pytest.approx(parts["false alarm"], abs=1e-3)
    assert errors.confusion == pytest.approx(parts["confusion"], abs=1e-3)
    assert errors.speech == pytest.approx(parts["total"], abs=1e-3)


@pytest.mark.parametrize(("seed", "collar", "skip"), CASES)
def test_der_and_jer_are_those_of_simpleder(seed, collar, skip):
    simpleder = pytest.importorskip("simpleder")
    reference, found = conversation(seed, "abcd"), conversation(seed + 100, "wxyz"[: 2 + seed % 3])
    errors = diarization_errors(reference, found, collar=collar, skip_overlap=bool(skip))
    theirs = [[(name, start, end) for start, end, name in part] for part in (reference, found)]
    options = {"collar": collar, "skip_overlap": bool(skip)}
    assert errors.der == pytest.approx(simpleder.DER(*theirs, **options), abs=5e-5)
    assert errors.jer == pytest.approx(simpleder.JER(*theirs, **options), abs=5e-5)


def test_the_right_answer_has_no_errors_whatever_the_names():
    truth = conversation(0, "abc")
    names = {"a": "Zoë", "b": 7, "c": "x"}
    errors = diarization_errors(truth, [(s, e, names[n]) for s, e, n in truth])
    assert (errors.der, errors.jer) == pytest.approx((0.0, 0.0), abs=1e-12)
    assert errors.mapping == {"Zoë": "a", 7: "b", "x": "c"}
    assert (errors.n_speakers, errors.n_found) == (3, 3)


def test_purities_without_overlap_are_those_of_labels():
    from modeshift.metrics import average_class_purity, average_cluster_purity, k_score

    rng = np.random.RandomState(0)
    y, labels = rng.randint(3, size=60), rng.randint(4, size=60)
    errors = diarization_errors(
        [(t, t + 1, int(s)) for t, s in enumerate(y)],
        [(t, t + 1, int(s)) for t, s in enumerate(labels)],
    )
    assert errors.acp == pytest.approx(average_cluster_purity(y, labels))
    assert errors.asp == pytest.approx(average_class_purity(y, labels))
    assert errors.k == pytest.approx(k_score(y, labels))


def test_recordings_are_pooled_by_time_and_by_speaker():
    first = diarization_errors([(0, 10, "a")], [(0, 8, 0)])
    second = diarization_errors([(0, 30, "a"), (30, 40, "b")], [(0, 40, 0)])
    both = pooled_errors([first, second])
    assert both.der == pytest.approx((2.0 + 10.0) / 50.0)
    assert both.jer == pytest.approx((0.2 + 0.25 + 1.0) / 3.0)
    assert (both.n_speakers, both.n_found) == (3, 2)
    assert np.isnan(pooled_errors([]).der)


def test_recordings_of_files_are_scored_by_name(tmp_path):
    (tmp_path / "scored.uem").write_text("a NA 0 5\na NA 8 10\nb NA 0 9\n")
    reference = [Turn("a", 0.0, 10.0, "Zoë"), Turn("b", 2.0, 4.0, "Zoë"), Turn("c", 0.0, 1.0, "x")]
    found = [Turn("a", 0.0, 7.0, "SPEAKER_00"), Turn("b", 2.0, 4.0, "SPEAKER_00")]
    regions = read_uem(tmp_path / "scored.uem")
    errors = errors_by_recording(reference, found, evaluated=regions)
    assert errors["a"].missed == 2.0
    assert errors["b"].der == 0.0
    assert set(errors) == {"a", "b"}
    assert set(errors_by_recording(reference, found)) == {"a", "b", "c"}
    near = errors_by_recording(reference, found, evaluated=regions, collar=1.0)
    assert near["a"].missed == 1.0


def test_nobody_found_and_nobody_there():
    errors = diarization_errors([(0, 4, "a")], [])
    assert (errors.der, errors.jer, errors.n_found) == (1.0, 1.0, 0)
    errors = diarization_errors([], [(0, 4, "a")])
    assert np.isnan(errors.der)
    assert errors.false_alarm == 4.0
    assert diarization_errors([(0, 4, "a")], [], evaluated=[]).speech == 0.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([(3, 1, "a")], []), "reference has times from 3 to 1"),
        (([], [(np.nan, 1, "a")]), "found has times from nan to 1"),
    ],
)
def test_bad_times(arguments, message):
    with pytest.raises(ValueError, match=message):
        diarization_errors(*arguments)
    with pytest.raises(ValueError, match="evaluated has times"):
        diarization_errors([], [], evaluated=[(2, 1)])
    with pytest.raises(ValueError, match="collar"):
        diarization_errors([], [], collar=-1.0)
