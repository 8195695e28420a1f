"""Every bundled profile against a table that was written by itself, ``bundled.txt``."""

from __future__ import annotations

from pathlib import Path

import pytest

from hermes_core import Host
from hermes_core.auth.keys import key_variables
from hermes_core.llm.plan import Planner

MODES = {
    "chat": "chat_completions",
    "messages": "anthropic_messages",
    "responses": "codex_responses",
    "converse": "bedrock_converse",
}


def expected() -> dict[str, tuple]:
    """Name → base URL, wire format, variables in their order, aliases."""
    table = {}
    for line in Path(__file__).with_name("bundled.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            cells = (cell.strip() for cell in line.split("|"))
            name, base_url, mode, variables, aliases = ("" if cell == "-" else cell for cell in cells)
            table[name] = base_url, MODES[mode], tuple(variables.split()), {*aliases.split()}
    return table


EXPECTED = expected()


@pytest.fixture(scope="module")
def catalog(tmp_path_factory):
    """The bundled providers."""
    with Host.load(tmp_path_factory.mktemp("bundled"), {}) as host:
        yield host.providers


def test_all_of_them_are_there(catalog):
    """No provider of the table is missing, and none is bundled that the table does not know."""
    assert catalog.names() == sorted(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_its_data_are_those_of_the_table(catalog, name):
    """Address, wire format, variables and aliases: in the list, and in the profile that its code offers."""
    row = next(row for row in catalog if row.name == name)
    for told in (row, catalog.get(name)):
        assert (told.base_url, told.api_mode, told.env_vars, {*told.aliases}) == EXPECTED[name]


@pytest.mark.parametrize("name", EXPECTED)
def test_it_can_be_looked_at(catalog, name):
    """Each has text for people, an address without a slash at its end, and no key among its headers."""
    profile = catalog.get(name)
    assert profile.display_name
    assert profile.description
    assert not profile.base_url.endswith("/")
    assert not any("auth" in header.lower() or "key" in header.lower() for header in profile.default_headers)


def test_every_word_leads_to_one(catalog):
    """A name or an alias is claimed once, and finds its provider in any case."""
    words = [(word, name) for name, (*_, aliases) in EXPECTED.items() for word in (name, *aliases)]
    assert len({word for word, _ in words}) == len(words)
    assert [(word, catalog.resolve(f" {word.upper()} ")) for word, _ in words] == words


@pytest.fixture
def chosen(load_host):
    """The provider that is chosen when nothing is configured."""

    def name():
        host = load_host(config={}, say=lambda line: None)
        return Planner.of(host).active(host.config())

    return name


@pytest.mark.parametrize("name", EXPECTED)
def test_a_key_alone_chooses_its_provider(catalog, chosen, monkeypatch, name):
    """Where nothing is configured, the one provider that has a key answers, but for those that must be asked for."""
    row = next(row for row in catalog if row.name == name)
    keys = key_variables(row.env_vars)
    if keys:
        monkeypatch.setenv(keys[0], "k-12345")
    asked_for = row.auto_rank is None or row.auth_type != "api_key" or not keys
    assert chosen() == ("embedded" if asked_for else name)


def test_a_key_of_two_is_the_first_ones(chosen, monkeypatch):
    """A key that two providers take chooses the one of lower rank."""
    monkeypatch.setenv("DASHSCOPE_API_KEY", "k-12345")
    assert chosen() == "alibaba"


def test_another_program_s_login_chooses_nobody(chosen, monkeypatch):
    """A login that another program keeps is not a wish to have its provider answer plugins."""
    monkeypatch.setenv("CLAUDE_CODE_OAUTH_TOKEN", "sk-ant-oat01-12345")
    assert chosen() == "embedded"


def test_a_lookup_costs_no_more_than_its_own_plugin_r29_04(run_python, tmp_path):
    """All bundled providers are listed, and one is got, with one plugin imported and no YAML read."""
    done = run_python(
        """
        import sys
        from hermes_core import Host
        with Host.load(sys.argv[1], {}) as host:
            print(len([*host.providers]), host.providers.get("openrouter").name)
            print([name for name in sys.modules if name.startswith("hermes_plugins.model_providers__")])
            print([name for name in ("yaml", "httpx", "jsonschema") if name in sys.modules])
        """,
        tmp_path,
    )
    assert (done.stderr, done.stdout.splitlines()) == (
        "",
        [f"{len(EXPECTED)} openrouter", "['hermes_plugins.model_providers__openrouter']", "[]"],
    )
