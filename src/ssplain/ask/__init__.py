"""How any model is asked: what it takes, what its output means, in batches, and left as it was."""
