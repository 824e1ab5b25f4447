"""A failing case is made smaller, step by step, as long as it fails in the same way."""


def smaller(case):
    """Yield cases that are simpler in one respect, the largest steps first."""
    for name in case["options"]:
        left = {key: value for key, value in case["options"].items() if key != name}
        yield {**case, "options": left}
    for change in case["changes"]:
        yield {**case, "changes": [other for other in case["changes"] if other != change]}
    for n in (case["n"] // 8, case["n"] // 2, case["n"] - case["n"] // 8 - 1, case["n"] - 1):
        if 1 <= n < case["n"]:
            yield {**case, "n": n}
    for d in (1, 2, case["d"] // 2, case["d"] - 1):
        if 1 <= d < case["d"]:
            yield {**case, "d": d}
    plain = {
        "engine": "cpu", "weights": "none", "dtype": "float64", "frame": "array",
        "bandwidth": "middle", "shape": "blobs",
    }  # fmt: skip
    for name, value in plain.items():
        if case[name] != value:
            yield {**case, name: value}


def shrink(case, fails, tries=60):
    """Return the smallest case found that still fails, within a number of tries."""
    progress = True
    while progress and tries > 0:
        progress = False
        for candidate in smaller(case):
            tries -= 1
            if fails(candidate):
                case, progress = candidate, True
                break
            if tries <= 0:
                break
    return case
