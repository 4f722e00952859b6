"""Operators that were written after the checks, and that no check was made for."""
OPERATORS = {}
