"""Stretches of speech, frame by frame."""


def stretches(voiced, least_on, least_off):
    """[start, end] of stretches in frames: fill short pauses, then drop short stretches."""
    filled = list(voiced)
    for start in range(len(voiced)):
        for end in range(start + 1, len(voiced)):
            inside = voiced[start + 1 : end]
            if voiced[start] and voiced[end] and not any(inside) and len(inside) < least_off:
                filled[start + 1 : end] = [True] * len(inside)
    found, start = [], None
    for frame, speech in enumerate([*filled, False]):
        if speech and start is None:
            start = frame
        if not speech and start is not None:
            if frame - start >= least_on:
                found.append([float(start), float(frame)])
            start = None
    return found
