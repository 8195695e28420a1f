"""A plugin that takes long to load is noticed while it still does; switches show what the host does."""

import os
import threading

import pytest

from hermes_core.plugins.manifest import Manifest
from hermes_core.plugins.plugin import Plugin
from hermes_core.plugins.watch import LoadWatch


def row(name):
    """A plugin's row."""
    return Plugin(key=name, tier="user", manifest=Manifest(name=name))


def test_a_load_that_hangs_is_told_of_once():
    """A load that takes longer than allowed is told of while it lasts, once, and by name."""
    told, heard = [], threading.Event()

    def tell(plugin):
        told.append(plugin.key)
        if len(told) == 2:
            heard.set()

    watch = LoadWatch(0.02, tell)
    with watch.over(row("outer")), watch.over(row("inner")):
        assert heard.wait(30)
    assert sorted(told) == ["inner", "outer"]


def test_a_load_that_is_over_is_not_told_of():
    """A load that ended in time is never told of, though the watch goes on."""
    told, heard = [], threading.Event()
    watch = LoadWatch(0.05, lambda plugin: (told.append(plugin.key), heard.set()))
    with watch.over(row("quick")):
        pass
    with watch.over(row("slow")):
        assert heard.wait(30)
    assert told == ["slow"]


@pytest.mark.parametrize(
    ("variable", "words"),
    [
        pytest.param(
            "HERMES_PLUGINS_DEBUG", ["[plugins]", "plugin=model-providers/bad", "Traceback", "boom"], id="debug"
        ),
        pytest.param("HERMES_TRACE_HOOKS", ["[hooks]", "hook=hermes_commands", "plugin=commands/tldr"], id="trace"),
    ],
)
def test_a_switch_shows_what_the_host_does(home, run_python, variable, words):
    """``HERMES_PLUGINS_DEBUG`` shows loads with their tracebacks, ``HERMES_TRACE_HOOKS`` each call of a hook."""
    home.plugin("model-providers/bad", "raise RuntimeError('boom')")
    done = run_python(
        "from hermes_core import Host; host = Host.load(); host.commands; host.providers.get('bad')",
        env={**os.environ, variable: "1"},
    )
    assert [word for word in words if word not in done.stderr] == [], done.stderr
