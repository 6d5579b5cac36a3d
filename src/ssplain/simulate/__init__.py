"""Vessel trees drawn: courses, planted disease, appearance."""
