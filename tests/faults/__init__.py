"""Faults by real means: processes are killed, disks are full, clocks jump, models lie.

``python -m faults`` (in the folder ``tests``) or ``make faults`` tries as many as one likes and
prints what was tried; ``tests/test_faults.py`` tries a few of each.
"""
