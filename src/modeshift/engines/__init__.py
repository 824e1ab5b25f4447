"""Engines compute a fit: each turns a Spec and data into a Fit."""
