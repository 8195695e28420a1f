"""Stores that the original wrote are used as they are, and what is written here is what it would look for."""

import copy

import pytest

from hermes_core.auth import manage
from hermes_core.auth.oauth import Tokens, settings_of
from hermes_core.config.settings import Config
from hermes_core.providers.profile import ProviderProfile

from .conftest import NOW, key

FLAT = {
    "access_token": "at-flat-1",
    "refresh_token": "rt-flat-1",
    "expires_at": "2027-01-15T08:01:00+00:00",
    "obtained_at": "2027-01-15T07:01:00+00:00",
    "client_id": "client-of-the-original",
    "inference_base_url": "https://elsewhere.test/v1",
    "tls": {"verify": True},
    "label": "me@acme.test",
}
NESTED = {
    "tokens": {"access_token": "at-nested-1", "refresh_token": "rt-nested-1", "id_token": "it-nested-1"},
    "last_refresh": "2027-01-15T07:01:00Z",
    "auth_mode": "browser",
}
ROW = {
    "id": "0a1b2c",
    "label": "me@acme.test",
    "auth_type": "oauth",
    "priority": 0,
    "source": "device_code",
    "access_token": "at-stale-copy-1",
    "refresh_token": "rt-stale-copy-1",
    "expires_at": "2026-01-01T00:00:00+00:00",
    "request_count": 7,
    "last_status": None,
    "last_status_at": None,
    "last_error_code": None,
    "last_error_reason": None,
    "last_error_message": None,
    "last_error_reset_at": None,
    "token_type": "Bearer",
}


@pytest.fixture
def pool_at(server, owner, send):
    """The pool of the login server's provider."""

    def make(**fields):
        profile = ProviderProfile(**{**server.profile, **fields})
        return owner(send=send).pool(profile, address=server.base_url, config=Config())

    return make


STATES = {
    "flat": (FLAT, [], "at-flat-1", True),
    "flat, with an entry of its own": (FLAT, [ROW], "at-flat-1", True),
    "nested": (NESTED, [], "at-nested-1", False),
    "nested, with an entry of its own": (NESTED, [ROW], "at-nested-1", False),
    "with an agent key": (
        {**FLAT, "agent_key": "ak-1234", "agent_key_expires_at": "2027-01-15T09:00:00Z"},
        [],
        "ak-1234",
        False,
    ),
    "an entry alone": (None, [{**ROW, "expires_at": None}], "at-stale-copy-1", False),
    "without tokens": ({"base_url": "https://x.test"}, [], None, None),
    "no object": ("text", [], None, None),
}


@pytest.mark.parametrize(("state", "rows", "value", "is_stale"), STATES.values(), ids=STATES)
def test_a_login_of_the_original_is_used(pool_at, auth_file, state, rows, value, is_stale):
    """Tokens are read from the provider's state, flat or nested; the copy in the pool counts where there is none."""
    providers = {} if state is None else {"fake-oauth": state}
    auth_file.write({"version": 1, "providers": providers, "credential_pool": {"fake-oauth": rows}})
    found = pool_at().select()
    assert (found and found.value, found and found.is_stale) == (value, is_stale)


@pytest.mark.parametrize("rows", [[], [ROW]], ids=["state alone", "state and entry"])
@pytest.mark.parametrize("nested", [False, True], ids=["flat", "nested"])
def test_a_refresh_is_written_where_the_original_looks(pool_at, auth_file, server, rows, nested):
    """New tokens of such a login are written to the state and to the pool's entry; all else in both stays."""
    state = copy.deepcopy(NESTED if nested else FLAT)
    (state["tokens"] if nested else state)["refresh_token"] = server.grant()
    auth_file.write({"version": 1, "providers": {"fake-oauth": state}, "credential_pool": {"fake-oauth": rows}})
    pool = pool_at()
    fresh = pool.refresh(pool.select())
    tree = auth_file.tree
    (row,), after = tree["credential_pool"]["fake-oauth"], tree["providers"]["fake-oauth"]
    tokens = after["tokens"] if nested else after
    assert fresh.value == tokens["access_token"] == row["access_token"]
    assert (tokens["refresh_token"], tokens["refresh_token"] in server._refresh) == (row["refresh_token"], True)
    changed = {
        "access_token",
        "refresh_token",
        "expires_at",
        "last_refresh",
        "token_type",
        "scope",
        "expires_in",
        "tokens",
    }
    assert {name: after[name] for name in after.keys() - changed} == {
        name: state[name] for name in state.keys() - changed
    }
    assert (row["id"], row["source"]) == (ROW["id"] if rows else row["id"], "device_code")
    assert nested is False or tokens["id_token"] == "it-nested-1"


def test_the_client_of_the_original_refreshes_its_tokens(pool_at, auth_file, server):
    """A refresh token goes with the client that it was given to."""
    auth_file.write({"providers": {"fake-oauth": {**FLAT, "refresh_token": server.grant()}}})
    pool = pool_at()
    pool.refresh(pool.select())
    assert server.requests[0].body["client_id"] == "client-of-the-original"


def test_an_address_that_came_from_the_network_is_not_used(pool_at, auth_file):
    """The address that a login server gave the original is not where tokens are sent."""
    auth_file.write({"providers": {"fake-oauth": FLAT}})
    assert pool_at().select().base_url == ""


def test_a_final_refusal_empties_the_state_too(pool_at, auth_file, server):
    """A login that has ended has no tokens any more, in the state and in the pool, and the reason stands in both."""
    auth_file.write({"providers": {"fake-oauth": FLAT}, "credential_pool": {"fake-oauth": [ROW]}})
    pool = pool_at()
    with pytest.raises(RuntimeError):
        pool.refresh(pool.select())
    tree = auth_file.tree
    places = [tree["providers"]["fake-oauth"], *tree["credential_pool"]["fake-oauth"]]
    assert [{"access_token", "refresh_token"} & place.keys() for place in places] == [set(), set()]
    assert [place["last_auth_error"]["code"] for place in places] == ["invalid_grant"] * 2
    assert (places[0]["tls"], places[1]["last_status"], "last_status" in places[0]) == (FLAT["tls"], "dead", False)


@pytest.mark.parametrize("way", ["refused by the provider", "refused by the token endpoint"])
def test_a_new_login_of_the_original_counts_at_once(pool_at, auth_file, server, way):
    """A login that was found dead is used again as soon as the original has stored new tokens for it."""
    auth_file.write({"providers": {"fake-oauth": FLAT}, "credential_pool": {"fake-oauth": [ROW]}})
    pool = pool_at()
    if way == "refused by the provider":
        pool.mark(pool.select(), 401, body='{"error": {"code": "token_revoked"}}')
    else:
        with pytest.raises(RuntimeError):
            pool.refresh(pool.select())
    dead, tree = pool.select(), auth_file.tree
    tree["providers"]["fake-oauth"] |= {"access_token": "at-logged-in-again", "refresh_token": "rt-again"}
    auth_file.write(tree)
    assert (dead, pool.select().value) == (None, "at-logged-in-again")


def test_a_login_here_leaves_the_originals_alone(pool_at, auth_file, server):
    """A new login is an entry of its own, of a source whose tokens the original keeps; it is the active provider."""
    auth_file.write({"providers": {"fake-oauth": FLAT}, "credential_pool": {"fake-oauth": [ROW]}})
    pool = pool_at()
    tokens = Tokens("at-new-1", "rt-new-1", NOW + 3600, {"token_type": "Bearer", "expires_in": 3600})
    manage.add_login(pool, settings_of(pool.profile), tokens, "second")
    tree = auth_file.tree
    old, new = tree["credential_pool"]["fake-oauth"]
    assert (tree["providers"]["fake-oauth"], old, tree["active_provider"]) == (FLAT, ROW, "fake-oauth")
    assert {
        name: new[name] for name in ("source", "auth_type", "priority", "access_token", "refresh_token", "client_id")
    } == {
        "source": "manual:device_code",
        "auth_type": "oauth",
        "priority": 1,
        "access_token": "at-new-1",
        "refresh_token": "rt-new-1",
        "client_id": "fake-client",
    }
    assert (new["expires_at"], new["token_type"], len(new["id"])) == ("2027-01-15T09:00:00+00:00", "Bearer", 6)


@pytest.mark.parametrize("rows", [[], [ROW]], ids=["state alone", "state and entry"])
def test_logging_out_takes_the_originals_tokens_too(pool_at, auth_file, rows):
    """After logging out nothing holds a token, and nobody is the active provider; the rest of the state stays."""
    providers = {"fake-oauth": FLAT, "other": {"access_token": "at-other-1"}}
    auth_file.write({"providers": providers, "credential_pool": {"fake-oauth": rows}, "active_provider": "fake-oauth"})
    pool = pool_at()
    manage.remove(pool, [entry.id for entry in manage.logins(pool)])
    tree = auth_file.tree
    assert (pool.select(), tree["credential_pool"]["fake-oauth"], tree["active_provider"]) == (None, [], None)
    assert tree["providers"] == {
        "fake-oauth": {name: FLAT[name] for name in FLAT if not name.endswith("_token")},
        "other": {"access_token": "at-other-1"},
    }


def test_a_borrowed_row_of_the_original_is_filled_from_its_source(pool_of, auth_file):
    """A variable's row holds no value; it gets it from the variable, with its id, label, place and counts."""
    row = {
        **key("my key", 3, source="env:FIRST_KEY", id="0a1b2c", request_count=4),
        "access_token": None,
    }
    auth_file.pool(row, key("a", 5))
    pool = pool_of(FIRST_KEY="k-first-1")
    found = pool.select()
    assert (found.value, found.id, found.label, found.source) == ("k-first-1", "0a1b2c", "my key", "env:FIRST_KEY")


def test_a_value_in_a_borrowed_row_does_not_count(pool_of, auth_file):
    """A value that somebody left in a variable's row is not used in the variable's place."""
    auth_file.pool(key("FIRST_KEY", source="env:FIRST_KEY", value="k-left-over-1"))
    assert pool_of().select() is None


def test_rows_of_sources_that_are_not_read_here_stay(pool_of, auth_file):
    """Rows of other programs' tokens are not used, not changed and not dropped."""
    rows = [{**key("cli", source="gh_cli"), "access_token": None, "secret_fingerprint": "sha256:0"}, key("a", 1)]
    auth_file.pool(*rows)
    pool = pool_of()
    pool.mark(pool.select(), 429)
    assert auth_file.tree["credential_pool"]["acme"][0] == rows[0]
