"""Work in parts that fit into the memory of the device."""

from collections.abc import Callable

import torch

_NUMBERS = 2**25  # coordinates of the rows in one part, if they fit into memory
_FEWEST = 2**10  # rows


def in_chunks(
    work: Callable[[torch.Tensor], tuple[torch.Tensor, ...]], rows: torch.Tensor
) -> list[torch.Tensor]:
    """Work on some rows at a time, fewer if memory runs out; return the joined results."""
    size = max(_FEWEST, _NUMBERS // rows.shape[1])
    while True:
        try:
            parts = [work(part) for part in rows.split(size)]
            if len(parts) == 1:
                return list(parts[0])
            return [torch.cat(column) for column in zip(*parts, strict=True)]
        except torch.cuda.OutOfMemoryError as error:
            torch.cuda.empty_cache()
            if size <= _FEWEST:
                raise MemoryError(_too_little(rows, size)) from error
            size = max(_FEWEST, min(size, len(rows)) // 4)


def _too_little(rows: torch.Tensor, size: int) -> str:
    free, total = torch.cuda.mem_get_info(rows.device)
    needed = 24 * rows.numel() + 24 * size * rows.shape[1]
    return (
        f"The GPU has {free / 2**30:.1f} of {total / 2**30:.1f} GiB free, and the fit needs about "
        f"{needed / 2**30:.1f} GiB even with tiles of {size} points. Free memory on the GPU, pass "
        "float32, or take device='cpu'."
    )
