"""Tables in files: what the command reads and writes. Needs the extra ``modeshift[cli]``.

source -> table        a file of any format as a frame, and the numbers that are wanted of it
frame -> written file  beside its place first, and then renamed: whole or not there
"""
