"""How the command treats terminals, pipes, encodings and signals; all of it as real processes."""

import contextlib
import os
import re
import signal
import struct
import subprocess
import sys
import threading
import time

import pytest

from hermes_core.llm.ledger import Usage, UsageLedger
from hermes_core.testing import FakeProvider

fcntl, pty, termios = map(pytest.importorskip, ("fcntl", "pty", "termios"))  # where there are no terminals of this kind

COMMAND = [sys.executable, "-m", "hermes_core.cli"]


def on_a_terminal(*words, columns=80):
    """What ``hermes`` writes to a terminal of a width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": str(columns), "NO_COLOR": ""}
    process = subprocess.Popen([*COMMAND, *words], stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    written = b""
    with contextlib.suppress(OSError):  # Linux reports the end of a terminal so
        while chunk := os.read(ours, 65536):
            written += chunk
    os.close(ours)
    assert process.wait() == 0
    return written.decode()


def without_escapes(text):
    """A text without a terminal's control sequences."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def test_a_terminal_gets_a_table(home):
    """On a terminal, columns are aligned under bold headings, and no line is wider than the window."""
    written = on_a_terminal("providers", "list", columns=200)
    assert "\x1b[1m" in written
    assert "\t" not in written
    head, *lines = without_escapes(written).splitlines()
    assert head.split()[:3] == ["name", "aliases", "base_url"]
    assert {line.index("https:") for line in lines if "https:" in line} == {head.index("base_url")}


def test_a_table_shows_words_in_brackets(home):
    """What a cell holds is shown as it is, such as the mark in the place of a key."""
    profile = {"base_url": "https://ann:sk-live-0123456789abcdef@acme.test/[v1]/:cat:"}
    home.plugin("acme", name="acme", profile=profile)
    assert "https://ann:[configured]@acme.test/[v1]/:cat:" in without_escapes(
        on_a_terminal("providers", "list", columns=250)
    )


@pytest.mark.parametrize("columns", [200, 80])
def test_a_table_never_cuts_what_one_would_type(home, columns):
    """However narrow the window, the first column stands whole: it is what the next command needs."""
    written = without_escapes(on_a_terminal("plugins", "list", columns=columns))
    assert "model-providers/kimi-coding" in written


def test_a_pipe_gets_tabs(shell):
    """In a pipe, a list is tab-separated lines without escapes."""
    done = shell("providers", "list")
    assert "\x1b" not in done.out
    assert len({line.count("\t") for line in done.out.splitlines()}) == 1


def test_a_reader_that_leaves_is_no_error(home):
    """When the reader of a pipe goes away, as ``head`` does, the command ends quietly."""
    for number in range(1000):
        home.plugin(f"plugin-{number}", name=f"plugin-{number}", description="x" * 200)
    with subprocess.Popen([*COMMAND, "plugins", "list"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline().startswith(b"key\t")
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


def test_a_closed_standard_output_is_no_traceback(home):
    """With standard output closed, as ``>&-`` does, nothing is printed and nothing breaks."""
    line = f"exec {sys.executable} -m hermes_core.cli plugins list >&-"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert done.stderr == ""


def test_a_full_disk_is_one_line(home):
    """An output that cannot be written is an error like any other."""
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full")
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, "plugins", "list"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1
    assert [line.partition(":")[0] for line in done.stderr.splitlines()] == ["error"]


@pytest.mark.parametrize(
    "environment",
    [
        pytest.param({"LC_ALL": "C"}, id="in the C locale"),
        pytest.param(
            {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, id="in the C locale, taken at its word"
        ),
        pytest.param({"PYTHONIOENCODING": "latin-1"}, id="on a terminal of western Europe"),
    ],
)
def test_an_emoji_never_breaks_the_output(shell, provider, environment):
    """An answer that the output's encoding cannot show is shown as well as it can be, with code 0."""
    provider.answer("done 😀")
    done = shell("llm", "ping", **environment)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("done ")


@pytest.mark.parametrize("environment", [{"LC_ALL": "C"}, {"LC_ALL": "C.UTF-8"}], ids=["in the C locale", "in UTF-8"])
def test_an_emoji_in_the_arguments_reaches_the_provider(shell, provider, environment):
    """A prompt is sent as it was typed, from the command line as from a pipe."""
    assert shell("llm", "look 😀", stdin="and ✓", **environment).code == 0
    assert provider.requests[-1].body["messages"][-1]["content"] == "look 😀\n\nand ✓"


@pytest.mark.parametrize("words", [["llm"], ["run", "/tldr"]], ids=["to a model", "to a command"])
def test_standard_input_that_is_no_text_is_one_line(shell, provider, words):
    """Bytes that are no UTF-8 on standard input are refused as such, not blamed on the command."""
    done = shell(*words, stdin=b"\xff\xfe\x00\x01", PYTHONIOENCODING="utf-8:strict")
    assert (done.code, done.out, provider.requests) == (1, "", [])
    assert done.err.startswith("error: standard input")


class Waiting(FakeProvider):
    """A provider that lets its client wait."""

    def __init__(self):
        super().__init__()
        self.asked, self.released = threading.Event(), threading.Event()

    def next_response(self, request):
        """Answer once released."""
        self.asked.set()
        self.released.wait(30)
        return super().next_response(request)


@pytest.mark.parametrize("words", [["llm", "ping"], ["run", "/tldr", "text"]], ids=["a question", "a command"])
def test_an_interrupt_ends_with_130_and_no_traceback(home, words):
    """Ctrl-C while the provider is thinking ends at once, quietly, with the shell's own code for it."""
    with Waiting() as server:
        home.config(server.config)
        script = (
            "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "  # a job may ignore it
            f"from hermes_core.cli import main; sys.exit(main({words!r}))"
        )
        with subprocess.Popen(
            [sys.executable, "-c", script], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            assert server.asked.wait(30)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=30)
        server.released.set()
    assert (process.returncode, out, err) == (130, b"", b"")
    assert "status=error:KeyboardInterrupt" in (home.path / "logs" / "agent.log").read_text()


def test_usage_is_a_bar_chart_on_a_terminal(home):
    """On a terminal, each line of the usage has a bar as long as its share of the longest one."""
    home.path.mkdir(exist_ok=True)
    ledger = UsageLedger(home.path)
    for plugin, tokens in (("most", 1000), ("half", 500), ("sliver", 1), ("none", 0)):
        ledger.record(Usage(time.time(), plugin, "complete", total_tokens=tokens))
    ledger.close()
    lines = without_escapes(on_a_terminal("usage", columns=160)).splitlines()[1:]
    assert {line.split()[0]: line.count("█") for line in lines if "█" in line} == {
        "most": 30,
        "half": 15,
    }
    assert [line.split()[0] for line in lines if "▏" in line] == ["sliver"]
