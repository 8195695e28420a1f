"""What was found out about plugins is remembered until the files it came from change."""

import json
import os
import threading

import pytest

from hermes_core.config.redact import register_secret
from hermes_core.plugins.index import Index

ONE, OTHER = [(1, 2, 3)], [(1, 2, 4)]


@pytest.fixture
def path(tmp_path):
    """The file of an index, in a home that is there."""
    return tmp_path / "cache" / "plugins.json"


def test_what_is_remembered_is_recalled_while_the_stamps_are_the_same(path):
    """A value is recalled with the stamps it was remembered with, in another process too, and with no others."""
    index = Index(path)
    index.remember("kind", "key", ONE, {"a": 1})
    index.save()
    assert [Index(path).recall("kind", "key", stamps, dict) for stamps in (ONE, OTHER, [])] == [{"a": 1}, None, None]


def test_nothing_is_written_before_it_is_saved(path):
    """Remembering alone writes nothing; saving nothing writes nothing either."""
    index = Index(path)
    index.remember("kind", "key", ONE, 1)
    unsaved = path.exists()
    index.save()
    before = path.stat().st_ino
    index.save()
    assert (unsaved, path.stat().st_ino) == (False, before)


@pytest.mark.parametrize(
    "value",
    [
        {"default_headers": {"X-Api-Key": "index-secret-1/2"}},
        {"description": "log in with Authorization: Bearer abc123def456"},
    ],
    ids=["a secret that was read", "what looks like one"],
)
def test_what_holds_a_secret_is_not_kept(path, value):
    """A secret stays in the file its owner put it in: what was remembered before is forgotten instead."""
    register_secret("index-secret-1/2")
    index = Index(path)
    index.remember("kind", "key", ONE, {"a": 1})
    index.remember("kind", "key", OTHER, value)
    index.save()
    assert (index.knows("kind", "key"), Index(path).knows("kind", "key")) == (False, False)


def test_what_is_forgotten_is_gone(path):
    """A key that was forgotten is not known, here and in the next process; one that was never known, neither."""
    index = Index(path)
    index.remember("kind", "key", ONE, 1)
    index.save()
    index.forget("kind", "key")
    index.forget("kind", "other")
    index.save()
    assert (index.knows("kind", "key"), Index(path).knows("kind", "key")) == (False, False)


def test_a_value_that_cannot_be_built_was_not_remembered(path):
    """When the value in the file is none that can be used, nothing is recalled."""
    index = Index(path)
    index.remember("kind", "key", ONE, "word")
    assert (index.recall("kind", "key", ONE, int), index.recall("kind", "key", ONE, str)) == (None, "word")


def test_two_processes_keep_each_others_findings(path):
    """Saving adds to what others have saved meanwhile."""
    one, two = Index(path), Index(path)
    one.remember("kind", "one", ONE, 1)
    two.remember("kind", "two", ONE, 2)
    one.save()
    two.save()
    assert [Index(path).recall("kind", key, ONE, int) for key in ("one", "two")] == [1, 2]


def test_threads_may_save_at_once(path):
    """Threads that remember and save at once leave a file that can be read."""
    path.parent.parent.mkdir(exist_ok=True)
    index = Index(path)

    def work(number):
        for step in range(20):
            index.remember("kind", f"{number}-{step}", ONE, step)
            index.save()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    held = Index(path)
    assert [held.recall("kind", f"{number}-{19}", ONE, int) for number in range(8)] == [19] * 8


def test_what_lies_in_folders_that_are_gone_is_dropped(path, tmp_path):
    """Saving drops what was remembered of paths that no longer exist; a key that is no path stays."""
    index = Index(path)
    for key in (str(tmp_path), str(tmp_path / "gone"), "no:path"):
        index.remember("kind", key, ONE, 1)
    index.save()
    assert [*json.loads(path.read_text())["kinds"]["kind"]] == [str(tmp_path), "no:path"]


def test_looking_makes_no_home(tmp_path):
    """Saving where there is no home makes none."""
    index = Index(tmp_path / "home" / "cache" / "plugins.json")
    index.remember("kind", "key", ONE, 1)
    index.save()
    assert os.listdir(tmp_path) == []


def test_a_manifest_is_read_once(home, load_host):
    """A manifest that has not changed is not parsed again by the next host; one that has is."""
    home.plugin("acme", "", name="acme", version="1")
    load_host()
    cache = home.path / "cache" / "plugins.json"
    cache.write_text(cache.read_text().replace('"version":"1"', '"version":"remembered"'))
    remembered = load_host().plugin("acme").version
    home.plugin("acme", "", name="acme", version="22")
    assert (remembered, load_host().plugin("acme").version) == ("remembered", "22")


def test_a_refused_manifest_is_refused_again(home, load_host):
    """A broken manifest that has not changed is a failed row at the next start too, with the same reason."""
    home.write("plugins/acme/plugin.yaml", "name: 5")
    rows = [load_host().plugin("acme") for _ in range(2)]
    assert [(row.state, row.reason, row.remedy) for row in rows] == [
        ("failed", rows[0].reason, "correct the manifest")
    ] * 2


def test_a_manifest_that_becomes_readable_is_read(home, as_nobody):
    """A manifest that could not be opened is tried again at the next start, though its content has not changed."""
    there = type(home)(as_nobody.folder / "home")
    manifest = there.plugin("acme", "", name="acme") / "plugin.yaml"
    there.path.chmod(0o777)
    manifest.chmod(0)
    show = "print(Host.load(sys.argv[1]).plugin('acme').state)"
    first = as_nobody(show, there.path)
    manifest.chmod(0o644)
    second = as_nobody(show, there.path)
    assert (first.stdout, second.stdout) == ("failed\n", "off\n"), second.stderr


@pytest.mark.parametrize("how", ["the file", "a variable", "the overlay", "the managed file"])
def test_activation_follows_the_configuration(home, load_host, monkeypatch, tmp_path, how):
    """Whatever part of the configuration enables a plugin, a change of it counts at the next start."""
    for name in ("aa", "bb"):
        home.plugin(name, "", name=name)
    managed = tmp_path / "managed" / "config.yaml"
    managed.parent.mkdir()
    seen = []
    for name in ("aa", "bb"):
        overlay = None
        if how == "the file":
            home.config({"plugins": {"enabled": [name]}})
        elif how == "a variable":
            home.config({"plugins": {"enabled": ["${WHICH}"]}})
            monkeypatch.setenv("WHICH", name)
        elif how == "the overlay":
            overlay = {"plugins": {"enabled": [name]}}
        else:
            managed.write_text(json.dumps({"plugins": {"enabled": [name]}}))
        host = load_host(config=overlay)
        seen.append([host.plugin(key).state for key in ("aa", "bb")])
    assert seen == [["ready", "off"], ["off", "ready"]]


def test_a_configuration_that_breaks_switches_nothing_on(home, load_host):
    """When the configuration breaks between two starts, what it had switched off stays off."""
    home.plugin("model-providers/acme", "def register(ctx): pass")
    home.config({"plugins": {"disabled": ["acme"]}})
    before = load_host().plugin("acme").state
    home.write("config.yaml", "plugins: [")
    assert (before, load_host().plugin("acme").state) == ("off", "off")
