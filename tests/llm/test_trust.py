"""The trust gate: spec-llm §7 with the rulings of architecture.md §11."""

from __future__ import annotations

import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_core import PluginLlm, PluginLlmTrustError, ProviderProfile
from hermes_core.errors import UnknownAuthProfileError, UnknownProviderError
from hermes_core.llm.engine import LlmEngine
from hermes_core.llm.trust import Overrides, TrustPolicy, authorize, policy_of, read_overrides

OVERRIDES = ("provider", "model", "agent_id", "profile")
FLAG_ROWS = {
    "flag-true-opens": (True, True),
    "flag-quoted-true-opens": ("true", True),
    "flag-shouted-true-opens": ("TRUE", True),
    "flag-yes-with-blanks-opens": (" Yes ", True),
    "flag-on-opens": ("on", True),
    "flag-quoted-1-opens": ("1", True),
    "flag-1-opens": (1, True),
    "flag-1.0-opens": (1.0, True),
    "flag-absent-stays-shut": (..., False),
    "flag-false-stays-shut": (False, False),
    "flag-quoted-false-stays-shut": ("false", False),
    "flag-no-stays-shut": ("no", False),
    "flag-quoted-0-stays-shut": ("0", False),
    "flag-off-stays-shut": ("off", False),
    "flag-empty-stays-shut": ("", False),
    "flag-0-stays-shut": (0, False),
    "flag-empty-list-stays-shut": ([], False),
    "flag-empty-mapping-stays-shut": ({}, False),
    "flag-maybe-stays-shut": ("maybe", False),
    "flag-y-stays-shut": ("y", False),
    "flag-true-and-more-stays-shut": ("true, please", False),
    "flag-2-stays-shut": (2, False),
    "flag-minus-1-stays-shut": (-1, False),
    "flag-half-stays-shut": (0.5, False),
    "flag-null-stays-shut": (None, False),
    "flag-list-of-true-stays-shut": ([True], False),
    "flag-mapping-with-true-stays-shut": ({"value": True}, False),
    "flag-bytes-stay-shut": (b"true", False),
}
MODEL_ROWS = {
    "list-absent-allows-any": (..., "gpt-x", True),
    "list-null-allows-nothing": (None, "gpt-x", False),
    "list-empty-allows-nothing": ([], "gpt-x", False),
    "string-is-a-list-of-one": ("gpt-x", "gpt-x", True),
    "string-is-a-list-of-no-more-than-one": ("gpt-x", "gpt-y", False),
    "string-is-not-searched-for-parts": ("gpt-x,gpt-y", "gpt-x", False),
    "string-star-allows-any": ("*", "gpt-x", True),
    "blank-string-allows-nothing": ("  ", "gpt-x", False),
    "mapping-allows-nothing": ({"gpt-x": True}, "gpt-x", False),
    "number-allows-nothing": (5, "5", False),
    "true-allows-nothing": (True, "gpt-x", False),
    "false-allows-nothing": (False, "gpt-x", False),
    "tuple-allows-nothing": (("gpt-x",), "gpt-x", False),
    "star-allows-any": (["*"], "gpt-x", True),
    "star-among-others-allows-any": (["*", "gpt-y"], "gpt-x", True),
    "star-behind-others-allows-any": (["gpt-y", " * "], "gpt-x", True),
    "blank-items-allow-nothing": (["", "  "], "gpt-x", False),
    "items-that-are-no-strings-allow-nothing": ([None, 5, ["gpt-x"], {"gpt-x": 1}], "gpt-x", False),
    "items-that-are-no-strings-spoil-no-others": ([None, "gpt-x"], "gpt-x", True),
    "item-case-does-not-count": (["GPT-X"], "gpt-x", True),
    "item-blanks-do-not-count": ([" gpt-x "], "gpt-x", True),
    "request-case-does-not-count": (["gpt-x"], "GPT-X", True),
    "request-blanks-do-not-count": (["gpt-x"], " gpt-x ", True),
    "beginning-is-no-match": (["gpt"], "gpt-x", False),
    "longer-item-is-no-match": (["gpt-x-long"], "gpt-x", False),
    "pattern-is-taken-literally": (["gpt-*"], "gpt-x", False),
    "star-inside-a-word-is-no-star": (["*gpt-x"], "gpt-x", False),
    "vendor-is-part-of-the-name": (["openai/gpt-x"], "gpt-x", False),
    "vendor-of-another-is-no-match": (["openai/gpt-x"], "evil/gpt-x", False),
    "vendor-and-name-match": (["openai/gpt-x"], "openai/gpt-x", True),
}
PROVIDER_ROWS = {
    "list-absent-allows-any": (..., "acme", True),
    "list-null-allows-nothing": (None, "acme", False),
    "list-empty-allows-nothing": ([], "acme", False),
    "string-is-a-list-of-one": ("acme", "acme", True),
    "string-is-a-list-of-no-more-than-one": ("acme", "beta", False),
    "mapping-allows-nothing": ({"acme": True}, "acme", False),
    "number-allows-nothing": (1, "acme", False),
    "tuple-allows-nothing": (("acme",), "acme", False),
    "star-allows-any": (["*"], "acme", True),
    "star-among-others-allows-any": (["*", "beta"], "acme", True),
    "blank-items-allow-nothing": ([" "], "acme", False),
    "items-that-are-no-strings-allow-nothing": ([5, None], "acme", False),
    "item-case-and-blanks-do-not-count": (["Acme "], "acme", True),
    "request-case-and-blanks-do-not-count": (["acme"], " ACME ", True),
    "beginning-is-no-match": (["ac"], "acme-too", False),
    "alias-of-an-allowed-provider-is-allowed": (["acme"], "roadrunner", True),
    "name-of-an-allowed-alias-is-allowed": (["roadrunner"], "acme", True),
    "alias-in-another-case-is-allowed": (["acme"], "RoadRunner", True),
    "alias-of-another-provider-is-denied": (["acme"], "beep", False),
    "another-provider-is-denied": (["acme"], "beta", False),
    "unknown-name-is-denied": (["acme"], "nobody", False),
}
WRONG_LEVELS = {
    "plugins-is-a-list": {"plugins": [{"entries": {"p": {"llm": {"allow_model_override": True}}}}]},
    "plugins-is-a-string": {"plugins": "entries"},
    "plugins-is-null": {"plugins": None},
    "entries-is-a-list": {"plugins": {"entries": [{"p": {"llm": {"allow_model_override": True}}}]}},
    "entries-is-true": {"plugins": {"entries": True}},
    "entries-is-null": {"plugins": {"entries": None}},
    "entry-is-true": {"plugins": {"entries": {"p": True}}},
    "entry-is-a-list": {"plugins": {"entries": {"p": ["llm"]}}},
    "entry-is-null": {"plugins": {"entries": {"p": None}}},
    "llm-is-true": {"plugins": {"entries": {"p": {"llm": True}}}},
    "llm-is-a-list": {"plugins": {"entries": {"p": {"llm": ["allow_model_override"]}}}},
    "llm-is-null": {"plugins": {"entries": {"p": {"llm": None}}}},
    "llm-is-of-another-plugin": {"plugins": {"entries": {"q": {"llm": {"allow_model_override": True}}}}},
    "flag-lies-beside-llm": {"plugins": {"entries": {"p": {"allow_model_override": True}}}},
}


def rows(table: dict) -> list:
    """A table's rows, by the sentence that is their id."""
    return [pytest.param(*row, id=name) for name, row in table.items()]


def section(**fields: object) -> dict:
    """A section without the fields that are left out (``...``)."""
    return {name: value for name, value in fields.items() if value is not ...}


@pytest.fixture
def refused(lane):
    """Whether calling ``ask`` is refused by the gate: nothing is sent, and one line says so."""

    def check(ask) -> bool:
        before = len(lane.log())
        try:
            ask()
        except PluginLlmTrustError:
            assert lane.server.requests == []
            assert [line["status"] for line in lane.log()[before:]] == ["error:PluginLlmTrustError"]
            return True
        assert [line["status"] for line in lane.log()[before:]] == ["ok"]
        return False

    return check


@pytest.fixture
def two_providers(lane):
    """A host that knows two more providers on the server, ``acme`` and ``beta``, each with an alias."""

    def load(config: dict):
        host = lane.host(config)
        for name, alias in (("acme", "roadrunner"), ("beta", "beep")):
            host.program_context().register_provider(
                ProviderProfile(
                    name, aliases=(alias,), base_url=lane.server.base_url, auth_type="none", fallback_models=("m",)
                )
            )
        return host

    return load


@pytest.mark.parametrize(("value", "opens"), rows(FLAG_ROWS))
def test_a_flag_opens_the_gate_for_true_words_alone_r12_01(call, lane, refused, value, opens):
    """A flag opens for true, "true", "yes", "on", "1" and 1, and for nothing else, in all four methods."""
    llm = lane.llm(lane.granting(**section(allow_model_override=value)))
    assert refused(lambda: call(llm, model="other")) is not opens
    assert [body["model"] for body in lane.server.bodies] == (["other"] if opens else [])


@pytest.mark.parametrize("override", OVERRIDES)
@pytest.mark.parametrize(("value", "opens"), rows(FLAG_ROWS))
def test_the_four_flags_are_read_alike_r12_01(override, value, opens):
    """Each of the four flags follows the one rule of truth."""
    policy = policy_of("p", section(**{f"allow_{override}_override": value}))
    assert policy == TrustPolicy(plugin_id="p")._replace(**{override: opens})


@pytest.mark.parametrize(
    ("written", "opens"),
    [
        pytest.param("true", True, id="yaml-true-opens"),
        pytest.param("yes", True, id="yaml-yes-opens"),
        pytest.param("On", True, id="yaml-on-opens"),
        pytest.param("1", True, id="yaml-1-opens"),
        pytest.param("'YES'", True, id="yaml-quoted-yes-opens"),
        pytest.param("${GATE}", True, id="variable-that-says-true-opens"),
        pytest.param("'false'", False, id="yaml-quoted-false-stays-shut"),
        pytest.param("false", False, id="yaml-false-stays-shut"),
        pytest.param("off", False, id="yaml-off-stays-shut"),
        pytest.param("~", False, id="yaml-null-stays-shut"),
        pytest.param("", False, id="yaml-nothing-stays-shut"),
        pytest.param("${NO_SUCH_GATE}", False, id="variable-that-is-unset-stays-shut"),
        pytest.param("[true]", False, id="yaml-list-stays-shut"),
    ],
)
def test_a_flag_in_the_file_means_what_yaml_makes_of_it_r12_01(way, lane, refused, monkeypatch, written, opens):
    """What an operator writes in config.yaml is judged as YAML reads it, variables expanded."""
    monkeypatch.setenv("GATE", "true")
    lane.write("config.yaml", f"plugins:\n  entries:\n    p:\n      llm:\n        allow_model_override: {written}\n")
    llm = lane.llm()
    assert refused(lambda: way.complete(llm, model="other")) is not opens


@settings(database=None, deadline=None, max_examples=200)
@given(st.one_of(st.text(), st.integers(), st.floats(), st.lists(st.booleans()), st.dictionaries(st.text(), st.none())))
def test_no_other_value_opens_a_flag(value):
    """Whatever stands there, the gate opens for the listed words and the number 1 alone."""
    opens = (isinstance(value, str) and value.strip().lower() in {"true", "yes", "on", "1"}) or value == 1
    assert policy_of("p", {"allow_model_override": value}).model is opens


@pytest.mark.parametrize(("allowed", "model", "granted"), rows(MODEL_ROWS))
def test_models_are_matched_literally_r12_02_r12_03(way, lane, refused, allowed, model, granted):
    """A model passes when the list holds it: stripped, in any case, else letter by letter."""
    llm = lane.llm(lane.granting(allow_model_override=True, **section(allowed_models=allowed)))
    assert refused(lambda: way.complete(llm, model=model)) is not granted
    assert [body["model"] for body in lane.server.bodies] == ([model.strip()] if granted else [])


@pytest.mark.parametrize(("allowed", "provider", "granted"), rows(PROVIDER_ROWS))
def test_providers_are_matched_by_any_of_their_names_r12_06(
    way, lane, refused, two_providers, allowed, provider, granted
):
    """A provider passes when the list holds it, under its name or an alias, and no other does."""
    llm = two_providers(lane.granting(allow_provider_override=True, **section(allowed_providers=allowed))).llm("p")
    if not granted:
        assert refused(lambda: way.structured(llm, provider=provider))
        return
    assert way.structured(llm, provider=provider).provider == "acme"


@pytest.mark.parametrize(
    ("llm", "asked"),
    [
        pytest.param({"allow_provider_override": True}, "nobody", id="no-list"),
        pytest.param({"allow_provider_override": True, "allowed_providers": ["*"]}, "nobody", id="star"),
        pytest.param({"allow_provider_override": True, "allowed_providers": ["nobody"]}, "nobody", id="named"),
    ],
)
def test_a_granted_unknown_provider_is_an_error_not_the_default_r17_11(way, lane, llm, asked):
    """An unknown provider that the gate lets through is refused by name, and nothing is sent elsewhere."""
    with pytest.raises(UnknownProviderError, match="'nobody'"):
        way.complete(lane.llm(lane.granting(**llm)), provider=asked)
    assert lane.server.requests == []


@pytest.mark.parametrize("key", ["allowed_providers", "allowed_models"])
@pytest.mark.parametrize("value", [{"x": 1}, 5, True, ("x",)], ids=lambda value: type(value).__name__)
def test_an_allowlist_of_the_wrong_type_is_warned_of_r12_02(caplog, key, value):
    """An allowlist that is neither list nor string is reported with its key and its type."""
    policy_of("p", {key: value})
    (record,) = caplog.records
    assert (record.levelno, f"plugins.entries.p.llm.{key}" in record.message) == (logging.WARNING, True)
    assert type(value).__name__ in record.message


def test_an_allowlist_of_the_wrong_type_is_warned_of_once(way, lane, caplog):
    """The warning about an unusable allowlist comes once, not with every call."""
    llm = lane.llm(lane.granting(allow_model_override=True, allowed_models={"m": 1}))
    for _ in range(3):
        way.complete(llm)
    assert len([record for record in caplog.records if "allowed_models" in record.message]) == 1


@pytest.mark.parametrize("override", OVERRIDES)
@pytest.mark.parametrize("value", [None, ""], ids=["none-is-no-override", "empty-is-no-override"])
def test_nothing_is_no_override_r12_10(way, lane, override, value):
    """None and the empty string ask for what the user is using, which needs no grant."""
    assert way.structured(lane.llm(), **{override: value}).provider == "custom"


@pytest.mark.parametrize("override", OVERRIDES)
@pytest.mark.parametrize("value", [" ", "\t\n", "\u00a0"], ids=["blank", "tab-and-newline", "no-break-space"])
def test_a_blank_override_is_a_value_error_r12_10(way, lane, override, value):
    """An override of blanks alone is a mistake of the plugin's, granted or not, said before anything is sent."""
    llm = lane.llm(lane.granting(**{f"allow_{override}_override": True}))
    with pytest.raises(ValueError, match=f"{override}="):
        way.complete(llm, **{override: value})
    assert lane.server.requests == []


@pytest.mark.parametrize("override", OVERRIDES)
@pytest.mark.parametrize(
    "value",
    [["acme"], [], 5, 0, b"acme", {}, False, object()],
    ids=["list", "empty-list", "number", "zero", "bytes", "empty-mapping", "false", "object"],
)
def test_an_override_that_is_no_string_never_gets_through_r12_05(way, lane, override, value):
    """An override of another type, even a granted one, is refused before anything is sent."""
    llm = lane.llm(lane.granting(**{f"allow_{override}_override": True}))
    with pytest.raises((TypeError, PluginLlmTrustError)):
        way.complete(llm, **{override: value})
    assert lane.server.requests == []


@pytest.mark.parametrize(
    ("granted", "asked"), [(one, other) for one in OVERRIDES for other in OVERRIDES if one != other]
)
def test_each_override_needs_its_own_grant(way, lane, refused, two_providers, granted, asked):
    """A grant for one override is no grant for another."""
    llm = two_providers(lane.granting(**{f"allow_{granted}_override": True})).llm("p")
    assert refused(lambda: way.complete(llm, **{asked: "acme"}))


@pytest.mark.parametrize("override", ["provider", "model", "agent_id"])
def test_a_grant_is_enough_for_its_override(way, lane, refused, two_providers, override):
    """An override that is granted, without any list, passes with any value."""
    llm = two_providers(lane.granting(**{f"allow_{override}_override": True})).llm("p")
    assert not refused(lambda: way.complete(llm, **{override: "acme"}))


def test_a_granted_profile_that_nobody_stored_is_an_error(way, lane):
    """A granted profile= that names no stored credential is refused, never replaced by the usual one."""
    llm = lane.llm(lane.granting(allow_profile_override=True))
    with pytest.raises(UnknownAuthProfileError, match="'work'"):
        way.complete(llm, profile="work")
    assert lane.server.requests == []


@pytest.mark.parametrize(
    ("override", "value"), [("provider", "custom"), ("model", "fake-model"), ("agent_id", "default")]
)
def test_the_active_value_needs_a_grant_too_r12_10(call, lane, refused, override, value):
    """An override that names what is active anyway is still an override."""
    llm = lane.llm()
    assert refused(lambda: call(llm, **{override: value}))


def test_an_unconfigured_plugin_may_shape_its_chat_request(way, lane):
    """Without any grant, a plugin sets messages, temperature, limit, timeout and purpose."""
    answer = way.complete(lane.llm(), temperature=0.5, max_tokens=7, timeout=20, purpose="why")
    (body,) = lane.server.bodies
    assert (answer.text, body["temperature"], body["max_tokens"], answer.audit["purpose"]) == ("pong", 0.5, 7, "why")


def test_an_unconfigured_plugin_may_shape_its_structured_request(way, lane):
    """Without any grant, a plugin sets everything a structured request is shaped by."""
    lane.server.answer("{}")
    answer = way.structured(
        lane.llm(),
        instructions="Do it.", input=[{"type": "text", "text": "it"}], json_schema={"type": "object"}, json_mode=True,
        schema_name="s", system_prompt="Be kind.", temperature=0.0, max_tokens=9, timeout=20, purpose="why",
    )  # fmt: skip
    assert (answer.parsed, answer.audit["schema_name"]) == ({}, "s")


ALL_ASKED = {"provider": "acme", "model": "m", "agent_id": "other", "profile": "work"}
ORDER = [
    ({}, "allow_provider_override"),
    ({"allow_provider_override": True, "allowed_providers": []}, "allowed_providers"),
    ({"allow_provider_override": True}, "allow_model_override"),
    ({"allow_provider_override": True, "allow_model_override": True, "allowed_models": []}, "allowed_models"),
    ({"allow_provider_override": True, "allow_model_override": True}, "allow_agent_id_override"),
    (
        {"allow_provider_override": True, "allow_model_override": True, "allow_agent_id_override": True},
        "allow_profile_override",
    ),
]


@pytest.mark.parametrize(("granted", "key"), ORDER, ids=[f"then-{key}" for _, key in ORDER])
def test_the_first_refusal_in_order_is_the_one_raised(call, lane, granted, key):
    """Provider flag, provider list, model flag, model list, agent flag, profile flag: the first to fail raises."""
    with pytest.raises(PluginLlmTrustError) as caught:
        call(lane.llm(lane.granting(**granted)), **ALL_ASKED)
    assert caught.value.config_key == f"plugins.entries.p.llm.{key}"


REFUSALS = [
    *(({}, override, "acme", f"allow_{override}_override") for override in OVERRIDES),
    ({"allow_provider_override": True, "allowed_providers": ["x"]}, "provider", "acme", "allowed_providers"),
    ({"allow_model_override": True, "allowed_models": ["x"]}, "model", "Acme/One", "allowed_models"),
]


@pytest.mark.parametrize(
    ("granted", "override", "value", "key"), REFUSALS, ids=[f"{row[1]}-by-{row[3]}" for row in REFUSALS]
)
def test_a_refusal_says_who_what_and_which_key(way, lane, granted, override, value, key):
    """The error carries plugin, override, value and key, names them in its text, and is a PermissionError."""
    with pytest.raises(PluginLlmTrustError) as caught:
        way.complete(lane.llm(lane.granting(**granted)), **{override: value})
    error = caught.value
    assert isinstance(error, PermissionError)
    assert (error.plugin_id, error.override, error.value, error.config_key) == (
        "p", override, value, f"plugins.entries.p.llm.{key}",
    )  # fmt: skip
    wanted = ["'p'", override, error.config_key, *([repr(value)] if key.startswith("allowed") else [])]
    assert [word for word in wanted if word not in str(error)] == []
    assert error.config_key in error.hint


def test_a_refusal_is_warned_of_once_a_call(way, lane, caplog):
    """Each refusal leaves one WARNING that names plugin and key."""
    llm = lane.llm()
    for _ in range(2):
        with pytest.raises(PluginLlmTrustError):
            way.complete(llm, model="x")
    found = [record.message for record in caplog.records if record.levelno == logging.WARNING]
    assert len(found) == 2
    assert all("plugins.entries.p.llm.allow_model_override" in line and "plugin=p" in line for line in found)


@pytest.mark.parametrize(
    ("entries", "key"),
    [
        pytest.param(["tools/mine"], "tools/mine", id="found-by-its-key"),
        pytest.param(["mine"], "mine", id="found-by-its-bare-name"),
        pytest.param(["mine", "tools/mine"], "tools/mine", id="the-keys-entry-counts-when-both-exist"),
    ],
)
def test_a_nested_plugins_entry_is_found(way, lane, entries, key):
    """A plugin's entry is found under its key, else under its bare name."""
    lane.write("plugins/tools/mine/plugin.yaml", "name: mine\n")
    config = {"plugins": {"entries": {name: {"llm": {"allow_model_override": name == key}} for name in entries}}}
    llm = lane.llm(config, plugin="tools/mine")
    assert way.complete(llm, model="other").model == "other"
    with pytest.raises(PluginLlmTrustError) as caught:
        way.complete(llm, agent_id="other")
    assert caught.value.config_key == f"plugins.entries.{key}.llm.allow_agent_id_override"


def test_a_shut_entry_under_the_key_beats_an_open_one_under_the_name(way, lane, refused):
    """When both entries exist, the bare name's grant does not count."""
    lane.write("plugins/tools/mine/plugin.yaml", "name: mine\n")
    entries = {"mine": {"llm": {"allow_model_override": True}}, "tools/mine": None}
    llm = lane.llm({"plugins": {"entries": entries}}, plugin="tools/mine")
    assert refused(lambda: way.complete(llm, model="other"))


def test_an_empty_plugin_id_is_granted_nothing(way, lane, refused):
    """A call under no name is allowed no override, whatever an entry of no name says."""
    llm = lane.llm({"plugins": {"entries": {"": {"llm": {"allow_model_override": True}}}}}, plugin="")
    assert refused(lambda: way.complete(llm, model="other"))


def test_an_edit_of_the_file_counts_from_the_next_call(call, lane, refused):
    """The gate reads the configuration anew at each call: granted and taken back without a restart."""
    llm = lane.llm()
    assert refused(lambda: call(llm, model="other"))
    lane.config_file(lane.granting(allow_model_override=True))
    assert not refused(lambda: call(llm, model="other"))
    lane.server.requests.clear()
    lane.config_file(lane.granting(allow_model_override="no"))
    assert refused(lambda: call(llm, model="other"))


class Switching:
    """A host whose configuration is exchanged while a call under the old one is still reading its policy."""

    def __init__(self, host) -> None:
        self._host = host
        self.old, self.new = host.config(), host.config()._replace()
        self.now = self.old
        self.reading, self.go_on = threading.Event(), threading.Event()

    def __getattr__(self, name: str) -> object:
        return getattr(self._host, name)

    def config(self):
        """The configuration as it is now."""
        return self.now

    def llm_settings(self, config, plugin_id):
        """Granted by the old configuration, after a while; not by the new one."""
        if config is self.old:
            self.reading.set()
            self.go_on.wait(10)
        return plugin_id, {"allow_model_override": config is self.old}


def test_a_grant_that_was_taken_back_does_not_come_back(lane):
    """A call that began under a grant leaves nothing behind that opens the gate once the grant is gone."""
    host = Switching(lane.host())
    messages = [{"role": "user", "content": "x"}]
    with closing(LlmEngine(host)) as engine, ThreadPoolExecutor(1) as thread:
        llm = PluginLlm("p", engine)
        early = thread.submit(llm.complete, messages, model="other")
        assert host.reading.wait(10)
        host.now = host.new
        llm.complete(messages)
        host.go_on.set()
        early.result(10)
        with pytest.raises(PluginLlmTrustError):
            llm.complete(messages, model="other")


def test_a_file_that_broke_shuts_the_gate_r21_05(call, lane, refused, caplog):
    """While config.yaml cannot be read every override is refused, and calls without one go on."""
    lane.config_file(lane.granting(allow_model_override=True))
    llm = lane.llm()
    assert call(llm, model="other").model == "other"
    lane.write("config.yaml", "plugins:\n  entries: [unclosed\n")
    lane.server.requests.clear()
    assert refused(lambda: call(llm, model="other"))
    assert call(llm).text == "pong"
    assert any("config.yaml" in record.message and "line" in record.message for record in caplog.records)


def test_a_file_that_never_was_readable_shuts_the_gate_r21_05(way, lane, refused):
    """A broken config.yaml refuses overrides even where the embedding program would grant them."""
    lane.write("config.yaml", "{")
    llm = lane.llm(lane.granting(allow_model_override=True))
    assert refused(lambda: way.complete(llm, model="other"))
    assert way.complete(llm).text == "pong"


def test_a_mended_file_opens_the_gate_again(way, lane):
    """Once config.yaml can be read again, what it grants counts again."""
    lane.write("config.yaml", "{")
    llm = lane.llm()
    with pytest.raises(PluginLlmTrustError):
        way.complete(llm, model="other")
    lane.config_file(lane.granting(allow_model_override=True))
    assert way.complete(llm, model="other").model == "other"


@pytest.mark.parametrize("config", WRONG_LEVELS.values(), ids=WRONG_LEVELS)
def test_a_level_of_the_wrong_type_grants_nothing(way, lane, refused, config):
    """Where plugins, entries, entry or llm is no mapping, overrides are refused and plain calls answered."""
    llm = lane.llm(config)
    assert refused(lambda: way.complete(llm, model="other"))
    assert way.complete(llm).text == "pong"


BAD_BLOCK = {"instructions": "x", "input": [{"type": "smell"}]}


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        pytest.param({"instructions": " ", "model": "m"}, ValueError, id="empty-instructions-come-before-the-gate"),
        pytest.param({"input": [], "model": "m"}, ValueError, id="empty-input-comes-before-the-gate"),
        pytest.param({**BAD_BLOCK, "model": "m"}, PluginLlmTrustError, id="the-gate-comes-before-a-bad-block"),
        pytest.param(
            {"json_schema": {"type": "nope"}, "model": "m"},
            PluginLlmTrustError,
            id="the-gate-comes-before-a-bad-schema",
        ),
        pytest.param({"max_tokens": 0, "model": "m"}, PluginLlmTrustError, id="the-gate-comes-before-a-bad-number"),
        pytest.param(BAD_BLOCK, ValueError, id="a-bad-block-is-found-behind-the-gate"),
    ],
)
def test_structured_arguments_are_judged_in_order(way, lane, arguments, error):
    """Emptiness first, then the gate, then blocks and schema."""
    with pytest.raises(error) as caught:
        way.structured(lane.llm(), **arguments)
    assert type(caught.value) is error


def test_a_chat_call_meets_the_gate_first(way, lane):
    """A chat call that is both malformed and not allowed is refused by the gate."""
    with pytest.raises(PluginLlmTrustError):
        way.complete(lane.llm(), messages=[], model="m")


def test_what_was_granted_is_handed_on_as_the_plugin_wrote_it(way, lane):
    """A granted model keeps its case and its slash; only outer blanks go."""
    llm = lane.llm(lane.granting(allow_model_override=True))
    way.complete(llm, model=" Vendor/Model-X ")
    assert lane.server.bodies[0]["model"] == "Vendor/Model-X"


def test_a_granted_agent_id_labels_the_result(way, lane):
    """A granted agent id is whose model the result and the audit say was used."""
    answer = way.complete(lane.llm(lane.granting(allow_agent_id_override=True)), agent_id="scout")
    assert (answer.agent_id, lane.log()[0]["agent"]) == ("scout", "scout")


def test_the_gate_is_a_pure_function():
    """``authorize`` decides from a policy and the overrides alone."""
    authorize(TrustPolicy(plugin_id="p"), Overrides())
    with pytest.raises(PluginLlmTrustError):
        authorize(TrustPolicy(plugin_id="p"), read_overrides("complete", provider="acme"))
