"""Arrays as text."""

from base64 import b64encode
from typing import Any

import numpy as np


def packed(array: np.ndarray, dtype: Any) -> str:
    """Return the numbers of an array, little-endian, in base64."""
    little = np.dtype(dtype).newbyteorder("<")
    with np.errstate(over="ignore"):
        return b64encode(np.ascontiguousarray(array, dtype=little).tobytes()).decode()
