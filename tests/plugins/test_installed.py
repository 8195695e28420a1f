"""Entry points of installed packages, and the file that remembers them."""

import json

import pytest

LEAVES_A_TRACE = """
from pathlib import Path
Path(__file__).with_name("it-ran").touch()
"""


def names(host):
    """Names of the entry points that do not come with the host."""
    return [row.entry_point.name for row in host.plugins if row.tier == "entrypoint"]


@pytest.mark.parametrize(
    ("group", "key", "kind"),
    [
        pytest.param("hermes", "acme", "standalone", id="hermes"),
        pytest.param("hermes_agent.plugins", "acme", "standalone", id="hermes_agent.plugins"),
        pytest.param("hermes_agent.model_providers", "model-providers/acme", "model-provider", id="model_providers"),
        pytest.param("hermes_agent.memory_providers", "memory/acme", "exclusive", id="memory_providers"),
        pytest.param("hermes.memory_provider", "memory/acme", "exclusive", id="hermes.memory_provider"),
        pytest.param("hermes.memory_providers", "memory/acme", "exclusive", id="hermes.memory_providers"),
    ],
)
def test_each_group_gives_a_row(load_host, site, group, key, kind):
    """An entry point of each known group is a row with the group's category and kind."""
    site.install("acme", {group: {"acme": "acme_mod"}}, acme_mod=LEAVES_A_TRACE)
    row = load_host().plugin("acme")
    assert (key, kind, "acme", False) == (row.key, row.kind, row.name, (site.path / "it-ran").exists())


def test_other_groups_are_none_of_ours(load_host, site):
    """Entry points of other groups are not plugins."""
    site.install("acme", {"console_scripts": {"acme": "acme_mod:main"}, "hermes_agent.plugin_capabilities": {"a": "b"}})
    assert names(load_host()) == []


def test_a_distribution_counts_where_it_is_first_found(load_host, site, monkeypatch, tmp_path):
    """Of two copies of a distribution on ``sys.path`` the first one counts, as for imports."""
    site.install("acme", {"hermes": {"old": "acme_mod"}})
    first = type(site)(tmp_path / "first")
    first.install("acme", {"hermes": {"new": "acme_mod"}})
    monkeypatch.syspath_prepend(first.path)
    assert names(load_host()) == ["new"]


@pytest.fixture
def cache(home):
    """The file in which entry points are remembered; the home is there already."""
    home.path.mkdir()
    return home.path / "cache" / "plugins.json"


def test_the_file_is_used_while_nothing_changes(load_host, site, cache):
    """What is remembered for an unchanged ``sys.path`` entry is taken from the file."""
    site.install("acme", {"hermes": {"acme": "acme_mod"}})
    load_host()
    cache.write_text(cache.read_text().replace('"acme"', '"remembered"'))
    assert names(load_host()) == ["remembered"]


def test_a_stale_file_is_renewed(load_host, site, cache):
    """A package installed or removed after the file was written counts at the next start."""
    before = names(load_host())
    site.install("acme", {"hermes": {"acme": "acme_mod"}})
    installed = names(load_host())
    for path in site.path.glob("*.dist-info/*"):
        path.unlink()
    (site.path / "acme-1.0.dist-info").rmdir()
    assert (before, installed, names(load_host())) == ([], ["acme"], [])


def test_a_deleted_file_is_written_again(load_host, site, cache):
    """The file may be deleted at any time."""
    site.install("acme", {"hermes": {"acme": "acme_mod"}})
    load_host()
    cache.unlink()
    assert (names(load_host()), cache.exists()) == (["acme"], True)


def _change_entries(held, change):
    """Change what is remembered of every entry of ``sys.path``."""
    for remembered in held["kinds"]["entry points"].values():
        change(remembered)
    return held


@pytest.mark.parametrize(
    "corrupt",
    [
        pytest.param(lambda _: b"", id="an empty file"),
        pytest.param(lambda _: b"{", id="half a file"),
        pytest.param(lambda _: b"\xff\xfe", id="no UTF-8"),
        pytest.param(lambda _: b"[" * 100_000, id="a hundred thousand brackets"),
        pytest.param(lambda _: [], id="a list"),
        pytest.param(lambda _: {"format": 1}, id="nothing in it"),
        pytest.param(lambda _: {"format": 1, "kinds": []}, id="a list in it"),
        pytest.param(lambda _: {"format": 1, "kinds": {"entry points": 5}}, id="a number in it"),
        pytest.param(lambda held: held | {"format": 99}, id="another format"),
        pytest.param(lambda held: _change_entries(held, list.clear), id="empty entries"),
        pytest.param(lambda held: _change_entries(held, lambda e: e.__setitem__(1, [["hermes"]])), id="too short"),
        pytest.param(lambda held: _change_entries(held, lambda e: e.__setitem__(1, [[1, 2, 3, 4, 5]])), id="numbers"),
        pytest.param(lambda held: _change_entries(held, lambda e: e.__setitem__(1, ["hermes"])), id="a word"),
        pytest.param(lambda held: _change_entries(held, lambda e: e.__setitem__(1, 5)), id="a number for entries"),
        pytest.param(lambda held: _change_entries(held, lambda e: e.__setitem__(1, None)), id="null for entries"),
        pytest.param(
            lambda held: _change_entries(held, lambda e: e.__setitem__(1, [["new.group", "a", "b", "c", "1"]])),
            id="a group of a later version",
        ),
        pytest.param(lambda held: _change_entries(held, lambda e: e.__setitem__(0, 5)), id="a number for a stamp"),
        pytest.param(lambda held: _change_entries(held, lambda e: e.__setitem__(0, None)), id="null for a stamp"),
    ],
)
def test_a_corrupt_file_is_looked_past(load_host, site, cache, corrupt):
    """A file that is damaged, foreign or of another format does not count: the host loads, with every package."""
    site.install("acme", {"hermes": {"acme": "acme_mod"}})
    load_host()
    content = corrupt(json.loads(cache.read_text()))
    cache.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    assert names(load_host()) == ["acme"]


def test_a_folder_in_the_files_place_leaves_no_litter(load_host, site, cache):
    """A file that cannot be replaced leaves nothing half written behind."""
    site.install("acme", {"hermes": {"acme": "acme_mod"}})
    (cache / "x").mkdir(parents=True)
    assert names(load_host()) == ["acme"]
    assert [path.name for path in cache.parent.iterdir()] == ["plugins.json"]


@pytest.mark.parametrize("made", [True, False], ids=["a home that may not be written", "a home that may not be made"])
def test_an_unwritable_home_works_r22_06(home, as_nobody, made):
    """Where nothing may be written every start looks afresh, and plugins work."""
    there = type(home)(as_nobody.folder / "home")
    if made:
        there.plugin("model-providers/acme", name="acme", profile={"base_url": "https://acme.test/v1"})
        there.path.chmod(0o555)
    done = as_nobody(
        "print(Host.load(sys.argv[1]).providers.get(sys.argv[2]).base_url)",
        there.path,
        "acme" if made else "xiaomi",
    )
    expected = "https://acme.test/v1" if made else "https://api.xiaomimimo.com/v1"
    assert (f"{expected}\n", []) == (done.stdout, [*there.path.glob("cache")]), done.stderr


def test_a_package_that_is_not_there_is_a_failed_row_when_it_is_needed(load_host, site):
    """An entry point whose module is missing is listed, and fails at first use with the module's name."""
    site.install("ghost", {"hermes_agent.model_providers": {"ghost": "ghost_mod"}})
    host = load_host()
    assert host.plugin("ghost").state == "ready"
    assert host.providers.get("ghost") is None
    row = host.plugin("ghost")
    assert (row.state, "ghost_mod" in row.reason) == ("failed", True)


@pytest.mark.parametrize("value", [":register", ".acme", "acme..mod", "acme mod", "acme:", "acme_pkg.nope", "1acme"])
def test_an_odd_entry_point_is_a_failed_row_when_it_is_needed(load_host, site, value):
    """An entry point that names no module is listed, and fails at first use; the others are found."""
    site.install("odd", {"hermes_agent.model_providers": {"odd": value}})
    site.write("acme_pkg/__init__.py", "")
    host = load_host()
    state = host.plugin("odd").state
    assert (state, host.providers.get("xiaomi").name, host.plugin("odd").state) == ("ready", "xiaomi", "failed")


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("acme_pkg", id="a package"),
        pytest.param("acme_pkg:register", id="a function in a package"),
        pytest.param("acme_pkg.inner.deep", id="a module below it"),
    ],
)
def test_a_packages_manifest_speaks_for_it(load_host, site, value):
    """``plugin.yaml`` beside the module an entry point names is its manifest, read without importing anything."""
    site.install("acme", {"hermes": {"acme": value}})
    site.write("acme_pkg/__init__.py", LEAVES_A_TRACE)
    site.write("acme_pkg/inner/__init__.py", LEAVES_A_TRACE)
    site.write("acme_pkg/inner/deep/__init__.py", LEAVES_A_TRACE)
    folder = "acme_pkg/inner/deep" if "inner" in value else "acme_pkg"
    site.write(f"{folder}/plugin.yaml", "description: speaks\nversion: '7'\n")
    row = load_host().plugin("acme")
    assert (row.description, row.version, [*site.path.rglob("it-ran")]) == ("speaks", "7", [])


def test_data_of_a_pip_package_is_a_provider_without_import(load_host, site):
    """A pip package's ``profile:`` block alone is a provider; its code is imported when the profile is used."""
    site.install("acme", {"hermes": {"acme": "acme_pkg"}})
    site.write("acme_pkg/__init__.py", LEAVES_A_TRACE)
    site.write("acme_pkg/plugin.yaml", "profile: {base_url: 'https://acme.test/v1', aliases: [ac]}")
    host = load_host()
    found = [(row.name, row.aliases, row.base_url) for row in host.providers if row.name == "acme"]
    assert (found, [*site.path.rglob("it-ran")]) == ([("acme", ("ac",), "https://acme.test/v1")], [])


@pytest.mark.parametrize(
    "code", [None, '"""Data only."""\n'], ids=["no Python at all", "an __init__.py with a docstring"]
)
def test_a_pip_package_may_be_data_alone(load_host, site, code):
    """A pip package whose manifest holds a whole profile is a provider without any behaviour of its own."""
    site.install("acme", {"hermes": {"acme": "acme_pkg"}})
    site.write("acme_pkg/plugin.yaml", "profile: {base_url: 'https://acme.test/v1'}")
    if code is not None:
        site.write("acme_pkg/__init__.py", code)
    host = load_host()
    profile = host.providers.get("acme")
    assert (profile and profile.base_url, host.plugin("acme").reason) == ("https://acme.test/v1", "")
