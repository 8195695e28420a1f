"""Side tasks and the fallback chain, as rows: who is asked, and for how long."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_core.config.keypath import default_of
from hermes_core.config.keys import FALLBACK, OTHER_TASK_TIMEOUT, TASK, TASK_TIMEOUTS
from hermes_core.config.providers import NOTHING, read_keys, warn
from hermes_core.config.settings import merge

if TYPE_CHECKING:
    from collections.abc import Callable

    from hermes_core.config.settings import Config


class Fallback(NamedTuple):
    """Somebody to ask when somebody else fails.

    Attributes:
        place: Where it is written: ``fallback_providers.0``.
        model: ``""`` when it is left to the provider.
        timeout: Seconds for this attempt, or None.

    The other fields are the keys of ``config.yaml``, with what is missing as ``""``.
    """

    place: str
    provider: str
    model: str = ""
    base_url: str = ""
    api_key: str = ""
    key_env: str = ""
    api_mode: str = ""
    timeout: float | None = None

    def __repr__(self) -> str:
        return f"Fallback(place={self.place!r}, provider={self.provider!r}, model={self.model!r})"

    @property
    def identity(self) -> tuple[str, str, str]:
        """Two with the same one are the same."""
        return self.provider.lower(), self.model.lower(), self.base_url.rstrip("/").lower()


class AuxiliaryTask(NamedTuple):
    """Where a side task goes.

    Attributes:
        name: ``vision``, ``plugin``, …
        provider: ``auto``: as every other call.
        model: ``""`` when it is left to the provider.
        timeout: Seconds over everything a call does.
        is_timeout_set: Whether the operator chose the timeout.
        reasoning_effort: One of ``none`` to ``ultra``, or ``""``.

    The other fields are the keys of ``config.yaml``, with what is missing as ``""``.
    """

    name: str
    provider: str = "auto"
    model: str = ""
    base_url: str = ""
    api_key: str = ""
    key_env: str = ""
    api_mode: str = ""
    timeout: float = OTHER_TASK_TIMEOUT
    is_timeout_set: bool = False
    extra_body: Mapping[str, Any] = NOTHING
    reasoning_effort: str = ""
    fallback_chain: tuple[Fallback, ...] = ()

    def __repr__(self) -> str:
        return f"AuxiliaryTask(name={self.name!r}, provider={self.provider!r}, model={self.model!r})"

    @property
    def is_explicit(self) -> bool:
        """Whether the operator said where it goes."""
        return self.provider not in ("", "auto") or bool(self.model or self.base_url)


def auxiliary_task(
    config: Config, name: str, defaults: Mapping[str, Any] = NOTHING, say: Callable[..., None] = warn
) -> AuxiliaryTask:
    """What the configuration says of a task.

    Args:
        config: The configuration.
        name: The task; ``plugin`` is every ``ctx.llm`` call, which ``plugin_llm`` may spell too.
        defaults: What counts where the configuration says nothing, under its keys.
        say: Is told what is wrong.

    Example:
        >>> from hermes_core.config.settings import Config
        >>> auxiliary_task(Config(tree={"auxiliary": {"vision": {"timeout": "45"}}}), "vision").timeout
        45.0
    """
    written = config.section("auxiliary", name)
    if name == "plugin":
        written = merge(config.section("auxiliary", "plugin_llm"), written)
    if written.get("reasoning_effort") is False:  # as YAML reads a bare ``off``
        written = {**written, "reasoning_effort": "none"}
    found = read_keys(TASK, merge(defaults, written), ("auxiliary", name), say)
    known = {key: value for key, value in found.items() if key in AuxiliaryTask._fields and value is not None}
    known["provider"] = known["provider"].lower()
    if known.get("model", "").lower() == "auto":
        known["model"] = ""
    known["timeout"] = found["timeout"] or TASK_TIMEOUTS.get(name, OTHER_TASK_TIMEOUT)
    known["fallback_chain"] = _chain(found["fallback_chain"], ("auxiliary", name, "fallback_chain"), say)
    return AuxiliaryTask(name=name, is_timeout_set=found["timeout"] is not None, **known)


def fallback_chain(config: Config, say: Callable[..., None] = warn) -> tuple[Fallback, ...]:
    """Who is asked when the model's provider fails, in order, each once."""
    rows: dict[tuple[str, str, str], Fallback] = {}
    for key in ("fallback_providers", "fallback_model"):
        for row in _chain(config.get(key), (key,), say):
            rows.setdefault(row.identity, row)
    return tuple(rows.values())


def transient_retries(config: Config) -> int:
    """How often a failed attempt is repeated at the same place; 0 to 6.

    Example:
        >>> from hermes_core.config.settings import Config
        >>> [transient_retries(Config(tree={"auxiliary": {"transient_retries": said}})) for said in (1, 99, "x")]
        [1, 6, 2]
    """
    said = config.get("auxiliary", "transient_retries")
    if isinstance(said, int) and not isinstance(said, bool):
        return min(max(said, 0), 6)
    return int(default_of(("auxiliary", "transient_retries")))


def _chain(written: Any, place: tuple[str, ...], say: Callable[..., None]) -> tuple[Fallback, ...]:
    """One mapping, or a list of them; what names no provider is dropped."""
    rows = []
    items = [written] if isinstance(written, Mapping) else written if isinstance(written, list | tuple) else ()
    for number, item in enumerate(items):
        here = (*place, str(number)) if items is written else place
        found = read_keys(FALLBACK, item, here, say) if isinstance(item, Mapping) else {}
        if not found.get("provider"):
            say("%s names no provider; it is not used", ".".join(here))
            continue
        rows.append(Fallback(place=".".join(here), **{key: value for key, value in found.items() if value is not None}))
    return tuple(rows)
