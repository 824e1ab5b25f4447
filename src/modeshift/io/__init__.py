"""Files: tables in any format, saved models, complete files, and optional imports.

source -> table        a file of any format as a frame, and the numbers in its columns
frame -> written file  written under another name, then renamed: the file is complete or absent
models                 plain data in one file without pickle

Tables need the extra ``modeshift[cli]``. Nothing here imports estimators or the command.
"""
