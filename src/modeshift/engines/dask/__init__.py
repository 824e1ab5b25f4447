"""Fits of Dask data: data in chunks, larger than the memory of a process or a machine.

Dask is imported only when the data are a Dask collection.
"""
