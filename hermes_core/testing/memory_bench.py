"""Where a memory provider is tried out: homes of its own, and calls as a host makes them."""

from __future__ import annotations

import inspect
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_core.config.paths import reset_hermes_home_override, set_hermes_home_override
from hermes_core.memory.context_threads import spawn_context_thread
from hermes_core.testing.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SESSION = "contract-session"


def require(condition: object, message: str) -> None:
    """Fail with a message.

    Raises:
        AssertionError: The condition does not hold.
    """
    if not condition:
        raise AssertionError(message)


class Bench:
    """Homes for one test, and the providers in them.

    Args:
        make: Makes a provider for a home.
        folder: An empty folder; homes are made in it.

    Attributes:
        home: The first home.
        watch: Notes what is written and connected to, from the start.
    """

    def __init__(self, make: Callable[[Path], Any], folder: Path) -> None:
        self.folder = folder
        self.home = self.new_home("home")
        self.watch = Watch()
        self._make = make
        self._homes = [self.home]
        self._opened: list[Trial] = []

    def new_home(self, name: str) -> Path:
        """Another home."""
        home = self.folder / name
        home.mkdir(parents=True)
        return home

    def make(self, home: Path | None = None) -> Trial:
        """A provider that is not initialised."""
        home = home or self.home
        if home not in self._homes:
            self._homes.append(home)
        trial = Trial(self._make(home), home)
        self._opened.append(trial)
        return trial

    def open(self, home: Path | None = None, **keywords: Any) -> Trial:
        """A provider that is initialised, with no more than its home unless keywords are given."""
        trial = self.make(home)
        trial.call("initialize", session_id=SESSION, hermes_home=str(trial.home), **keywords)
        return trial

    def written_elsewhere(self) -> list[Path]:
        """What was written outside the homes, but for temporary files."""
        scratch = Path(tempfile.gettempdir())
        return [
            path
            for path in dict.fromkeys(self.watch.written)
            if not any(path.is_relative_to(home) for home in self._homes)
            and (path.is_relative_to(self.folder) or not path.is_relative_to(scratch))
        ]

    def close(self) -> None:
        """Shut all of them down; what that raises is the matter of one test alone."""
        for trial in self._opened:
            try:
                trial.call("shutdown")
            except AssertionError:
                continue
            finally:
                trial.over.set()


class Trial:
    """A provider, called as a host calls it: each time in another thread, with a limit, and its home as the active one.

    Attributes:
        provider: The provider.
        home: Its home.
        over: Set when it is not needed any more.
        is_daemon: Whether it is called in daemon threads; the threads that it starts are of that kind too, unless told.
    """

    is_daemon = True

    def __init__(self, provider: Any, home: Path) -> None:
        self.provider = provider
        self.home = home
        self.over = threading.Event()

    def has(self, method: str) -> bool:
        """Whether it has a method; only a few are required."""
        return callable(getattr(self.provider, method, None))

    def call(self, method: str, *args: Any, limit: float = 30.0, **keywords: Any) -> Any:
        """What a method returns; None when the provider has no such method. It gets the keywords that it takes.

        Raises:
            AssertionError: It raised, or took longer than ``limit`` seconds.
        """
        if not self.has(method):
            return None
        function = getattr(self.provider, method)
        box: dict[str, Any] = {}
        done = threading.Event()

        def work() -> None:
            try:
                box["value"] = function(*args, **accepted(function, keywords))
            except BaseException as error:  # noqa: BLE001 - the one who waits is told
                box["error"] = error
            done.set()
            if method == "initialize":
                # a later thread would get the number of this one, and SQLite could not tell them apart
                self.over.wait()

        token = set_hermes_home_override(self.home)
        try:
            thread = spawn_context_thread(work, name=f"contract-{method}", daemon=self.is_daemon)
        finally:
            reset_hermes_home_override(token)
        started = time.monotonic()
        thread.start()
        done.wait(limit)
        shown = f"{method}({', '.join(f'{arg!r:.60}' for arg in args)})"
        require(done.is_set(), f"{shown} was not over after {limit:g} s")
        if "error" in box:
            error = box["error"]
            message = f"{shown} raised {type(error).__name__}: {error}"
            raise AssertionError(message) from error
        seconds = time.monotonic() - started
        require(seconds <= limit, f"{shown} took {seconds:.1f} s, longer than {limit:g} s")
        return box["value"]

    def schemas(self) -> list[Mapping[str, Any]]:
        """The bare schemas of its tools."""
        found = self.call("get_tool_schemas")
        require(isinstance(found, list), f"get_tool_schemas returned a {type(found).__name__}, and no list")
        wrapped = [isinstance(schema, dict) and isinstance(schema.get("function"), dict) for schema in found]
        return [schema["function"] if is_in else schema for schema, is_in in zip(found, wrapped, strict=True)]

    def keep(self, text: str) -> None:
        """Give it something to remember, in every way there is."""
        self.call("sync_turn", text, f"Noted: {text}", session_id=SESSION, messages=[])
        self.call("queue_prefetch", text, session_id=SESSION)
        self.call("on_memory_write", "add", "memory", text, metadata={})
        self.call("on_session_end", [{"role": "user", "content": text}])

    def recalls(self, query: str, word: str) -> bool:
        """Whether ``prefetch`` finds a word by a query that it is not in."""
        return word in str(self.call("prefetch", query, session_id=SESSION))


def accepted(function: Callable[..., Any], keywords: Mapping[str, Any]) -> dict[str, Any]:
    """The keywords that a function takes.

    Example:
        >>> accepted(lambda a, b=1: a, {"b": 2, "c": 3}), accepted(lambda **kw: kw, {"c": 3})
        ({'b': 2}, {'c': 3})
    """
    parameters = inspect.signature(function).parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return dict(keywords)
    names = {parameter.name for parameter in parameters}
    return {name: value for name, value in keywords.items() if name in names}


def sample(schema: Mapping[str, Any]) -> Any:
    """A value that a JSON schema of a tool's argument asks for.

    Example:
        >>> sample({"type": "object", "properties": {"n": {"type": "integer"}, "x": {}}, "required": ["n"]})
        {'n': 1}
    """
    if schema.get("enum"):
        return schema["enum"][0]
    if schema.get("default") is not None:
        return schema["default"]
    kind = schema.get("type", "string")
    kind = next((one for one in kind if one != "null"), "string") if isinstance(kind, list) else kind
    if kind == "object":
        fields = schema.get("properties", {})
        return {name: sample(fields.get(name, {})) for name in schema.get("required", ())}
    if kind == "array":
        return [sample(schema.get("items") or {})]
    if kind in {"integer", "number"}:
        return max(1, schema.get("minimum", 1))
    return {"boolean": True, "null": None}.get(kind, "green tea")
