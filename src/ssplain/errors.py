"""The one error that a user can cause, and the one that smaller batches cure."""


class SSplainError(ValueError):
    """A mistake in what was asked for: the message says what is wrong and what to do."""


def no_memory(error: BaseException) -> bool:
    """Tell whether an error means that memory ran out; PyTorch on the CPU says so in words alone.

    >>> no_memory(RuntimeError("DefaultCPUAllocator: can't allocate memory")), no_memory(KeyError())
    (True, False)
    """
    # by its name: this is asked where PyTorch is not loaded yet
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    text = str(error).lower()
    return isinstance(error, RuntimeError) and (
        "out of memory" in text or "allocate memory" in text
    )
