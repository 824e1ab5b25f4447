"""The numbers printed in the paper (I. Lapidot, "Stochastic mean-shift clustering", 2023)."""

from modeshift.metrics import MEANINGS, PurityReport

#: Set -> algorithm ("D" deterministic, "S" stochastic) -> the seven columns.
PUBLISHED: dict[int, dict[str, PurityReport]] = {
    1: {
        "D": PurityReport(0.78, 0.84, 0.81, 0.92, 0.92, 0.92, 4),
        "S": PurityReport(0.90, 0.82, 0.86, 0.92, 0.90, 0.91, 9),
    },
    2: {
        "D": PurityReport(0.85, 0.70, 0.77, 0.85, 0.82, 0.84, 8),
        "S": PurityReport(0.81, 0.72, 0.77, 0.87, 0.84, 0.86, 10),
    },
    3: {
        "D": PurityReport(0.92, 0.36, 0.57, 0.85, 0.53, 0.67, 14),
        "S": PurityReport(0.89, 0.65, 0.76, 0.88, 0.79, 0.84, 9),
    },
    4: {
        "D": PurityReport(0.87, 1.00, 0.93, 0.33, 1.00, 0.58, 5),
        "S": PurityReport(0.88, 0.69, 0.78, 0.85, 0.82, 0.84, 20),
    },
    5: {
        "D": PurityReport(0.95, 0.59, 0.75, 0.92, 0.82, 0.87, 9),
        "S": PurityReport(0.88, 0.69, 0.78, 0.94, 0.92, 0.93, 9),
    },
    6: {
        "D": PurityReport(0.71, 0.69, 0.70, 0.71, 0.78, 0.74, 5),
        "S": PurityReport(0.91, 0.65, 0.77, 0.77, 0.75, 0.76, 10),
    },
    7: {
        "D": PurityReport(0.89, 0.47, 0.65, 0.87, 0.62, 0.73, 32),
        "S": PurityReport(0.92, 0.52, 0.69, 0.86, 0.68, 0.76, 24),
    },
}

ALGORITHMS = {"D": "deterministic", "S": "stochastic"}

COLUMNS = tuple(MEANINGS)
