"""Engines: where a fit is computed. Each turns a Spec and data into a Fit."""
