"""What cog writes into these pages: the hooks, the keys of the configuration, and the help of every command."""

from __future__ import annotations

import contextlib
import doctest
import importlib
import inspect
import io
import os
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_hookspecs import SPECS

from hermes_core import Host
from hermes_core.auth.keys import key_variables
from hermes_core.cli import main
from hermes_core.compat.finders import SHIMS
from hermes_core.config.keys import OTHER_TASK_TIMEOUT, ROOT, TASK_TIMEOUTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hermes_core.config.kinds import Key, Kind
    from hermes_core.providers.row import ProviderRow

GROUPS = {"OfferSpecs": "Offers", "LlmSpecs": "Model calls", "NoticeSpecs": "Notices"}

_SECTION = re.compile(r"^(Args|Returns|Raises|Example):$", re.MULTILINE)
_ARGUMENT = re.compile(r"^    (\w+): ((?:.|\n(?!    \w))*)", re.MULTILINE)
NO_KEYS = {"oauth_external": "a login", "vertex": "Google's credentials", "aws_sdk": "AWS credentials"}
"""Kind of credential → what takes the place of a key."""

_COMMAND = re.compile(r"^  ([a-z][\w-]*)", re.MULTILINE)
_SUBCOMMAND = re.compile(r"^    ([a-z][\w-]*)(?: {2}|$)", re.MULTILINE)


def hook_reference() -> str:
    """Every hook: a heading with its signature, and what its docstring says."""
    pages = []
    for group in SPECS:
        pages.append(f"## {GROUPS[group.__name__]}\n\n{_markdown(inspect.getdoc(group) or '')}\n")
        pages += [_hook(name, function) for name, function in hooks_of(group)]
    return "\n" + "\n".join(pages)


def hooks_of(group: type) -> list[tuple[str, Callable[..., object]]]:
    """The hooks a class of specifications declares, in order."""
    return [(name, member) for name, member in vars(group).items() if name.startswith("hermes_")]


def provider_reference() -> str:
    """Every bundled provider: its name, its other names, what holds its key, and where it is."""
    with tempfile.TemporaryDirectory() as home, Host.load(Path(home), {}) as host:
        rows = [_provider(row) for row in host.providers if row.tier == "bundled"]
    return "\n" + "\n".join(["| name | also | key | what |", "|---|---|---|---|", *rows]) + "\n\n"


def _provider(row: ProviderRow) -> str:
    keys = " ".join(f"`{name}`" for name in key_variables(row.env_vars)) or NO_KEYS.get(row.auth_type, "none")
    if keys.startswith("`"):
        keys += " or none" if row.is_local else " or a login" if row.auth_type.startswith("oauth") else ""
    what = f"{row.description}; not usable here: {row.unavailable}" if row.unavailable else row.description
    return f"| `{row.name}` | {', '.join(row.aliases)} | {keys} | {row.display_name}: {what} |"


def signature(name: str, function: Callable[..., object]) -> str:
    """A hook as an implementation may write it: ``name(arg, arg)``.

    Example:
        >>> signature("hermes_turn_end", lambda self, ctx, turn: None)
        'hermes_turn_end(ctx, turn)'
    """
    return f"{name}({', '.join([*inspect.signature(function).parameters][1:])})"


def example(function: Callable[..., object]) -> str:
    """The example in a docstring as a program."""
    lines: list[str] = []
    for part in doctest.DocTestParser().get_examples(inspect.getdoc(function) or ""):
        opens_block = part.source.startswith(("@", "def ", "class ", "async "))
        after_imports = bool(lines) and lines[-1].startswith(("from ", "import "))
        still_importing = part.source.startswith(("from ", "import "))
        if lines and (opens_block or (after_imports and not still_importing)):
            lines += ["", ""] if opens_block else [""]
        lines += part.source.rstrip().splitlines()
    return "\n".join(lines) + "\n"


def config_reference() -> str:
    """Every key of ``config.yaml`` that the host reads, a table for each section."""
    return "\n" + "\n".join(_section("", ROOT, set()))


def task_timeouts() -> str:
    """The side tasks that have a time limit of their own."""
    named = ", ".join(f"`{task}` {seconds:g}" for task, seconds in TASK_TIMEOUTS.items())
    return f"\nTime limits in seconds: {named}; any other task {OTHER_TASK_TIMEOUT:g}.\n"


def command_reference() -> str:
    """The ``--help`` of every command, those of the bundled plugins included, at 80 columns."""
    with _a_home_of_nobody():
        pages = [f"## `{' '.join(('hermes', *words))}`\n\n```text\n{text}```\n" for words, text in _helps()]
    return "\n" + "\n".join(pages)


def _section(path: str, kind: Kind, seen: set[int]) -> Iterator[str]:
    """The keys of a mapping, then the sections below it, each where it comes first."""
    seen.add(id(kind.keys))
    shown = [key for key in kind.keys if key.help]
    if shown:
        yield f"### {f'`{path}`' if path else 'The file'}\n"
        yield "| key | what | default | for |\n|---|---|---|---|"
        yield from map(_row, shown)
        yield ""
    named = [(f"{path}.{key.name}".lstrip("."), key.kind) for key in shown]
    named += [(f"{path}.<name>", held) for held in (kind.each,) if held is not None]
    for below, held in named:
        if not held.keys or id(held.keys) not in seen:
            yield from _section(below, held, seen)


def _row(key: Key) -> str:
    default = "" if key.default is None else f"`{str(key.default).lower()}`"
    aliases = f" (also {', '.join(f'`{alias}`' for alias in key.aliases)})" if key.aliases else ""
    return f"| `{key.name}` | {key.kind.wanted} | {default} | {key.help}{aliases} |"


def _hook(name: str, function: Callable[..., object]) -> str:
    purpose, *rest = _SECTION.split(inspect.getdoc(function) or "")
    sections = dict(zip(rest[::2], rest[1::2], strict=True))
    types = inspect.get_annotations(function)
    parts = [f"### `{signature(name, function)}`", _markdown(purpose)]
    if "Args" in sections:
        items = [f"- `{arg}` (`{types[arg]}`): {_markdown(text)}" for arg, text in _ARGUMENT.findall(sections["Args"])]
        parts.append("Arguments:\n\n" + "\n".join(items))
    if "Returns" in sections:
        parts.append(f"Returns `{types['return']}`:\n{_markdown(sections['Returns'])}")
    parts.append(f"```python\n{example(function)}```")
    return "\n\n".join(parts) + "\n"


def shim_table() -> str:
    """Every module of the original that is answered here: its path, what it is for, its names."""
    lines = ["| module | what it is | names |", "|---|---|---|"]
    for path, implementation in sorted(SHIMS.items()):
        if implementation is not None:
            module = importlib.import_module(implementation)
            about = (
                (module.__doc__ or "")
                .strip()
                .partition("\n")[0]
                .partition(", under the original's name")[0]
                .rstrip(".")
            )
            names = ", ".join(f"`{name}`" for name in sorted(module.__all__) if not name.startswith("_"))
            lines.append(f"| `{path}` | {_markdown(about)} | {names} |")
    return "\n".join(["", *lines, "", ""])


def failure_table() -> str:
    """What each failure of a provider leads to, as the code decides it."""
    from hermes_core.auth.keys import NO_CREDENTIAL
    from hermes_core.errors import ProviderTimeoutError, ProviderTransportError, ResponseFormatError
    from hermes_core.llm.reaction import reaction_to
    from hermes_core.llm.route import Route
    from hermes_core.llm.status import status_error
    from hermes_core.providers.profile import ProviderProfile
    from hermes_core.types.wire import HttpResponse

    route = Route(ProviderProfile("acme"), "acme", "m", "", NO_CREDENTIAL)
    failures = {
        f"{status}{' ' + note if note else ''}": status_error(HttpResponse(status, {}, body.encode()), route)
        for status, note, body in FAILURES
    }
    failures["no connection, or one that breaks off"] = ProviderTransportError("connection refused")
    failures["no answer in time"] = ProviderTimeoutError("no answer within 30 s")
    failures["200, and no answer in it"] = ResponseFormatError("no message")
    lines = ["| failure | the same again | another key | the next provider | error |", "|---|---|---|---|---|"]
    for what, error in failures.items():
        reaction = reaction_to(error)
        again = "up to `transient_retries`" if reaction.retries is None else "once" if reaction.retries else ""
        key = "yes" if reaction.credential else ""
        following = "unless the plugin chose the model" if reaction.needs_other_model else "yes"
        lines.append(
            f"| {what} | {again} | {key} | {following if reaction.falls_back else ''} | `{type(error).__name__}` |"
        )
    return "\n" + "\n".join(lines) + "\n"


FAILURES = (
    (400, "", ""), (400, "about the model", "model_not_found"), (401, "", ""), (402, "", ""), (403, "", ""),
    (403, "about money", "billing"), (404, "", ""), (408, "", ""), (413, "", ""), (422, "", ""), (429, "", ""),
    (429, "of an overloaded server", "overloaded"), (429, "about money", "exceeded your current quota"), (500, "", ""),
    (501, "", ""), (502, "", ""), (503, "", ""), (504, "", ""), (529, "", ""),
)  # fmt: skip
"""Status, a word about it, and what the body says."""


def _markdown(text: str) -> str:
    """Docstring prose: double backticks become single ones, and each paragraph one line."""
    paragraphs = [" ".join(paragraph.split()) for paragraph in text.replace("``", "`").strip().split("\n\n")]
    return "\n\n".join(paragraphs)


def _helps(words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    text = _help(words)
    yield words, text
    for name in _SUBCOMMAND.findall(text) if words else _COMMAND.findall(text.partition("\ncommands:")[2]):
        yield from _helps((*words, name))


def _help(words: tuple[str, ...]) -> str:
    screen = io.StringIO()
    with contextlib.redirect_stdout(screen), contextlib.suppress(SystemExit):
        main([*words, "--help"])
    return screen.getvalue()


@contextlib.contextmanager
def _a_home_of_nobody() -> Iterator[None]:
    """An empty home and bundled plugins alone, so that the pages are the same on every machine."""
    environ = os.environ  # noqa: TID251 - the command reads it, as it would from a shell
    before = dict(environ)
    with tempfile.TemporaryDirectory() as home:
        environ.update(COLUMNS="80", HERMES_HOME=home, HERMES_MANAGED_DIR=home, HERMES_SAFE_MODE="1")
        try:
            yield
        finally:
            environ.clear()
            environ.update(before)
