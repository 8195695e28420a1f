"""``hermes response-cache``: what is kept, and how it is deleted."""

import pytest

from hermes_core import Host

FILE = "plugin-data/llm/response-cache/answers.db"


@pytest.fixture
def kept(home, provider):
    """A home in which one answer was kept."""
    home.config({**provider.config, "plugins": {"enabled": ["response-cache"]}})
    provider.answer("the kept words")
    with Host.load() as host:
        host.llm("caller").complete([{"role": "user", "content": "ping"}])
    return home.path / FILE


def test_status_says_what_is_kept(hermes, kept):
    """``status`` names the file, and says how many answers there are and since when."""
    found = hermes("response-cache", "status", "--json").json
    assert (found["path"], found["answers"], found["bytes"] > 0, found["oldest"][:2]) == (str(kept), 1, True, "20")
    assert "answers  1\n" in hermes("response-cache", "status").out


def test_status_makes_no_file(hermes, home):
    """Where nothing was kept yet, ``status`` says so, and leaves it so."""
    home.config({"plugins": {"enabled": ["response-cache"]}})
    found = hermes("response-cache", "status", "--json").json
    assert (found["answers"], found["bytes"], found["oldest"], (home.path / FILE).exists()) == (0, 0, None, False)
    assert hermes("response-cache", "clear").code == 0


def test_clear_deletes_every_word(hermes, kept):
    """After ``clear`` nothing is kept, and nothing of it is left in the files."""
    assert b"the kept words" in kept.read_bytes()
    assert hermes("response-cache", "clear", "--json").json["answers"] == 0
    assert not [path for path in kept.parent.iterdir() if b"the kept words" in path.read_bytes()]


def test_clear_mends_a_damaged_file(hermes, kept):
    """A damaged file is an error that names the remedy, and the remedy works."""
    kept.write_bytes(b"garbage " * 1000)
    failed = hermes("response-cache", "status")
    assert (failed.code, "hermes response-cache clear" in failed.err) == (1, True)
    assert hermes("response-cache", "clear").code == 0
    assert hermes("response-cache", "status", "--json").json["answers"] == 0


def test_the_command_is_there_only_with_the_plugin(hermes, home):
    """Without the plugin enabled, there is no such command."""
    assert hermes("response-cache", "status").code != 0
