"""``hermes plugins``: list, show, enable, disable."""

import pytest
import yaml

COLUMNS = ["key", "state", "tier", "kind", "version", "source", "reason", "remedy"]

CONFIG = """\
# what I use
model:
  provider: custom  # at home
  default: "some-model"

plugins:
  enabled:
    - other  # of old
  disabled: []
"""


def plugins_in(home):
    """The plugins section of the home's configuration."""
    return yaml.safe_load((home.path / "config.yaml").read_text())["plugins"]


@pytest.fixture
def pebble(home):
    """A user's plugin whose code must not run."""
    return home.plugin("pebble", "raise SystemExit('imported')", name="pebble", version="1.2", description="A stone")


def test_the_list_has_a_line_for_each_plugin(hermes, pebble):
    """In a pipe, a plugin is a line of tab-separated cells below the names of the columns."""
    rows = hermes("plugins", "list").rows
    assert [*rows[0]] == COLUMNS
    assert rows[-1] == {
        "key": "pebble",
        "state": "off",
        "tier": "user",
        "kind": "standalone",
        "version": "1.2",
        "source": str(pebble),
        "reason": "not enabled in config",
        "remedy": "hermes plugins enable pebble",
    }


def test_the_list_for_programs_is_one_array(hermes, pebble):
    """``--json`` prints one array with the same plugins, nothing else."""
    found = hermes("plugins", "list", "--json").json
    assert [row["key"] for row in hermes("plugins", "list").rows] == [row["key"] for row in found]
    assert found[-1]["description"] == "A stone"


def test_a_plugin_that_cannot_be_read_is_a_line_with_its_reason(shell, home):
    """A broken manifest is listed as failed, with the place of the error, and the list still succeeds."""
    manifest = home.write("plugins/bad/plugin.yaml", "name: bad\nkind: [\n")
    done = shell("plugins", "list")
    row = done.rows[-1]
    assert (done.code, row["key"], row["state"]) == (0, "bad", "failed")
    assert row["reason"].startswith(f"cannot read {manifest}, line 3")


def test_a_warning_is_marked_as_one(shell, home):
    """What a command warns of reaches standard error in lines that open with ``warning:``."""
    home.write("plugins/bad/plugin.yaml", "name: [\n")
    assert [line for line in shell("plugins", "list").err.splitlines() if not line.startswith("warning: ")] == []


def test_one_plugin_is_shown_field_by_field(hermes, pebble):
    """``show`` prints a field a line; empty ones are left out."""
    lines = dict(line.split(maxsplit=1) for line in hermes("plugins", "show", "pebble").out.splitlines())
    assert (lines["key"], lines["version"], lines["description"]) == ("pebble", "1.2", "A stone")
    assert "declares" not in lines


def test_one_plugin_for_programs_is_one_object(hermes):
    """``show --json`` prints one object, with the surfaces that the manifest declares."""
    found = hermes("plugins", "show", "commands/tldr", "--json").json
    assert (
        found["key"],
        found["name"],
        found["state"],
        found["declares"],
    ) == ("commands/tldr", "tldr", "ready", ["hermes_commands"])


@pytest.mark.parametrize("action", ["show", "enable", "disable"])
def test_an_unknown_plugin_is_refused_with_the_nearest(hermes, pebble, action):
    """A name that no plugin has is an error that names the closest, and nothing is written."""
    expected = "error: no plugin 'pebbel'; did you mean 'pebble'?\nhint: run `hermes plugins list`\n"
    assert (1, "", expected) == hermes("plugins", action, "pebbel")
    assert not (pebble.parent.parent / "config.yaml").exists()


def test_enabling_and_disabling_say_how_the_plugin_stands_now(hermes, pebble):
    """Each change prints the plugin's new state, and its reason when it is off."""
    assert hermes("plugins", "enable", "pebble") == (0, "pebble: ready\n", "")
    assert hermes("plugins", "disable", "pebble") == (0, "pebble: off (disabled via config)\n", "")


def test_a_change_for_programs_is_one_object(hermes, pebble):
    """``enable --json`` prints the plugin as it stands afterwards."""
    assert hermes("plugins", "enable", "pebble", "--json").json["state"] == "ready"


def test_a_change_keeps_what_people_wrote(hermes, home, pebble):
    """Comments, quotes and order of config.yaml survive; only the lists change."""
    home.write("config.yaml", CONFIG)
    hermes("plugins", "enable", "pebble")
    expected = CONFIG.replace("    - other  # of old\n", "    - other  # of old\n    - pebble\n")
    assert expected == (home.path / "config.yaml").read_text()


def test_a_round_trip_ends_where_it_began(hermes, home, pebble):
    """Enabling after disabling leaves the plugin enabled, and in no list twice."""
    for action in ("enable", "enable", "disable", "disable", "enable"):
        assert hermes("plugins", action, "pebble").code == 0
    assert plugins_in(home) == {"enabled": ["pebble"], "disabled": []}


def test_a_bundled_plugin_is_disabled_and_forgotten_again(hermes, home):
    """A plugin that is on by itself is only ever listed as disabled; enabling it takes the word out."""
    hermes("plugins", "disable", "tldr")
    assert plugins_in(home) == {"disabled": ["commands/tldr"]}
    hermes("plugins", "enable", "tldr")
    assert plugins_in(home) == {"disabled": []}


@pytest.mark.parametrize("word", ["commands/tldr", "tldr"])
def test_key_and_name_are_both_understood(hermes, home, word):
    """A plugin may be called by its key or by its bare name, and what is written is its key."""
    assert hermes("plugins", "disable", word).out == "commands/tldr: off (disabled via config)\n"
    assert plugins_in(home) == {"disabled": ["commands/tldr"]}


@pytest.mark.parametrize("word", ["commands/tldr", "tldr"])
def test_whatever_spelling_disabled_a_plugin_is_taken_out(hermes, home, word):
    """Enabling removes the key as well as the bare name from the list of disabled plugins."""
    home.config({"plugins": {"disabled": [word]}})
    assert hermes("plugins", "enable", "tldr").out == "commands/tldr: ready\n"


@pytest.mark.parametrize(
    "section",
    [
        pytest.param(None, id="an empty section"),
        pytest.param("pebble", id="a section that is a word"),
        pytest.param({"enabled": "pebble"}, id="a list that is a word"),
        pytest.param({"enabled": None}, id="an empty list"),
    ],
)
def test_a_malformed_list_is_mended(hermes, home, pebble, section):
    """Where the configuration holds something other than a list, enabling writes a list."""
    home.config({"plugins": section})
    assert hermes("plugins", "enable", "pebble").out == "pebble: ready\n"
    assert plugins_in(home)["enabled"] == ["pebble"]


def test_a_memory_provider_is_chosen_not_enabled(hermes, home):
    """Enabling a memory provider is refused with the key that chooses it, and nothing is written."""
    home.plugin("memory/notes", "raise SystemExit('imported')")
    done = hermes("plugins", "enable", "notes")
    assert (done.code, done.out) == (1, "")
    assert done.err.splitlines() == [
        "error: memory/notes is a memory provider: one is active, the one memory.provider names",
        "hint: hermes memory setup notes",
    ]
    assert not (home.path / "config.yaml").exists()


def test_a_link_into_the_folder_is_shown_with_its_target(hermes, home, tmp_path):
    """A plugin that is a link shows where it leads."""
    target = tmp_path / "work" / "linked"
    target.mkdir(parents=True)
    (target / "plugin.yaml").write_text("name: linked\n")
    (home.path / "plugins").mkdir(parents=True)
    link = home.path / "plugins" / "linked"
    link.symlink_to(target)
    assert f"{link} -> {target}" == hermes("plugins", "list").rows[-1]["source"]


def test_what_a_loaded_plugin_registered_is_shown(hermes, home):
    """A plugin that was loaded is shown with all that it registered, also what this host has no use for."""
    code = """
    def register(ctx):
        ctx.register_command("/Wave_Back", handler=str.upper)
        ctx.register_tts_provider("loud")
    """
    home.config({"plugins": {"enabled": ["acme"]}})
    home.plugin("acme", code, name="acme")
    registered = hermes("plugins", "reload", "acme", "--json").json["registered"]
    assert registered == {"commands": ["wave-back"], "tts_provider": ["loud"]}
    assert "registered" not in hermes("plugins", "show", "acme", "--json").json


@pytest.mark.parametrize("control", ["\x1b[31m", "\r", "\n", "\t", "\x9b", "\u2028", "\x00", "\x0b"])
def test_a_cell_is_one_line_without_control_characters(home, hermes, control):
    """What a plugin says never breaks a row, nor reaches a terminal as a command; JSON keeps it, escaped."""
    home.plugin("acme", f"def register(ctx): raise ValueError('one' + {control!r} + 'two')", name="acme")
    home.config({"plugins": {"enabled": ["acme"]}})
    shown = hermes("plugins", "reload", "acme").out
    (row,) = [row for row in hermes("plugins", "list").rows if row["key"] == "acme"]
    assert " ".join(row["reason"].split()).startswith("ValueError: one")
    assert all(character == "\n" or character.isprintable() for character in shown)
    assert hermes("plugins", "list", "--json").json
