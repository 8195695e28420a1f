"""The built-in memory of one home: its files, what may be written to them, and what the prompt says of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hermes_core.config.truth import as_bool
from hermes_core.errors import MemoryWriteError
from hermes_core.memory.approvals import Approvals, Confirmations, Pending
from hermes_core.memory.changes import apply
from hermes_core.memory.entries import entry_id
from hermes_core.memory.snapshot import take, threats_of
from hermes_core.memory.store import FILES, MemoryStore, Written
from hermes_core.memory.threats import is_hard, refusal, scan

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from hermes_core.config.settings import Config
    from hermes_core.memory.changes import Operation
    from hermes_core.memory.snapshot import Snapshot

    Ask = Callable[[str], bool]

SWITCHES = {"memory": "memory_enabled", "user": "user_profile_enabled"}


class BuiltinMemory:
    """``MEMORY.md`` and ``USER.md`` of a home, guarded.

    Args:
        home: The home.
        config: Gives the configuration as it is now.
        ask: Shows the user a question and returns the answer; None where nobody can be asked.

    Attributes:
        store: The files; ``store.subscribe`` tells of every change.
        approvals: The writes that wait for the user.
        confirmations: Suspicious entries that the user wants to keep.
        ask: As given; may be set later.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> from hermes_core.config.settings import Config
        >>> from hermes_core.memory.changes import Operation
        >>> memory = BuiltinMemory(Path(mkdtemp()), Config)
        >>> memory.write("user", [Operation("add", "likes tea")]).entries
        ('likes tea',)
        >>> memory.snapshot().user.splitlines()[-1]
        'likes tea'
    """

    def __init__(self, home: Path, config: Callable[[], Config], ask: Ask | None = None) -> None:
        self._config = config
        self.ask = ask
        names = {"memory": "memory_char_limit", "user": "user_char_limit"}
        self.store = MemoryStore(home, {key: config().value("memory", name) for key, name in names.items()})
        self.approvals = Approvals(self.store.folder)
        self.confirmations = Confirmations(self.store.folder)

    @property
    def targets(self) -> list[str]:
        """The targets that are switched on."""
        return [target for target, switch in SWITCHES.items() if self._config().value("memory", switch)]

    @property
    def needs_approval(self) -> bool:
        """Whether writes wait for the user: not when ``memory.write_approval`` is missing, or says a clear no."""
        config = self._config()
        said = config.get("memory", "write_approval")
        return config.error is not None or not (said is None or as_bool(said) is False)

    def snapshot(self) -> Snapshot:
        """What the system prompt says; take it when a session begins, and keep it.

        Edits made by hand since the last session are told to listeners first.
        """
        self.store.notice_edits()
        return take(self.store, self.targets, self.confirmations.holds)

    def threats(self, entry: str) -> list[str]:
        """What keeps an entry out of the prompt."""
        return threats_of(entry, self.confirmations.holds)

    def submit(
        self, target: str, operations: Sequence[Operation], metadata: Mapping[str, Any], *, is_background: bool = False
    ) -> Written | Pending:
        """Write what the agent wants written, or have it wait for the user, as the operator wishes.

        Raises:
            MemoryWriteError: It is refused: it cannot be done, it is suspicious, or the user said no.
            MemoryFileError: A file cannot be read or written.
        """
        self._check_target(target)
        threats = self._threats_in(operations)
        if any(map(is_hard, threats)):
            raise MemoryWriteError(refusal(threats), reason="threat")
        _, outcomes = apply(self.store.entries(target), operations, self.store.limits[target])
        ask = None if is_background else self.ask
        if not threats and (not any(outcomes) or not self.needs_approval):
            return self.store.apply(target, operations, metadata)
        if ask is None:
            staged = self.approvals.stage(target, operations, metadata, threats)
            if not threats:
                return staged
            details = {"pending_id": staged.id}
            hint = "do not try it again: it waits for the user, who alone may allow it"
            raise MemoryWriteError(refusal(threats), reason="threat", hint=hint, details=details)
        if not ask(_question(target, operations, threats)):
            message = refusal(threats) if threats else "the user does not want this to be remembered"
            raise MemoryWriteError(message, reason="threat" if threats else "denied", hint="do not try it again")
        return self.write(target, operations, metadata, is_confirmed=True)

    def write(
        self,
        target: str,
        operations: Sequence[Operation],
        metadata: Mapping[str, Any] | None = None,
        *,
        is_confirmed: bool = False,
    ) -> Written:
        """Write what the user wants written.

        Args:
            target: ``memory`` or ``user``.
            operations: What to do: all of it, or nothing.
            metadata: Who asked for it.
            is_confirmed: Whether the user has seen that it is suspicious, and wants it all the same.

        Raises:
            MemoryWriteError: It cannot be done, or is suspicious.
            MemoryFileError: A file cannot be read or written.
        """
        self._check_target(target)
        threats = self._threats_in(operations)
        if any(map(is_hard, threats)) or (threats and not is_confirmed):
            hint = "" if any(map(is_hard, threats)) else "confirm it if it is harmless"
            raise MemoryWriteError(refusal(threats), reason="threat", hint=hint)
        written = self.store.apply(target, operations, metadata)
        for change in written.changes if threats else ():
            if change.content and (found := scan(change.content)):
                self.confirmations.add(change.content, found)
        return written

    def approve(self, word: str, *, is_confirmed: bool = False) -> Written:
        """Write what waits under an id, or let the entry with this id into the prompt.

        Raises:
            MemoryWriteError: There is neither; or it is suspicious, and not confirmed; or it cannot be done any more,
                and goes on waiting.
            MemoryFileError: A file cannot be read or written.
        """
        blocked = None if any(word == row.id for row in self.approvals.all()) else self._blocked(word)
        if blocked is not None:
            self._confirm(blocked, is_confirmed=is_confirmed)
            return Written((), ())
        with self.approvals.taking(word) as waiting:
            if waiting.threats and not is_confirmed:
                raise MemoryWriteError(
                    refusal([*waiting.threats]),
                    reason="threat",
                    hint=_confirm_hint(word),
                )
            metadata = {**waiting.metadata, "pending_id": waiting.id}
            return self.write(waiting.target, waiting.operations, metadata, is_confirmed=is_confirmed)

    def reject(self, pending_id: str) -> Pending:
        """Drop a write that waits.

        Raises:
            MemoryWriteError: No such write waits.
        """
        with self.approvals.taking(pending_id) as waiting:
            return waiting

    def _confirm(self, entry: str, *, is_confirmed: bool) -> None:
        threats = self.threats(entry)
        if any(map(is_hard, threats)):
            raise MemoryWriteError(refusal(threats), reason="threat", hint="edit the file: nobody may allow these")
        if not is_confirmed:
            raise MemoryWriteError(refusal(threats), reason="threat", hint=_confirm_hint(entry_id(entry)))
        self.confirmations.add(entry, threats)

    def _blocked(self, word: str) -> str | None:
        """The entry with this id, if it is kept out of the prompt."""
        entries = (entry for target in FILES for entry in self.store.entries(target))
        return next((entry for entry in entries if entry_id(entry) == word and self.threats(entry)), None)

    def _check_target(self, target: str) -> None:
        if target not in FILES:
            raise MemoryWriteError(f"unknown target {target!r}: use memory or user", reason="invalid")
        if target not in self.targets:
            message = f"target {target!r} is switched off: memory.{SWITCHES[target]} in config.yaml"
            raise MemoryWriteError(message, reason="off")

    def _threats_in(self, operations: Sequence[Operation]) -> list[str]:
        found = [threat for operation in operations for threat in self.threats(operation.content)]
        return [*dict.fromkeys(found)]


def _confirm_hint(word: str) -> str:
    return f"if it is harmless, allow it: hermes memory approve {word} --confirm"


def _question(target: str, operations: Sequence[Operation], threats: Sequence[str]) -> str:
    lines = [f"The agent wants to change {FILES[target]}:", *(describe_operation(item) for item in operations)]
    if threats:
        lines.append(f"Careful: it looks like {', '.join(threats)}.")
    return "\n".join([*lines, "Let it?"])


def describe_operation(operation: Operation) -> str:
    """One operation as a person reads it.

    Example:
        >>> from hermes_core.memory.changes import Operation
        >>> describe_operation(Operation("replace", "likes coffee", "tea"))
        'replace "tea" by: likes coffee'
    """
    action, content, old_text = operation
    if action == "add":
        return f"add: {content}"
    return f'replace "{old_text}" by: {content}' if action == "replace" else f'remove "{old_text}"'
