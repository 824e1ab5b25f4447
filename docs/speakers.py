"""Make the recording of docs/speakers.md: two voices of espeak-ng, and who spoke when.

    apt-get install espeak-ng
    python docs/speakers.py [folder]

Nobody is recorded: the speech synthesiser espeak-ng reads the lines below with two of its voices.
"""

import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import soundfile
from scipy.signal import resample_poly

from modeshift.speech import Turn, write_rttm

NAME = "two-voices"
RATE = 16000
VOICES = {"Ada": ["-v", "en-us+f3", "-p", "60"], "Björn": ["-v", "en-gb+m3", "-p", "35"]}
LINES = [
    ("Ada", "Good morning. Which recordings did you bring to the meeting today?"),
    ("Björn", "Three short ones. In each of them two people talk about the weather."),
    ("Ada", "And nobody wrote down who spoke when?"),
    ("Björn", "Nobody. I do not even know how many people there are."),
    ("Ada", "Then let the voices climb to the modes of their density, and count them."),
    ("Björn", "How long will that take for an hour of speech?"),
]
PAUSE = 0.7  # seconds


def spoken(voice: list[str], text: str) -> np.ndarray:
    """Return a line as samples, without the silence around it."""
    sound = subprocess.run(
        ["espeak-ng", *voice, "-s", "165", "--stdout", text], capture_output=True, check=True
    ).stdout
    samples, rate = soundfile.read(io.BytesIO(sound), dtype="float32")
    samples = resample_poly(samples, RATE, rate)
    loud = np.flatnonzero(np.abs(samples) > 0.01)
    return samples[loud[0] : loud[-1] + 1]


def main(folder: Path) -> None:
    """Write the recording and its reference."""
    pause = np.zeros(round(PAUSE * RATE), dtype=np.float32)
    parts, turns, time = [pause], [], PAUSE
    for speaker, text in LINES:
        samples = spoken(VOICES[speaker], text)
        end = time + len(samples) / RATE
        turns.append(Turn(NAME, time, end, speaker))
        parts += [samples, pause]
        time = end + PAUSE
    noise = np.random.RandomState(0).standard_normal(sum(map(len, parts))) * 0.001
    sound = 0.5 * np.concatenate(parts) + noise
    soundfile.write(folder / f"{NAME}.wav", sound, RATE, subtype="PCM_16")
    write_rttm(folder / f"{NAME}.rttm", turns)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "recordings")
