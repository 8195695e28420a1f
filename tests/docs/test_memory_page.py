"""docs/memory-providers.md is complete, and what it shows works."""

import dataclasses
import inspect
import re
from pathlib import Path

import pytest

from hermes_core import Host, MemoryProvider
from hermes_core.memory.limits import Limits
from hermes_core.memory.manager import MemoryManager
from hermes_core.plugins.installed import GROUPS

from .conftest import home_files

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "memory-providers.md").read_text(encoding="utf-8")


def public(cls):
    """The public functions of a class."""
    return {name for name, member in vars(cls).items() if inspect.isfunction(member) and not name.startswith("_")}


def test_every_method_of_a_provider_is_explained():
    """The table has each method of ``MemoryProvider`` with all of its arguments."""
    rows = dict(reversed(re.findall(r"^\| `(\w+)\(([^)]*)\)`", PAGE, re.MULTILINE)))
    for name in public(MemoryProvider):
        parameters = [word for word in inspect.signature(getattr(MemoryProvider, name)).parameters if word != "self"]
        said = [word.strip(" *") for word in rows[name].split(",")]
        assert [word for word in said if word] == parameters, name


def test_every_call_of_the_manager_is_named():
    """The page names each public method of ``MemoryManager``, but for those that other names stand for."""
    apart = {"close", "flush_pending", "tools", "refuse", "call_at_end", "get_all_tool_names", "get_provider",
             "supports_pre_compress_checkpoint"}  # fmt: skip
    assert {name for name in public(MemoryManager) - apart if f"`{name}" not in PAGE} == set()


def test_every_limit_is_named():
    """The page names each limit, by its key in the configuration."""
    assert [field.name for field in dataclasses.fields(Limits) if f"{field.name}`" not in PAGE] == []


def test_every_group_of_entry_points_is_named():
    """The page names each entry-point group that may hold a memory provider."""
    assert [group for group in GROUPS if "model" not in group and f"`{group}`" not in PAGE] == []


@pytest.fixture
def notes(configured):
    """A home laid out as the page says."""
    for file, text in home_files("memory-providers.md").items():
        if file != "config.yaml":
            configured.write(file, text)
    return configured


def test_the_provider_of_the_page_works(notes, caplog):
    """The example keeps turns and facts, recalls them in the next session, and says how many."""
    config = {"memory": {"provider": "notes"}}
    with Host.load(config=config) as host:
        host.memory.initialize_all("s1")
        host.tools.dispatch("note_add", {"text": "Anna drinks green tea"})
        host.memory.sync_all("Bert drinks coffee", "I see.")
    with Host.load(config=config) as host:
        host.memory.initialize_all("s2")
        assert host.memory.prefetch_all("who drinks what?") == "- Anna drinks green tea\n- Bert drinks coffee"
        assert host.memory.describe_recall().endswith("Notes — recalled 2 memories")
    assert caplog.text == ""
