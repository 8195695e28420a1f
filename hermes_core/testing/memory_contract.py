"""The rules of a memory provider, as tests that its author inherits."""

from __future__ import annotations

import json
import re
import threading
import time
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from hermes_core.testing.memory_bench import SESSION, Bench, require, sample
from hermes_core.testing.memory_forms import check_fields, check_schemas
from hermes_core.testing.odd_values import ODD_TEXTS, RUBBISH

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

KEYWORDS: dict[str, Any] = {
    "platform": "cli",
    "agent_context": "primary",
    "agent_identity": "default",
    "agent_workspace": "hermes",
    "user_id": "anna",
    "session_title": "Tea",
    "a_keyword_of_a_newer_host": 1,
}


class MemoryContract:
    """What a host and its users rely on; subclass it, say how to make your provider, and run pytest.

    Each test has homes of its own. A provider is called as a host calls it: in threads, with the keywords that its
    methods take. See ``docs/memory-contract.md``.

    Attributes:
        sync_limit: Seconds within which ``sync_turn`` and ``queue_prefetch`` must return.
        call_limit: The same for any other call.
        tool_arguments: Tool → arguments of a call that succeeds, where those made from its schema would not.

    Example:
        >>> class TestMine(MemoryContract):
        ...     def make(self, home):
        ...         return MyProvider()
    """

    sync_limit: ClassVar[float] = 1.0
    call_limit: ClassVar[float] = 8.0
    tool_arguments: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    bench: Bench

    def make(self, home: Path) -> Any:
        """A new provider, not initialised; ``home`` is where it will be told to keep its files."""
        message = "say how to make the provider: def make(self, home): return MyProvider()"
        raise NotImplementedError(message)

    @pytest.fixture(autouse=True)
    def _bench(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        self.prepare(tmp_path, monkeypatch)
        with self.bench.watch:
            yield
            self.bench.close()

    def prepare(self, folder: Path, variables: pytest.MonkeyPatch) -> None:
        """Make the bench, and point the process's own home and Hermes home to places that are not to be used."""
        self.bench = Bench(self.make, folder)
        for name in ("HOME", "USERPROFILE", "HERMES_HOME"):
            variables.setenv(name, str(folder / f"not-for-you-{name}"))

    def test_it_has_a_name(self) -> None:
        """``name`` is one word, the same each time, and not the built-in memory's."""
        names = [self.bench.make().provider.name for _ in range(2)]
        require(isinstance(names[0], str), f"name is a {type(names[0]).__name__}, and no text")
        require(re.fullmatch(r"[A-Za-z0-9][\w.-]*", names[0]), f"name {names[0]!r} is not one word")
        require(names[0] != "builtin", "the name 'builtin' is the built-in memory's")
        require(names[0] == names[1], f"two instances have two names: {names}")

    def test_it_has_what_is_required(self) -> None:
        """The required methods are there."""
        trial = self.bench.make()
        missing = [name for name in ("is_available", "initialize", "get_tool_schemas") if not trial.has(name)]
        require(not missing, f"missing: {', '.join(missing)}")

    def test_availability_is_told_without_network_or_files(self) -> None:
        """``is_available`` is True or False before ``initialize``, and neither connects to anything nor writes."""
        trial = self.bench.make()
        before = len(self.bench.watch.written)
        for _ in range(2):
            answer = trial.call("is_available", limit=self.sync_limit)
            require(isinstance(answer, bool), f"is_available returned {answer!r}, and neither True nor False")
        require(not self.bench.watch.connections, f"is_available used the network: {self.bench.watch.connections}")
        written = self.bench.watch.written[before:]
        require(not written, f"is_available wrote {written}")
        reason = trial.call("unavailable_reason")
        require(isinstance(reason, str | None), f"unavailable_reason returned a {type(reason).__name__}, and no text")

    def test_a_home_is_all_it_needs(self) -> None:
        """``initialize`` takes a session's id and ``hermes_home``, and nothing more need be there."""
        self.bench.open()

    def test_it_takes_whatever_a_host_knows(self) -> None:
        """``initialize`` takes every keyword, those of a newer host too."""
        trial = self.bench.make()
        trial.provider.initialize(SESSION, hermes_home=str(trial.home), **KEYWORDS)

    def test_a_session_may_be_given_by_position_or_name(self) -> None:
        """The session's id may come as ``session_id=`` or first."""
        trial = self.bench.make()
        trial.provider.initialize(session_id=SESSION, hermes_home=str(trial.home))

    def test_files_stay_in_the_home(self) -> None:
        """Nothing is written outside the home that ``initialize`` was given, whatever the process's own home is."""
        trial = self.bench.open(**KEYWORDS)
        trial.keep("Anna drinks tea.")
        self._use_tools(trial)
        trial.call("prefetch", "tea", session_id=SESSION)
        trial.call("shutdown")
        found = self.bench.written_elsewhere()
        require(not found, f"written outside {trial.home}: {', '.join(map(str, found[:5]))}")

    @pytest.mark.parametrize("when", ["before", "after"])
    def test_schemas_are_well_formed(self, when: str) -> None:
        """Tool schemas are bare function schemas, before ``initialize`` and after it."""
        trial = self.bench.make() if when == "before" else self.bench.open()
        check_schemas(trial.schemas())

    def test_a_tool_answers_in_json(self) -> None:
        """Each tool answers arguments that fit its schema with a JSON text."""
        self._use_tools(self.bench.open())

    def test_a_tool_survives_wrong_arguments(self) -> None:
        """Missing arguments, unknown ones, and rubbish in place of each get a JSON text too, and raise nothing."""
        trial = self.bench.open()
        for schema in trial.schemas():
            name, fields = schema["name"], schema.get("parameters", {}).get("properties", {})
            good = self._good_arguments(schema)
            self._ask(trial, name, {})
            self._ask(trial, name, {**good, "no_such_argument": 1})
            for field in fields:
                self._ask(trial, name, {key: value for key, value in good.items() if key != field})
                for value in RUBBISH:
                    self._ask(trial, name, {**good, field: value})

    def test_an_unknown_tool_is_answered(self) -> None:
        """A tool that it has not is answered with a JSON text, where it has any."""
        trial = self.bench.open()
        if trial.schemas():
            self._ask(trial, "no_such_tool", {})

    @pytest.mark.parametrize("kind", ODD_TEXTS)
    def test_a_turn_is_taken_at_once(self, kind: str) -> None:
        """``sync_turn`` and ``queue_prefetch`` return at once, and raise nothing, whatever was said."""
        trial, text = self.bench.open(), ODD_TEXTS[kind]
        trial.call("sync_turn", text, text, session_id=SESSION, messages=[], limit=self.sync_limit)
        trial.call("sync_turn", text, text, limit=self.sync_limit)
        trial.call("queue_prefetch", text, session_id=SESSION, limit=self.sync_limit)

    @pytest.mark.parametrize("kind", ODD_TEXTS)
    def test_any_query_is_answered_with_text(self, kind: str) -> None:
        """``prefetch`` returns text for any query, with an empty memory and with something in it."""
        trial = self.bench.open()
        for _ in range(2):
            found = trial.call("prefetch", ODD_TEXTS[kind], session_id=SESSION, limit=self.call_limit)
            require(isinstance(found, str | None), f"prefetch returned a {type(found).__name__}, and no text")
            trial.keep(f"Anna drinks tea. {ODD_TEXTS[kind][:1000]}")
        status = trial.call("recall_status")
        require(status is None or hasattr(status, "count"), f"recall_status returned {status!r}")

    def test_the_system_prompt_block_is_fixed(self) -> None:
        """``system_prompt_block`` is text, and stays the same while the session does."""
        trial = self.bench.open()
        first = trial.call("system_prompt_block")
        trial.keep("Anna drinks tea.")
        require(isinstance(first, str | None), f"system_prompt_block returned a {type(first).__name__}, and no text")
        require(first == trial.call("system_prompt_block"), "system_prompt_block changed within a session")

    @pytest.mark.parametrize(
        ("method", "args", "keywords"),
        [
            ("on_turn_start", (1, "tea"), {"model": "m", "platform": "cli", "remaining_tokens": 9, "tool_count": 1}),
            ("on_session_end", ([],), {}),
            (
                "on_session_end",
                ([{"role": "user", "content": [{"type": "text", "text": "tea"}]}, {"role": "tool"}],),
                {},
            ),
            ("on_session_switch", ("next",), {"parent_session_id": SESSION, "reset": True, "reason": "new_session"}),
            ("on_session_switch", (SESSION,), {"rewound": True}),
            ("on_pre_compress", ([],), {}),
            ("on_pre_compress", ([{"role": "user", "content": "tea"}, {"role": "assistant", "content": None}],), {}),
            ("on_memory_write", ("add", "memory", "tea"), {"metadata": {"tool_name": "memory"}}),
            ("on_memory_write", ("replace", "user", "milk"), {"metadata": {"previous_content": "tea"}}),
            ("on_memory_write", ("remove", "memory", ""), {}),
            ("on_delegation", ("task", "result"), {"child_session_id": "child"}),
            ("shutdown", (), {}),
        ],
    )
    def test_an_event_may_be_told_twice(self, method: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        """Each thing a provider is told may be told twice; nothing is raised, and what it returns is text or None."""
        trial = self.bench.open()
        for _ in range(2):
            answer = trial.call(method, *args, **keywords, limit=self.call_limit)
            if method == "on_pre_compress":
                require(isinstance(answer, str | None), f"{method} returned a {type(answer).__name__}, and no text")

    def test_shutdown_needs_no_initialize(self) -> None:
        """A provider that was never initialised can be shut down."""
        self.bench.make().call("shutdown", limit=self.call_limit)

    def test_shutdown_leaves_no_thread_that_holds_the_process(self) -> None:
        """After ``shutdown`` no thread is left that keeps the process from ending."""
        before = set(threading.enumerate())
        trial = self.bench.make()
        trial.is_daemon = False
        trial.call("initialize", session_id=SESSION, hermes_home=str(trial.home))
        trial.over.set()
        trial.keep("Anna drinks tea.")
        trial.call("shutdown", limit=self.call_limit)
        left = [thread for thread in set(threading.enumerate()) - before if not thread.daemon]
        deadline = time.monotonic() + 2
        while left and time.monotonic() < deadline:
            time.sleep(0.02)
            left = [thread for thread in left if thread.is_alive()]
        require(not left, f"threads left after shutdown: {', '.join(thread.name for thread in left)}")

    def test_it_remembers_after_a_restart(self) -> None:
        """What it recalls before ``shutdown``, it recalls in the same home afterwards."""
        first, asked = self.bench.open(), ("What is the launch called?", "Zephyr")
        first.keep("The launch is called Zephyr")
        self._use_tools(first)
        known = self._soon(lambda: first.recalls(*asked))
        first.call("shutdown", limit=self.call_limit)
        again = self.bench.open()
        self._use_tools(again)
        require(not known or self._soon(lambda: again.recalls(*asked)), "what it recalled is gone after a restart")

    def test_two_homes_do_not_mix(self) -> None:
        """What is kept in one home is neither recalled nor written in another, though both are in use at once."""
        kept = {"one": "Zephyr", "two": "Mistral"}
        trials = {name: self.bench.open(self.bench.new_home(name)) for name in kept}
        for name, word in kept.items():
            trials[name].keep(f"The launch is called {word}")
        for name, word in kept.items():
            other = next(trial for key, trial in trials.items() if key != name)
            require(not other.recalls("What is the launch called?", word), "one home recalls what another one keeps")
        for name, word in kept.items():
            trials[name].call("shutdown", limit=self.call_limit)
            other = next(trial for key, trial in trials.items() if key != name)
            require(not _holds(other.home, word), "one home's files hold what another one keeps")

    def test_two_instances_share_a_home(self) -> None:
        """Two instances may be open in one home, and both write; a third one opens what they left."""
        trials = [self.bench.open(), self.bench.open()]
        for number in range(5):
            for trial in trials:
                trial.keep(f"Anna drinks tea number {number}")
                self._use_tools(trial)
        for trial in trials:
            trial.call("shutdown", limit=self.call_limit)
        self._use_tools(self.bench.open())

    def test_secrets_are_not_shown(self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
        """A secret of its settings is in no ``repr``, prompt, schema or log record."""
        secret = "sk-contract-0123456789"  # noqa: S105 - one that no provider knows
        for field in self.bench.make().call("get_config_schema") or []:
            if field.get("secret") and field.get("env_var"):
                monkeypatch.setenv(field["env_var"], secret)
        trial = self.bench.make()
        with caplog.at_level("DEBUG"):
            trial.call("is_available")
            trial.call("initialize", session_id=SESSION, hermes_home=str(trial.home))
            trial.call("prefetch", "tea")
        shown = {
            "repr": repr(trial.provider),
            "str": str(trial.provider),
            "system_prompt_block": str(trial.call("system_prompt_block")),
            "get_tool_schemas": str(trial.call("get_tool_schemas")),
            "get_config_schema": str(trial.call("get_config_schema")),
            "unavailable_reason": str(trial.call("unavailable_reason")),
            "the log": caplog.text,
        }
        found = [where for where, text in shown.items() if secret in text]
        require(not found, f"a secret is shown in {', '.join(found)}")

    def test_settings_are_well_formed(self) -> None:
        """``get_config_schema`` lists fields that a wizard can ask, before ``initialize``."""
        check_fields(self.bench.make().call("get_config_schema"))

    def test_settings_are_saved_in_the_home_that_is_named(self) -> None:
        """``save_config`` writes below the home it is given, not the process's, and may be called twice."""
        trial = self.bench.make(self.bench.new_home("named"))
        fields = [field for field in trial.call("get_config_schema") or [] if not field.get("secret")]
        values = {field["key"]: field.get("default", (field.get("choices") or ["tea"])[0]) for field in fields}
        for _ in range(2):
            trial.call("save_config", values, str(trial.home))
        found = self.bench.written_elsewhere()
        inside = [path for path in self.bench.watch.written if path.is_relative_to(self.bench.home)]
        require(not found and not inside, f"written outside {trial.home}: {', '.join(map(str, [*found, *inside][:5]))}")

    def test_backup_paths_are_absolute(self) -> None:
        """``backup_paths`` is a list of absolute paths, and may be asked before ``initialize``."""
        paths = self.bench.make().call("backup_paths")
        good = isinstance(paths, list | None) and all(
            str(path)[:1] in "/\\" or ":" in str(path) for path in paths or []
        )
        require(good, f"backup_paths returned {paths!r}, and no list of absolute paths")

    def _use_tools(self, trial: Any) -> None:
        for schema in trial.schemas():
            self._ask(trial, schema["name"], self._good_arguments(schema))

    def _good_arguments(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        given = self.tool_arguments.get(schema["name"])
        return dict(sample({"type": "object", **schema.get("parameters", {})}) if given is None else given)

    def _ask(self, trial: Any, name: str, arguments: dict[str, Any]) -> None:
        answer = trial.call("handle_tool_call", name, arguments, limit=self.call_limit)
        shown = f"tool {name} with {arguments!r:.80}"
        require(isinstance(answer, str), f"{shown} returned a {type(answer).__name__}, and no text")
        try:
            json.loads(answer)
            answer.encode()
        except ValueError as error:
            message = f"{shown} returned {answer!r:.60}, which is no JSON: {error}"
            raise AssertionError(message) from error

    @staticmethod
    def _soon(is_so: Any) -> bool:
        """Whether it is so within two seconds: a provider may still be at work in the background."""
        deadline = time.monotonic() + 2
        while not is_so():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True


def _holds(folder: Path, text: str) -> bool:
    return any(text.encode() in path.read_bytes() for path in folder.rglob("*") if path.is_file())
