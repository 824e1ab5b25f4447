"""Load: many threads, processes that start together, interrupts, and leaks.

``python -m load`` (in the folder ``tests``) or ``make load`` tries as much as one likes and prints
what was tried; ``tests/test_load.py`` tries a little of each.
"""
