"""Recordings as files: any rate and number of channels in, 16 kHz and one channel out.

A recording is read in pieces, so that memory does not grow with its length. Pieces are resampled
with what surrounds them, and are those of the resampled whole.
"""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.signal import firwin, resample_poly

from modeshift.io.errors import FileError
from modeshift.io.optional import require

RATE = 16000
"""Samples a second that the detector of voices and the network of vectors expect."""

_LEAD = 1  # second that is read and dropped: after a jump MP3 decodes the first frames wrong
_WIDTH = 10  # zero crossings of the resampling filter on each side, as scipy's default has


class Recording(NamedTuple):
    """A sound file that can be read.

    Attributes
    ----------
    path : Path
    name : str
        The file name without its ending.
    rate, n_samples, n_channels : int
        As the file has them.
    missing : float
        Seconds that a WAV file promises in its head beyond its end: the file was cut.
    """

    path: Path
    name: str
    rate: int
    n_samples: int
    n_channels: int
    missing: float

    @property
    def duration(self) -> float:
        """Seconds."""
        return self.n_samples / self.rate

    @classmethod
    def of(cls, path: Any) -> Self:
        """Return what the head of a file says; refuse what is no sound."""
        path = Path(path)
        with _opened(path) as file:
            rate, n_samples, n_channels = file.samplerate, file.frames, file.channels
        if n_samples == 0:
            raise FileError(f"{path} holds no samples")
        missing = max(_promised(path) - n_samples, 0) / rate
        return cls(path, path.stem, rate, n_samples, n_channels, missing)

    @contextmanager
    def opened(self) -> "Iterator[Sound]":
        """Open the file for reading pieces."""
        with _opened(self.path) as file:
            yield Sound(self, file)


class Sound:
    """An open recording."""

    def __init__(self, recording: Recording, file: Any) -> None:
        self.recording = recording
        self._file = file
        ratio = Fraction(RATE, recording.rate)
        self._up, self._down = ratio.numerator, ratio.denominator
        self._filter = _low_pass(max(self._up, self._down))

    def read(self, start: float, end: float) -> np.ndarray:
        """Return the samples from start to end, in seconds, as float32 at 16 kHz.

        Beyond the end of the recording there is silence.
        """
        first, last = round(start * RATE), round(end * RATE)
        if self._up == self._down:
            return self._padded(first, last)
        margin = 2 * _WIDTH * max(self._up, self._down) // self._up + 1
        before = max(first * self._down // self._up - margin, 0) // self._down * self._down
        after = -(-last * self._down // self._up) + margin
        resampled = resample_poly(
            self._padded(before, after), self._up, self._down, window=self._filter
        )
        offset = first - before * self._up // self._down
        return resampled[offset : offset + last - first]

    def _padded(self, first: int, last: int) -> np.ndarray:
        """Return samples at the rate of the file, the mean of its channels."""
        n = self.recording.n_samples
        lead = min(_LEAD * self.recording.rate, first, n)
        self._file.seek(min(first, n) - lead)
        length = lead + max(min(last, n) - first, 0)
        samples = self._file.read(length, dtype="float32", always_2d=True)[lead:]
        if not np.isfinite(samples).all():
            raise FileError(f"{self.recording.path} holds samples that are no finite numbers")
        mono = samples.mean(axis=1, dtype=np.float32)
        return np.pad(mono, (0, last - first - len(mono)))


def _low_pass(factor: int) -> np.ndarray:
    """Return the filter that scipy's resampling takes by default."""
    if factor == 1:
        return np.ones(1, dtype=np.float32)
    taps = firwin(2 * _WIDTH * factor + 1, 1.0 / factor, window=("kaiser", 5.0))
    return taps.astype(np.float32)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    soundfile = require("soundfile", "speech")
    if not path.is_file():
        raise FileError(f"{path} is a folder" if path.is_dir() else f"there is no file {path}")
    try:
        file = soundfile.SoundFile(path)
    except soundfile.LibsndfileError as error:
        reason = error.error_string.rstrip(".")
        raise FileError(
            f"{path} cannot be read as sound: {reason}", "WAV, FLAC, OGG, MP3 and AIFF can be read"
        ) from error
    with file:
        yield file


def _promised(path: Path) -> int:
    """Return the number of samples in the head of a WAV file; 0 for other files."""
    with path.open("rb") as file:
        if file.read(4) != b"RIFF" or len(file.read(4)) < 4 or file.read(4) != b"WAVE":
            return 0
        size = 0  # of a sample of all channels
        while len(head := file.read(8)) == 8:
            kind, length = struct.unpack("<4sI", head)
            if kind == b"data":
                # 0 and the largest number mean: written as a stream, length unknown
                return length // size if size and length < 0xFFFFFF00 else 0
            content = file.read(length + length % 2)
            if kind == b"fmt " and len(content) >= 14:
                size = struct.unpack_from("<H", content, 12)[0]
    return 0
