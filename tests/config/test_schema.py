"""The JSON Schema of ``config.yaml``: valid itself, and of one mind with ``hermes config check``."""

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator

import hermes_core.config
from hermes_core.config.check import find_problems
from hermes_core.config.keys import ROOT
from hermes_core.config.schema import schema

SHIPPED = Path(hermes_core.config.__file__).with_name("config.schema.json")
VALIDATOR = Draft7Validator(schema())

junk = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 10), st.floats(-3, 10), st.sampled_from([0, 1, 0.0, 1.0, 5.0, -1, 86401]),
    st.text(st.characters(exclude_characters="$"), max_size=6),
    st.sampled_from(["Yes", " off ", "45", "0", "0.0", "1.5 ", "A_B", "9x", "https://x.test/v1", "http://a@b", "{x}"]),
    st.sampled_from(["raise", "none", "fill_first", "openai_chat", "auto", "FALSE", "1e3", "a b", ""]),
    st.lists(st.sampled_from(["a", 1, None]), max_size=2),
    st.dictionaries(st.sampled_from(["zzz", "X-A"]), st.sampled_from(["a", 1, None, [], True]), max_size=2),
)  # fmt: skip


def values_of(kind, depth=0):
    """Values for a place in the table: often such as belong there, or nearly."""
    if depth > 5:
        return junk
    options = [junk]
    if kind.keys:
        known = {name: values_of(key.kind, depth + 1) for key in kind.keys for name in (key.name, *key.aliases)}
        picked = st.lists(st.sampled_from([*known]), max_size=3, unique=True)
        options.append(picked.flatmap(lambda names: st.fixed_dictionaries({name: known[name] for name in names})))
        options.append(st.fixed_dictionaries({name: known[name] for name in kind.needs}, optional={"zzz": junk}))
    if kind.each is not None:
        options.append(st.dictionaries(st.sampled_from(["acme", "x y"]), values_of(kind.each, depth + 1), max_size=2))
    if kind.items is not None:
        options.append(st.lists(values_of(kind.items, depth + 1), max_size=2))
    return st.one_of(*options[1:], *options[:1]) if len(options) > 1 else junk


def test_the_schema_is_a_schema():
    """The schema is valid under its own metaschema."""
    Draft7Validator.check_schema(schema())


def test_the_shipped_file_is_what_the_table_says():
    """The file in the package is current; `just docs` writes it."""
    assert json.loads(SHIPPED.read_text(encoding="utf-8")) == schema()


@settings(max_examples=200, suppress_health_check=[*HealthCheck])
@given(values_of(ROOT).filter(lambda tree: isinstance(tree, dict)))
def test_the_schema_and_the_check_agree(tree):
    """A tree is valid under the schema if, and only if, the check finds no value, key or lack in it to complain of."""
    found = [problem for problem in find_problems(tree) if problem.code in ("wrong-kind", "unknown-key", "missing-key")]
    assert VALIDATOR.is_valid(tree) is not bool(found), (
        found,
        [error.message for error in VALIDATOR.iter_errors(tree)],
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("model: gpt\nprovider: acme\n", id="older spellings"),
        pytest.param("model:\nproviders:\nplugins: {enabled: }\n", id="keys with nothing behind them"),
        pytest.param("agent: {whatever: 1}\nmy-section: [1]\n", id="sections of others"),
        pytest.param("auxiliary: {plugin: {timeout: '45'}, mine: {provider: x, own: 1}}\n", id="tasks"),
        pytest.param("fallback_model: {provider: x}\n", id="one in place of a list"),
        pytest.param("providers: {a: {baseUrl: 'https://x.test', models: {m: }}}\n", id="a provider"),
        pytest.param("model: {supports_vision: '${SEES}', base_url: '${URL}/v1'}\n", id="references"),
    ],
)
def test_what_the_host_understands_is_valid(text):
    """Every spelling that the host reads is valid, so an editor marks none of them."""
    assert [error.message for error in VALIDATOR.iter_errors(yaml.safe_load(text) or {})] == []


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("model: {max_tokens: many}\n", id="a text for a number"),
        pytest.param("model: {defualt: x}\n", id="a misspelt key"),
        pytest.param("custom_providers: {a: {}}\n", id="a mapping for a list"),
        pytest.param("custom_providers: [{name: a}]\n", id="a provider without an address"),
        pytest.param("fallback_providers: [{model: m}]\n", id="a fallback without a provider"),
        pytest.param("plugins: {entries: {p: {llm: {allow_model_override: maybe}}}}\n", id="a switch that is none"),
    ],
)
def test_what_the_host_does_not_understand_is_invalid(text):
    """A value or a key that the host would not use is marked."""
    assert not VALIDATOR.is_valid(yaml.safe_load(text))


def test_every_key_says_what_it_is_for():
    """Each property in the schema has a description."""

    def described(node):
        for name, found in node.get("properties", {}).items():
            assert found.get("description"), name
            described(found)

    described(schema())
