"""What a manifest may say, and how a wrong one is refused."""

import codecs
import json
import os
from datetime import date

import pytest
import yaml

from hermes_core.errors import ConfigError
from hermes_core.plugins.manifest import CLI, COMMANDS, MEMORY, PROFILES, TOOLS, Manifest
from hermes_core.plugins.manifest_file import parse_manifest


def parsed(**data):
    """A manifest from a mapping."""
    return parse_manifest(data, path="/p/plugin.yaml", default_name="folder")


@pytest.mark.parametrize(
    ("field", "value", "attribute", "expected"),
    [
        pytest.param("name", " acme ", "name", "acme", id="a name is trimmed"),
        pytest.param("version", 1.10, "version", "1.1", id="a number as version"),
        pytest.param("version", None, "version", "", id="an empty version"),
        pytest.param("kind", " Backend", "kind", "backend", id="kind in any case"),
        pytest.param("kind", "starship", "kind", "standalone", id="an unknown kind"),
        pytest.param("kind", ["x"], "kind", "standalone", id="a kind that is no text"),
        pytest.param("kind", None, "kind", "standalone", id="an empty kind"),
        pytest.param("strict_env", "yes", "strict_env", True, id="strict about variables"),
        pytest.param("strict_env", "no", "strict_env", False, id="not strict about variables"),
        pytest.param("requires_hermes", 0.19, "requires_hermes", "0.19", id="a number as version of the host"),
        pytest.param("requires_plugins", ["a", "b"], "requires_plugins", {"a": "", "b": ""}, id="plugins it needs"),
        pytest.param(
            "requires_plugins",
            [{"id": "a", "version_range": ">=1"}],
            "requires_plugins",
            {"a": ">=1"},
            id="a plugin it needs with its versions",
        ),
        pytest.param("tags", ["x"], "about", {"tags": ["x"]}, id="what is for people"),
        pytest.param(
            "config_schema", {"a": {"type": "int"}}, "config_schema", {"a": {"type": "int"}}, id="settings it has"
        ),
        pytest.param("author", {"name": "A", "email": "a@b"}, "author", "A, a@b", id="an author as a mapping"),
        pytest.param("hooks", ["on_session_end"], "hooks", ("on_session_end",), id="hooks in the old spelling"),
        pytest.param("provides_hooks", ["x"], "hooks", ("x",), id="hooks in the new spelling"),
        pytest.param("requires_env", ["A", {"name": "B", "secret": True}], "requires_env", ("A", "B"), id="variables"),
        pytest.param("provides_commands", ["tldr"], "commands", {"tldr": ""}, id="commands as a list"),
        pytest.param(
            "provides_commands", {"tldr": "Sum up."}, "commands", {"tldr": "Sum up."}, id="commands with help"
        ),
        pytest.param("provides_cli_commands", {"x": None}, "cli_commands", {"x": ""}, id="a tree without help"),
        pytest.param("provides_tools", ["t"], "tools", ("t",), id="tools"),
        pytest.param("default", "off", "default_on", False, id="off by default, quoted"),
        pytest.param("default", False, "default_on", False, id="off by default, as YAML reads it"),
        pytest.param("default", "on", "default_on", True, id="on by default"),
        pytest.param("profile", {"base_url": "u"}, "profiles", ({"name": "folder", "base_url": "u"},), id="a profile"),
        pytest.param("profile", [{"name": "a"}, {"name": "b"}], "profiles", ({"name": "a"}, {"name": "b"}), id="two"),
        pytest.param("profile", [], "profiles", (), id="an empty list of profiles"),
        pytest.param("profile", {"name": None}, "profiles", ({"name": "folder"},), id="a profile with an empty name"),
    ],
)
def test_a_field_is_read(field, value, attribute, expected):
    """Each field is read in each of its spellings; an absent one has its default."""
    assert getattr(parsed(**{field: value}), attribute) == expected


@pytest.mark.parametrize(
    ("field", "value"),
    [
        pytest.param("requires_hermes", ["0.19"], id="a list as version of the host"),
        pytest.param("requires_plugins", "a", id="a text as plugins it needs"),
        pytest.param("requires_plugins", [{"version_range": ">=1"}], id="a plugin without its id"),
        pytest.param("requires_plugins", [["a"]], id="a list among the plugins it needs"),
        pytest.param("requires_plugins", 5, id="a number as plugins it needs"),
        pytest.param("config_schema", ["a"], id="a list as settings"),
        pytest.param("config_schema", {"a": "int"}, id="a setting that is no mapping"),
        pytest.param("manifest_version", "two", id="a word as format"),
        pytest.param("manifest_version", 99, id="a format of the future"),
        pytest.param("tags", [date(2026, 1, 2)], id="a date for people"),
        pytest.param("kind", "starship", id="an unknown kind"),
    ],
)
def test_what_only_adds_is_left_out_with_a_warning(caplog, field, value, tmp_path):
    """A wrong field that decides nothing is left out, and one warning names the file and the key."""
    path = str(tmp_path / "plugin.yaml")  # a warning is given once a process
    manifest = parse_manifest({field: value}, path=path, default_name="folder")
    (record,) = caplog.records
    assert (Manifest(name="folder"), True) == (manifest, f"{path}: {field} " in record.getMessage())


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        pytest.param("ctx.register_memory_provider(Mine())", "exclusive", id="it registers a memory provider"),
        pytest.param("class Mine(MemoryProvider):", "exclusive", id="it has a memory provider's class"),
        pytest.param("register_provider(ProviderProfile('x'))", "model-provider", id="it registers a profile"),
        pytest.param("ProviderProfile('x')", "standalone", id="a profile alone says nothing"),
        pytest.param("#" * 8192 + "MemoryProvider", "standalone", id="only the beginning is looked at"),
        pytest.param("", "standalone", id="there is no code"),
    ],
)
def test_code_gives_the_kind_away(home, load_host, code, kind):
    """A manifest without a kind is judged by the first 8192 characters of the code, which is not run."""
    home.write("plugins/acme/plugin.yaml", "name: acme")
    home.write("plugins/acme/__init__.py", code)
    assert [load_host().plugin("acme").kind for _ in range(2)] == [kind, kind]


@pytest.mark.parametrize("manifest", ["kind: standalone", "profile: {base_url: u}"], ids=["a kind", "a profile"])
def test_what_the_manifest_says_is_not_guessed(home, load_host, manifest):
    """Code is looked at only when the manifest says nothing."""
    home.write("plugins/acme/plugin.yaml", manifest)
    home.write("plugins/acme/__init__.py", "class Mine(MemoryProvider): ...")
    assert load_host().plugin("acme").kind == parsed(**yaml.safe_load(manifest)).kind != "exclusive"


def test_an_edit_of_the_code_is_judged_anew(home, load_host):
    """The kind that code gives away changes with the code, though the manifest stays."""
    folder = home.plugin("acme", "def register(ctx): pass", name="acme")
    before = load_host().plugin("acme").kind
    (folder / "__init__.py").write_text("class Mine(MemoryProvider): ...")
    assert (before, load_host().plugin("acme").kind) == ("standalone", "exclusive")


def test_what_is_enabled_by_name_is_no_guess(home, load_host):
    """A plugin whose code only looks like a provider's is an ordinary one once its operator enables it."""
    home.plugin("acme", "def register(ctx):  # no MemoryProvider\n    ctx.register_command('hi', str)", name="acme")
    host = load_host(config={"plugins": {"enabled": ["acme"]}})
    assert (host.plugin("acme").kind, "hi" in host.commands) == ("standalone", True)


@pytest.mark.parametrize("name", ["plugin.yaml", "__init__.py"])
def test_a_pipe_is_not_read(home, load_host, name):
    """A pipe in the place of a file never keeps the host waiting."""
    folder = home.write("plugins/acme/plugin.yaml", "name: acme").parent
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    assert load_host().plugin("acme").state == ("failed" if name == "plugin.yaml" else "off")


def test_the_new_spelling_of_hooks_wins():
    """``provides_hooks`` counts when both spellings are there."""
    assert parsed(provides_hooks=["new"], hooks=["old"]).hooks == ("new",)


@pytest.mark.parametrize("name", ["a b", "../x", "a/b/c", "-a", "a" * 65, "ä", "a\nb", "a|b", "/etc"])
def test_a_name_has_few_signs(name):
    """A name holds letters, digits, dots, dashes, underscores and one slash, 64 at most; another is refused by key."""
    with pytest.raises(ConfigError, match=r"^/p/plugin\.yaml: name ") as caught:
        parsed(name=name)
    assert caught.value.key == "name"


def test_a_manifest_may_not_be_huge(home, load_host):
    """A manifest of a megabyte is refused without being read."""
    home.write("plugins/huge/plugin.yaml", "description: '" + "x" * 2**20 + "'")
    assert "may hold" in load_host().plugin("huge").reason


def test_a_manifest_may_not_unfold_to_much(home, load_host):
    """A block of a few lines that unfolds to a million values is refused, and costs no time."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    home.write("plugins/bomb/plugin.yaml", "\n".join([*lines, "profile: {aliases: *a8}"]))
    assert load_host().plugin("bomb").state == "failed"


def test_an_empty_manifest_has_defaults():
    """A manifest that says nothing is a standalone plugin that may do anything."""
    assert Manifest(name="folder") == parsed()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        pytest.param("name", 123, id="name is a bare number"),
        pytest.param("name", ["a"], id="name is a list"),
        pytest.param("name", True, id="name is a boolean"),
        pytest.param("name", None, id="name is empty r01-06"),
        pytest.param("version", {}, id="version is a mapping"),
        pytest.param("version", True, id="version is a boolean"),
        pytest.param("description", ["x"], id="description is a list"),
        pytest.param("author", ["x"], id="author is a list"),
        pytest.param("hooks", "on_session_end", id="hooks is a string"),
        pytest.param("provides_hooks", 5, id="provides_hooks is a number"),
        pytest.param("requires_env", "A", id="requires_env is a string"),
        pytest.param("provides_commands", "tldr", id="provides_commands is a string"),
        pytest.param("provides_cli_commands", 5, id="provides_cli_commands is a number"),
        pytest.param("provides_tools", 5, id="provides_tools is a number"),
        pytest.param("provides_tools", [["a"]], id="provides_tools is a list of lists"),
        pytest.param("requires_env", [{"name": ["A"]}], id="requires_env names a list"),
        pytest.param("provides_commands", {"x": ["help"]}, id="provides_commands has a list for help"),
        pytest.param("profile", "acme", id="profile is a string"),
        pytest.param("profile", [{"name": "a"}, 5], id="profile is a list with a number"),
    ],
)
def test_a_wrong_type_names_file_and_key(field, value):
    """A field of the wrong type is refused with the file, the key and what it holds."""
    with pytest.raises(ConfigError, match=f"^/p/plugin.yaml: {field} must be ") as caught:
        parsed(**{field: value})
    assert ("/p/plugin.yaml", field, True) == (caught.value.path, caught.value.key, bool(caught.value.hint))


@pytest.mark.parametrize("value", [5, {"a": 1}, "gpt", [["nested"]]], ids=["number", "mapping", "string", "nested"])
@pytest.mark.parametrize("field", ["aliases", "env_vars", "fallback_models"])
def test_a_wrong_type_in_a_profile_block_is_a_failed_row(home, load_host, field, value):
    """A list in a ``profile:`` block that is none is the plugin's failure, and names file and key; no lookup dies."""
    home.plugin("bad", name="bad", profile={"base_url": "https://bad.test/v1", field: value})
    home.plugin("good", name="good", profile={"base_url": "https://good.test/v1"})
    host = load_host()
    assert host.providers.get("good").base_url == "https://good.test/v1"
    assert host.providers.get("bad") is None
    row = host.plugin("bad")
    assert (row.state, f"profile.{field}" in row.reason, "plugin" in row.reason) == ("failed", True, True)


@pytest.mark.parametrize("field", ["aliases", "env_vars", "fallback_models"])
def test_an_empty_list_in_a_profile_block_counts_as_none(home, load_host, field):
    """``aliases:`` with nothing behind it is an empty list, in the row and in the profile."""
    home.plugin("acme", name="acme", profile={"base_url": "https://acme.test/v1", field: None})
    host = load_host()
    assert getattr(host.providers.get("acme"), field) == ()
    assert "acme" in [row.name for row in host.providers]


@pytest.mark.parametrize(
    ("block", "key"),
    [
        pytest.param({"base_url": 5}, "base_url", id="a number as address"),
        pytest.param({"name": 5}, "name", id="a number as name"),
        pytest.param({"default_headers": ["x"]}, "default_headers", id="a list as headers"),
        pytest.param({"fixed_temperature": "warm"}, "fixed_temperature", id="a word as temperature"),
        pytest.param({"default_max_tokens": "many"}, "default_max_tokens", id="a word as limit"),
        pytest.param({"supports_vision": "sometimes"}, "supports_vision", id="a word as switch"),
    ],
)
def test_a_wrong_scalar_in_a_profile_block_is_a_failed_row(home, load_host, block, key):
    """A field of a ``profile:`` block that has the wrong type is refused by name, before any call is made with it."""
    home.plugin("bad", name="bad", profile={"name": "bad", **block})
    host = load_host()
    assert host.providers.get(str(block.get("name", "bad"))) is None
    row = host.plugin("bad")
    assert (row.state, f"profile.{key}" in row.reason) == ("failed", True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param(b"name: [\n", ("plugin.yaml", "line "), id="no YAML"),
        pytest.param(b"name: a\n\tversion: 1\n", ("plugin.yaml", "line 2"), id="a tab as indentation"),
        pytest.param(b"name: a\nversion: \x00\n", ("plugin.yaml",), id="a NUL byte"),
        pytest.param(b"- a\n", ("plugin.yaml", "mapping"), id="a list"),
        pytest.param(b"just text\n", ("plugin.yaml", "mapping"), id="a text"),
        pytest.param(b"name: \xff\n", ("plugin.yaml", "UTF-8"), id="no UTF-8"),
        pytest.param(b"name: 123\n", ("plugin.yaml", "name", "text"), id="a number as name"),
        pytest.param(b"a: !!python/object/apply:os.getcwd []\n", ("plugin.yaml", "line 1"), id="a Python object"),
        pytest.param(b"[" * 100_000, ("plugin.yaml",), id="a hundred thousand brackets"),
        pytest.param(b"a: &a\n  b: *a\n", ("plugin.yaml",), id="a mapping that holds itself"),
        pytest.param(b"", (), id="nothing"),
    ],
)
def test_a_broken_manifest_is_a_row_r01_06_r21_11(home, load_host, text, words):
    """A manifest that cannot be used is a failed row that names the file; its neighbours are found."""
    home.plugin("good", "", name="good")
    home.write("plugins/odd/plugin.yaml", text)
    host = load_host()
    row = host.plugin("odd")
    hint = row.remedy if row.state == "failed" else ""
    said = f"{row.reason} {hint}"
    assert [word for word in words if word not in said] == []
    assert ("failed" if words else "off", "off") == (row.state, host.plugin("good").state)


@pytest.mark.parametrize("file", ["plugins/acme/plugin.yaml", "plugins/acme/plugin.yml"])
def test_a_manifest_may_begin_with_a_bom_r21_02(home, load_host, file):
    """A byte order mark before a manifest does not count."""
    home.write(file, codecs.BOM_UTF8 + b"name: acme\nversion: '2'\n")
    assert load_host().plugin("acme").version == "2"


def test_a_pip_package_with_a_broken_manifest_is_a_failed_row(load_host, site):
    """A broken ``plugin.yaml`` in a pip package fails that package alone, under its entry point's key."""
    site.install("acme", {"hermes": {"acme": "acme_pkg"}})
    site.write("acme_pkg/__init__.py", "")
    site.write("acme_pkg/plugin.yaml", "name: 5")
    row = load_host().plugin("acme")
    assert (row.state, row.tier, row.source) == ("failed", "entrypoint", "acme 1.0")


@pytest.mark.parametrize(
    ("manifest", "surfaces"),
    [
        pytest.param({"provides_commands": ["x"]}, {COMMANDS}, id="commands"),
        pytest.param({"provides_cli_commands": ["x"]}, {CLI}, id="command-line trees"),
        pytest.param({"provides_tools": ["x"]}, {TOOLS}, id="tools"),
        pytest.param({"profile": {"name": "x"}}, {PROFILES}, id="profiles"),
        pytest.param({"provides_hooks": ["hermes_llm_done"]}, {"hermes_llm_done"}, id="hooks"),
    ],
)
def test_a_manifest_declares_surfaces(manifest, surfaces):
    """What a manifest lists are the surfaces the plugin declares, named by their hooks."""
    assert parsed(**manifest).surfaces == surfaces


@pytest.mark.parametrize(
    ("manifest", "surface", "expected"),
    [
        pytest.param({}, COMMANDS, True, id="one that declares nothing may answer anything"),
        pytest.param({"provides_tools": ["x"]}, COMMANDS, False, id="one that declares tools offers no commands"),
        pytest.param({"provides_tools": ["x"]}, TOOLS, True, id="but tools"),
        pytest.param({"kind": "model-provider"}, PROFILES, True, id="a model provider offers profiles"),
        pytest.param({"kind": "model-provider"}, COMMANDS, False, id="and nothing it does not declare"),
        pytest.param({"kind": "exclusive"}, MEMORY, True, id="a memory provider offers memory"),
        pytest.param(
            {"kind": "exclusive", "hooks": ["on_session_end"]}, MEMORY, True, id="whatever it declares besides"
        ),
        pytest.param({"kind": "exclusive"}, PROFILES, False, id="and no profiles"),
    ],
)
def test_who_has_to_be_asked(manifest, surface, expected):
    """A plugin is asked about what it declares or its kind offers; about anything when it declares nothing."""
    assert expected is parsed(**manifest).may_answer(surface)


def test_a_manifest_written_as_json_is_read(home, load_host):
    """JSON is YAML."""
    home.write("plugins/acme/plugin.yaml", json.dumps({"name": "acme", "version": "3"}))
    assert load_host().plugin("acme").version == "3"


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        pytest.param("{name: x, released: 2026-01-02}", "it holds a date", id="a date"),
        pytest.param("{name: x, aliases: [" + "a," * 20_000 + "]}", "", id="twenty thousand aliases"),
        pytest.param("{name: x, 5: y, null: z}", None, id="keys that are no text"),
    ],
)
def test_a_block_holds_what_json_can(home, load_host, block, reason):
    """A ``profile:`` block holds plain values, and not too many; another is refused by file and key."""
    home.write("plugins/acme/plugin.yaml", f"name: acme\nprofile: {block}\n")
    row = load_host().plugin("acme")
    refused = row.state == "failed" and "plugin.yaml" in row.reason and (reason or "") in row.reason
    assert refused is (reason is not None)


HUGE = "0x" + "f" * 6000
NUMBERS = [
    pytest.param("tags: [{huge}]", id="in a list"),
    pytest.param("manifest_version: {huge}", id="where a number belongs"),
    pytest.param("version: {huge}", id="where text belongs"),
    pytest.param("about: {{a: {{b: {huge}}}}}", id="deep down"),
    pytest.param("{huge}: a", id="as a key"),
    pytest.param("profile: {{name: x, auto_rank: {huge}}}", id="in a profile"),
    pytest.param("config_schema: {{limit: {{default: {huge}}}}}", id="in a schema"),
    pytest.param("version: " + "1" * 6000, id="in decimal digits"),
]


@pytest.mark.parametrize("line", NUMBERS)
def test_a_number_that_python_will_not_write_is_a_failed_row(home, load_host, line):
    """A manifest with a number of thousands of digits is a failed row that names the file."""
    home.write("plugins/acme/plugin.yaml", "name: acme\n" + line.format(huge=HUGE))
    host = load_host()
    row = host.plugin("acme")
    assert (row.state, "plugin.yaml" in row.reason, bool([*host.providers])) == ("failed", True, True)


@pytest.mark.parametrize("line", NUMBERS)
def test_a_number_in_the_configuration_that_python_will_not_write_is_an_error_of_it(home, capsys, line):
    """``config.yaml`` with a number of thousands of digits is a configuration error that names the file."""
    from hermes_core.cli.main import main

    path = home.write("config.yaml", line.format(huge=HUGE))
    for words in (["config", "check"], ["config", "show"]):
        assert main(words) == 1
        shown = capsys.readouterr()
        assert str(path) in shown.out + shown.err
    assert (main(["plugins", "list"]), main(["providers", "list"])) == (0, 0)


@pytest.mark.parametrize(
    "member",
    ["auto_rank", "base_url", "models_url", "name", "aliases", "default_headers", "env_vars", "description"],
)
def test_a_member_of_a_profile_that_cannot_be_written_disturbs_nobody(home, load_host, member):
    """Code that offers a profile with a huge number for a member takes no other provider away."""
    code = "from hermes_core import ProviderProfile\ndef register(ctx):\n    profile = ProviderProfile('acme')\n"
    wrong = "{'x-key': 10**5000}" if member == "default_headers" else "10**5000"
    home.plugin("model-providers/acme", code + f"    profile.{member} = {wrong}\n    ctx.register_provider(profile)")
    host = load_host()
    assert (host.providers.get("xiaomi").name, "xiaomi" in [row.name for row in host.providers]) == ("xiaomi", True)
    host.providers.explain("acme")
