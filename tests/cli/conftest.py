"""Two ways to run the command: ``hermes`` in this process, ``shell`` as the user's shell does."""

import io
import json
import logging
import os
import subprocess
import sys
from typing import NamedTuple

import pytest

from hermes_core.cli import main
from hermes_core.testing import FakeProvider


class Outcome(NamedTuple):
    """How a command ended, and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        """The one JSON value on standard output."""
        return json.loads(self.out)

    @property
    def rows(self):
        """The tab-separated lines on standard output, as mappings of column to cell."""
        head, *lines = [line.split("\t") for line in self.out.splitlines()]
        return [dict(zip(head, line, strict=True)) for line in lines]


@pytest.fixture
def hermes(monkeypatch, capsys):
    """Run ``hermes`` in this process; standard input is ``stdin``, which is empty unless given."""
    before = dict(os.environ)
    logger = logging.getLogger("hermes_core")

    def run(*words, stdin=""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8"))
        capsys.readouterr()
        try:
            code = main([str(word) for word in words])
        except SystemExit as ended:
            code = ended.code
        return Outcome(code, *capsys.readouterr())

    yield run
    for handler in [*logger.handlers]:
        logger.removeHandler(handler)
        handler.close()
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture
def shell():
    """Run ``hermes`` as a process of its own, with its input and output in pipes."""

    def run(*words, stdin: str | bytes = b"", **environment):
        done = subprocess.run(
            [sys.executable, "-m", "hermes_core.cli", *map(str, words)],
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            env={**os.environ, "PYTHONWARNINGS": "error", **environment},
            capture_output=True,
            timeout=60,
            check=False,
        )
        return Outcome(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))

    return run


@pytest.fixture
def provider(home):
    """A running provider, to which the home's configuration leads."""
    with FakeProvider() as server:
        home.config(server.config)
        yield server


@pytest.fixture
def greeter(home):
    """An enabled plugin with a command-line tree ``hello`` and a few slash commands."""
    home.config({"plugins": {"enabled": ["greeter"]}})
    trees = {"hello": "Say hello to 100% of people"}
    commands = {"wave": "Wave", "slow-wave": "", "fail": "", "leave": "", "count": ""}
    manifest = {"version": "1.2", "provides_cli_commands": trees, "provides_commands": commands}
    return home.plugin("greeter", GREETER, name="greeter", **manifest)


GREETER = """
import asyncio
import sys


def register(ctx):
    def setup(parser):
        parser.add_argument("name", nargs="?", default="world")
        parser.add_argument("--code", type=int, default=0)
        parser.add_argument("--fail", action="store_true")

    def hello(args):
        if args.fail:
            raise RuntimeError("no breath left")
        print(f"hello {args.name}")
        return args.code

    async def slow_wave(raw):
        await asyncio.sleep(0)
        return f"slowly waving at {raw}"

    def fail(raw):
        raise RuntimeError("two\\nlines")

    ctx.register_cli_command("hello", help="Say hello", setup_fn=setup, handler_fn=hello)
    ctx.register_command("wave", handler=lambda raw: f"waving at {raw}", description="Wave", args_hint="<name>")
    ctx.register_command("slow-wave", handler=slow_wave)
    ctx.register_command("fail", handler=fail)
    ctx.register_command("leave", handler=lambda raw: sys.exit(7))
    ctx.register_command("count", handler=len)
"""
