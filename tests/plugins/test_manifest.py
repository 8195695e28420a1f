"""What a manifest may say, and how a wrong one is refused."""

import codecs
import json

import pytest

from hermes_core.errors import ConfigError
from hermes_core.plugins.manifest import CLI, COMMANDS, MEMORY, PROFILES, TOOLS, Manifest, parse_manifest


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
        pytest.param("kind", ["x"], id="kind is a list"),
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
