"""Vessel trees: tracing, calibre, curvature, and simulated fundus images."""
