"""What may go wrong inside."""

from __future__ import annotations


class InternalError(RuntimeError):
    """A bug in ncut, or an array that another thread changed while it was in use.

    Inputs that are refused raise `ValueError`. If no array was changed meanwhile, please report this to the authors,
    with the message, `ncut.__version__` and, if you may share it, a program that shows it.
    """
