"""A machine that looks for the next hang, crash or wrong label: ``make soak MINUTES=30``.

A *case* is drawn from a seed (`cases`), fitted in a process of its own with a deadline
(`workers`), and checked for everything that the design promises it (`promises`). A failure is made
smaller (`shrink`) and written as a script that repeats it.
"""
