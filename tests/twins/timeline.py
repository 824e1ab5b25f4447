"""The vote of windows, moment by moment, in plain Python."""


def votes(moment, windows, labels):
    """The votes for each speaker at a moment: a window votes 1 in its middle and 0 at its ends.

    ``windows`` are (start, end).
    """
    found = dict.fromkeys(labels, 0.0)
    for (start, end), label in zip(windows, labels, strict=True):
        if start < moment < end:
            found[label] += 1.0 - abs(moment - (start + end) / 2) / ((end - start) / 2)
    return found
