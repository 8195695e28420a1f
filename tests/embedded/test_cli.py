"""``hermes embedded``, from its arguments to what it prints."""

import argparse
import json
import sys

import pytest

from hermes_core import HermesError


@pytest.fixture
def run(part, tmp_path):
    """Run the command with these words for a home."""

    def call(*words, home=tmp_path):
        parser = argparse.ArgumentParser()
        part("cli").add_arguments(parser)
        return part("cli").run(parser.parse_args(words), home)

    return call


class Context:
    """What ``register`` is handed."""

    def __init__(self, home):
        self.home = home
        self.commands = {}

    def register_cli_command(self, name, *, help, setup_fn, handler_fn):  # noqa: A002
        """Keep what is offered."""
        self.commands[name] = (setup_fn, handler_fn)


def test_register(load_plugin, tmp_path, capsys):
    """The plugin offers the command, and hands it its home."""
    ctx = Context(tmp_path)
    load_plugin("hermes_plugins_embedded_under_test").register(ctx)
    setup, handle = ctx.commands["embedded"]
    parser = argparse.ArgumentParser()
    setup(parser)
    assert handle(parser.parse_args(["remove"])) == 0
    assert str(tmp_path) in capsys.readouterr().out


def test_status_without_weights(run, capsys):
    """Status says what is missing, with the remedy, and exits with 1."""
    assert run("status") == 1
    out = capsys.readouterr().out
    assert "ready    no" in out
    assert "hermes embedded pull" in out


def test_status_without_the_library(run, capsys, monkeypatch):
    """Status says that the extra is missing, in JSON too."""
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    assert run("status", "--json") == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["ready"], found["library"]) == (False, None)
    assert "hermes-plugin-host[embedded]" in found["problems"][0]["hint"]


def test_verify_without_weights(run):
    """Verifying nothing is an error with a remedy."""
    with pytest.raises(HermesError, match="there is no model"):
        run("verify")


def test_a_verb_is_needed(run):
    """The command alone is a usage error."""
    with pytest.raises(SystemExit) as caught:
        run()
    assert caught.value.code == 2


@pytest.mark.embedded
def test_with_weights(run, model_home, capsys):
    """With weights, pull has nothing to do, status is ready and verify passes."""
    assert [run(verb, home=model_home) for verb in ("pull", "verify", "status")] == [0, 0, 0]
    assert "ready    yes" in capsys.readouterr().out
