"""Three ways to run the command: ``hermes`` in this process, ``shell`` as a user's shell does, ``terminal`` on one."""

import contextlib
import io
import json
import logging
import os
import re
import select
import struct
import subprocess
import sys
import time
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


TAKE_THE_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, "-m", "hermes_core.cli", *sys.argv[1:]])
"""


class Screen(NamedTuple):
    """How a command on a terminal ended, and what it wrote there, with and without control sequences."""

    code: int
    raw: str

    @property
    def text(self):
        """What one reads."""
        return re.sub(r"\x1b(\[[0-9;?]*[a-zA-Z]|\][^\x07]*\x07|[=>])", "", self.raw).replace("\r\n", "\n")


@pytest.fixture
def terminal():
    """Run ``hermes`` on a terminal of its own; each of ``answers`` is what to wait for, and what is typed then."""
    fcntl, pty, termios = map(pytest.importorskip, ("fcntl", "pty", "termios"))
    started = []

    def run(*words, answers=(), columns=100, seconds=30, **environment):
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
        process = subprocess.Popen(
            [sys.executable, "-c", TAKE_THE_TERMINAL, *map(str, words)],
            stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
            env={**os.environ, "TERM": "xterm", "COLUMNS": str(columns), **environment},
        )  # fmt: skip
        started.append((process, ours))
        os.close(theirs)
        written, waiting, end, seen = b"", [*answers], time.monotonic() + seconds, 0
        with contextlib.suppress(OSError):  # Linux reports the end of a terminal so
            while time.monotonic() < end:
                if select.select([ours], [], [], 0.1)[0]:
                    chunk = os.read(ours, 65536)
                    if not chunk:
                        break
                    written += chunk
                    if b"\x1b[6n" in chunk:  # a program that asks where the cursor is
                        os.write(ours, b"\x1b[1;1R")
                while waiting and waiting[0][0].encode() in written[seen:]:
                    seen = written.index(waiting[0][0].encode(), seen) + len(waiting[0][0].encode())
                    time.sleep(0.05)
                    os.write(ours, waiting.pop(0)[1].encode())
        assert not waiting, f"never seen: {waiting[0][0]!r} in {written[seen:].decode(errors='replace')}"
        return Screen(process.wait(max(end - time.monotonic(), 1)), written.decode(errors="replace"))

    yield run
    for process, ours in started:
        if process.poll() is None:
            process.kill()
            process.wait()
        os.close(ours)


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
