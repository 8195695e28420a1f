"""``providers`` and ``custom_providers``: from what is written to rows."""

import pytest

from hermes_core.config.providers import NO_ENTRY, provider_entries
from hermes_core.config.settings import Config, heal

URL = "https://acme.test/v1"


@pytest.fixture
def told():
    """What is wrong, as it was told."""
    return []


@pytest.fixture
def entries(told):
    """The rows that a tree gives, by slug, as a host reads it."""

    def read(tree):
        told.clear()
        rows = provider_entries(Config(tree=heal(tree)), lambda message, *values: told.append(message % values))
        return {row.slug: row for row in rows}

    return read


ALIASES = {
    "url": ("url", URL, "base_url", URL),
    "api as an address": ("api", URL, "base_url", URL),
    "baseUrl": ("baseUrl", URL, "base_url", URL),
    "apiKey": ("apiKey", "k-123456", "api_key", "k-123456"),
    "api_key_env": ("api_key_env", "ACME_KEY", "key_env", "ACME_KEY"),
    "keyEnv": ("keyEnv", "ACME_KEY", "key_env", "ACME_KEY"),
    "apiKeyEnv": ("apiKeyEnv", "ACME_KEY", "key_env", "ACME_KEY"),
    "transport": ("transport", "gemini", "api_mode", "gemini"),
    "apiMode": ("apiMode", "gemini", "api_mode", "gemini"),
    "the older name of a wire format": ("api_mode", "openai_chat", "api_mode", "chat_completions"),
    "default_model": ("default_model", "m", "model", "m"),
    "defaultModel": ("defaultModel", "m", "model", "m"),
    "max_tokens": ("max_tokens", 5, "max_output_tokens", 5),
    "seconds in quotes": ("request_timeout_seconds", "45", "request_timeout_seconds", 45.0),
    "a switch in words": ("ssl_verify", "off", "ssl_verify", False),
    "off": ("enabled", False, "enabled", False),
}


@pytest.mark.parametrize("form", ["keyed", "listed"])
@pytest.mark.parametrize(("word", "value", "field", "expected"), ALIASES.values(), ids=ALIASES)
def test_a_key_is_read_in_every_spelling(entries, told, form, word, value, field, expected):
    """Both sections know the same keys, each under all its names, and warn of none of them."""
    written = {"base_url": URL, word: value} if field != "base_url" else {word: value}
    tree = {"providers": {"acme": written}} if form == "keyed" else {"custom_providers": [{"name": "acme", **written}]}
    assert expected == getattr(entries(tree)["acme"], field)
    assert told == []


def test_a_key_beats_its_aliases(entries):
    """Where a key and its alias both stand, the key counts; a blank one is none."""
    tree = {"a": {"base_url": URL, "url": "https://x.test"}, "b": {"base_url": "", "url": URL, "api": "https://x.test"}}
    assert [row.base_url for row in entries({"providers": tree}).values()] == [URL, URL]


NAMES = {
    "a key": ({"providers": {"Acme": {"base_url": URL}}}, "acme", {"acme", "custom:acme"}),
    "a key and a display name": (
        {"providers": {"acme": {"name": "My Server", "base_url": URL}}},
        "acme",
        {"acme", "my server", "my-server", "custom:acme", "custom:my server", "custom:my-server"},
    ),
    "a display name in a list": (
        {"custom_providers": [{"name": " My  Server ", "base_url": URL}]},
        "my-server",
        {"my-server", "my  server", "custom:my-server", "custom:my  server"},
    ),
    "a key that says custom itself": (
        {"providers": {"custom:acme": {"base_url": URL}}},
        "acme",
        {"acme", "custom:acme"},
    ),
}


@pytest.mark.parametrize(("tree", "slug", "names"), NAMES.values(), ids=NAMES)
def test_an_entry_answers_to_all_its_names(entries, tree, slug, names):
    """An entry goes by key, display name and slug, and by ``custom:`` before each; case does not count."""
    assert names == {*entries(tree)[slug].names}


MODELS = {
    "a mapping": ({"m": {"supports_vision": True}, "n": None}, {"m": True, "n": None}),
    "a list of ids": (["m", " n "], {"m": None, "n": None}),
    "a list of mappings": ([{"id": "m", "supports_vision": "no"}, {"name": "n"}], {"m": False, "n": None}),
    "junk in a list": ([{"x": 1}, 5, None, "m"], {"m": None}),
    "a text": ("m", {}),
}


@pytest.mark.parametrize(("written", "expected"), MODELS.values(), ids=MODELS)
def test_models_are_read_in_every_form(entries, written, expected):
    """Models may be a mapping or a list, of ids or of mappings; what they say of images is told."""
    row = entries({"providers": {"acme": {"base_url": URL, "models": written}}})["acme"]
    assert expected == {model: row.accepts_images(model) for model in row.models}


def test_the_list_comes_first(entries):
    """The rows of ``custom_providers`` stand before those of ``providers``."""
    tree = {"providers": {"a": {"base_url": URL}}, "custom_providers": [{"name": "b", "base_url": URL}]}
    assert [*entries(tree)] == ["b", "a"]


@pytest.mark.parametrize(
    ("other", "warnings"),
    [pytest.param(URL, 0, id="the same twice"), pytest.param("https://other.test", 1, id="two of one name")],
)
def test_of_two_with_one_name_the_first_counts(entries, told, other, warnings):
    """A second entry of the same name is dropped; that is told where the two differ."""
    tree = {"custom_providers": [{"name": "Acme", "base_url": URL}], "providers": {"acme": {"base_url": other}}}
    row = entries(tree)["acme"]
    assert (row.base_url, row.place) == (URL, "custom_providers.0")
    assert warnings == len(told)


DROPPED = {
    "a mapping for the list": ({"custom_providers": {"acme": {"base_url": URL}}}, "custom_providers must be a list"),
    "a text for an entry": ({"providers": {"acme": URL}}, "providers.acme must be a mapping, got text"),
    "an entry without a name": ({"custom_providers": [{"base_url": URL}]}, "custom_providers.0 has no name"),
    "a blank name": ({"custom_providers": [{"name": " ", "base_url": URL}]}, "custom_providers.0 has no name"),
}


@pytest.mark.parametrize(("tree", "message"), DROPPED.values(), ids=DROPPED)
def test_what_is_no_entry_is_dropped_and_told(entries, told, tree, message):
    """What cannot be an entry is none, and the warning names its place."""
    assert entries(tree) == {}
    (line,) = told
    assert message in line


@pytest.mark.parametrize("tree", [{}, {"providers": None}, {"providers": {"acme": None}}, {"custom_providers": []}])
def test_nothing_is_no_entry(entries, told, tree):
    """An empty section, or a key with nothing behind it, is neither an entry nor a fault."""
    assert (entries(tree), told) == ({}, [])


def test_a_value_of_the_wrong_kind_is_left_out_and_told(entries, told):
    """One bad value costs that value alone; the warning names key, kind and no value."""
    written = {"base_url": URL, "max_output_tokens": "sk-hunter22", "model": "m"}
    row = entries({"providers": {"acme": written}})["acme"]
    (line,) = told
    assert (row.max_output_tokens, row.model) == (None, "m")
    assert "providers.acme.max_output_tokens must be a whole number of at least 1, got text" in line
    assert "hunter22" not in line


def test_unknown_keys_are_told_once(caplog):
    """The keys of an entry that mean nothing are warned of in one line, once a process."""
    for _ in range(3):
        provider_entries(Config(tree={"providers": {"told-once": {"base_url": URL, "zz": 1, "aa": 2}}}))
    expected = ["config.yaml: providers.told-once has keys that mean nothing: aa, zz"]
    assert expected == [record.getMessage() for record in caplog.records]


def test_a_row_shows_no_secret_r20_03(entries):
    """Neither key nor header nor body stands in a row's repr, however it is formatted."""
    secrets = {"api_key": "hunter22", "extra_headers": {"X-Key": "hunter22"}, "extra_body": {"k": "hunter22"}}
    row = entries({"providers": {"acme": {"base_url": URL, **secrets}}})["acme"]
    assert [text for text in (repr(row), str(row), f"{row}", f"{[row]}") if "hunter22" in text] == []


PROFILES = {
    "an endpoint of one's own": (
        {"base_url": URL, "model": "m", "models": ["n", "m"], "key_env": "ACME_KEY", "api_mode": "gemini"},
        {
            "name": "custom:acme", "aliases": ["acme"], "base_url": URL, "fallback_models": ["m", "n"],
            "env_vars": ["ACME_KEY"], "api_mode": "gemini",
        },
    ),
    "nothing to reach": ({"model": "m"}, None),
}  # fmt: skip


@pytest.mark.parametrize(("written", "expected"), PROFILES.values(), ids=PROFILES)
def test_an_entry_is_a_profile_like_a_manifests(entries, written, expected):
    """An entry says what a manifest's ``profile:`` block would; without an address it says nothing."""
    assert expected == entries({"providers": {"acme": written}})["acme"].profile(())


def test_an_entry_for_a_known_provider_changes_what_it_mentions(entries):
    """An entry named like a provider that is there extends it, with or without an address."""
    row = entries({"providers": {"OpenAI": {"model": "m"}}})["openai"]
    assert row.profile({"openai"}) == {"name": "openai", "extends": "openai", "fallback_models": ["m"]}


def test_a_profile_holds_no_secret(entries):
    """Key and headers are not in the profile, which any plugin may look at."""
    written = {
        "base_url": URL,
        "api_key": "hunter22",
        "extra_headers": {"X": "hunter22"},
        "extra_body": {"x": "hunter22"},
    }
    assert "hunter22" not in str(entries({"providers": {"acme": written}})["acme"].profile(()))


def test_no_entry_says_nothing():
    """The row that stands for none has nothing but defaults."""
    assert (NO_ENTRY.enabled, NO_ENTRY.accepts_images("m"), NO_ENTRY.base_url) == (True, None, "")
