"""The one error that a user can cause."""


class SSplainError(ValueError):
    """A mistake in what was asked for: the message says what is wrong and what to do."""
