"""Schedules: who moves, when, and over which positions. Each runs on any field."""
