"""Fits of data in chunks, on Dask: beyond the memory of a process, or of a machine.

Dask is imported when a Dask collection comes along, not before.
"""
