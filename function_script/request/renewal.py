"""Files that are read again when they change, such as a mounted Secret that Kubernetes renews."""

import logging
import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from function_script.texts.errors import InputError

_LOG = logging.getLogger(__name__)
T = TypeVar("T")


class RenewedFiles(Generic[T]):
    """The newest valid content of files. Thread-safe.

    ``read_versions`` returns what changes with the files. It and ``read`` raise InputError, and so
    does the constructor. ``name`` is that of the content in the log.
    """

    def __init__(
        self, name: str, read_versions: Callable[[], Hashable], read: Callable[[], T]
    ) -> None:
        self._name = name
        self._read_versions = read_versions
        self._read = read
        self._lock = threading.Lock()
        self._last_warning = ""
        self._versions = read_versions()
        self._content = read()

    def read_newest(self) -> T:
        """Return the content, another object after the files have changed.

        No caller learns from another one's call that they have: each compares with what it uses.
        """
        with self._lock:
            try:
                versions = self._read_versions()
                if versions != self._versions:
                    # Set before the read, so that invalid files are not read again and again.
                    self._versions = versions
                    self._content = self._read()
                    self._last_warning = ""
            except InputError as error:
                # Once for all who ask.
                if str(error) != self._last_warning:
                    self._last_warning = str(error)
                    _LOG.warning("keeping the old %s: %s", self._name, error)
            return self._content
