"""What plugins take from the original's smaller modules."""

import json
import sqlite3
import threading
import time

import pytest
from agent.context_engine import ContextEngine
from hermes_cli.profiles import get_active_profile_name, list_profiles
from hermes_state import apply_wal_with_fallback
from plugins.memory import config_schema
from plugins.plugin_storage import plugin_data_dir, plugin_db
from plugins.plugin_utils import SingletonSlot, lazy_singleton
from tools.lazy_deps import FeatureUnavailable, ensure
from utils import (
    atomic_json_write,
    atomic_replace,
    env_bool,
    env_float,
    env_int,
    env_var_enabled,
    fast_safe_load,
    is_truthy_value,
    read_json_or_empty,
)


def test_json_is_written_and_read(tmp_path):
    """JSON is written in one step, its folder made; what cannot be read is empty."""
    path = tmp_path / "deep" / "notes.json"
    atomic_json_write(path, {"tea": "茶"}, sort_keys=True, mode=0o600)
    assert (read_json_or_empty(path), path.stat().st_mode & 0o777) == ({"tea": "茶"}, 0o600)
    for text in ("[1]", "{", ""):
        path.write_text(text)
        assert read_json_or_empty(path) == {}
    assert read_json_or_empty(tmp_path / "nowhere") == {}


def test_a_finished_file_takes_the_place_of_another(tmp_path):
    """The file behind a link is replaced; the link stays."""
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "new").write_text("new")
    atomic_replace(tmp_path / "new", tmp_path / "link")
    assert ((tmp_path / "real").read_text(), (tmp_path / "link").is_symlink()) == ("new", True)


def test_variables_are_read_by_kind(monkeypatch):
    """Switches and numbers of the environment; ``default`` for what is none."""
    for name, value in {"A": " Yes ", "B": "off", "C": " 7 ", "D": "2.5", "E": "many"}.items():
        monkeypatch.setenv(f"ACME_{name}", value)
    assert [env_var_enabled(f"ACME_{name}") for name in "ABZ"] == [True, False, False]
    assert [env_bool(f"ACME_{name}", default=True) for name in "ABZ"] == [True, False, True]
    assert [env_int(f"ACME_{name}", 3) for name in "CDEZ"] == [7, 3, 3, 3]
    assert [env_float(f"ACME_{name}", 3.0) for name in "CDEZ"] == [7.0, 2.5, 3.0, 3.0]
    assert [is_truthy_value(value) for value in ("on", "false", 1, None)] == [True, False, True, False]


def test_yaml_is_read_safely():
    """YAML's plain values, and no objects."""
    import yaml

    assert fast_safe_load("a: [1, yes]") == {"a": [1, True]}
    with pytest.raises(yaml.YAMLError):
        fast_safe_load("!!python/object/apply:os.getcwd []")


def test_one_thread_makes_the_one_object():
    """However many threads ask at once, one object is made; after ``reset`` another one."""
    made = []

    @lazy_singleton
    def client():
        time.sleep(0.02)
        made.append(object())
        return made[-1]

    threads = [threading.Thread(target=client) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(made), client() is made[0]) == (1, True)
    client.reset()
    assert client() is made[1]


def test_a_slot_holds_one_object():
    """A slot gives what was put there, or makes it; it is empty without either."""
    slot = SingletonSlot()
    assert (slot.get(), slot.get(lambda: 1), slot.get(lambda: 2)) == (None, 1, 1)
    slot.set(3)
    assert slot.get() == 3


def test_a_plugins_own_files_lie_in_the_home(home):
    """Folder and database of a plugin lie below the home, whatever the plugin is called."""
    folder = plugin_data_dir("acme")
    connection = plugin_db("acme")
    connection.execute("CREATE TABLE t (a)")
    connection.close()
    assert (folder, [path.name for path in folder.iterdir()]) == (home.path / "plugin-data" / "acme", ["data.db"])
    assert plugin_data_dir("../../acme").is_relative_to(home.path / "plugin-data")


def test_profiles_are_listed(home):
    """The default profile and those below it."""
    assert list_profiles() == ["default"]
    (home.path / "profiles" / "work").mkdir(parents=True)
    assert (list_profiles(), get_active_profile_name()) == (["default", "work"], "custom")


def test_a_missing_module_is_named():
    """A module that is not installed is an error that says how to install it."""
    ensure("json")
    ensure("memory.json", prompt=False)
    with pytest.raises(FeatureUnavailable, match="pip install no-such-module"):
        ensure("memory.no-such-module")


def test_a_database_has_a_journal_that_many_may_use(tmp_path):
    """WAL on a disk; whatever it can be elsewhere."""
    connection = sqlite3.connect(tmp_path / "a.db")
    assert apply_wal_with_fallback(connection, db_label="acme") == "wal"
    connection.close()
    memory = sqlite3.connect(":memory:")
    assert apply_wal_with_fallback(memory) == "memory"
    memory.close()


def test_a_form_describes_itself():
    """A provider's settings as a form is told of them."""
    options = (config_schema.ProviderFieldOption("eu", "Europe"),)
    field = config_schema.ProviderField(
        "region", "Region", config_schema.KIND_SELECT, options=options, env_key="REGION"
    )
    schema = config_schema.ProviderConfigSchema("acme", "Acme", config_schema.STORAGE_FLAT_JSON, "", (field,))
    assert (schema.fields[0].options[0].value, schema.storage, field.inline) == ("eu", "flat_json", False)


class Engine(ContextEngine):
    """The least a context engine has."""

    name = "mine"

    def update_from_response(self, usage):
        self.last_total_tokens = usage["total_tokens"]

    def should_compress(self, prompt_tokens=None):
        return (prompt_tokens or 0) > self.threshold_tokens

    def compress(self, messages, current_tokens=None, **kwargs):
        return messages[-1:]


def test_a_context_engine_has_its_defaults():
    """What an engine does not say has the documented default."""
    engine = Engine()
    engine.update_model("m", 1000)
    engine.update_from_response({"total_tokens": 9})
    assert (engine.threshold_tokens, engine.should_compress(751), engine.get_tool_schemas()) == (750, True, [])
    engine.on_session_reset()
    assert (engine.last_total_tokens, json.loads(engine.handle_tool_call("x", {}))) == (
        0,
        {"error": "Unknown context engine tool: x"},
    )
    assert (engine.has_content_to_compress([]), engine.should_compress_preflight([]), engine.select_context()) == (
        True,
        False,
        None,
    )
    with pytest.raises(TypeError, match="abstract"):
        ContextEngine()
