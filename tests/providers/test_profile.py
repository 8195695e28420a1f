"""The profile class that plugins build and subclass."""

import copy
import dataclasses
import pickle
from dataclasses import dataclass, field

import pytest

from hermes_core import OMIT_TEMPERATURE, ProviderProfile

TUPLES = ("aliases", "env_vars", "fallback_models")


class Plain(ProviderProfile):
    """A subclass as most packages write it."""

    def get_max_tokens(self, model):
        """Limit by model."""
        return len(model)


@dataclass
class Decorated(ProviderProfile):
    """A subclass that is a dataclass itself."""

    region: str = "eu"
    tags: list = field(default_factory=list)


CLASSES = pytest.mark.parametrize("cls", [ProviderProfile, Plain, Decorated])


@CLASSES
def test_the_name_is_positional(cls):
    """The name may be given without its keyword."""
    assert (cls("acme").name, cls("acme", base_url="https://a.test").base_url) == ("acme", "https://a.test")


def test_positions_are_those_of_the_published_signature():
    """After the name come ``api_mode`` and ``aliases``, as in the original."""
    profile = ProviderProfile("acme", "anthropic_messages", ("ac",))
    assert (profile.api_mode, profile.aliases) == ("anthropic_messages", ("ac",))


@CLASSES
@pytest.mark.parametrize("key", TUPLES)
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(["a", "b"], ("a", "b"), id="a list"),
        pytest.param(("a",), ("a",), id="a tuple"),
        pytest.param(None, (), id="None"),
        pytest.param("ab", ("ab",), id="one word"),
    ],
)
def test_sequences_become_tuples(cls, key, value, expected):
    """Where a tuple is declared a list, a single word and None are taken too, by subclasses of any making."""
    assert getattr(cls("acme", **{key: value}), key) == expected


@CLASSES
def test_unknown_keywords_are_kept(cls):
    """A keyword of a newer host is kept as an attribute, by subclasses of any making."""
    profile = cls("acme", from_the_future=[1], base_url="u")
    assert (profile.from_the_future, profile.base_url) == ([1], "u")


def test_a_dataclass_of_ones_own_has_its_fields():
    """A subclass that is a dataclass has its own fields beside the inherited ones."""
    profile = Decorated("acme", base_url="u", region="us")
    assert (profile.region, profile.tags, profile.base_url) == ("us", [], "u")


def test_it_is_a_real_dataclass():
    """``dataclasses`` functions work on it: fields, replace, asdict."""
    profile = ProviderProfile("acme", aliases=["a"])
    changed = dataclasses.replace(profile, base_url="u")
    assert (
        dataclasses.fields(ProviderProfile)[0].name,
        "aliases" in ProviderProfile.__dataclass_fields__,
        changed.base_url,
        changed.aliases,
        dataclasses.asdict(profile)["name"],
    ) == ("name", True, "u", ("a",), "acme")


def test_it_is_not_frozen():
    """A plugin may change a profile it made."""
    profile = ProviderProfile("acme")
    profile.base_url = "https://later.test"
    assert profile.get_hostname() == "later.test"


def test_profiles_are_told_apart_by_identity():
    """Two profiles with equal fields are two; each may be a key of a mapping."""
    one, two = ProviderProfile("acme"), ProviderProfile("acme")
    assert (one == two, len({one, two})) == (False, 2)


@pytest.mark.parametrize("name", ["nope", None])
def test_a_name_is_required(name):
    """A profile without a name is refused."""
    with pytest.raises(TypeError, match="name"):
        ProviderProfile(**({"base_url": name} if name else {}))


def test_defaults_are_the_published_ones():
    """The defaults are those that published packages count on."""
    profile = ProviderProfile("acme")
    assert (
        profile.api_mode,
        profile.auth_type,
        profile.supports_vision,
        profile.supports_vision_tool_messages,
        profile.supports_health_check,
        profile.fixed_temperature,
        profile.default_headers,
    ) == ("chat_completions", "api_key", False, True, True, None, {})


def test_headers_are_not_shared():
    """Each profile has a mapping of headers of its own."""
    one, two = ProviderProfile("one"), ProviderProfile("two")
    one.default_headers["X"] = "1"
    assert two.default_headers == {}


def test_headers_are_in_no_repr_r20_03():
    """A repr shows no header: one may hold a key."""
    assert "hunter22" not in repr(ProviderProfile("acme", default_headers={"X-Key": "hunter22"}))


@pytest.mark.parametrize(
    ("fields", "host"),
    [
        pytest.param({"base_url": "https://API.Acme.test:8443/v1"}, "api.acme.test", id="from the address"),
        pytest.param({"base_url": "https://a.test", "hostname": "b.test"}, "b.test", id="as declared"),
        pytest.param({}, "", id="nothing says"),
        pytest.param({"base_url": "acp://copilot"}, "copilot", id="from an odd scheme"),
    ],
)
def test_the_host_of_a_profile(fields, host):
    """``get_hostname`` is the declared host, else that of the address."""
    assert ProviderProfile("acme", **fields).get_hostname() == host


def test_default_hooks_change_nothing():
    """A profile without hooks of its own leaves messages, body and keywords alone."""
    profile, messages = ProviderProfile("acme", default_max_tokens=9), [{"role": "user", "content": "x"}]
    assert (messages, {}, ({}, {}), None, 9, None) == (
        profile.prepare_messages(messages),
        profile.build_extra_body(session_id="s", model="m", from_the_future=1),
        profile.build_api_kwargs_extras(reasoning_config={}, from_the_future=1),
        profile.default_vision_model(),
        profile.get_max_tokens("m"),
        profile.open_endpoint(None),
    )


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_the_sentinel_stays_one_object(again):
    """``OMIT_TEMPERATURE`` is itself after copy and pickle, and says its name."""
    assert (again(OMIT_TEMPERATURE) is OMIT_TEMPERATURE, repr(OMIT_TEMPERATURE)) == (True, "OMIT_TEMPERATURE")
