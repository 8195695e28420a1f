"""The provider that a command is about, and calls of its code, whose faults are blamed on it."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from hermes_core.config.redact import redact
from hermes_core.errors import HermesError, MemoryProviderError, PluginError, describe
from hermes_core.memory.roster import session_options
from hermes_core.plugins.current import running

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hermes_core.host import Host
    from hermes_core.plugins.plugin import Plugin

SESSION = "hermes-memory-command"
"""The session id of a provider that is opened to be looked at."""


class Chosen:
    """A provider, made but not initialised.

    Attributes:
        name: What ``memory.provider`` calls it.
        row: Its plugin's row; None for one that a plugin of another name registered.
        provider: Itself.

    Raises:
        MemoryProviderError: There is none of this name, or it cannot be made.
    """

    def __init__(self, host: Host, name: str) -> None:
        self.name = name
        self.provider = host.memory_provider(name)
        self.row = row_of(host, name)
        self._host = host

    def has(self, method: str) -> bool:
        """Whether it offers something beyond the contract."""
        return callable(getattr(self.provider, method, None))

    def call(self, method: str, *args: Any, **options: Any) -> Any:
        """Call one of its methods; whatever that raises names the provider.

        Raises:
            HermesError: It raised one; it goes through as it is.
            MemoryProviderError: It raised anything else.
        """
        return self.run(method, lambda: getattr(self.provider, method)(*args, **options))

    def run(self, place: str, work: Callable[[], Any]) -> Any:
        """Run code of the provider as the plugin that it comes from."""
        try:
            with self._as_plugin():
                return work()
        except (HermesError, KeyboardInterrupt):
            raise
        except BaseException as error:
            message = f"memory provider {self.name!r}: {place} raised {' '.join(redact(describe(error)).split())}"
            raise MemoryProviderError(message, hint="HERMES_PLUGINS_DEBUG=1 shows more") from error

    def _as_plugin(self) -> Any:
        try:
            return running(self._host.context(self.row.key)) if self.row is not None else nullcontext()
        except PluginError:
            return nullcontext()

    @contextmanager
    def opened(self, user: str = "") -> Iterator[Chosen]:
        """Have it ready to be asked; it is shut down at the end.

        Args:
            user: Whose memories are meant, by ``user_id``; ``""`` for those kept without one.

        Raises:
            MemoryProviderError: It cannot run here, or cannot be made ready.
        """
        if not self.call("is_available"):
            message = f"memory provider {self.name!r} cannot run here: {self.why_not()}"
            raise MemoryProviderError(message, hint=f"run `hermes memory setup {self.name}`")
        method = "initialize_for_inspection" if self.has("initialize_for_inspection") else "initialize"
        self.call(method, SESSION, **session_options({"user_id": user} if user else {}, self._host.home))
        try:
            yield self
        finally:
            if self.has("shutdown"):
                self.call("shutdown")

    def why_not(self) -> str:
        """Why it cannot run, in its own words."""
        said = self.call("unavailable_reason") if self.has("unavailable_reason") else ""
        return str(said or "it does not say why")


def row_of(host: Host, name: str) -> Plugin | None:
    """The row of the plugin that is asked for a provider; nothing is imported."""
    return host.memory_plugins.get(name.rpartition("/")[2])


def active_name(host: Host) -> str:
    """What ``memory.provider`` says; ``""`` when there is only the built-in memory."""
    return host.config().text("memory", "provider")


def active(host: Host, purpose: str) -> Chosen:
    """The active provider.

    Raises:
        MemoryProviderError: There is none, or it cannot be made.
    """
    name = active_name(host)
    if not name:
        message = f"there is nothing to {purpose}: no memory provider is active"
        raise MemoryProviderError(message, hint="run `hermes memory setup`")
    return Chosen(host, name)
