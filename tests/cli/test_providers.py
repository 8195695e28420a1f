"""``hermes providers``: list, show, explain."""

import pytest

COLUMNS = ["name", "aliases", "base_url", "api_mode", "env_vars", "plugin", "tier"]
FIELDS = {"name", "aliases", "base_url", "api_mode", "auth_type", "env_vars", "plugin", "tier"}


@pytest.fixture
def proxied(home):
    """A user's plugin that changes one field of a bundled provider."""
    profile = {"name": "openrouter", "extends": "openrouter", "base_url": "https://proxy.example.com/v1"}
    return home.plugin("proxied", name="proxied", profile=profile)


def test_the_list_has_a_line_for_each_provider(hermes):
    """In a pipe, a provider is a line of tab-separated cells; several values are joined with commas."""
    rows = {row["name"]: row for row in hermes("providers", "list").rows}
    assert [*rows["openai"]] == COLUMNS
    assert rows["openai"] == {
        "name": "openai",
        "aliases": "openai-api, gpt",
        "base_url": "https://api.openai.com/v1",
        "api_mode": "chat_completions",
        "env_vars": "OPENAI_API_KEY, OPENAI_BASE_URL",
        "plugin": "model-providers/openai",
        "tier": "bundled",
    }


def test_the_list_for_programs_is_one_array_with_all_fields(hermes):
    """``list --json`` gives every provider with every field that scripts are promised."""
    found = hermes("providers", "list", "--json").json
    assert [row["name"] for row in hermes("providers", "list").rows] == [row["name"] for row in found]
    assert found[0].keys() >= FIELDS


def test_a_provider_is_shown_with_all_fields(hermes):
    """``show --json`` gives one provider with every field that scripts are promised."""
    found = hermes("providers", "show", "openai", "--json").json
    assert found.keys() >= FIELDS
    assert (found["name"], found["base_url"]) == ("openai", "https://api.openai.com/v1")


def test_an_alias_leads_to_the_provider(hermes):
    """``show`` and ``explain`` understand an alias, in any case."""
    assert hermes("providers", "show", "MoonShot", "--json").json["name"] == "kimi-coding"
    assert hermes("providers", "explain", "moonshot", "--json").json[0]["name"] == "kimi-coding"


def test_a_provider_of_the_user_is_listed_with_its_tier(hermes, home):
    """A plugin.yaml in the home is a provider like any other."""
    home.plugin("acme", name="acme", profile={"base_url": "https://api.acme.test/v1", "auth_type": "none"})
    row = next(row for row in hermes("providers", "list", "--json").json if row["name"] == "acme")
    assert (row["plugin"], row["tier"], row["auth_type"]) == ("acme", "user", "none")


def test_explain_tells_winner_and_loser(hermes, proxied):
    """``explain`` lists every claim in order: who wins, who is shadowed by whom, from where."""
    rows = hermes("providers", "explain", "openrouter").rows
    assert [
        ("wins", "user", "proxied", str(proxied), ""),
        ("shadowed", "bundled", "model-providers/openrouter", rows[1]["source"], "by user plugin proxied"),
    ] == [(row["status"], row["tier"], row["plugin"], row["source"], row["reason"]) for row in rows]


def test_explain_tells_of_a_claim_that_is_off(hermes, home, proxied):
    """A disabled plugin that would win is listed with its reason and the command that changes it."""
    home.config({"plugins": {"disabled": ["proxied"]}})
    rows = hermes("providers", "explain", "openrouter").rows
    assert [(row["status"], row["tier"]) for row in rows] == [("wins", "bundled"), ("off", "user")]
    assert (rows[1]["reason"], rows[1]["remedy"]) == ("disabled via config", "hermes plugins enable proxied")


def test_explain_tells_of_a_claim_that_failed(hermes, home):
    """A plugin that cannot keep what it declares is listed as failed, and the name goes to the next."""
    home.plugin("liar", "def register(ctx): pass", name="liar", profile={"name": "openai"})
    chain = hermes("providers", "explain", "openai", "--json").json
    assert [(step["status"], step["tier"]) for step in chain] == [("wins", "bundled"), ("failed", "user")]
    assert "does not offer it" in chain[1]["reason"]


@pytest.mark.parametrize("action", ["show", "explain"])
def test_an_unknown_provider_is_refused_with_the_nearest(hermes, action):
    """A name that nobody claims is an error that names the closest name or alias."""
    expected = "error: no provider 'openroter'; did you mean 'openrouter'?\nhint: run `hermes providers list`\n"
    assert (1, "", expected) == hermes("providers", action, "openroter")
