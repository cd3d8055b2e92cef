"""The failure of a fetch."""


class FetchError(Exception):
    """Content cannot be fetched; ``hint`` may be ""."""

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint
