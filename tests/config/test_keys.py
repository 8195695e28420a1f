"""The table of known keys: its words are unambiguous, and paths through it can be written and read back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.config.keypath import (
    canonical,
    default_of,
    find_key,
    is_reference,
    is_secret,
    join_key,
    look,
    spelled,
    split_key,
)
from hermes_core.config.keys import ROOT


def kinds(kind=ROOT, path=()):
    """Every kind in the table that holds others → where it stands."""
    yield path, kind
    for key in kind.keys:
        yield from kinds(key.kind, (*path, key.name))
    if kind.each is not None:
        yield from kinds(kind.each, (*path, "*"))
    if kind.items is not None and kind.items.keys != kind.keys:
        yield from kinds(kind.items, (*path, "0"))


HOLDERS = [pytest.param(kind, id=join_key(path) or "the root") for path, kind in kinds() if kind.keys]


@pytest.mark.parametrize("kind", HOLDERS)
def test_a_word_means_one_thing(kind):
    """No name or alias stands twice in one mapping."""
    words = kind.words
    assert sorted(set(words)) == sorted(words)


@pytest.mark.parametrize("kind", HOLDERS)
def test_a_default_is_a_value_the_key_may_have(kind):
    """What counts when a key is missing could have been written there."""
    wrong = [key.name for key in kind.keys if key.default is not None and key.kind.read(key.default) is None]
    assert wrong == []


@given(st.lists(st.text(min_size=1).filter(lambda part: not {"'", '"'} <= {*part}), min_size=1, max_size=5))
def test_a_key_is_read_back_as_it_was_written(path):
    """A path written as a dotted key means that path again, whatever its parts hold."""
    assert tuple(path) == split_key(join_key(path))


@pytest.mark.parametrize(
    ("text", "path"),
    [
        pytest.param("model.default", ("model", "default"), id="dots"),
        pytest.param('a."b.c".d', ("a", "b.c", "d"), id="double quotes"),
        pytest.param("a.'b.c'", ("a", "b.c"), id="single quotes"),
        pytest.param("a.0", ("a", "0"), id="a place in a list"),
        pytest.param('a.""', ("a", ""), id="an empty part in quotes"),
    ],
)
def test_a_dotted_key_is_a_path(text, path):
    """Parts are separated by dots, and quotes keep a part together."""
    assert path == split_key(text)


@pytest.mark.parametrize("text", ["", ".", "a.", ".a", "a..b", 'a."b', 'a"b"', 'a."b"c'])
def test_what_is_no_key_is_refused(text):
    """An empty part, or a quote in the wrong place, is an error that says how to write it."""
    with pytest.raises(ValueError, match=r"model\.default"):
        split_key(text)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        pytest.param(("model", "api_base"), "base_url", id="an alias"),
        pytest.param(("providers", "acme", "apiKey"), "api_key", id="an alias in an entry"),
        pytest.param(("custom_providers", "3", "url"), "base_url", id="an alias in a list"),
        pytest.param(("providers", "acme", "models", "m", "supports_vision"), "supports_vision", id="a model by name"),
        pytest.param(("providers", "acme", "models", "0", "id"), "id", id="a model in a list"),
        pytest.param(("fallback_model", "provider"), "provider", id="one in place of a list"),
        pytest.param(("fallback_model", "0", "provider"), "provider", id="the first of a list"),
        pytest.param(("auxiliary", "mine", "timeout"), "timeout", id="a task of any name"),
        pytest.param(("plugins", "entries", "a/b", "llm", "allowed_models"), "allowed_models", id="a plugin"),
    ],
)
def test_a_known_key_is_found(path, name):
    """The table knows a key under its name and its aliases, below any name and at any place."""
    assert find_key(path).name == name


@pytest.mark.parametrize("path", [("nope",), ("model", "nope"), ("model", "default", "x"), ("plugins", "enabled", "x")])
def test_an_unknown_key_is_none(path):
    """Where the table says nothing, nothing is found."""
    assert find_key(path) is None


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (("model", "api_key"), True),
        (("providers", "acme", "apiKey"), True),
        (("model", "extra_headers"), True),
        (("model", "extra_headers", "X-Anything"), True),
        (("fallback_providers", "0", "api_key"), True),
        (("plugins", "entries", "acme", "config", "password"), True),
        (("memory", "access_token"), True),
        (("model", "key_env"), False),
        (("model", "max_tokens"), False),
        (("plugins", "entries", "acme", "llm", "max_tokens_per_day"), False),
        (("plugins", "entries", "token"), False),
        (("memory", "sort_key"), False),
        ((), False),
    ],
    ids=lambda value: join_key(value) if isinstance(value, tuple) else str(value),
)
def test_secrets_are_known_by_their_place(path, expected):
    """The table says where secrets stand; where it says nothing, the name does."""
    assert is_secret(path) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("${A}", True), (" ${A_1} ", True), ("Bearer ${A}", True), ("k${A}", False), ("${A}${B}", False), ("", False)],
)
def test_a_reference_is_no_secret(text, expected):
    """A text that is one ``${NAME}`` alone gives nothing away."""
    assert is_reference(text) is expected


@pytest.mark.parametrize(
    ("tree", "path", "expected"),
    [
        pytest.param({}, ("model", "default"), ("model", "default"), id="nothing is there"),
        pytest.param({"model": {"name": "m"}}, ("model", "default"), ("model", "name"), id="an alias"),
        pytest.param(
            {"model": {"name": "m", "model": "n"}}, ("model", "default"), ("model", "model"), id="two aliases"
        ),
        pytest.param(
            {"model": {"name": "m", "default": "n"}}, ("model", "default"), ("model", "default"), id="its name"
        ),
        pytest.param({"model": "m"}, ("model", "default"), ("model",), id="a bare text"),
        pytest.param({"model": "m"}, ("model", "provider"), ("model", "provider"), id="another key beside a bare text"),
        pytest.param({"base_url": "u"}, ("model", "base_url"), ("base_url",), id="the root"),
        pytest.param({"api_base": "u", "base_url": "v"}, ("model", "base_url"), ("api_base",), id="the root twice"),
        pytest.param(
            {"provider": "p", "model": {"provider": "q"}}, ("model", "provider"), ("model", "provider"), id="both"
        ),
        pytest.param(
            {"custom_providers": [{"url": "u"}]},
            ("custom_providers", "0", "base_url"),
            ("custom_providers", "0", "url"),
            id="an alias in a list",
        ),
    ],
)
def test_a_value_is_found_where_the_file_has_it(tree, path, expected):
    """What belongs at a path may be spelled otherwise in the file, and is changed where it stands."""
    assert expected == spelled(tree, path)


def test_looking_walks_mappings_and_lists():
    """A path leads through keys and places; past an end there is nothing."""
    tree = {"a": [{"b": 1}]}
    paths = [("a", "0", "b"), ("a", "1"), ("a", "x"), ("a", "0", "b", "c"), ()]
    assert [1, None, None, None, tree] == [look(tree, path) for path in paths]


def test_aliases_lead_to_one_path():
    """A path with aliases, or an older key at the root, is one under today's names."""
    paths = [("model", "model"), ("api_base",), ("providers", "acme", "keyEnv"), ("nope", "x")]
    expected = [("model", "default"), ("model", "base_url"), ("providers", "acme", "key_env"), ("nope", "x")]
    assert expected == [canonical(path) for path in paths]


def test_defaults_are_told():
    """A task's time limit is its own, that of an unknown task the common one; other defaults stand in the table."""
    paths = [("auxiliary", "curator", "timeout"), ("auxiliary", "mine", "timeout"), ("logging", "max_size_mb"), ("x",)]
    assert [default_of(path) for path in paths] == [600.0, 30.0, 5, None]


def test_a_place_needs_a_list():
    """A number is a place where a list may stand, and a name elsewhere."""
    assert find_key(("providers",)).kind.child("0").kind is find_key(("providers", "acme")).kind
