"""The display of work that takes long, such as a layer that is fetched."""


class Progress:
    """Receives progress, and displays nothing."""

    def line(self, text: str) -> None:
        """Display the beginning of a step, or that it is not needed."""

    def share(self, part: float) -> None:
        """Display how much of the last line's step is done, from 0 to 1."""
