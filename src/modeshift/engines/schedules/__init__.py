"""Schedules: which points move, when, and over which positions. Each runs on any field."""
