"""Where a home is."""

from pathlib import Path

import pytest

from hermes_core.config.paths import (
    display_hermes_home,
    get_config_path,
    get_default_hermes_root,
    get_env_path,
    get_hermes_home,
    get_hermes_home_override,
    get_hermes_root,
    passed_over_profile,
    profile_name,
    reset_hermes_home_override,
    set_hermes_home_override,
)


@pytest.fixture
def user(monkeypatch, tmp_path):
    """A user with a folder of their own, and no HERMES_HOME."""
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.delenv("HERMES_HOME")
    return tmp_path / "user"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(None, "{user}/.hermes", id="not set"),
        pytest.param("  ", "{user}/.hermes", id="blank"),
        pytest.param("/srv/bot", "/srv/bot", id="a path"),
        pytest.param(" /srv/bot ", "/srv/bot", id="blanks around"),
        pytest.param("~/bots/x", "{user}/bots/x", id="below the user's home"),
        pytest.param("/srv/../bot", "/srv/../bot", id="as it is written"),
    ],
)
def test_the_home_is_where_the_variable_says(user, monkeypatch, value, expected):
    """HERMES_HOME is the home when it is set and not blank, else ``~/.hermes``; it is not resolved."""
    if value is not None:
        monkeypatch.setenv("HERMES_HOME", value)
    assert Path(expected.format(user=user)) == get_hermes_home()


def test_a_link_keeps_its_name_r22_03(user, monkeypatch, tmp_path):
    """A home that is a link goes by the link's own path."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "link"))
    assert get_hermes_home() == tmp_path / "link"


def test_the_override_wins_and_can_be_undone_r22_05(user, monkeypatch):
    """A context's override beats the variable until it is reset."""
    monkeypatch.setenv("HERMES_HOME", "/srv/one")
    token = set_hermes_home_override("/srv/two")
    during = get_hermes_home(), get_hermes_home_override()
    reset_hermes_home_override(token)
    assert ((Path("/srv/two"), Path("/srv/two")), Path("/srv/one"), None) == (
        during,
        get_hermes_home(),
        get_hermes_home_override(),
    )


@pytest.mark.parametrize("kind", ["a text", "a path"])
def test_the_override_takes_text_and_path(user, kind):
    """The override may be a text or a path."""
    token = set_hermes_home_override("/srv/x" if kind == "a text" else Path("/srv/x"))
    found = get_hermes_home()
    reset_hermes_home_override(token)
    assert Path("/srv/x") == found


def test_files_lie_in_the_home(user, monkeypatch):
    """``config.yaml`` and ``.env`` lie in the active home."""
    monkeypatch.setenv("HERMES_HOME", "/srv/bot")
    assert (Path("/srv/bot/config.yaml"), Path("/srv/bot/.env")) == (get_config_path(), get_env_path())


def test_the_home_is_shown_as_people_write_it(user):
    """A home below the user's own is shown with ``~/``, another one as it is."""
    assert (
        display_hermes_home(),
        display_hermes_home(Path("/srv/bot")),
        display_hermes_home(user / "x"),
    ) == ("~/.hermes", "/srv/bot", "~/x")


def test_the_default_root_is_in_the_users_home(user, monkeypatch):
    """The default root does not depend on HERMES_HOME."""
    monkeypatch.setenv("HERMES_HOME", "/srv/bot")
    assert get_default_hermes_root() == user / ".hermes"


@pytest.mark.parametrize(
    ("home", "root", "name"),
    [
        pytest.param("{user}/.hermes", "{user}/.hermes", "default", id="the default home"),
        pytest.param("{user}/.hermes/profiles/work", "{user}/.hermes", "work", id="a profile of it r22-04"),
        pytest.param("/srv/bot/profiles/x-1", "/srv/bot", "x-1", id="a profile of another home"),
        pytest.param("/srv/bot", "/srv/bot", "custom", id="another home"),
        pytest.param("/srv/bot/profiles/my profile", "/srv/bot", "custom", id="a folder that is no name"),
    ],
)
def test_a_home_has_a_root_and_a_name(user, monkeypatch, home, root, name):
    """A profile lies two folders below its root and goes by its folder; any other home is its own root."""
    path = Path(home.format(user=user))
    monkeypatch.setenv("HERMES_HOME", str(path))
    found = get_hermes_root(), get_hermes_root(path), profile_name(), profile_name(path)
    assert (Path(root.format(user=user)),) * 2 + (name,) * 2 == found


@pytest.mark.parametrize(
    ("text", "chosen", "expected"),
    [
        pytest.param("work\n", None, "work", id="named in the file alone"),
        pytest.param("default", None, "", id="the default one"),
        pytest.param("", None, "", id="an empty file"),
        pytest.param("work", "/srv/bot", "", id="a home is chosen"),
        pytest.param(None, None, "", id="no file"),
    ],
)
def test_a_profile_that_is_named_and_not_chosen_is_told(user, monkeypatch, text, chosen, expected):
    """``active_profile`` chooses nothing; what it names is told while no HERMES_HOME does."""
    if text is not None:
        (user / ".hermes").mkdir(parents=True)
        (user / ".hermes" / "active_profile").write_text(text)
    if chosen:
        monkeypatch.setenv("HERMES_HOME", chosen)
    assert expected == passed_over_profile()
