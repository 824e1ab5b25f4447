"""From recordings to turns, with the real parts."""

import numpy as np
import pytest

from modeshift.speech import Segment, diarization_errors, diarize


@pytest.fixture(scope="module")
def sound(two_voices):
    import soundfile

    return soundfile.read(two_voices)[0]


def compared(reference, turns):
    return diarization_errors([t[1:] for t in reference], [t[1:] for t in turns])


@pytest.mark.parametrize("rate", [None, 8000, 48000])
def test_two_voices_are_told_apart(two_voices, reference, sound, tmp_path, rate):
    """As they are, over the telephone, and in stereo at 48 kHz."""
    import soundfile
    from scipy.signal import resample_poly

    path = two_voices
    if rate is not None:
        path = tmp_path / "two-voices.wav"
        samples = resample_poly(sound, rate, 16000)
        stereo = np.column_stack([samples, 0.5 * samples]) if rate == 48000 else samples
        soundfile.write(path, stereo, rate)
    found = diarize(path, random_state=0)
    errors = compared(reference, found.turns)
    assert found.names == ["SPEAKER_00", "SPEAKER_01"]
    assert errors.confusion / errors.speech < 0.05
    assert errors.der < 0.2


def test_recordings_share_speakers(two_voices, reference, sound, tmp_path):
    import soundfile

    middle = round(12.2 * 16000)
    soundfile.write(tmp_path / "ä.wav", sound[:middle], 16000)
    soundfile.write(tmp_path / "b c.wav", sound[middle:], 16000)
    found = diarize([tmp_path / "ä.wav", tmp_path / "b c.wav"], random_state=0, n_jobs=1)
    assert {turn.recording for turn in found.turns} == {"ä", "b c"}
    shift = {"ä": 0.0, "b c": 12.2}
    turns = [
        (turn.start + shift[turn.recording], turn.end + shift[turn.recording], turn.speaker)
        for turn in found.turns
    ]
    errors = diarization_errors([turn[1:] for turn in reference], turns)
    assert errors.n_found == 2
    assert errors.confusion / errors.speech < 0.05


def test_given_segments_of_one_speaker_each(two_voices, reference):
    segments = [Segment(*turn[:3]) for turn in reference]
    found = diarize(two_voices, segments=segments, push_to_talk=True, random_state=0, n_speakers=2)
    assert len(found.speakers.labels) == len(reference)
    errors = compared(reference, found.turns)
    assert errors.der < 1e-9


def test_files_of_push_to_talk(two_voices, reference, sound, tmp_path):
    import soundfile

    paths = []
    for number, turn in enumerate(reference):
        first, last = round(turn.start * 16000), round(turn.end * 16000)
        paths.append(tmp_path / f"{number}.wav")
        soundfile.write(paths[-1], sound[first:last], 16000)
    found = diarize(paths, push_to_talk=True, random_state=0, n_speakers=2)
    assert [turn.recording for turn in found.turns] == [path.stem for path in paths]
    speakers = [turn.speaker for turn in found.turns]
    assert speakers[::2] == [speakers[0]] * 3
    assert speakers[1::2] == [speakers[1]] * 3
    assert speakers[0] != speakers[1]


def test_one_window_is_one_speaker(two_voices):
    found = diarize(two_voices, segments=[Segment("two-voices", 1.0, 2.2)], random_state=0)
    assert found.names == ["SPEAKER_00"]
    assert [turn[1:3] for turn in found.turns] == [(1.0, 2.2)]


def test_more_speakers_than_windows(two_voices):
    with pytest.raises(ValueError, match="n_speakers=3"):
        diarize(two_voices, segments=[Segment("two-voices", 1.0, 2.2)], n_speakers=3)


def test_no_speech(two_voices, tmp_path):
    import soundfile

    soundfile.write(tmp_path / "silence.wav", np.zeros(32000), 16000)
    with pytest.raises(ValueError, match="no speech was found"):
        diarize(tmp_path / "silence.wav")


def test_music_is_answered(two_voices, tmp_path):
    """Chords that somebody takes for speech have speakers as well."""
    import soundfile

    time = np.arange(16000 * 8) / 16000
    chords = sum(np.sin(2 * np.pi * f * (1 + (time // 2) * 0.2) * time) for f in (220, 277, 330))
    soundfile.write(tmp_path / "music.wav", 0.2 * chords, 16000)
    found = diarize(tmp_path / "music.wav", segments=[Segment("music", 0.0, 8.0)], random_state=0)
    assert found.turns[0].start == 0.0
    assert found.turns[-1].end == 8.0
