"""Adding keys and logins, taking them out of use, and letting them be used again."""

import pytest

from hermes_core.auth import manage
from hermes_core.auth.oauth import OAuthSettings, Tokens
from hermes_core.errors import HermesError, UnknownAuthProfileError

from .conftest import NOW, key, login

SETTINGS = OAuthSettings("acme", client_id="c-1")


def tokens(access="at-1"):
    """What a login gives."""
    return Tokens(access, f"rt-of-{access}", NOW + 3600, {})


def labels(pool):
    """What the pool would use, in order."""
    return [entry.label for entry, standing in pool.standings(pool.entries()) if standing.word == "ok"]


@pytest.mark.parametrize(
    ("first", "expected"),
    [(False, ["FIRST_KEY", "manual-1", "manual-2"]), (True, ["manual-2", "manual-1", "FIRST_KEY"])],
    ids=["behind the others", "before the others"],
)
def test_keys_are_added(pool_of, auth_file, first, expected):
    """A key goes behind those that are there, or before them; what comes from elsewhere keeps its place unstored."""
    pool = pool_of(FIRST_KEY="k-first-1")
    made = [manage.add_key(pool, f" k-added-{number}\n", first=first) for number in (1, 2)]
    assert (labels(pool), [entry.value for entry in made]) == (expected, ["k-added-1", "k-added-2"])
    assert "k-first-1" not in auth_file.path.read_text()


def test_what_is_written_of_a_key(pool_of, auth_file):
    """A row with all fields that the original looks for."""
    entry = manage.add_key(pool_of(), "k-added-1", label="work", base_url="https://eu.acme.test/v1")
    assert auth_file.tree["credential_pool"] == {
        "acme": [
            {
                "id": entry.id,
                "label": "work",
                "auth_type": "api_key",
                "priority": 0,
                "source": "manual",
                "access_token": "k-added-1",
                "base_url": "https://eu.acme.test/v1",
                "last_status": None,
                "last_status_at": None,
                "last_error_code": None,
                "last_error_reason": None,
                "last_error_message": None,
                "last_error_reset_at": None,
            }
        ]
    }
    assert len(entry.id) == 6


KEYS = {
    "nothing": ("", "there is no key"),
    "blanks": (" \n", "there is no key"),
    "too short": ("abc", "too short, or a placeholder"),
    "a placeholder": ("changeme", "too short, or a placeholder"),
    "a reference": ("${ACME_API_KEY}", "too short, or a placeholder"),
    "two lines": ("k-one-1\nk-two-2", r"U\+000A"),
    "a blank": ("k one 1", r"U\+0020"),
    "a NUL r19_12": ("k-one\x00", r"U\+0000"),
    "a tab r19_12": ("k\tone1", r"U\+0009"),
    "a delete r19_12": ("k-one\x7f", r"U\+007F"),
    "a look-alike letter r19_11": ("k-\u0430bcd", r"U\+0430"),
    "an invisible blank r19_11": ("k-\u200babc", r"U\+200B"),
    "one that is there": ("k-first-1", "already: 'FIRST_KEY'"),
}


@pytest.mark.parametrize(("value", "message"), KEYS.values(), ids=KEYS)
def test_what_is_no_new_key_is_refused(pool_of, auth_file, value, message):
    """What no header takes, was never replaced, or is there already is not stored; the error does not show it."""
    with pytest.raises(HermesError, match=message) as caught:
        manage.add_key(pool_of(FIRST_KEY="k-first-1"), value)
    assert not auth_file.path.exists()
    assert len(value.strip()) < 4 or value.strip() not in f"{caught.value}{caught.value.hint}"


def test_a_label_is_taken_once(pool_of):
    """A label that another credential has, in any case, is refused."""
    pool = pool_of()
    manage.add_key(pool, "k-added-1", label="Work")
    with pytest.raises(HermesError, match="called 'wORK' already"):
        manage.add_key(pool, "k-added-2", label="wORK")


@pytest.mark.parametrize(
    ("address", "given", "expected"),
    [
        ("https://mine.test/v1", "", "https://mine.test/v1"),
        ("https://mine.test/v1", "https://other.test/v1", "https://other.test/v1"),
        ("", "https://other.test/v1", "https://other.test/v1"),
    ],
    ids=["that of the configuration", "the given one", "the given one, without configuration"],
)
def test_a_key_of_an_endpoint_of_ones_own_has_an_address(pool_of, auth_file, address, given, expected):
    """Where the provider has no address of its own, a key is stored for one."""
    manage.add_key(pool_of(base_url="", env_vars=(), address=address), "k-added-1", base_url=given)
    assert auth_file.rows()["manual-1"]["base_url"] == expected


def test_a_key_of_an_unknown_endpoint_asks_for_its_address(pool_of):
    """Without any address such a key is not stored."""
    with pytest.raises(HermesError, match="needs one") as caught:
        manage.add_key(pool_of(base_url="", env_vars=(), address=""), "k-added-1")
    assert "--base-url" in caught.value.hint


def test_a_provider_that_takes_none_gets_none(pool_of):
    """No key is stored for a provider that sends none."""
    with pytest.raises(HermesError, match="takes no credential"):
        manage.add_key(pool_of(auth_type="none"), "k-added-1")


def test_logging_in_again_renews_the_login(pool_of, auth_file):
    """A login of the same label, in any case, is renewed in its place, dead or not; another label is another login."""
    auth_file.pool(key("a"), login("Login", "", "", 1, last_status="dead", novel=1), key("b", 2))
    pool = pool_of()
    renewed = manage.add_login(pool, SETTINGS, tokens())
    manage.add_login(pool, SETTINGS, tokens("at-2"), "second")
    row = auth_file.rows()["login"]
    assert (labels(pool), renewed.id, row["novel"], row["last_status"]) == (
        ["a", "login", "b", "second"],
        "id-Login",
        1,
        "ok",
    )


def test_a_stored_key_is_removed(pool_of, auth_file):
    """A key that is stored is deleted, and its neighbours stay as they are."""
    auth_file.pool(key("a"), key("b", 1), "odd", novel=1)
    pool = pool_of()
    (gone,) = manage.remove(pool, ["A"])
    tree = auth_file.tree
    assert (gone.label, labels(pool), tree["credential_pool"]["acme"], tree["novel"]) == (
        "a",
        ["b"],
        [key("b", 1), "odd"],
        1,
    )


@pytest.mark.parametrize("stored", [False, True], ids=["not stored", "stored"])
def test_a_variable_is_taken_out_of_use_and_back(pool_of, auth_file, stored):
    """What comes from a variable is passed over from then on, and used again after a reset."""
    pool = pool_of(FIRST_KEY="k-first-1", SECOND_KEY="k-second-1")
    if stored:
        pool.mark(pool.select(), 429)
    manage.remove(pool, ["FIRST_KEY"])
    during, sources = labels(pool), auth_file.tree["suppressed_sources"]
    manage.remove(pool, ["FIRST_KEY"])
    twice = auth_file.tree["suppressed_sources"]
    manage.reset(pool, "FIRST_KEY")
    assert (during, sources, twice) == (["SECOND_KEY"], {"acme": ["env:FIRST_KEY"]}, sources)
    assert (sorted(labels(pool)), auth_file.tree["suppressed_sources"]) == (["FIRST_KEY", "SECOND_KEY"], {"acme": []})


def test_a_row_of_a_variable_that_is_gone_is_removed(pool_of, auth_file):
    """A row that is left over from a variable that is not set is deleted, and its source may come back."""
    auth_file.pool({**key("OLD"), "source": "env:OLD"}, key("a", 1))
    pool = pool_of()
    manage.remove(pool, ["OLD"])
    assert ([*auth_file.rows()], "suppressed_sources" in auth_file.tree) == (["a"], False)


def test_what_is_not_there_cannot_be_removed(pool_of, auth_file):
    """An unknown name is an error, and nothing is written."""
    auth_file.pool(key("a"))
    before = auth_file.path.read_bytes()
    with pytest.raises(UnknownAuthProfileError):
        manage.remove(pool_of(), ["nobody"])
    assert auth_file.path.read_bytes() == before


def test_a_reset_lets_everything_be_used_again_r18_05(pool_of, auth_file):
    """After a reset nothing rests, in this process, and in one that has marked it itself."""
    auth_file.pool(key("a"), key("b", 1))
    here, elsewhere = pool_of(), pool_of()
    for pool in (here, elsewhere):
        pool.mark(pool.select(), 429)
    before = [labels(pool) for pool in (here, elsewhere)]
    reset = manage.reset(here)
    assert (before, [entry.label for entry in reset]) == ([[], []], ["a", "b"])
    assert [labels(pool) for pool in (here, elsewhere)] == [["a", "b"]] * 2
    assert {row["last_status"] for row in auth_file.rows().values()} == {None}


def test_a_reset_of_one_leaves_the_others(pool_of, auth_file):
    """A reset that names an entry is about that one."""
    auth_file.pool(
        *(key(name, number, last_status="exhausted", last_status_at=NOW) for number, name in enumerate("ab"))
    )
    pool = pool_of()
    manage.reset(pool, "b")
    assert labels(pool) == ["b"]


def test_a_reset_does_not_bring_back_a_login_that_has_ended(pool_of, auth_file):
    """A dead login without tokens stays dead; one that only was marked so is used again."""
    auth_file.pool(login("a", "", "", last_status="dead"), login("b", "at-b-1", priority=1, last_status="dead"))
    pool = pool_of()
    manage.reset(pool)
    assert labels(pool) == ["b"]


def test_a_reset_of_nothing_writes_nothing(pool_of, auth_file):
    """Where nothing is held against anything, the file is left alone."""
    auth_file.pool(key("a"))
    before = auth_file.path.read_bytes()
    assert (manage.reset(pool_of()), auth_file.path.read_bytes()) == ([], before)


WRITES = {
    "add a key": lambda pool: manage.add_key(pool, "k-added-1"),
    "log in": lambda pool: manage.add_login(pool, SETTINGS, tokens()),
    "remove": lambda pool: manage.remove(pool, ["FIRST_KEY"]),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
@pytest.mark.parametrize(
    "content",
    ["{", '{"credential_pool": {"acme": {"not": "a list"}}, "suppressed_sources": {"acme": 5}}'],
    ids=["a broken file", "a pool that is no list"],
)
def test_commands_refuse_to_write_what_they_cannot_read(pool_of, auth_file, write, content):
    """A file, or a part of it, that is not what it must be is not written over."""
    auth_file.write(content)
    with pytest.raises(HermesError):
        write(pool_of(FIRST_KEY="k-first-1"))
    assert auth_file.path.read_text() == content


def test_a_profiles_own_key_is_stored_at_home(owner, pool_of, auth_file, home):
    """A home below ``profiles`` stores what is new itself; the root's entries do not change."""
    auth_file.pool(key("of-the-root"))
    before = auth_file.path.read_bytes()
    path = home.path / "profiles" / "work"
    pool = pool_of(owner(path))
    manage.add_key(pool, "k-added-1")
    assert (labels(pool), auth_file.path.read_bytes(), (path / "auth.json").exists()) == (["manual-1"], before, True)
