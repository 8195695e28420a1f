"""Which credential is used, in which order, and what becomes of one that was refused."""

import subprocess
import sys
import threading
from collections import Counter

import pytest

from hermes_core.auth.keys import NO_CREDENTIAL, Credential
from hermes_core.auth.pool import read_cooldown
from hermes_core.errors import ExhaustedCredentialsError, MissingCredentialError, UnknownAuthProfileError

from .conftest import NOW, key, login


def order(pool):
    """The sources of a pool's credentials, in the order in which they are used."""
    tried, found = set(), []
    while (credential := pool.select(exclude=tried)) is not None:
        tried.add(credential.id)
        found.append(credential.label or credential.source)
    return found


# --- where credentials come from, and in which order -----------------------------------------------------------------

CONFIGURED = Credential("k-configured-1", "config:model.api_key")
VARIABLES = {"FIRST_KEY": "k-first-1", "SECOND_KEY": "k-second-1"}
ORDERS = {
    "variables in the provider's order": ([], VARIABLES, ["FIRST_KEY", "SECOND_KEY"]),
    "stored ones by priority": ([key("b", 1), key("a", 0)], {}, ["a", "b"]),
    "stored ones before variables that are not": ([key("a")], VARIABLES, ["a", "FIRST_KEY", "SECOND_KEY"]),
    "a variable that is stored, in its place": (
        [key("a", 1), {**key("FIRST_KEY", 0, source="env:FIRST_KEY"), "access_token": None}],
        VARIABLES,
        ["FIRST_KEY", "a", "SECOND_KEY"],
    ),
    "equal priorities as they stand": ([key("b"), key("a")], {}, ["b", "a"]),
    "odd priorities as the first": ([key("a", 1), key("b", "high"), key("c", None)], {}, ["b", "c", "a"]),
    "a stored variable that is not set": ([{**key("X", source="env:X")}, key("a", 1)], {}, ["a"]),
    "a placeholder": ([key("a", value="changeme"), key("b", 1)], {}, ["b"]),
    "a key that no header takes r19_11": ([key("a", value="k-\u200b-1"), key("b", 1)], {}, ["b"]),
    "a key without a value": ([{**key("a"), "access_token": ""}, key("b", 1)], {}, ["b"]),
    "the same key twice": ([key("a", value="k-first-1")], VARIABLES, ["a", "SECOND_KEY"]),
    "odd rows": (["text", None, {}, key("a")], {}, ["a"]),
    "a row of the fewest fields": ([{"access_token": "k-bare-1"}], {}, ["manual"]),
    "two rows without ids": (
        [{"label": "a", "access_token": "k-a-1"}, {"label": "b", "access_token": "k-b-1"}],
        {},
        ["a", "b"],
    ),
    "a source of another program": ([{"source": "gh_cli", "label": "gh"}, key("a", 1)], {}, ["a"]),
    "nothing": ([], {}, []),
}


@pytest.mark.parametrize(("rows", "variables", "expected"), ORDERS.values(), ids=ORDERS)
def test_every_source_is_in_one_order(pool_of, auth_file, rows, variables, expected):
    """Stored keys, by priority, then the provider's variables; what gives no usable key is passed over."""
    auth_file.pool(*rows)
    assert order(pool_of(**variables)) == expected


def test_a_configured_key_comes_first(pool_of, auth_file):
    """A key that the operator wrote into the configuration beats what is stored and what is set."""
    auth_file.pool(key("a"))
    assert order(pool_of(found=[CONFIGURED], **VARIABLES)) == ["model.api_key", "a", "FIRST_KEY", "SECOND_KEY"]


def test_a_pool_of_another_provider_does_not_count(pool_of, auth_file):
    """Only the provider's own pool is looked at."""
    auth_file.pool(key("a"), provider="other")
    assert order(pool_of(**VARIABLES)) == ["FIRST_KEY", "SECOND_KEY"]


def test_a_source_out_of_use_is_passed_over(pool_of, auth_file):
    """What the operator took out of use is not used, stored or not, and is still listed."""
    auth_file.pool(key("a"), suppressed_sources={"acme": ["env:FIRST_KEY", "manual"]})
    pool = pool_of(**VARIABLES)
    assert (order(pool), [how.word for _, how in pool.standings(pool.entries())]) == (
        ["SECOND_KEY"],
        ["suppressed", "suppressed", "ok"],
    )


def test_a_key_changed_on_disk_counts_at_once(pool_of, auth_file):
    """A pool that is asked again sees what was stored meanwhile."""
    pool = pool_of()
    auth_file.pool(key("a"))
    first = order(pool)
    auth_file.pool(key("b"), key("c", 1))
    assert (first, order(pool)) == (["a"], ["b", "c"])


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param({"auth_type": "none"}, NO_CREDENTIAL, id="a provider that takes none"),
        pytest.param({"env_vars": ()}, NO_CREDENTIAL, id="an endpoint that nothing is known of"),
        pytest.param({}, None, id="a provider with variables"),
        pytest.param(
            {"env_vars": (), "oauth": {"token_url": "https://acme.test/t"}}, None, id="a provider with a login"
        ),
    ],
)
def test_without_any_credential(pool_of, fields, expected):
    """Where none is wanted, an empty one is used, once; where one is wanted there is none."""
    pool = pool_of(**fields)
    assert (pool.select(), pool.select(exclude={NO_CREDENTIAL.id}), pool.select(pinned="x")) == (expected, None, None)


def test_a_stored_key_that_rests_does_not_open_the_door(pool_of, auth_file):
    """Where a key is stored but cannot be used now, a request without any is not sent in its place."""
    auth_file.pool(key("a", last_status="exhausted", last_status_at=NOW, last_error_code=429))
    assert pool_of(env_vars=()).select() is None


# --- where a key may go ----------------------------------------------------------------------------------------------

ADDRESSES = {
    "no address, known provider": ("https://api.acme.test/v1", "", "https://api.acme.test/v1", ""),
    "no address, known provider behind a proxy": ("https://api.acme.test/v1", "", "https://proxy.test/v1", ""),
    "the provider's own": ("https://api.acme.test/v1", "https://api.acme.test/v1/", "https://proxy.test/v1", ""),
    "another of the provider's": (
        "https://api.acme.test/v1",
        "https://eu.acme.test/v1",
        "https://api.acme.test/v1",
        "https://eu.acme.test/v1",
    ),
    "another path": (
        "https://api.acme.test/v1",
        "https://api.acme.test/coding",
        "https://api.acme.test/v1",
        "https://api.acme.test/coding",
    ),
    "an endpoint of one's own": ("", "https://mine.test/v1", "https://mine.test/v2", ""),
    "another endpoint of one's own": ("", "https://mine.test/v1", "https://evil.test/v1", None),
    "an endpoint that looks alike": ("", "https://mine.test/v1", "https://mine.test.evil.test/v1", None),
    "no address, endpoint of one's own": ("", "", "https://mine.test/v1", None),
}


@pytest.mark.parametrize(("own", "stored", "address", "expected"), ADDRESSES.values(), ids=ADDRESSES)
def test_a_stored_key_goes_where_it_was_meant_to(pool_of, auth_file, own, stored, address, expected):
    """A key stored for an address goes there alone; one without goes to its provider, and to no unknown endpoint."""
    auth_file.pool(key("a", base_url=stored))
    found = pool_of(base_url=own, address=address, env_vars=("A_KEY",)).select()
    assert (found and found.base_url) == expected


def test_the_stored_address_of_a_variable_does_not_count(pool_of, auth_file):
    """The address of a variable is where the call goes now, whatever was noted when it was first seen."""
    auth_file.pool(key("FIRST_KEY", source="env:FIRST_KEY", base_url="https://old.test/v1"))
    assert pool_of(FIRST_KEY="k-first-1").select().base_url == ""


# --- strategies ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ("fill_first", "aaaaaa"),
        ("round_robin", "abcabc"),
        ("least_used", "abcabc"),
        ("whatever", "aaaaaa"),
        (None, "aaaaaa"),
        (["random"], "aaaaaa"),
    ],
)
def test_which_of_several_is_used(pool_of, auth_file, owner, strategy, expected):
    """The first, each in turn, or the one used least; what is no strategy is the first."""
    auth_file.pool(key("a"), key("b", 1), key("c", 2))
    home = owner()
    config = {"credential_pool_strategies": {"acme": strategy}}
    assert "".join(pool_of(home, config).select().label for _ in range(6)) == expected


def test_any_of_several_is_used(pool_of, auth_file):
    """The strategy ``random`` uses all of them, in no order."""
    auth_file.pool(key("a"), key("b", 1))
    pool = pool_of(config={"credential_pool_strategies": {"acme": "random"}})
    assert {pool.select().label for _ in range(100)} == {"a", "b"}


def test_the_least_used_is_known_from_earlier(pool_of, auth_file):
    """How often each was used before counts."""
    auth_file.pool(key("a", request_count=5), key("b", 1, request_count=3), key("c", 2, request_count=9))
    pool = pool_of(config={"credential_pool_strategies": {"acme": "least_used"}})
    assert "".join(pool.select().label for _ in range(4)) == "bbab"


@pytest.mark.parametrize("strategy", ["round_robin", "least_used"])
def test_whose_turn_it_is_outlives_the_process(pool_of, auth_file, owner, strategy):
    """Turns and counts are written when the home is closed, not at each call, and go on from there."""
    auth_file.pool(key("a"), key("b", 1), novel=True)
    config = {"credential_pool_strategies": {"acme": strategy}}
    before, found = auth_file.path.read_bytes(), []
    for _ in range(3):
        home = owner()
        found.append(pool_of(home, config).select().label)
        assert auth_file.path.read_bytes() == before
        home.close()
        before = auth_file.path.read_bytes()
    assert ("".join(found), auth_file.tree["novel"]) == ("aba", True)


def test_one_credential_is_not_counted(pool_of, owner, home):
    """With one credential there is nothing to choose, and nothing to write."""
    credentials = owner(FIRST_KEY="k-first-1")
    config = {"credential_pool_strategies": {"acme": "round_robin"}}
    assert {pool_of(credentials, config).select().source for _ in range(3)} == {"env:FIRST_KEY"}
    credentials.close()
    assert not home.path.exists()


def test_parallel_work_is_spread(pool_of, auth_file):
    """A lease goes to a credential that the fewest use; when all are in use it does not wait."""
    auth_file.pool(key("a"), key("b", 1))
    pool = pool_of()
    leased = [pool.select(lease=True) for _ in range(5)]
    assert "".join(credential.label for credential in leased) == "ababa"
    for credential in leased[1::2]:
        pool.release(credential)
    assert [pool.select(lease=True).label for _ in range(3)] == ["b", "b", "b"]


def test_a_lease_of_one_credential_is_that_credential(pool_of):
    """The only credential may be leased any number of times; handing back more than was taken does no harm."""
    pool, empty, free = pool_of(FIRST_KEY="k-first-1"), pool_of(), pool_of(auth_type="none")
    leased = [pool.select(lease=True) for _ in range(3)]
    assert ({credential.source for credential in leased}, empty.select(lease=True)) == ({"env:FIRST_KEY"}, None)
    for credential in leased * 2:
        pool.release(credential)
    free.release(free.select(lease=True))
    assert pool.owner.leases.total() == free.owner.leases.total() == 0


# --- refusals --------------------------------------------------------------------------------------------------------


def test_a_refused_key_rests_and_the_next_is_used(pool_of, auth_file):
    """A refused key is passed over from then on, in every pool of the home, until its time has come."""
    auth_file.pool(key("a"), key("b", 1))
    pool = pool_of()
    pool.mark(pool.select(), 429)
    assert (pool.select().label, pool_of().select().label) == ("b", "b")


def test_a_rest_ends(pool_of, auth_file, clock):
    """A key whose time has come is used again."""
    auth_file.pool(key("a"), key("b", 1))
    pool = pool_of()
    pool.mark(pool.select(), 429, {"retry-after": "30"})
    labels = []
    for _ in range(3):
        labels.append(pool.select().label)
        clock.now += 29
    assert labels == ["b", "b", "a"]


def test_the_only_key_rests_briefly_r18_03(pool_of, clock):
    """After a rate limit without a word, the only key is used again after a minute."""
    pool = pool_of(FIRST_KEY="k-first-1")
    pool.mark(pool.select(), 429)
    during = pool.select()
    clock.now += 60
    assert (during, pool.select().source) == (None, "env:FIRST_KEY")


def test_two_keys_of_which_one_is_out_of_use_are_one(pool_of, auth_file, clock):
    """What cannot be used does not keep the only usable key from resting briefly."""
    auth_file.pool(key("a"), key("b", 1, last_status="dead"), {**key("X"), "source": "env:X"})
    pool = pool_of()
    pool.mark(pool.select(), 429)
    clock.now += 61
    assert pool.select().label == "a"


@pytest.mark.parametrize(
    ("configured", "seconds"),
    [(90, 90), ("90", 90), (0, 0), (-1, 3600), ("soon", 3600), (True, 3600), (float("inf"), 3600), (None, 3600)],
)
def test_how_long_a_rest_is_can_be_configured_r18_07(pool_of, auth_file, clock, configured, seconds):
    """``credential_pool_cooldown`` is in seconds, as a number or text; anything else means the usual hour."""
    auth_file.pool(key("a"), key("b", 1))
    pool = pool_of(config={"credential_pool_cooldown": configured})
    pool.mark(pool.select(), 402)
    clock.now += max(seconds - 1, 0)
    before = pool.select().label
    clock.now += 1
    assert (before, pool.select().label) == ("b" if seconds else "a", "a")


def test_an_unusable_cooldown_is_warned_of(caplog):
    """A cooldown that is none is said, with what is used in its place."""
    assert (read_cooldown("a while"), "'a while'; it is an hour" in caplog.text) == (3600.0, True)


def test_what_is_written_of_a_refusal(pool_of, auth_file):
    """The six fields that say how an entry fared are written, with the provider's code and time, and no text of it."""
    auth_file.pool(key("a"), key("b", 1))
    pool = pool_of()
    body = b'{"error": {"code": "rate_limit_exceeded", "message": "slow down, k-a-1"}}'
    pool.mark(pool.select(), 429, {"retry-after": "30"}, body)
    row = auth_file.rows()["a"]
    assert {name: row[name] for name in row if name.startswith("last_")} == {
        "last_status": "exhausted",
        "last_status_at": NOW,
        "last_error_code": 429,
        "last_error_reason": "rate_limit_exceeded",
        "last_error_message": None,
        "last_error_reset_at": NOW + 30,
    }
    assert {**auth_file.rows()["b"]} == {**key("b", 1)}


def test_only_the_refused_providers_entry_rests_r17_07(owner, pool_of, auth_file):
    """A refusal by one provider touches no other provider's entries."""
    auth_file.write({"credential_pool": {"acme": [key("a")], "other": [key("o")]}})
    pool = pool_of()
    pool.mark(pool.select(), 429)
    assert (auth_file.rows("other"), auth_file.rows()["a"]["last_status"]) == ({"o": key("o")}, "exhausted")


def test_a_variable_that_rests_is_stored_without_its_value(pool_of, auth_file):
    """What is written of keys that come from elsewhere tells whether they changed, and nothing of the keys."""
    pool = pool_of(found=[CONFIGURED], **VARIABLES)
    pool.mark(pool.select(), 401)
    text = auth_file.path.read_text()
    rows = auth_file.tree["credential_pool"]["acme"]
    assert [value for value in (CONFIGURED.value, *VARIABLES.values()) if value in text] == []
    assert [(row["source"], row["priority"], row["secret_fingerprint"][:7]) for row in rows] == [
        ("config:model.api_key", 0, "sha256:"),
        ("env:FIRST_KEY", 1, "sha256:"),
        ("env:SECOND_KEY", 2, "sha256:"),
    ]
    assert order(pool_of(found=[CONFIGURED], **VARIABLES)) == ["FIRST_KEY", "SECOND_KEY"]


def test_a_key_that_was_changed_does_not_rest(owner, pool_of):
    """What is held against a variable's key is not held against the next key in it, in any process."""
    first = owner(FIRST_KEY="k-first-1")
    pool = pool_of(first)
    pool.mark(pool.select(), 401)
    first.environment.variables["FIRST_KEY"] = "k-first-2"
    assert [pool_of(home).select().value for home in (first, owner(FIRST_KEY="k-first-2"))] == ["k-first-2"] * 2
    assert pool_of(owner(FIRST_KEY="k-first-1")).select() is None


def test_a_late_refusal_of_an_old_key_is_not_held_against_the_new_one(owner, pool_of):
    """A key that was changed while a call was under way is not marked for what the old one was refused for."""
    home = owner(FIRST_KEY="k-first-1")
    old = pool_of(home).select()
    home.environment.variables["FIRST_KEY"] = "k-first-2"
    pool_of(home).mark(old, 401)
    assert pool_of(home).select().value == "k-first-2"


@pytest.mark.parametrize("reason", ["token_revoked", "invalid_grant", "TOKEN_INVALIDATED", "invalid_token"])
@pytest.mark.parametrize(
    ("row", "status", "word"),
    [
        pytest.param(login("a", "at-a-1"), 401, "dead", id="a login"),
        pytest.param(login("a", "at-a-1"), 403, "resting", id="a login, forbidden"),
        pytest.param(key("a"), 401, "resting", id="a key"),
    ],
)
def test_a_login_that_was_revoked_is_dead(pool_of, auth_file, clock, row, status, word, reason):
    """A login refused with a final word is not used again, however long one waits; a key rests."""
    auth_file.pool(row)
    pool = pool_of()
    pool.mark(pool.select(), status, body=f'{{"error": {{"code": "{reason}"}}}}')
    clock.now += 10**8 if word == "dead" else 0
    ((_, standing),) = pool.standings(pool.entries())
    assert (standing.word, auth_file.rows()["a"]["last_error_reset_at"]) == (word, None)


def test_a_login_dead_for_a_day_goes_with_the_next_write(pool_of, auth_file, clock):
    """An operator's login that has been dead for over a day is taken out; the provider's own, and a fresh one, stay."""
    long_ago, lately = clock.now - 86401, clock.now - 86000
    auth_file.pool(
        login("gone", "", "", last_status="dead", last_status_at=long_ago),
        login("fresh", "", "", 1, last_status="dead", last_status_at=lately),
        login("theirs", "", "", 2, source="device_code", last_status="dead", last_status_at=long_ago),
        key("rests", 3, last_status="exhausted", last_status_at=long_ago),
        key("used", 4),
    )
    pool = pool_of()
    pool.mark(pool.select(exclude={"id-rests"}), 429)
    assert [*auth_file.rows()] == ["fresh", "theirs", "rests", "used"]


def test_marks_count_where_nothing_can_be_written(pool_of, auth_file, owner):
    """In a home that cannot be written, a refusal counts for the process, and nothing fails."""
    auth_file.write("{")
    home = owner(**VARIABLES)
    pool = pool_of(home)
    pool.mark(pool.select(), 429)
    assert (pool_of(home).select().source, auth_file.path.read_text()) == ("env:SECOND_KEY", "{")
    home.close()


def test_marks_that_could_not_be_written_are_written_later(pool_of, auth_file, owner):
    """What could not be written at once is written at the next chance."""
    auth_file.write("{")
    home = owner(**VARIABLES)
    pool = pool_of(home)
    pool.mark(pool.select(), 429)
    auth_file.write({"novel": 1})
    home.close()
    assert (auth_file.rows()["FIRST_KEY"]["last_status"], auth_file.tree["novel"]) == ("exhausted", 1)


def test_threads_that_are_refused_at_once(pool_of, auth_file, owner):
    """Refusals in many threads are all written, and each thread goes on with what is left."""
    auth_file.pool(*(key(f"n{number}", number) for number in range(16)))
    home, barrier, marked = owner(), threading.Barrier(16), Counter()

    def work(number):
        pool = pool_of(home)
        barrier.wait(30)
        credential = pool.select(exclude={f"id-n{other}" for other in range(16) if other != number})
        pool.mark(credential, 429)
        marked[credential.label] += 1

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    home.close()
    assert {row["last_status"] for row in auth_file.rows().values()} == {"exhausted"}
    assert (len(marked), pool_of(home).select()) == (16, None)


MARK = """
import pathlib, sys
from hermes_core.auth.credentials import Credentials
from hermes_core.config.environment import Environment
from hermes_core.providers.profile import ProviderProfile
credentials = Credentials(Environment(pathlib.Path(sys.argv[1]), {}))
pool = credentials.pool(ProviderProfile("acme", base_url="https://api.acme.test/v1", env_vars=("A_KEY",)))
pool.mark(pool.select(exclude={f"id-n{n}" for n in range(4) if n != int(sys.argv[2])}), 429)
credentials.close()
"""


def test_processes_that_are_refused_at_once(pool_of, auth_file, home):
    """Refusals in several processes are all there in the end."""
    auth_file.pool(*(key(f"n{number}", number) for number in range(4)))
    running = [subprocess.Popen([sys.executable, "-c", MARK, str(home.path), str(number)]) for number in range(4)]
    assert [process.wait(60) for process in running] == [0] * 4
    assert {row["last_status"] for row in auth_file.rows().values()} == {"exhausted"}


# --- names, and errors -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "label"),
    [
        pytest.param("id-work", "Work", id="an id"),
        pytest.param("Work", "Work", id="a label"),
        pytest.param(" wORK ", "Work", id="a label in another case"),
        pytest.param("env:FIRST_KEY", "FIRST_KEY", id="a source"),
        pytest.param("first_key", "FIRST_KEY", id="a variable"),
        pytest.param("id-double-1", "double", id="the id of one of two that share a label"),
        pytest.param("id-idle", "id-work", id="an id that is also near a label"),
    ],
)
def test_an_entry_is_found_by_its_name(pool_of, auth_file, name, label):
    """An id, a label in any case, or a source leads to one entry; an id beats a label."""
    rows = [key("Work", id="id-work"), key("id-work", 1, id="id-idle")]
    rows += [key("double", number, id=f"id-double-{number}") for number in (1, 2)]
    auth_file.pool(*rows)
    assert pool_of(FIRST_KEY="k-first-1").find(name).label == label


@pytest.mark.parametrize(
    ("name", "message"),
    [
        pytest.param("nobody", "no stored credential of provider 'acme' is called 'nobody'", id="unknown"),
        pytest.param("doubl", "did you mean 'double'", id="unknown, near a label"),
        pytest.param("Double", "2 stored credentials .* id-1, id-2", id="ambiguous"),
    ],
)
def test_a_name_that_leads_nowhere_is_a_value_error(pool_of, auth_file, name, message):
    """An unknown or ambiguous name is a ``ValueError`` that says which."""
    auth_file.pool(*(key("double", number, id=f"id-{number}") for number in (1, 2)))
    with pytest.raises(UnknownAuthProfileError, match=message) as caught:
        pool_of().find(name)
    assert (isinstance(caught.value, ValueError), bool(caught.value.hint)) == (True, True)


def test_a_pinned_credential_is_the_only_one(pool_of, auth_file):
    """With one credential pinned, no other is used, not even when it rests."""
    auth_file.pool(key("a"), key("b", 1))
    pool = pool_of()
    pinned = pool.find("b").id
    found = pool.select(pinned=pinned)
    pool.mark(found, 429)
    assert (found.label, pool.select(pinned=pinned), pool.select().label) == ("b", None, "a")
    assert "rests" in str(pool.refusal(pinned))


@pytest.mark.parametrize(
    ("rows", "fields", "words"),
    [
        pytest.param([], {}, ["FIRST_KEY, SECOND_KEY", ".env"], id="no key"),
        pytest.param(
            [], {"env_vars": (), "oauth": {"device_url": "https://x.test"}}, ["hermes auth login acme"], id="no login"
        ),
        pytest.param([login("a", "", "", last_status="dead")], {}, ["ended", "hermes auth login acme"], id="dead"),
        pytest.param([login("a", "at-1", "", expires_at=1)], {}, ["ended", "hermes auth login acme"], id="expired"),
        pytest.param(
            [key("a")], {"base_url": "", "env_vars": ()}, ["'api.acme.test'", "hermes auth add acme"], id="elsewhere"
        ),
        pytest.param([], {"env_vars": (), "auth_type": "oauth_external"}, ["hermes auth add acme"], id="unknown login"),
    ],
)
def test_the_refusal_says_what_helps(pool_of, auth_file, rows, fields, words):
    """Where there is no credential the error names the variables, or the command, that would give one."""
    auth_file.pool(*rows)
    pool = pool_of(**fields)
    error = pool.refusal()
    assert (pool.select(), type(error)) == (None, MissingCredentialError)
    assert [word for word in words if word not in f"{error} {error.hint}"] == []


def test_the_refusal_says_that_all_was_taken_out(pool_of, auth_file):
    """Where the operator took everything out of use, the error says so, and how to take it back."""
    auth_file.write({"suppressed_sources": {"acme": ["env:FIRST_KEY"]}})
    error = pool_of(FIRST_KEY="k-first-1").refusal()
    assert ("out of use" in str(error), "hermes auth reset acme" in error.hint) == (True, True)


def test_the_refusal_says_how_long_to_wait(pool_of, auth_file):
    """Where all rest the error is a retryable one, with the seconds until the first may be used."""
    auth_file.pool(key("a"), key("b", 1))
    pool = pool_of()
    for seconds in (50, 40):
        pool.mark(pool.select(), 429, {"retry-after": str(seconds)})
    error = pool.refusal()
    assert (type(error), error.retry_after, error.retryable, pool.select()) == (
        ExhaustedCredentialsError,
        40,
        True,
        None,
    )
    assert "hermes auth reset acme" in error.hint


def test_nothing_of_a_pool_shows_a_key_r20_03(pool_of, auth_file):
    """Reprs of pools, entries, stores and everything on the way leave keys and tokens out."""
    auth_file.pool(key("a"), login("b", "at-shown-1", "rt-shown-1"))
    pool = pool_of(FIRST_KEY="k-first-1")
    shown = f"{pool!r} {pool.entries()!r} {pool.standings(pool.entries())!r} {pool.select()!r} {pool.owner!r}"
    shown += f"{pool.owner.stores!r} {pool.owner.store._last!r}"
    assert [value for value in ("k-a-1", "at-shown-1", "rt-shown-1", "k-first-1") if value in shown] == []


# --- homes below another ---------------------------------------------------------------------------------------------


@pytest.fixture
def profile_home(home):
    """A home below the active one's ``profiles``."""
    path = home.path / "profiles" / "work"
    path.mkdir(parents=True)
    return path


def test_a_profile_reads_its_roots_credentials(owner, pool_of, auth_file, profile_home):
    """A home below ``profiles`` uses the root's entries, and what becomes of them is written where they are."""
    auth_file.pool(key("a"), key("b", 1))
    pool = pool_of(owner(profile_home))
    pool.mark(pool.select(), 429)
    assert (auth_file.rows()["a"]["last_status"], pool_of().select().label) == ("exhausted", "b")
    assert [*profile_home.iterdir()] == []


def test_a_profile_with_credentials_of_its_own_uses_those(owner, pool_of, auth_file, profile_home):
    """As soon as the home has entries for a provider, the root's are left alone; for other providers they count."""
    auth_file.write({"credential_pool": {"acme": [key("of-the-root")], "other": [key("o")]}})
    home = owner(profile_home)
    with home.store.changing() as tree:
        tree["credential_pool"] = {"acme": [key("own")]}
    assert (order(pool_of(home)), home.store_of("other").path) == (["own"], auth_file.path)


def test_no_other_home_reads_its_parents_credentials(owner, pool_of, auth_file, home):
    """A home that merely lies in another folder has no root."""
    auth_file.pool(key("a"))
    path = home.path / "elsewhere" / "work"
    path.mkdir(parents=True)
    assert pool_of(owner(path)).select() is None
