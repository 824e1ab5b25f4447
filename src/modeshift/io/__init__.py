"""Files: tables in any format, saved models, whole files, and optional imports.

source -> table        a file of any format as a frame, and the numbers in its columns
frame -> written file  written beside its place, then renamed: the file is whole or not there
models                 plain data in one file without pickle

Tables need the extra ``modeshift[cli]``. Nothing here knows estimators or the command.
"""
