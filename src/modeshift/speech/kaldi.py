"""Kaldi's files of PLDA models, text or binary.

A file holds ``<Plda>``, the mean, the matrix A, psi and ``</Plda>``: z = A (x - mean) has the
covariance I within a speaker and diag(psi) between speakers. A binary file begins with a zero byte
and "B"; a vector is "DV " (double) or "FV " (float), the byte 4, a 32-bit length and the numbers; a
matrix "DM " or "FM " with two such lengths.
"""

import struct
from pathlib import Path
from typing import Any

import numpy as np

_BINARY = b"\0B"


def read_plda(path: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the mean, V = A' and psi of a file."""
    content = Path(path).read_bytes()
    try:
        parts = _binary(content) if content.startswith(_BINARY) else _text(content)
        mean, matrix, psi = parts
        if matrix.shape != (len(mean), len(mean)) or len(psi) != len(mean):
            raise ValueError("its mean, matrix and psi do not fit together")
    except struct.error as error:
        raise ValueError(f"{path} is no PLDA of Kaldi: it ends too early.") from error
    except ValueError as error:
        raise ValueError(f"{path} is no PLDA of Kaldi: {error}.") from error
    return mean, matrix.T, psi


def _text(content: bytes) -> list[np.ndarray]:
    words = content.decode("ascii").split("<Plda>")
    if len(words) != 2 or "</Plda>" not in words[1]:
        raise ValueError("it does not hold <Plda> ... </Plda>")
    body = words[1].split("</Plda>")[0]
    blocks = [block.split("]")[0].strip() for block in body.split("[")[1:]]
    if len(blocks) != 3:
        raise ValueError(f"it holds {len(blocks)} arrays instead of 3")
    rows = [[float(word) for word in line.split()] for line in blocks[1].splitlines()]
    first, last = ([float(word) for word in blocks[i].split()] for i in (0, 2))
    return [np.array(first), np.array(rows), np.array(last)]


def _binary(content: bytes) -> list[np.ndarray]:
    place = len(_BINARY) + len("<Plda> ")
    if content[len(_BINARY) : place] != b"<Plda> ":
        raise ValueError("it does not begin with <Plda>")
    parts = []
    for n_lengths, kind in ((1, b"V "), (2, b"M "), (1, b"V ")):
        size = {b"D": 8, b"F": 4}.get(content[place : place + 1])
        if size is None or content[place + 1 : place + 3] != kind:
            raise ValueError(f"it has no array at byte {place}")
        place += 3
        shape = []
        for _ in range(n_lengths):
            width, length = struct.unpack_from("<bi", content, place)
            if width != 4 or length < 1:
                raise ValueError(f"it has no length at byte {place}")
            shape.append(length)
            place += 5
        count = int(np.prod(shape))
        if len(content) < place + size * count:
            raise ValueError("it ends too early")
        parts.append(
            np.frombuffer(content, f"<f{size}", count, place).astype(np.float64).reshape(shape)
        )
        place += size * count
    return parts
