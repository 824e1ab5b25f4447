"""Slow, obvious twins of what modeshift computes, and how estimators are compared with them."""
