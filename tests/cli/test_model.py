"""``hermes model``: what answers, shown and chosen."""

import pytest
import yaml

from hermes_core.testing import FakeProvider

KEY = "sk-acme-0123456789abcdef"
FILE = """\
# my choice
model:
  default: old-model      # the best so far
  provider: acme
  max_tokens: 100
providers:
  acme: {base_url: "https://acme.test/v1", key_env: ACME_API_KEY}
plugins:
  enabled: [polite]  # and no more
"""


def config(home):
    """What the configuration says now."""
    return yaml.safe_load((home.path / "config.yaml").read_text())


def test_without_arguments_it_is_shown(hermes, home):
    """In a pipe, and without arguments, the current choice is printed, and how to change it; nothing is written."""
    path = home.write("config.yaml", FILE)
    home.write(".env", f"ACME_API_KEY={KEY}\n")
    done = hermes("model")
    assert done.code == 0
    assert done.out.splitlines() == [
        "provider  custom:acme",
        "model     old-model",
        "base_url  https://acme.test/v1",
        "key       [configured] env:ACME_API_KEY",
        "change it with `hermes model PROVIDER MODEL`, or run `hermes model` on a terminal",
    ]  # fmt: skip
    assert path.read_text() == FILE


def test_json_shows_it_for_programs(hermes, home):
    """``--json`` alone is the current choice; a key is never in it."""
    home.write("config.yaml", FILE)
    home.write(".env", f"ACME_API_KEY={KEY}\n")
    shown = hermes("model", "--json")
    assert (shown.json["provider"], shown.json["model"], shown.json["problem"]) == ("custom:acme", "old-model", "")
    assert KEY[3:] not in shown.out


def test_what_is_in_the_way_is_told(hermes, home):
    """A choice that cannot be used now is shown with what is in the way."""
    home.config({"model": {"provider": "openrouter", "default": "x"}})
    shown = hermes("model", "--json").json
    assert "OPENROUTER_API_KEY" in shown["problem"] + shown["remedy"]
    assert shown["provider"] == "openrouter"


@pytest.mark.parametrize(
    "words",
    [["openrouter", "a/b"], ["--provider", "openrouter", "--model", "a/b"], ["OpenRouter ", "a/b"]],
    ids=["in two words", "by their names", "in another case"],
)
def test_one_line_changes_it_and_no_other_line(hermes, home, words):
    """Provider and model are written; comments, order and every other value stay."""
    home.write("config.yaml", FILE)
    assert hermes("model", *words).code == 0
    changed = (home.path / "config.yaml").read_text()
    name = "OpenRouter" if "OpenRouter " in words else "openrouter"
    assert changed == FILE.replace("old-model ", "a/b       ").replace("provider: acme", f"provider: {name}")


def test_a_model_alone_keeps_the_provider(hermes, home):
    """``--model`` changes the model and nothing else."""
    home.write("config.yaml", FILE)
    assert hermes("model", "--model", "new/model").code == 0
    assert (home.path / "config.yaml").read_text() == FILE.replace("old-model  ", "new/model  ")


def test_a_provider_alone_brings_its_first_model(hermes, home):
    """Without a model, the provider's first recommended one is written."""
    hermes("model", "openai")
    assert config(home)["model"] == {"provider": "openai", "default": "gpt-5.4"}


def test_what_belonged_to_the_former_endpoint_goes(hermes, home):
    """Address, key and headers of one endpoint are not left for another, and what goes is told."""
    old = {"provider": "custom", "base_url": "http://127.0.0.1:1/v1", "api_key": "${OLD_KEY}", "max_tokens": 5}
    home.config({"model": old})
    done = hermes("model", "openai", "gpt-x")
    assert config(home)["model"] == {"provider": "openai", "default": "gpt-x", "max_tokens": 5}
    assert [line.strip() for line in done.out.splitlines() if "taken out" in line] == [
        "model.base_url was taken out: it was for the former provider",
        "model.api_key was taken out: it was for the former provider",
    ]


@pytest.mark.parametrize(
    "old",
    [
        {"provider": "custom", "model": "m", "api_base": "http://127.0.0.1:1/v1"},
        {"model": {"provider": "custom", "name": "m", "api_base": "http://127.0.0.1:1/v1", "api": "${K}"}},
        {"model": "m", "base_url": "http://127.0.0.1:1/v1"},
    ],
    ids=["at the root", "under aliases", "as a text"],
)
def test_older_spellings_are_understood(hermes, home, old):
    """However the file is written, provider and model are what was asked for, and no old address is left."""
    home.config(old)
    hermes("model", "openai", "gpt-x")
    shown = hermes(
        "model",
        "--json",
    ).json
    assert (shown["provider"], shown["model"], shown["base_url"]) == ("openai", "gpt-x", "")
    assert "127.0.0.1" not in (home.path / "config.yaml").read_text()


def test_a_server_of_ones_own_is_an_address(hermes, home):
    """``--base-url`` alone is the custom provider at an address."""
    done = hermes("model", "--base-url", "http://127.0.0.1:11434/v1", "--model", "qwen3:4b")
    assert config(home)["model"] == {
        "provider": "custom", "default": "qwen3:4b", "base_url": "http://127.0.0.1:11434/v1",
    }  # fmt: skip
    assert done.code == 0


def test_a_word_for_a_local_server_keeps_its_address(hermes, home):
    """``ollama`` is written as it is: as ``custom`` it would have no address; an older address goes."""
    home.config({"model": {"provider": "custom", "default": "x", "base_url": "https://else.test/v1"}})
    hermes("model", "ollama", "qwen3:4b")
    assert config(home)["model"] == {"provider": "ollama", "default": "qwen3:4b"}
    assert hermes("model", "--json").json["base_url"] == "http://localhost:11434/v1"


def test_a_key_is_piped_in_and_stored(hermes, home):
    """``--key-stdin`` stores the key as the provider's variable, in a private file, and shows it nowhere."""
    done = hermes("model", "openai", "gpt-x", "--key-stdin", stdin=f"{KEY}\n")
    assert (home.path / ".env").read_text() == f"OPENAI_API_KEY={KEY}\n"
    assert (home.path / ".env").stat().st_mode & 0o777 == 0o600
    assert "OPENAI_API_KEY=[configured]" in done.out
    assert KEY[3:] not in done.out + done.err + (home.path / "config.yaml").read_text()
    assert hermes("model", "--json").json["problem"] == ""


def test_a_key_for_another_server_has_a_variable_of_its_own(hermes, home):
    """A key for a server of one's own never replaces a vendor's: it is named after the server, and the file says so."""
    home.write(".env", "OPENAI_API_KEY=sk-the-real-one-1\n")
    hermes("model", "openai", "m", "--base-url", "https://llm.acme.test/v1", "--key-stdin", stdin=KEY)
    assert (home.path / ".env").read_text() == f"OPENAI_API_KEY=sk-the-real-one-1\nACME_API_KEY={KEY}\n"
    assert config(home)["model"]["key_env"] == "ACME_API_KEY"
    assert hermes("model", "--json").json["key"] == "[configured] env:ACME_API_KEY"


def test_the_same_address_keeps_its_key_and_headers(hermes, home):
    """An address that is configured already is no other endpoint: its key and headers stay."""
    before = {"provider": "custom", "base_url": "http://10.0.0.1/v1", "default": "m", "key_env": "MY_KEY",
              "extra_headers": {"X-Team": "t"}}  # fmt: skip
    home.config({"model": before})
    hermes("model", "--base-url", "http://10.0.0.1/v1", "--model", "n")
    assert config(home)["model"] == {**before, "default": "n"}


def test_a_second_key_replaces_no_other_servers(hermes, home):
    """Keys of two servers without a name are both kept; a new key for the same server replaces the old one."""
    for address, key in (("127.0.0.1:1", "k-one-1234"), ("127.0.0.1:2", "k-two-1234"), ("127.0.0.1:2", "k-new-1234")):
        hermes("model", "--base-url", f"http://{address}/v1", "--model", "m", "--key-stdin", stdin=key)
    assert (home.path / ".env").read_text() == "CUSTOM_API_KEY=k-one-1234\nCUSTOM_API_KEY_2=k-new-1234\n"
    assert config(home)["model"]["key_env"] == "CUSTOM_API_KEY_2"


BAD = {
    "an unknown provider": (["opnrouter", "m"], "", "did you mean 'openrouter'"),
    "a model in a provider's place": (["openai/gpt-5"], "", "unknown provider"),
    "a model, and no provider yet": (["--model", "m"], "", "no provider is configured"),
    "an endpoint without an address": (["custom", "m"], "", "no address"),
    "an address that is none": (["custom", "m", "--base-url", "localhost:1"], "", "no address of a server"),
    "an address in brackets": (["custom", "m", "--base-url", "http://[::1"], "", "no address of a server"),
    "an address without a port": (["custom", "m", "--base-url", "http://x:y/"], "", "no address of a server"),
    "an address with a login": (["custom", "m", "--base-url", "http://a:pass-word-1@x.test/v1"], "", "no address"),
    "no key": (["openai", "m", "--key-stdin"], "", "no key"),
    "a placeholder": (["openai", "m", "--key-stdin"], "your_api_key", "no key"),
    "a key with a blank": (["openai", "m", "--key-stdin"], "sk-123 456789", "U+0020"),
    "a key for who takes none": (["embedded", "--key-stdin"], KEY, "takes no key"),
}


@pytest.mark.parametrize(("words", "stdin", "message"), BAD.values(), ids=BAD)
def test_what_makes_no_sense_changes_nothing(hermes, home, words, stdin, message):
    """A choice that could not work is refused with a reason, and nothing is written."""
    done = hermes("model", *words, stdin=stdin)
    assert (done.code, done.out) == (1, "")
    assert message in done.err
    assert "pass-word-1" not in done.err
    assert not [path for path in home.path.glob("*") if path.name in ("config.yaml", ".env")]


def test_a_file_that_cannot_be_read_is_left_alone(hermes, home):
    """A broken ``config.yaml`` is reported, and not overwritten; no key is stored either."""
    path = home.write("config.yaml", "model: [broken\n")
    done = hermes("model", "openai", "m", "--key-stdin", stdin=KEY)
    assert done.code == 1
    assert "line" in done.err
    assert path.read_text() == "model: [broken\n"
    assert not (home.path / ".env").exists()


def test_what_an_administrator_says_stands(hermes, home, tmp_path, monkeypatch):
    """A value of the administrator's file cannot be changed; nothing is written."""
    (tmp_path / "managed").mkdir()
    (tmp_path / "managed" / "config.yaml").write_text("model: {provider: openai}")
    monkeypatch.setenv("HERMES_MANAGED_DIR", str(tmp_path / "managed"))
    done = hermes("model", "openrouter", "m")
    assert done.code == 1
    assert "administrator" in done.err
    assert not (home.path / "config.yaml").exists()


@pytest.fixture
def plain(tmp_path):
    """Variables by which ``questionary`` cannot be imported, as without the extra."""
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "questionary.py").write_text("raise ImportError")
    return {"PYTHONPATH": str(tmp_path / "none")}


@pytest.fixture
def server():
    """A server with more models than fit a screen."""
    with FakeProvider() as running:
        running.models = [f"model-{number}" for number in range(60)] + ["special/one"]
        yield running


def test_a_person_chooses_by_number_or_by_a_part_of_the_name(terminal, home, server, plain):
    """Without the extra, lists are numbered; a word narrows them down, and a number or whole name chooses."""
    home.write("config.yaml", "# mine\nplugins: {enabled: []}\n")
    answers = [
        ("part of the name", "custom\n"),
        ("Address", "localhost\n"),
        ("Address", f"{server.base_url}\n"),
        ("and 41 more", "no-such\n"),
        ("take it as it is?", "n\n"),
        ("part of the name", "special\n"),
    ]
    done = terminal("model", answers=answers, **plain)
    assert done.code == 0
    assert "model.default: special/one" in done.text
    assert (home.path / "config.yaml").read_text().startswith("# mine\nplugins: {enabled: []}\n")
    assert config(home)["model"] == {"provider": "custom", "default": "special/one", "base_url": server.base_url}


def test_a_person_chooses_by_typing_and_moving(terminal, home, server):
    """With the extra, what is typed filters the list, and Enter takes what is marked."""
    answers = [
        ("Provider", "custo"), ("custo", "\r"), ("Address", f"{server.base_url}\n"),
        ("Model", "special"), ("special", "\r"),
    ]  # fmt: skip
    done = terminal("model", answers=answers)
    assert done.code == 0, done.text
    assert config(home)["model"]["default"] == "special/one"


def test_what_is_typed_is_looked_for_in_names_alone(terminal, home):
    """What is said of one provider, such as that it speaks like another, does not put it first."""
    done = terminal("model", answers=[("Provider", "openai"), ("openai", "\r"), ("not shown", "\x03")])
    assert ("key for openai" in done.text, done.code) == (True, 130), done.text


def test_a_key_is_typed_unseen(terminal, home, plain):
    """A missing key is asked for, is on no screen, and is stored where the provider looks for it."""
    profile = {
        "base_url": "http://far.invalid:1/v1", "env_vars": ["FAR_API_KEY"], "fallback_models": ["f-1"],
        "signup_url": "https://far.test/keys",
    }  # fmt: skip
    home.plugin("far", name="far", kind="model-provider", profile=profile)
    answers = [("part of the name", "far\n"), ("not shown", f"{KEY}\n"), ("part of the name", "1\n")]
    done = terminal("model", answers=answers, **plain)
    assert done.code == 0
    assert "https://far.test/keys" in done.text
    assert KEY[3:] not in done.raw
    assert (home.path / ".env").read_text() == f"FAR_API_KEY={KEY}\n"


@pytest.mark.parametrize(
    ("extra", "answers"),
    [
        (True, [("Provider", "\x03")]),
        (True, [("Provider", "\x04")]),
        (False, [("part of the name", "\x03")]),
        (False, [("part of the name", "\x04")]),
        (False, [("part of the name", "custom\n"), ("Address", "\x03")]),
        (False, [("part of the name", "openai\n"), ("not shown", "\x03")]),
    ],
    ids=[
        "in a list to type in",
        "end of such a list",
        "in a numbered list",
        "end of input",
        "at the address",
        "at the key",
    ],
)
def test_nothing_is_written_when_it_is_called_off(terminal, home, plain, extra, answers):
    """Ctrl-C, or the end of input, at any question leaves every file as it was, and says so."""
    home.write("config.yaml", FILE)
    done = terminal("model", answers=answers, **({} if extra else plain))
    assert done.code in (1, 130)
    assert "nothing was" in done.text
    assert "Traceback" not in done.text
    assert (home.path / "config.yaml").read_text() == FILE
    assert not (home.path / ".env").exists()
