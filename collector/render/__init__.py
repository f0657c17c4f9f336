"""Comparisons as text: one module a format."""
