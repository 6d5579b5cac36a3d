"""What networks that see photographs learn from: strokes drawn by hand, and painted trees."""
