"""Finding the key for one request, and never sending it to another host."""

import dataclasses
import json
import pickle
import re

import pytest

from hermes_core.auth.keys import (
    NO_CREDENTIAL,
    PLACEHOLDERS,
    Credential,
    derived_variable,
    for_address,
    from_environment,
    from_section,
    host_of,
    is_usable,
    is_within,
    key_variables,
    url_variables,
)
from hermes_core.config.environment import Environment
from hermes_core.config.redact import redact
from hermes_core.errors import MissingCredentialError

HOSTS = {
    "api.openai.com": ["OPENAI_API_KEY"],
    "openrouter.ai": ["OPENROUTER_API_KEY"],
    "api.moonshot.ai": ["KIMI_API_KEY", "KIMI_CODING_API_KEY"],
}


@pytest.fixture
def env(home):
    """Variables of a process."""
    return lambda **variables: Environment(home.path, variables)


@pytest.mark.parametrize("value", ["sk-1234", "abcd", "none-of-these", "ü🙂xy", "changeme!"])
def test_what_looks_like_a_key_is_usable(value):
    """Four characters that are no placeholder may be a key."""
    assert is_usable(value)


@pytest.mark.parametrize(
    "value",
    [
        "",
        "abc",
        "*",
        "**",
        "***",
        "CHANGEME",
        "your-api-key",
        "None",
        "${ACME_API_KEY}",
        "x${A}",
        *sorted(PLACEHOLDERS),
    ],
)
def test_what_was_never_replaced_is_not_usable(value):
    """Placeholders in any case, leftovers of ``${…}`` and values too short are no keys."""
    assert not is_usable(value)


def test_variables_of_a_profile_are_keys_or_addresses():
    """A variable that ends in ``_URL`` holds an address, every other one a key."""
    names = ("ACME_API_KEY", "ACME_BASE_URL", "ACME_TOKEN", "ACME_URL", "URL_OF_ACME")
    assert (
        key_variables(names),
        url_variables(names),
    ) == (["ACME_API_KEY", "ACME_TOKEN", "URL_OF_ACME"], ["ACME_BASE_URL", "ACME_URL"])


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        pytest.param({"B": "key-b-1"}, Credential("key-b-1", "env:B"), id="the one that is set"),
        pytest.param({"A": "key-a-1", "B": "key-b-1"}, Credential("key-a-1", "env:A"), id="the first of two"),
        pytest.param({"A": "changeme", "B": "key-b-1"}, Credential("key-b-1", "env:B"), id="the first usable one"),
        pytest.param({"A": "  ", "B": " key-b-1 "}, Credential("key-b-1", "env:B"), id="trimmed"),
        pytest.param({"C": "key-c-1"}, None, id="none of them"),
    ],
)
def test_the_first_usable_variable_is_taken(env, variables, expected):
    """Variables are looked through in order for the first that holds a usable key."""
    assert from_environment(["A", "B"], env(**variables)) == expected


def test_the_file_beats_the_process(home):
    """A key in the home's ``.env`` is taken before the process's."""
    home.write(".env", "ACME_API_KEY=of-the-file\n")
    environment = Environment(home.path, {"ACME_API_KEY": "of-the-process"})
    assert from_environment(["ACME_API_KEY"], environment).value == "of-the-file"


@pytest.mark.parametrize(
    ("section", "variables", "expected"),
    [
        pytest.param({"api_key": "key-1"}, {}, Credential("key-1", "config:model.api_key"), id="written out"),
        pytest.param({"api": " key-1 "}, {}, Credential("key-1", "config:model.api"), id="the other spelling"),
        pytest.param(
            {"api_key": "key-1", "key_env": "A"},
            {"A": "key-a-1"},
            Credential("key-1", "config:model.api_key"),
            id="written out beats named",
        ),
        pytest.param({"key_env": "A"}, {"A": "key-a-1"}, Credential("key-a-1", "env:A"), id="named r19-15"),
        pytest.param(
            {"api_key_env": "A"}, {"A": "key-a-1"}, Credential("key-a-1", "env:A"), id="named, other spelling"
        ),
        pytest.param({"key_env": "A"}, {"B": "key-b-1"}, None, id="named, but not set"),
        pytest.param({"api_key": "", "key_env": "A"}, {"A": "key-a-1"}, Credential("key-a-1", "env:A"), id="empty"),
        pytest.param({"api_key": None}, {}, None, id="nothing"),
        pytest.param({"api_key": ["x"], "key_env": 5}, {}, None, id="other types"),
        pytest.param({}, {"A": "key-a-1"}, None, id="an empty section"),
    ],
)
def test_a_section_holds_a_key_or_names_one(env, section, variables, expected):
    """A key written in the configuration beats the variable it names; an empty one does not count."""
    assert from_section(section, "model", env(**variables)) == expected


@pytest.mark.parametrize("value", ["${ACME_KEY}", "Bearer ${ACME_KEY}"])
def test_a_key_that_refers_to_an_unset_variable_is_an_error(env, value):
    """``api_key: ${UNSET}`` is an error that names the place and the variable, never a key."""
    with pytest.raises(MissingCredentialError, match=r"model\.api_key refers to .*ACME_KEY.* not set") as caught:
        from_section({"api_key": value}, "model", env())
    assert "set the variable" in caught.value.hint


@pytest.mark.parametrize(
    ("address", "variables", "source"),
    [
        pytest.param("https://api.openai.com/v1", {"OPENAI_API_KEY": "key-1"}, "env:OPENAI_API_KEY", id="its own host"),
        pytest.param(
            "https://eu.api.openai.com:8443/", {"OPENAI_API_KEY": "key-1"}, "env:OPENAI_API_KEY", id="below it"
        ),
        pytest.param(
            "https://API.OpenAI.com./v1", {"OPENAI_API_KEY": "key-1"}, "env:OPENAI_API_KEY", id="any spelling"
        ),
        pytest.param(
            "https://api.moonshot.ai",
            {"KIMI_CODING_API_KEY": "key-1"},
            "env:KIMI_CODING_API_KEY",
            id="the second of two variables",
        ),
        pytest.param(
            "https://api.openai.com.evil.test/v1", {"OPENAI_API_KEY": "key-1"}, None, id="a host that only looks so"
        ),
        pytest.param("https://evilapi.openai.com.test", {"OPENAI_API_KEY": "key-1"}, None, id="no label boundary"),
        pytest.param("https://notopenrouter.ai/v1", {"OPENROUTER_API_KEY": "key-1"}, None, id="the end of a label"),
        pytest.param("https://evil.test/api.openai.com", {"OPENAI_API_KEY": "key-1"}, None, id="in the path"),
        pytest.param(
            "https://api.openai.com@evil.test/", {"OPENAI_API_KEY": "key-1"}, None, id="as user of another host"
        ),
        pytest.param(
            "https://api.acme.test/v1", {"ACME_API_KEY": "key-1"}, "env:ACME_API_KEY", id="the host's own word"
        ),
        pytest.param("https://api.acme.test/v1", {"OPENAI_API_KEY": "key-1"}, None, id="not another's"),
        pytest.param(
            "https://openai.evil.test/v1", {"EVIL_API_KEY": "key-1"}, "env:EVIL_API_KEY", id="the last but one label"
        ),
        pytest.param(
            "https://api.openai.test/v1", {"OPENAI_API_KEY": "key-1"}, None, id="an owned variable is not derived"
        ),
        pytest.param(
            "https://x.moonshot.test", {"MOONSHOT_API_KEY": "key-1"}, "env:MOONSHOT_API_KEY", id="a free variable is"
        ),
        pytest.param("http://127.0.0.1:8080/v1", {"0_API_KEY": "key-1", "127_API_KEY": "key-1"}, None, id="a number"),
        pytest.param("http://[::1]:8080/v1", {"OPENAI_API_KEY": "key-1"}, None, id="a number of six bytes pairs"),
        pytest.param("http://localhost/v1", {"LOCALHOST_API_KEY": "key-1"}, None, id="a single label"),
        pytest.param("", {"_API_KEY": "key-1"}, None, id="no address"),
        pytest.param("not a url", {"OPENAI_API_KEY": "key-1"}, None, id="no URL"),
        pytest.param("https://api.openai.com/v1", {"OPENAI_API_KEY": "changeme"}, None, id="no usable key"),
    ],
)
def test_a_key_goes_to_its_own_host_alone(env, address, variables, source):
    """A variable is used for its own host and those below it; any other host has only the one it is named in."""
    found = for_address(address, HOSTS, env(**variables))
    assert (found and found.source) == source


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://API.Acme.test:443/v1?x=1", "api.acme.test"),
        ("https://acme.test./", "acme.test"),
        ("https://user:secret@acme.test/", "acme.test"),
        ("http://[::1]:1/", "::1"),
        ("acme.test/v1", ""),
        ("http://[::1", ""),
        ("", ""),
    ],
)
def test_the_host_of_an_address(url, host):
    """A host is lower case, without port, user and trailing dot; what is no URL has none."""
    assert host_of(url) == host


@pytest.mark.parametrize(
    ("host", "known", "expected"),
    [
        ("acme.test", "acme.test", True),
        ("eu.acme.test", "acme.test", True),
        ("xacme.test", "acme.test", False),
        ("acme.test.evil", "acme.test", False),
        ("", "", False),
        ("acme.test", "", False),
    ],
)
def test_a_host_is_within_another_at_a_label(host, known, expected):
    """One host lies within another when whole labels say so."""
    assert expected is is_within(host, known)


@pytest.mark.parametrize(
    ("host", "variable"),
    [
        ("api.acme.test", "ACME_API_KEY"),
        ("www.acme.test", "ACME_API_KEY"),
        ("acme.test", "ACME_API_KEY"),
        ("eu.api.acme.test", "ACME_API_KEY"),
        ("api.my-acme.test", "MY_ACME_API_KEY"),
        ("api.test", ""),
        ("localhost", ""),
        ("10.0.0.1", ""),
        ("::1", ""),
        ("", ""),
        (".", ""),
    ],
)
def test_the_variable_a_host_is_named_in(host, variable):
    """``<LABEL>_API_KEY`` from the last label but one; numbers and single labels have none."""
    assert derived_variable(host) == variable


def test_a_credential_hides_its_value_r20_03():
    """A credential's value is in no repr, text or format, its own or its container's."""
    credential = Credential("hunter22", "env:A")
    shown = f"{credential} {credential!r} {[credential]} { {'c': credential} }"
    assert ("hunter22" in shown, "env:A" in shown) == (False, True)
    assert "hunter22" not in json.dumps({"c": credential}, default=str)
    for takes_apart in (dataclasses.asdict, vars, list, json.dumps):
        with pytest.raises(TypeError):
            takes_apart(credential)


def test_a_credential_that_was_found_is_redacted_from_then_on(env):
    """A key that was found is known to the redactor, wherever it came from."""
    from_environment(["A"], env(A="key-found-in-env"))
    from_section({"api_key": "key-found-in-config"}, "model", env())
    assert redact("key-found-in-env key-found-in-config") == "[redacted] [redacted]"


@pytest.mark.parametrize(
    ("value", "point"),
    [
        pytest.param("key-\u028b1", "U+028B", id="a look-alike letter"),
        pytest.param("key-\u200b1", "U+200B", id="an invisible blank"),
        pytest.param("key-\u00a01", "U+00A0", id="a hard blank"),
        pytest.param("key-\r\nX: 1", "U+000D", id="a line break"),
        pytest.param("key-\x001", "U+0000", id="a NUL"),
        pytest.param("key- 1", "U+0020", id="a blank"),
    ],
)
@pytest.mark.parametrize(
    ("find", "place"),
    [
        pytest.param(lambda env, value: from_environment(["A_KEY"], env(A_KEY=value)), "env:A_KEY", id="in a variable"),
        pytest.param(
            lambda env, value: from_section({"api_key": value}, "model", env()),
            "config:model.api_key",
            id="written out",
        ),
    ],
)
def test_a_key_that_is_none_is_refused_by_its_sign_r19_11(env, value, point, find, place):
    """A key with a sign that no key has is refused; the error names the sign and the place, and not the key."""
    with pytest.raises(MissingCredentialError, match=re.escape(point)) as caught:
        find(env, value)
    assert (place in str(caught.value), value in str(caught.value)) == (True, False)


def test_no_credential_is_an_empty_one():
    """Where nothing is sent the credential is empty, and says so."""
    assert (NO_CREDENTIAL.value, NO_CREDENTIAL.source) == ("", "none")


@pytest.mark.parametrize("show", [repr, str, "{}".format])
def test_no_way_of_showing_a_host_shows_a_key_r20_03(home, load_host, show):
    """A host, its environment and its configuration show no key however they are printed."""
    home.write(".env", "ACME_API_KEY=hunter22-env\n")
    host = load_host(config={"model": {"provider": "custom", "api_key": "hunter22-config"}})
    host.environment.credential("ACME_API_KEY")
    assert [
        thing for thing in (host, host.environment, host.config(), host.plugins) if "hunter22" in show([thing])
    ] == []


def test_a_credential_is_a_plain_value():
    """A credential can be compared, and handed to another process."""
    credential = Credential("key-1", "env:A")
    assert credential == pickle.loads(pickle.dumps(credential))
