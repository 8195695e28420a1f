"""A login is refreshed once, however many need it, and what comes of it is never lost."""

import subprocess
import sys
import threading
import time
from datetime import datetime

import pytest

from hermes_core.errors import OAuthError
from hermes_core.providers.profile import ProviderProfile

from .conftest import NOW, key, login


@pytest.fixture
def logged_in(server, auth_file, owner, send, clock):
    """Store logins at the server; returns the pool's maker. Each may be given fields; the first is stale."""

    def make(*rows, **sections):
        rows = rows or (login("work", server.access(), server.grant(), expires_at=NOW + 60),)
        auth_file.pool(*rows, provider="fake-oauth", **sections)

        def pool(home=None):
            return (home or owner(send=send)).pool(ProviderProfile(**server.profile), address=server.base_url)

        return pool

    return make


def test_a_token_about_to_end_is_refreshed_before_it_is_used(logged_in, server, auth_file):
    """A token within the skew of its end is stale; its refresh gives another, and both tokens are stored."""
    pool = logged_in()()
    stale = pool.select()
    fresh = pool.refresh(stale)
    row = auth_file.rows("fake-oauth")["work"]
    assert (stale.is_stale, fresh.is_stale, fresh.id, server.refreshes) == (True, False, stale.id, 1)
    assert (row["access_token"], row["access_token"] != stale.value) == (fresh.value, True)
    assert row["refresh_token"] in server._refresh
    assert datetime.fromisoformat(row["expires_at"]).timestamp() > 0
    assert (row["last_status"], row["id"], pool.select().value) == ("ok", stale.id, fresh.value)


def test_a_token_that_lasts_is_not_stale(logged_in, server):
    """A token that ends after the skew, or whose end nobody knows, is used as it is."""
    rows = [login("a", "at-1", expires_at=NOW + 121), login("b", "at-2", priority=1)]
    pool = logged_in(*rows)()
    assert [pool.select(exclude=tried).is_stale for tried in ((), {"id-a"})] == [False, False]


def test_the_providers_data_says_how_early(logged_in, server):
    """``oauth.skew`` is how many seconds before its end a token is stale."""
    server.profile["oauth"]["skew"] = 3600
    pool = logged_in(login("a", "at-1", expires_at=NOW + 3599))()
    assert pool.select().is_stale


def test_a_short_token_is_not_refreshed_at_every_call(logged_in, server, clock):
    """A token that lasts no longer than the skew is used for the first half of its time."""
    server.lifetime = 60
    pool = logged_in()()
    fresh = pool.refresh(pool.select())
    early = pool.select().is_stale
    clock.now += 30
    assert (fresh.is_stale, early, pool.select().is_stale, server.refreshes) == (False, False, True, 1)


@pytest.mark.parametrize(
    "ends",
    [
        pytest.param({"expires_at": NOW + 60}, id="seconds"),
        pytest.param({"expires_at": "2027-01-15T08:01:00Z"}, id="a date"),
        pytest.param({"expires_at": "2027-01-15T08:01:00"}, id="a date without a zone"),
        pytest.param({"expires_at_ms": (NOW + 60) * 1000}, id="milliseconds"),
        pytest.param({"access_token": "eyJhbGciOiJub25lIn0.eyJleHAiOjE4MDAwMDAwNjB9."}, id="in the token itself"),
        pytest.param({"agent_key": "ak-1", "agent_key_expires_at": "2027-01-15T08:01:00Z"}, id="the agent key's"),
    ],
)
def test_the_end_of_a_token_is_read_in_every_form(logged_in, ends):
    """When a token ends is read as the original wrote it, or as the token says itself."""
    assert logged_in(login("a", "at-1", **ends))().select().is_stale


@pytest.mark.parametrize("token", ["a.b.c", "a.W10.c", "a.eyJleHAiOiJzb29uIn0.c", "a..c", "at-1"])
def test_a_token_that_says_nothing_has_no_end(logged_in, token):
    """What is no JSON web token, or one without an end, is not stale."""
    assert not logged_in(login("a", token))().select().is_stale


def test_the_agent_key_is_what_is_sent(logged_in, server, auth_file):
    """An entry's agent key goes before its access token, until a refresh has made it obsolete."""
    row = login("a", server.access(), server.grant(), agent_key="ak-obsolete-1")
    pool = logged_in(row)()
    first = pool.select()
    fresh = pool.refresh(first)
    assert (first.value, fresh.value[:7], "agent_key" in auth_file.rows("fake-oauth")["a"]) == (
        "ak-obsolete-1",
        "access-",
        False,
    )


def test_what_an_entry_holds_besides_is_kept(logged_in, server, auth_file):
    """Unknown fields of a refreshed entry, its neighbours and the rest of the file stay."""
    row = login("a", "at-1", server.grant(), expires_at=NOW, novel={"x": 1}, expires_at_ms=NOW * 1000)
    pool = logged_in(row, key("b", 1), novel=[1])()
    pool.refresh(pool.select())
    rows = auth_file.rows("fake-oauth")
    assert (rows["a"]["novel"], rows["b"], auth_file.tree["novel"]) == ({"x": 1}, key("b", 1), [1])
    assert rows["a"]["expires_at_ms"] == pytest.approx(
        datetime.fromisoformat(rows["a"]["expires_at"]).timestamp() * 1000, abs=1
    )


# --- once ------------------------------------------------------------------------------------------------------------


def in_threads(work, count=20):
    """Call a function in many threads at once; returns what each gave, or raised."""
    barrier, outcomes = threading.Barrier(count), []

    def run():
        barrier.wait(30)
        try:
            outcomes.append(work())
        except OAuthError as error:
            outcomes.append(error)

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return outcomes


@pytest.mark.parametrize("share", [True, False], ids=["of one home", "of homes of their own"])
def test_many_threads_refresh_once_r19_07(logged_in, server, owner, send, share):
    """Twenty threads that are refused at once spend one refresh token, and all go on with the new token."""
    server.delay = 0.1
    make = logged_in()
    pool = make()
    refused = pool.select()
    outcomes = in_threads(lambda: (pool if share else make()).refresh(refused))
    assert ({outcome.value for outcome in outcomes} == {pool.select().value}, server.refreshes) == (True, 1)


REFRESH = """
import json, pathlib, sys, time
from hermes_core import Host
home, server = sys.argv[1:]
with Host.load(home) as host:
    pool = host.credentials.pool(host.providers.get("fake-oauth"), address=server)
    stale = pool.select()
    print(stale.is_stale, flush=True)
    sys.stdin.readline()
    print(pool.refresh(stale).value, flush=True)
"""


def test_two_processes_refresh_once_r19_04(logged_in, server, home):
    """Two processes with one single-use refresh token spend it once, and both end with the new token."""
    home.plugin("model-providers/fake-oauth", name="fake-oauth", profile=server.profile)
    server.delay = 0.3
    pool = logged_in(login("work", server.access(), server.grant(), expires_at=1))()
    command = [sys.executable, "-c", REFRESH, str(home.path), server.base_url]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    running = [subprocess.Popen(command, **pipes) for _ in range(2)]
    assert [process.stdout.readline() for process in running] == ["True\n"] * 2
    for process in running:
        process.stdin.write("go\n")
        process.stdin.flush()
    tokens = [process.communicate(timeout=60)[0].strip() for process in running]
    assert (tokens, server.refreshes) == ([pool.select().value] * 2, 1)


STORM = """
import sys, threading
from hermes_core import Host
with Host.load(sys.argv[1]) as host:
    profile, failed = host.providers.get("fake-oauth"), []
    def work():
        pool = host.credentials.pool(profile, address=sys.argv[2])
        for _ in range(15):
            try:
                pool.refresh(pool.select())
            except Exception as error:
                failed.append(error)
    threads = [threading.Thread(target=work) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    print(failed)
"""


@pytest.mark.slow
def test_a_storm_of_refreshes_spends_no_token_twice(logged_in, server, home):
    """Five processes of four threads that refresh a token of one second all the time: none is ever refused."""
    home.plugin("model-providers/fake-oauth", name="fake-oauth", profile=server.profile)
    server.lifetime = 1
    pool = logged_in(login("work", server.access(), server.grant(), expires_at=1))()
    command = [sys.executable, "-c", STORM, str(home.path), server.base_url]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(5)]
    assert [process.communicate(timeout=120)[0] for process in running] == ["[]\n"] * 5
    assert (server.refreshes > 1, pool.find("work").refresh_token in server._refresh) == (True, True)


def test_a_token_that_somebody_else_got_is_taken(logged_in, server, auth_file):
    """Where the store holds a newer token than the refused one, that is used and nothing is sent."""
    pool = logged_in()()
    refused = pool.select()
    newer = login("work", "at-of-somebody-else", "rt-of-somebody-else", expires_at=NOW + 3600)
    auth_file.pool(newer, provider="fake-oauth")
    assert (pool.refresh(refused).value, server.requests) == ("at-of-somebody-else", [])


def test_a_newer_token_that_is_about_to_end_is_refreshed(logged_in, server, auth_file):
    """A newer token is refreshed in its turn when it is stale itself."""
    pool = logged_in()()
    refused = pool.select()
    auth_file.pool(login("work", "at-2", server.grant(), expires_at=NOW), provider="fake-oauth")
    assert (pool.refresh(refused).value[:7], server.refreshes) == ("access-", 1)


def test_a_slow_refresh_keeps_nobody_else_waiting_r19_05(logged_in, server, owner, send):
    """While one entry is being refreshed, the others can be selected and marked."""
    server.delay = 1.0
    rows = [login("a", "at-1", server.grant(), expires_at=NOW), key("b", 1), key("c", 2)]
    make = logged_in(*rows)
    home = owner(send=send)
    pool = make(home)
    stale = pool.select()
    thread = threading.Thread(target=pool.refresh, args=(stale,))
    thread.start()
    while not server.requests:
        time.sleep(0.005)
    other = make(home).select(exclude={stale.id})
    make(home).mark(other, 429)
    third = make(home).select(exclude={stale.id})
    assert (other.label, third.label, server.refreshes, thread.is_alive()) == ("b", "c", 0, True)
    thread.join(30)


def test_a_refresh_goes_on_without_the_one_who_wanted_it(logged_in, server):
    """A caller whose time is over is told so; what the endpoint then gives is stored all the same."""
    server.delay = 0.5
    pool = logged_in()()
    stale = pool.select()
    with pytest.raises(TimeoutError):
        pool.refresh(stale, timeout=0.05)
    assert (pool.refresh(stale).value != stale.value, server.refreshes) == (True, 1)


KILLED = """
import os, signal, sys
from hermes_core import Host
home, server = sys.argv[1:]
with Host.load(home) as host:
    pool = host.credentials.pool(host.providers.get("fake-oauth"), address=server)
    pool.refresh(pool.select())
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_process_killed_after_a_refresh_has_stored_it_r19_08(logged_in, server, home):
    """Once a refresh has returned, its tokens are on disk: the next process goes on with them."""
    home.plugin("model-providers/fake-oauth", name="fake-oauth", profile=server.profile)
    pool = logged_in(login("work", server.access(), server.grant(), expires_at=1))()
    done = subprocess.run([sys.executable, "-c", KILLED, str(home.path), server.base_url], timeout=60, check=False)
    found = pool.find("work")
    assert (
        done.returncode,
        server.refreshes,
        found.value in server._access,
        found.refresh_token in server._refresh,
    ) == (
        -9,
        1,
        True,
        True,
    )


# --- failures --------------------------------------------------------------------------------------------------------


def test_a_login_that_has_ended_is_dead(logged_in, server, auth_file):
    """After a final word the tokens are gone, the reason is written down, and only a new login helps."""
    pool = logged_in()()
    stale = pool.select()
    server.revoke()
    with pytest.raises(OAuthError) as caught:
        pool.refresh(stale)
    row = auth_file.rows("fake-oauth")["work"]
    assert (caught.value.relogin_required, row["last_status"], row["last_auth_error"]["code"]) == (
        True,
        "dead",
        "invalid_grant",
    )
    assert ({"access_token", "refresh_token"} & row.keys(), pool.select()) == (set(), None)
    assert "hermes auth login fake-oauth" in pool.refusal().hint


def test_a_token_that_was_rotated_behind_the_lock_is_taken(logged_in, server, auth_file, send, owner, clock):
    """When the endpoint calls the token spent, and the file has got another meanwhile, that one is used."""
    make = logged_in()
    newer = login("work", "at-of-a-program-without-lock", "rt-new", expires_at=NOW + 3600)

    def rotate_first(request, timeout):
        auth_file.pool(newer, provider="fake-oauth")
        return send(request, timeout)

    pool = make(owner(send=rotate_first))
    stale = pool.select()
    server.revoke()
    fresh = pool.refresh(stale)
    assert (fresh.value, auth_file.rows("fake-oauth")["work"]) == ("at-of-a-program-without-lock", newer)


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_token_that_still_lasts_is_used_when_the_endpoint_has_no_time(logged_in, server, auth_file, status, caplog):
    """A limit or an outage of the token endpoint is no problem of the login: the token is used while it lasts."""
    pool = logged_in()()
    stale = pool.select()
    server.queue_token_response({}, status=status)
    found = pool.refresh(stale)
    assert (found.value, found.is_stale, "last_status" in auth_file.rows("fake-oauth")["work"]) == (
        stale.value,
        False,
        False,
    )
    assert ("as long as it lasts" in caplog.text, stale.value in caplog.text) == (True, False)


@pytest.mark.parametrize(
    ("row", "status"),
    [
        pytest.param({"expires_at": NOW - 1}, 429, id="a token that has ended"),
        pytest.param({"expires_at": NOW + 3600}, 429, id="a token that the provider refused"),
        pytest.param({"expires_at": NOW + 60}, 403, id="an endpoint that will not"),
    ],
)
def test_a_token_that_does_not_last_is_not_used(logged_in, server, auth_file, row, status):
    """Where the old token would not do, the error is raised, and the login is left as it is."""
    pool = logged_in(login("work", "at-1", server.grant(), **row))()
    before = auth_file.path.read_bytes()
    server.queue_token_response({}, status=status)
    with pytest.raises(OAuthError) as caught:
        pool.refresh(pool.select())
    assert (caught.value.relogin_required, auth_file.path.read_bytes()) == (False, before)


def test_a_login_without_a_refresh_token_asks_for_a_new_one(logged_in):
    """A token that was refused and cannot be refreshed is an error that asks for a login."""
    pool = logged_in(login("work", "at-1", ""))()
    with pytest.raises(OAuthError, match="no refresh token") as caught:
        pool.refresh(pool.select())
    assert caught.value.relogin_required


def test_an_entry_that_is_gone_asks_for_a_login(logged_in, auth_file):
    """A login that was removed meanwhile cannot be refreshed."""
    pool = logged_in()()
    stale = pool.select()
    auth_file.pool(provider="fake-oauth")
    with pytest.raises(OAuthError, match="it is gone"):
        pool.refresh(stale)


def test_all_who_wait_are_told(logged_in, server):
    """When the one refresh fails, each of the threads that share it gets the error."""
    server.delay = 0.1
    pool = logged_in()()
    stale = pool.select()
    server.revoke()
    outcomes = in_threads(lambda: pool.refresh(stale), 5)
    assert [type(outcome) for outcome in outcomes] == [OAuthError] * 5


def test_tokens_that_cannot_be_stored_are_used_and_stored_later(logged_in, server, auth_file, owner, send, caplog):
    """Where the new tokens cannot be written they are not lost: the process uses them, says so, and tries again."""
    make = logged_in()

    def break_the_folder(request, timeout):
        answer = send(request, timeout)
        auth_file.path.with_name(".auth.json.draft").mkdir()
        return answer

    home = owner(send=break_the_folder)
    pool = make(home)
    stale = pool.select()
    fresh = pool.refresh(stale)
    before = auth_file.rows("fake-oauth")["work"]["access_token"]
    assert (before, make(home).select().value, "in this process alone" in caplog.text) == (
        stale.value,
        fresh.value,
        True,
    )
    auth_file.path.with_name(".auth.json.draft").rmdir()
    home.close()
    assert auth_file.rows("fake-oauth")["work"]["access_token"] == fresh.value


def test_a_store_that_cannot_be_read_spends_no_token(logged_in, server, auth_file):
    """A refresh that could not be written down is not begun."""
    pool = logged_in()()
    stale = pool.select()
    auth_file.write("{")
    with pytest.raises(OAuthError, match="cannot be refreshed") as caught:
        pool.refresh(stale)
    assert (server.requests, caught.value.retryable) == ([], True)


@pytest.mark.parametrize(
    ("ends", "expected"), [(NOW + 1, False), (NOW - 1, None)], ids=["a token that lasts", "a token that has ended"]
)
def test_without_a_token_endpoint_a_token_is_used_as_it_is(pool_of, auth_file, ends, expected):
    """Where the provider's data names no endpoint, a token is never stale: it is used until it ends."""
    auth_file.pool(login("a", "at-1", expires_at=ends))
    found = pool_of().select()
    assert (found and found.is_stale) is expected


@pytest.mark.parametrize(("said", "seconds"), [("", 20), ("30", 30), ("1", 5), ("soon", 20)])
def test_the_operator_says_how_long_an_endpoint_may_take(logged_in, owner, send, server, said, seconds):
    """``HERMES_<PROVIDER>_REFRESH_TIMEOUT_SECONDS`` is how long a token endpoint is waited for, five at least."""
    waits = []

    def watch(request, timeout):
        waits.append(timeout)
        return send(request, timeout)

    pool = logged_in()(owner(send=watch, HERMES_FAKE_OAUTH_REFRESH_TIMEOUT_SECONDS=said))
    pool.refresh(pool.select())
    assert waits == [seconds]
