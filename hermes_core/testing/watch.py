"""Sees what code writes to and connects to, while it runs."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from types import TracebackType

_CONNECTING = frozenset(("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"))
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_TRUNC
_PLACES = {
    "os.link": (1,),
    "os.mkdir": (0,),
    "os.remove": (0,),
    "os.rename": (0, 1),
    "os.rmdir": (0,),
    "os.symlink": (1,),
    "os.truncate": (0,),
    "sqlite3.connect": (0,),
}
"""Audit event → which of its arguments is a path that is written to."""

_watching: list[Watch] = []


class Watch:
    """While it is entered, notes what this process writes and connects to, in any thread; libraries in C are not seen.

    Attributes:
        written: The paths, absolute.
        connections: The addresses, as text.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder, Watch() as watch:
        ...     _ = Path(folder, "note.txt").write_text("tea")
        >>> [path.name for path in watch.written][:1], watch.connections
        (['note.txt'], [])
    """

    def __init__(self) -> None:
        self.written: list[Path] = []
        self.connections: list[str] = []

    def __enter__(self) -> Self:
        _install()
        _watching.append(self)
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _at: TracebackType | None
    ) -> None:
        _watching.remove(self)

    def note(self, event: str, args: tuple[Any, ...]) -> None:
        """Take in an audit event."""
        if event in _CONNECTING:
            address = args[1] if event in {"socket.connect", "socket.sendto"} else args[0]
            if not isinstance(address, str | bytes) or event not in {"socket.connect", "socket.sendto"}:
                self.connections.append(f"{event} {address}")
        elif event == "open":
            path, mode, flags = args
            if (mode and set(mode) & set("wax+")) or (isinstance(flags, int) and flags & _WRITING):
                self._wrote(path)
        else:
            for place in _PLACES.get(event, ()):
                self._wrote(args[place])

    def _wrote(self, path: Any) -> None:
        try:
            text = os.fsdecode(path).removeprefix("file:").partition("?")[0]
        except TypeError:  # an open file's number
            return
        if text and text != ":memory:" and not text.startswith("/dev/") and "__pycache__" not in text:
            self.written.append(Path(os.path.abspath(text)))


def _install() -> None:
    if not _installed:
        _installed.append(True)
        sys.addaudithook(_hook)  # for ever: there is no way to take one out


def _hook(event: str, args: tuple[Any, ...]) -> None:
    for watch in _watching:
        watch.note(event, args)


_installed: list[bool] = []
