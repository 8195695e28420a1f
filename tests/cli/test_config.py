"""``hermes config``: shown, changed and checked from the command line."""

import json
import os
import stat

import pytest
import yaml
from jsonschema import Draft7Validator

FILE = """\
# mine
model:
  provider: acme   # the good one
  api_key: ${ACME_KEY}
providers:
  acme:
    url: https://acme.test/v1
    api_key: hunter22
    extra_headers: {X-Org: hunter22, Authorization: "Bearer ${ACME_KEY}"}
"""


@pytest.fixture
def file(home):
    """A usual ``config.yaml``."""
    path = home.write("config.yaml", FILE)
    path.chmod(0o600)
    return path


@pytest.fixture
def managed(tmp_path):
    """Write the administrator's ``config.yaml``."""

    def write(text):
        (tmp_path / "managed").mkdir(exist_ok=True)
        path = tmp_path / "managed" / "config.yaml"
        path.write_text(text)
        return path

    return write


def test_check_says_that_nothing_is_wrong(hermes, home):
    """A home without a fault ends with 0 and one line; as JSON, with an empty list."""
    home.config({"model": {"provider": "openai"}})
    assert hermes("config", "check") == (0, f"{home.path / 'config.yaml'}: nothing is wrong\n", "")
    assert hermes("config", "check", "--json").json == []


def test_check_names_file_line_key_and_remedy(hermes, home):
    """Each problem is a line that an editor can jump to, with its remedy below; an error ends with 1."""
    path = home.write("config.yaml", "model:\n  provider: opnai\n  zzz: 1\n")
    done = hermes("config", "check")
    assert (done.code, done.err) == (1, "")
    assert done.out.splitlines() == [
        f"{path}:2: error: model.provider names no provider",
        "    did you mean openai?",
        f"{path}:3: warning: model.zzz is no known key",
        "    take it out, or see `hermes config schema`",
    ]


def test_check_gives_rows_as_json(hermes, home):
    """``--json`` gives every problem with all its fields."""
    path = home.write("config.yaml", "model: [\n")
    done = hermes("config", "check", "--json")
    (problem,) = done.json
    assert (done.code, done.err, problem["file"], problem["line"]) == (1, "", str(path), 2)
    assert sorted(problem) == ["code", "file", "key", "level", "line", "message", "remedy"]


def test_warnings_alone_end_with_0(hermes, home):
    """What is odd, but works, is shown, and is no failure."""
    home.write("config.yaml", "model:\n  zzz: 1\n")
    done = hermes("config", "check")
    assert (done.code, "warning: model.zzz" in done.out) == (0, True)


def test_check_knows_the_providers_of_plugins(hermes, home):
    """A provider that an installed plugin offers is known; one that is misspelt is compared with it."""
    home.plugin("mine", name="mine", profile={"base_url": "https://mine.test/v1", "aliases": ["meins"]})
    home.write(
        "config.yaml",
        "model: {provider: meins}\nproviders: {mine: {enabled: true}}\nfallback_model: {provider: mien}\n",
    )
    done = hermes("config", "check", "--json")
    assert [(problem["key"], problem["remedy"]) for problem in done.json] == [
        ("fallback_model.provider", "did you mean mine?")
    ]


def test_show_hides_secrets_and_keeps_references(hermes, file):
    """Everything is shown under today's names; secrets are hidden, and a reference stays one."""
    done = hermes("config", "show", "--json")
    acme = {
        "base_url": "https://acme.test/v1",
        "api_key": "[configured]",
        "extra_headers": {"X-Org": "[configured]", "Authorization": "Bearer ${ACME_KEY}"},
    }
    assert done.json == {"model": {"provider": "acme", "api_key": "${ACME_KEY}"}, "providers": {"acme": acme}}
    assert yaml.safe_load(hermes("config", "show").out) == done.json
    assert "hunter22" not in str(done)


def test_show_hides_what_stands_in_an_address(hermes, home):
    """The password in an address is no part of what is shown."""
    home.write("config.yaml", "other: {url: 'https://u:hunter22@x.test/v1'}\n")
    assert hermes("config", "get", "other.url").out == "https://u:[configured]@x.test/v1\n"


GET = {
    "a text": ("model.provider", "acme\n", "acme"),
    "an alias": ("providers.acme.baseUrl", "https://acme.test/v1\n", "https://acme.test/v1"),
    "an older name": ("provider", "acme\n", "acme"),
    "a secret": ("providers.acme.api_key", "[configured]\n", "[configured]"),
    "a reference": ("model.api_key", "${ACME_KEY}\n", "${ACME_KEY}"),
    "a default": ("auxiliary.vision.timeout", "120.0\n", 120.0),
    "another default": ("logging.backup_count", "3\n", 3),
    "a section": ("model", "provider: acme\napi_key: ${ACME_KEY}\n", {"provider": "acme", "api_key": "${ACME_KEY}"}),
}


@pytest.mark.parametrize(("key", "text", "value"), GET.values(), ids=GET)
def test_get_prints_one_value(hermes, file, key, text, value):
    """A value is printed as it is written, or as JSON; where nothing is written, what counts then."""
    assert (hermes("config", "get", key).out, hermes("config", "get", key, "--json").json) == (text, value)


@pytest.mark.parametrize("key", ["model.default", "nope.nope"])
def test_get_of_nothing_is_an_error(hermes, file, key):
    """What is not set, and has no default, ends with 1 and says so."""
    assert hermes("config", "get", key) == (1, "", f"error: {key} is not set\nhint: run `hermes config show`\n")


@pytest.mark.parametrize("words", [["get", "a..b"], ["set", "", "x"], ["unset", ".a"]])
def test_what_is_no_key_is_an_error(hermes, file, words):
    """A key that cannot be read ends with 1 and says how keys are written."""
    done = hermes("config", *words)
    assert (done.code, "write it like model.default" in done.err) == (1, True)


SET = {
    "a text": ("model.default", "gpt-5.4", ("${ACME_KEY}\nprov", "${ACME_KEY}\n  default: gpt-5.4\nprov")),
    "a text like a number": ("model.default", "4", ("${ACME_KEY}\nprov", "${ACME_KEY}\n  default: '4'\nprov")),
    "a number": ("model.max_tokens", "400", ("${ACME_KEY}\nprov", "${ACME_KEY}\n  max_tokens: 400\nprov")),
    "the section itself": ("model", "gpt-5.4", ("${ACME_KEY}\nprov", "${ACME_KEY}\n  default: gpt-5.4\nprov")),
    "an older name": ("provider", "openai", ("acme   #", "openai #")),
    "a key that the file spells otherwise": (
        "providers.acme.base_url",
        "https://new.test/v1",
        ("url: https://acme.test/v1", "url: https://new.test/v1"),
    ),
    "a reference for a secret": ("providers.acme.api_key", "${NEW_KEY}", ("api_key: hunter22", "api_key: ${NEW_KEY}")),
    "a name with dots": (
        'providers.acme.models."m-1.5".supports_vision',
        "yes",
        ('ACME_KEY}"}\n', 'ACME_KEY}"}\n    models:\n      m-1.5:\n        supports_vision: true\n'),
    ),
    "a key of somebody else": ("other.thing", "a: b", ('ACME_KEY}"}\n', "ACME_KEY}\"}\nother:\n  thing: 'a: b'\n")),
}  # fmt: skip


@pytest.mark.parametrize(("key", "value", "change"), SET.values(), ids=SET)
def test_set_changes_one_value_r21_07(hermes, file, key, value, change):
    """A value is written where it belongs, and every other line stays as it is."""
    done = hermes("config", "set", key, value)
    assert (done.code, done.err) == (0, "")
    assert file.read_text() == FILE.replace(*change)


def test_set_reads_lists_and_mappings(hermes, file):
    """A value in brackets or braces is a list or a mapping."""
    assert hermes("config", "set", "plugins.enabled", "[a, 'on']").code == 0
    assert hermes("config", "set", "plugins.enabled.2", "b").code == 0
    assert hermes("config", "set", "auxiliary.vision", "{provider: acme, timeout: 9}").code == 0
    tree = yaml.safe_load(file.read_text())
    assert tree["plugins"] == {"enabled": ["a", "on", "b"]}
    assert tree["auxiliary"] == {"vision": {"provider": "acme", "timeout": 9}}


REFUSED = {
    "a value of the wrong kind": ("model.max_tokens", "lots", "must be a whole number of at least 1, got text"),
    "a value below a value": ("model.provider.x", "1", "must be a provider's name, got a mapping"),
    "a misspelt key": ("model.defualt", "x", "did you mean default?"),
    "a secret": ("model.api_key", "hunter22", "model.api_key is a secret in plain text"),
    "a secret under another name": ("providers.acme.apiKey", "hunter22", "is a secret in plain text"),
    "a secret header": ("model.extra_headers.Authorization", "Bearer hunter22", "is a secret in plain text"),
    "a secret in braces": ("providers.b", "{url: 'https://x.test', api_key: hunter22}", "is a secret in plain text"),
    "what looks like a secret": ("model.default", "sk-0123456789abcdefhunter22", "looks like a key"),
    "a password in an address": ("model.base_url", "https://u:hunter22@x.test", "without user name and password"),
    "half a list": ("plugins.enabled", "[a", "the value is no YAML"),
}


@pytest.mark.parametrize(("key", "value", "message"), REFUSED.values(), ids=REFUSED)
def test_set_refuses_what_would_not_work(hermes, file, key, value, message):
    """What the host would not use, or should not find there, is refused with a remedy; the file stays."""
    done = hermes("config", "set", key, value)
    assert (done.code, done.out, file.read_text()) == (1, "", FILE)
    assert message in done.err
    assert "hint: " in done.err
    assert "hunter22" not in done.err


def test_set_says_where_secrets_go(hermes, file):
    """The hint for a secret names ``.env`` and ``hermes auth``."""
    hint = hermes("config", "set", "model.api_key", "hunter22").err.splitlines()[1]
    assert (".env" in hint, "hermes auth" in hint) == (True, True)


def test_set_notes_what_is_odd(hermes, file):
    """A reference to a variable that is not set yet is written, with a note."""
    done = hermes("config", "set", "model.base_url", "${LATER}/v1")
    assert (done.code, "note: model.base_url refers to ${LATER}, which is not set" in done.out) == (0, True)
    assert "base_url: ${LATER}/v1" in file.read_text()


def test_unset_takes_one_value_out(hermes, file):
    """A value goes with its line, under whatever name the file has it; every other line stays."""
    assert hermes("config", "unset", "providers.acme.base_url") == (0, "", "")
    assert file.read_text() == FILE.replace("    url: https://acme.test/v1\n", "")
    assert hermes("config", "unset", "providers.acme.base_url").code == 1


def test_unset_takes_a_value_out_under_all_its_names(hermes, home):
    """After ``unset`` nothing is left that would stand in for the value."""
    path = home.write(
        "config.yaml", "base_url: https://x.test\nmodel:\n  model: a\n  default: b\n  api_base: https://y.test\n"
    )
    assert hermes("config", "unset", "model.default").code == 0
    assert hermes("config", "unset", "model.base_url").code == 0
    assert path.read_text() == ""


@pytest.mark.parametrize(
    ("pinned", "words"),
    [
        pytest.param("model: {provider: corp}", ["set", "model.provider", "x"], id="the key itself"),
        pytest.param("provider: corp", ["set", "model.provider", "x"], id="in an older spelling"),
        pytest.param("providers: {acme: {api: 'https://x.test'}}", ["unset", "providers.acme.base_url"], id="an alias"),
        pytest.param("model: {provider: corp}", ["unset", "model"], id="a section around it"),
        pytest.param("plugins: {enabled: [a]}", ["set", "plugins.enabled.0", "b"], id="an item of a list"),
        pytest.param("other: 5", ["set", "other.x", "b"], id="below it"),
    ],
)
def test_what_the_administrator_sets_is_not_written(hermes, file, managed, pinned, words):
    """A key of the administrator's file is refused, with the file that wins; nothing is written."""
    path = managed(pinned)
    done = hermes("config", *words)
    assert (done.code, file.read_text()) == (1, FILE)
    assert f"is set by the administrator, in {path}, which wins" in done.err


def test_what_the_administrator_leaves_out_is_written(hermes, file, managed):
    """Keys beside the administrator's are the user's; what is shown is what counts."""
    managed("model: {provider: corp}")
    assert hermes("config", "set", "model.default", "m").code == 0
    assert [hermes("config", "get", key).out for key in ("model.provider", "model.default")] == ["corp\n", "m\n"]


@pytest.mark.parametrize("words", [["set", "a", "1"], ["unset", "a"], ["get", "a"], ["show"]])
@pytest.mark.parametrize("whose", ["user", "administrator"])
def test_a_broken_file_is_not_read_or_written_r21_05(hermes, file, managed, words, whose):
    """While a file cannot be read, values are neither shown nor changed; the error names file and line."""
    broken = managed("a: [\n") if whose == "administrator" else file
    broken.write_text("a: 1\nb: [\n")
    before = file.read_text()
    done = hermes("config", *words)
    assert (done.code, done.out, file.read_text()) == (1, "", before)
    assert f"cannot read {broken}, line 3" in done.err


def test_edit_opens_the_editor_and_checks(hermes, home, monkeypatch, tmp_path):
    """The editor is given the file, which is made private; what it leaves is checked."""
    editor = tmp_path / "my editor"
    editor.write_text('#!/bin/sh\n[ "$1" = -w ] && echo "modle: x" > "$2"\n')
    editor.chmod(0o755)
    monkeypatch.setenv("VISUAL", f"'{editor}' -w")
    monkeypatch.setenv("EDITOR", "false")
    done = hermes("config", "edit")
    path = home.path / "config.yaml"
    assert (done.code, path.read_text(), stat.S_IMODE(path.stat().st_mode)) == (1, "modle: x\n", 0o600)
    assert f"{path}:1: error: modle is no known key; did you mean model?" in done.out


@pytest.mark.parametrize(
    ("editor", "message"),
    [
        pytest.param("", "no editor is configured", id="none"),
        pytest.param("'", "no editor is configured", id="half a quote"),
        pytest.param("/nonexistent/editor", "with '/nonexistent/editor': No such file", id="one that is not there"),
        pytest.param("false", "'false' ended with 1", id="one that fails"),
    ],
)
def test_edit_says_when_there_is_no_editor(hermes, file, monkeypatch, editor, message):
    """Without an editor that works, the error says what to set; the file stays."""
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", editor)
    done = hermes("config", "edit")
    assert (done.code, message in done.err, "hint:" in done.err, file.read_text()) == (1, True, True, FILE)


def test_path_says_where_the_files_are(hermes, home):
    """``path`` prints the file, and as JSON the others too; nothing has to be there."""
    assert hermes("config", "path").out == f"{home.path / 'config.yaml'}\n"
    found = hermes("config", "path", "--json").json
    assert (found["env"], sorted(found)) == (str(home.path / ".env"), ["config", "env", "managed"])


def test_schema_is_a_schema(hermes, home):
    """``schema`` prints a JSON Schema, whatever state the home is in."""
    home.write("config.yaml", "[")
    done = hermes("config", "schema")
    Draft7Validator.check_schema(json.loads(done.out))
    assert (done.code, done.err) == (0, "")


def test_warnings_of_env_are_shown_as_such(hermes, file, home):
    """What is odd in ``.env`` is shown on standard error, and does not mix with the value."""
    home.write(".env", "odd line\n")
    done = hermes("config", "get", "model.provider")
    assert (done.code, done.out) == (0, "acme\n")
    assert done.err.startswith("warning: a line of .env makes no sense")


def test_nothing_is_made_by_looking(hermes, home):
    """``show``, ``get``, ``path`` and ``check`` leave a home without files as it is, but for what may be deleted."""
    home.path.mkdir()
    for words in (["show"], ["get", "logging.backup_count"], ["path"], ["check"]):
        assert hermes("config", *words).code == 0
    assert {*os.listdir(home.path)} <= {"cache"}
