"""Faults by real means: kills, full disks, clocks that jump, models that lie, broken networks.

``python -m faults`` (in the folder ``tests``) or ``make faults`` tries as many as one likes and
prints what was tried; ``tests/test_faults.py`` tries a few of each.
"""
