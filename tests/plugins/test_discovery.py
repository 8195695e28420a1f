"""Where plugins are found, and what a row says of them before anything is imported."""

import json
import os
import subprocess
import sys

import pytest

PROFILE = """
from hermes_core import ProviderProfile
def register(ctx):
    ctx.register_provider(ProviderProfile("{name}", base_url="https://{name}.test/v1"))
"""
LEAVES_A_TRACE = """
from pathlib import Path
Path(__file__).with_name("it-ran").touch()
def register(ctx): pass
"""


def rows(host, tier):
    """Key → row, of one tier."""
    return {row.key: row for row in host.plugins if row.tier == tier}


def test_bundled_plugins_are_found_below_their_categories(load_host):
    """A bundled plugin's key is its category and folder, with dashes; its name is its manifest's."""
    bundled = rows(load_host(), "bundled")
    assert {key: bundled[key].name for key in ("commands/tldr", "model-providers/kimi-coding")} == {
        "commands/tldr": "tldr",
        "model-providers/kimi-coding": "kimi-coding",
    }


def test_another_folder_may_hold_the_bundled_plugins(home, load_host, tmp_path, monkeypatch):
    """``HERMES_BUNDLED_PLUGINS`` names a folder whose plugins are the bundled ones, and on like those."""
    type(home)(tmp_path / "theirs").plugin("tools/acme", "def register(ctx): ctx.register_command('hi', str)")
    type(home)(tmp_path / "theirs").plugin("flat", "", name="flat")
    home.write("../theirs/plugins/tools/acme/plugin.yaml", "description: theirs")
    monkeypatch.setenv("HERMES_BUNDLED_PLUGINS", str(tmp_path / "theirs" / "plugins"))
    host = load_host()
    assert ({"flat", "tools/acme"}, ["hi"]) == ({*rows(host, "bundled")}, [*host.commands])


def test_legacy_files_are_found_in_the_providers_folder(home, load_host):
    """Each single file in ``<home>/providers`` is a legacy provider, but for those that start with ``_`` or ``.``."""
    for name in ("b.py", "a.py", "_base.py", ".hidden.py", "notes.txt"):
        home.write(f"providers/{name}", "")
    found = rows(load_host(), "legacy")
    assert {key: row.kind for key, row in found.items()} == {
        "providers/a": "model-provider",
        "providers/b": "model-provider",
    }


@pytest.mark.parametrize(
    ("where", "manifest", "key"),
    [
        pytest.param("acme", {"name": "acme"}, "acme", id="a flat folder goes by its name"),
        pytest.param("folder", {"name": "acme"}, "acme", id="a flat folder goes by its manifest, not by the folder"),
        pytest.param("folder", {"version": "1"}, "folder", id="a flat folder without a name goes by the folder"),
        pytest.param("image_gen/openai", {"name": "x"}, "image_gen/openai", id="a nested folder goes by its path"),
        pytest.param("memory/notes", {"name": "notes"}, "memory/notes", id="so does one in a known category"),
    ],
)
def test_user_folders_are_keyed_by_place(home, load_host, where, manifest, key):
    """A flat plugin's key is its manifest's name, a nested one's is category and folder."""
    home.plugin(where, "", **manifest)
    assert [key] == [*rows(load_host(), "user")]


def test_a_memory_plugin_is_found_flat_and_nested_r04_05(home, load_host):
    """The same memory plugin is found in ``plugins/<n>`` and in ``plugins/memory/<n>``."""
    home.plugin("flat", "", name="flat", kind="exclusive")
    home.plugin("memory/nested", "", name="nested")
    found = rows(load_host(), "user")
    assert {key: row.kind for key, row in found.items()} == {"flat": "exclusive", "memory/nested": "exclusive"}


@pytest.mark.parametrize(
    ("category", "kind"),
    [
        pytest.param("model-providers", "model-provider", id="model-providers"),
        pytest.param("memory", "exclusive", id="memory"),
    ],
)
def test_known_categories_need_no_manifest(home, load_host, category, kind):
    """Below ``model-providers`` and ``memory`` a folder with code alone is a plugin of that kind."""
    home.plugin(f"{category}/acme", "")
    assert (f"{category}/acme", "acme", kind) == next(
        (row.key, row.name, row.kind) for row in load_host().plugins if row.tier == "user"
    )


def test_a_memory_plugin_needs_no_manifest(home, load_host):
    """A folder whose code speaks of a memory provider is one, whatever lies below it; it is chosen like any other."""
    home.plugin("notes", "# register_memory_provider\nfrom acme import register\n")
    home.plugin("notes/inner", "", name="inner")
    home.plugin("other", "VALUE = 1")
    rows = {row.key: (row.kind, row.state) for row in load_host().plugins if row.tier == "user"}
    assert rows == {"notes": ("exclusive", "off")}
    assert load_host(config={"memory": {"provider": "notes"}}).plugin("notes").state == "ready"


def test_a_folder_may_begin_with_an_underscore(home, load_host):
    """A single underscore does not hide a folder that has a manifest."""
    home.plugin("_acme", "", name="acme")
    assert [*rows(load_host(), "user")] == ["acme"]


def test_what_is_no_plugin_is_passed_over(home, load_host):
    """Files, ``__x__`` folders, code without manifest, and folders two levels below a category are no plugins."""
    home.write("plugins/loose.py", "")
    home.plugin("__pycache__", "", name="cache")
    home.plugin("code_only", "")
    home.plugin("tools/code_only", "")
    home.plugin("a/b/c", "", name="too-deep")
    home.plugin("model-providers/_base", "", name="base")
    home.plugin("model-providers/.git", "", name="git")
    assert rows(load_host(), "user") == {}


def test_yaml_beats_yml(home, load_host):
    """``plugin.yml`` is read when there is no ``plugin.yaml``."""
    home.write("plugins/a/plugin.yml", "name: from-yml")
    home.write("plugins/b/plugin.yml", "name: from-yml-too")
    home.write("plugins/b/plugin.yaml", "name: from-yaml")
    assert [*rows(load_host(), "user")] == ["from-yml", "from-yaml"]


@pytest.mark.parametrize("value", ["1", "true", " Yes ", "ON"])
def test_project_plugins_are_found_when_asked_for(home, load_host, monkeypatch, tmp_path, value):
    """``.hermes/plugins`` of the working directory counts when HERMES_ENABLE_PROJECT_PLUGINS is true."""
    project = type(home)(tmp_path / "project" / ".hermes")
    project.plugin("acme", "", name="acme")
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("HERMES_ENABLE_PROJECT_PLUGINS", value)
    assert [*rows(load_host(), "project")] == ["acme"]


@pytest.mark.parametrize("value", ["", "0", "false", "no", "maybe"])
def test_project_plugins_are_not_found_otherwise(home, load_host, monkeypatch, tmp_path, value):
    """A project's plugins do not exist while HERMES_ENABLE_PROJECT_PLUGINS is not true."""
    project = type(home)(tmp_path / "project" / ".hermes")
    project.plugin("acme", "", name="acme")
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("HERMES_ENABLE_PROJECT_PLUGINS", value)
    assert rows(load_host(), "project") == {}


def test_a_home_that_is_also_the_project_lists_each_plugin_once_r22_03(load_host, home, monkeypatch, tmp_path):
    """Working in the folder above ``.hermes`` makes nothing of the home a project plugin too."""
    dot_hermes = type(home)(tmp_path / ".hermes")
    dot_hermes.plugin("acme", "", name="acme")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HERMES_ENABLE_PROJECT_PLUGINS", "1")
    host = load_host(dot_hermes.path)
    assert [row.tier for row in host.plugins if row.key == "acme"] == ["user"]


def test_a_linked_plugin_is_found_and_shown_as_linked_r05_03(home, load_host, tmp_path):
    """A link in the plugins folder is a plugin; its source says where it leads."""
    elsewhere = type(home)(tmp_path / "elsewhere").plugin("dev", "", name="dev")
    (home.path / "plugins").mkdir(parents=True)
    link = home.path / "plugins" / "dev"
    link.symlink_to(elsewhere)
    assert f"{link} -> {elsewhere}" == rows(load_host(), "user")["dev"].source


def test_a_linked_home_lists_each_plugin_once_r22_03(home, load_host, tmp_path):
    """A home and a plugins folder that are links give each plugin once, and the path as it was given."""
    real = type(home)(tmp_path / "real")
    real.plugin("acme", "", name="acme")
    home.path.mkdir()
    (home.path / "plugins").symlink_to(real.path / "plugins")
    link = tmp_path / "link"
    link.symlink_to(home.path)
    host = load_host(link)
    assert (link, ["acme"]) == (host.home, [*rows(host, "user")])


def test_rows_come_lowest_tier_first(home, load_host, site, monkeypatch, tmp_path):
    """Rows are in rising order of intent: bundled, legacy, entry points, user, project; by name within a folder."""
    home.write("providers/old.py", "")
    site.install("acme", {"hermes": {"acme": "acme_mod"}}, acme_mod="")
    home.plugin("b", "", name="b")
    home.plugin("a", "", name="a")
    type(home)(tmp_path / "project" / ".hermes").plugin("p", "", name="p")
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("HERMES_ENABLE_PROJECT_PLUGINS", "1")
    found = [(row.tier, row.key) for row in load_host().plugins if row.tier != "bundled"]
    assert found == [
        ("legacy", "providers/old"),
        ("entrypoint", "acme"),
        ("user", "a"),
        ("user", "b"),
        ("project", "p"),
    ]


def test_a_row_says_all_there_is_to_say(home, load_host):
    """A row has name, key, kind, tier, source, version, state, reason and remedy."""
    folder = home.plugin("acme", "", name="acme", version=1.5, kind=" Backend ", description=" Fine things ")
    row = rows(load_host(), "user")["acme"]
    assert {
        "name": "acme",
        "key": "acme",
        "kind": "backend",
        "tier": "user",
        "source": str(folder),
        "version": "1.5",
        "state": "off",
        "reason": "not enabled in config",
        "remedy": "hermes plugins enable acme",
        "description": "Fine things",
    } == {
        field: getattr(row, field)
        for field in (
            *("name", "key", "kind", "tier", "source", "version", "state", "reason", "remedy", "description"),
        )
    }


def test_a_pip_packages_row_names_its_distribution(load_host, site):
    """A pip package's source and version are its distribution's."""
    site.install("hermes-acme", {"hermes_agent.plugins": {"acme": "acme_mod"}}, acme_mod="")
    row = rows(load_host(), "entrypoint")["acme"]
    assert (row.source, row.version) == ("hermes-acme 1.0", "1.0")


@pytest.mark.parametrize(
    ("name", "group"),
    [
        pytest.param("a flat folder", "", id="user folder"),
        pytest.param("a pip package", "hermes", id="entry point"),
    ],
)
def test_a_manifest_is_data(home, load_host, site, name, group):
    """Loading a host, listing plugins and listing declared providers imports no plugin."""
    if group:
        site.install("acme", {group: {"acme": "acme_pkg"}})
        folder = site.path / "acme_pkg"
        site.write("acme_pkg/plugin.yaml", json.dumps({"name": "acme", "profile": {"base_url": "https://a.test"}}))
        site.write("acme_pkg/__init__.py", LEAVES_A_TRACE)
    else:
        folder = home.plugin("acme", LEAVES_A_TRACE, name="acme", profile={"base_url": "https://a.test"})
    host = load_host()
    shown = [(row.key, row.state) for row in host.plugins if row.key == "acme"]
    listed = [row.name for row in host.providers if row.name == "acme"]
    assert (shown, listed, (folder / "it-ran").exists()) == ([("acme", "ready")], ["acme"], False)


def test_listing_on_the_command_line_imports_nothing_r29_03(home, site, capsys):
    """``hermes plugins list``, ``plugins show`` and the help import no plugin, enabled ones included."""
    from hermes_core.cli.main import main

    traces = [home.plugin("acme", LEAVES_A_TRACE, name="acme", provides_cli_commands={"acme": "Do it."})]
    traces += [home.plugin("model-providers/other", LEAVES_A_TRACE)]
    home.config({"plugins": {"enabled": ["acme"]}})
    for words in (["plugins", "list"], ["plugins", "show", "acme"], []):
        assert main(words) == 0
    shown = capsys.readouterr().out
    assert ("acme" in shown, [folder for folder in traces if (folder / "it-ran").exists()]) == (True, [])


def test_plugins_list_lists_the_broken_ones_too(home, capsys):
    """``hermes plugins list --json`` shows a plugin whose manifest is broken, with its error."""
    from hermes_core.cli.main import main

    home.write("plugins/broken/plugin.yaml", "name: [")
    assert main(["plugins", "list", "--json"]) == 0
    listed = {row["key"]: row for row in json.loads(capsys.readouterr().out)}
    assert (listed["broken"]["state"], "plugin.yaml" in listed["broken"]["reason"]) == ("failed", True)


@pytest.mark.parametrize(
    ("place", "mode"),
    [
        pytest.param("plugins", 0o000, id="all plugins, shut"),
        pytest.param("plugins", 0o444, id="all plugins, listed but not entered"),
        pytest.param("plugins/memory", 0o000, id="a category, shut"),
        pytest.param("plugins/memory", 0o444, id="a category, listed but not entered"),
        pytest.param("plugins/shut", 0o000, id="one plugin, shut"),
        pytest.param("providers", 0o000, id="the legacy files, shut"),
    ],
)
def test_an_unreadable_folder_costs_its_own_plugins_alone(home, as_nobody, place, mode):
    """A folder that the user may not read is passed over; what lies beside it is found."""
    there = type(home)(as_nobody.folder / "home")
    there.plugin("good", "", name="good")
    there.plugin("shut", "", name="shut")
    there.plugin("memory/shut", "", name="shut")
    there.write("providers/old.py", "")
    (there.path / place).chmod(mode)
    done = as_nobody("print(*(row.key for row in Host.load(sys.argv[1]).plugins))", there.path)
    beside = "providers/old" if place == "plugins" else "good"
    assert (done.returncode, beside in done.stdout.split()) == (0, True), done.stderr


def test_an_unreadable_manifest_is_a_failed_row(home, as_nobody):
    """A manifest the user may not read is a failed row that names the file; the next plugin is found."""
    there = type(home)(as_nobody.folder / "home")
    there.plugin("a", "", name="a")
    there.plugin("b", "", name="b")
    (there.path / "plugins" / "a" / "plugin.yaml").chmod(0)
    done = as_nobody(
        """
        print([(row.key, row.state, "plugin.yaml" in row.reason) for row in Host.load(sys.argv[1]).plugins
               if row.tier == "user"])
        """,
        there.path,
    )
    assert done.stdout == "[('a', 'failed', True), ('b', 'off', False)]\n", done.stderr


def test_a_home_that_does_not_exist_is_empty(load_host, tmp_path):
    """A home that is not there yet loads, with the bundled plugins alone."""
    assert {"bundled"} == {row.tier for row in load_host(tmp_path / "nowhere").plugins}


def test_a_home_with_an_odd_path_works_r22_01(home, load_host, tmp_path):
    """A home with blanks, accents and brackets in its path serves plugins like any other."""
    odd = type(home)(tmp_path / "my höme (x)")
    odd.plugin("model-providers/acme", PROFILE.format(name="acme"))
    assert load_host(odd.path).providers.get("acme").base_url == "https://acme.test/v1"


def test_discovery_needs_no_utf8_locale_r21_03(home, run_python):
    """A manifest with emoji and CJK text is read the same under the C locale with UTF-8 mode off."""
    home.write("plugins/acme/plugin.yaml", "name: acme\ndescription: 记忆 🙂\n".encode())
    done = run_python(
        """
        from hermes_core import Host
        print(ascii(Host.load().plugin("acme").description))
        """,
        env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    )
    assert done.stdout == "'\\u8bb0\\u5fc6 \\U0001f642'\n"


@pytest.mark.slow
def test_two_hundred_plugins_are_found_without_yaml_for_the_bundled_ones_r29_04(home, load_host):
    """Two hundred user plugins are all found, each once."""
    for number in range(200):
        home.plugin(f"p{number}", "", name=f"p{number}")
    assert len(rows(load_host(), "user")) == 200


def test_the_index_is_written_by_a_module(tmp_path):
    """``python -m hermes_core.plugins FOLDER`` writes the index of the manifests below the folder."""
    folder = tmp_path / "commands" / "acme"
    folder.mkdir(parents=True)
    (folder / "plugin.yaml").write_text("name: acme")
    subprocess.run([sys.executable, "-m", "hermes_core.plugins", str(tmp_path)], check=True, timeout=60)
    assert json.loads((tmp_path / "index.json").read_text()) == {"commands/acme": {"name": "acme"}}


@pytest.mark.parametrize("place", ["plugins/loop", "plugins/tools/loop", "plugins/model-providers/loop"])
def test_a_link_that_leads_to_itself_is_passed_over(home, load_host, caplog, place):
    """An entry of a plugins folder that cannot be looked at costs a warning, and no other plugin."""
    home.plugin("tools/fine", "", name="fine")
    link = home.path / place
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(link.name)
    for _ in range(2):
        assert load_host().plugin("fine").key == "tools/fine"
    assert [record.getMessage() for record in caplog.records if str(link) in record.getMessage()] == [
        f"plugin folder skipped path={link} error={os.strerror(40)}"
    ]


def test_a_working_directory_that_is_gone_is_no_project(home, run_python, tmp_path):
    """Project plugins are looked for where there is a working directory, and the host loads where there is none."""
    done = run_python(
        """
        import os, sys
        from hermes_core import Host
        os.mkdir(sys.argv[1]), os.chdir(sys.argv[1]), os.rmdir(sys.argv[1])
        print(Host.load().plugin("tldr").name)
        """,
        tmp_path / "gone",
        env={**os.environ, "HERMES_ENABLE_PROJECT_PLUGINS": "1"},
    )
    assert done.stdout == "tldr\n", done.stderr
