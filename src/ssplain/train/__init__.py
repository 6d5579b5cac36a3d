"""Training loops, checkpoints, and how the bundled weights are made."""
