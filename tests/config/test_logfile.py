"""A log file: whole lines from many writers, a bounded size, and no harm where it cannot be written."""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from textwrap import dedent

import pytest

from hermes_core.config.logfile import LogFile

WRITER = """
    import logging, os, sys, pathlib
    from hermes_core.config.logfile import LogFile
    path, name, lines, size, backups = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
    file = LogFile(pathlib.Path(path), max_bytes=size, backups=backups)
    def log(text):
        file.handle(logging.LogRecord("n", logging.INFO, "f", 1, text, (), None))
    def work():
        os.write(1, b"ready\\n")  # a child forked amid print or sys.stdin.read would wait for their locks for ever
        os.read(0, 1)
        for number in range(lines):
            log(f"writer={name} number={number:05} " + "x" * (number % 200) + ".")
"""
LINE = re.compile(r"\S+ \S+ INFO n: writer=(\w+) number=(\d{5}) (x*)\.")


class Told(LogFile):
    """Counts how often it was told that it cannot write."""

    times = 0

    def handleError(self, record):  # noqa: N802 - logging's own name
        """Count."""
        self.times += 1


@pytest.fixture
def log_to():
    """Open log files; each is closed when the test ends. Returns a function that logs a text."""
    files = []

    def open_file(path, *, max_bytes=10_000, backups=2, kind=LogFile):
        files.append(kind(Path(path), max_bytes=max_bytes, backups=backups))
        write.file = files[-1]
        return write

    def write(text, file=None):
        (file or files[-1]).handle(logging.LogRecord("n", logging.INFO, "f", 1, text, (), None))

    yield open_file
    for file in files:
        file.close()


@pytest.fixture
def writers():
    """Run the same script in several processes that begin at the same moment, and wait for all."""

    def run(script: str, names: str, path: Path, *limits: int) -> None:
        command = [sys.executable, "-c", dedent(WRITER) + dedent(script), str(path)]
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        processes = [subprocess.Popen([*command, name, *map(str, limits)], **pipes) for name in names]
        for process in processes:
            process.stdout.readline()
        for process in processes:
            process.stdin.close()
            process.stdin = None
        errors = [process.communicate(timeout=120)[1].decode() for process in processes]
        assert (errors, [process.returncode for process in processes]) == ([""] * len(names), [0] * len(names))

    return run


def lines_of(folder: Path) -> list[tuple[str, int]]:
    """Writer and number of every line in a folder's files; each line is whole."""
    found = [LINE.fullmatch(line) for path in folder.iterdir() for line in path.read_text().splitlines()]
    assert all(found)
    return sorted((match[1], int(match[2])) for match in found)


def test_lines_are_appended_and_the_file_is_turned_over(log_to, tmp_path):
    """Files of bounded size follow one another; the oldest goes."""
    write = log_to(tmp_path / "logs" / "a.log", max_bytes=200, backups=3)
    for number in range(30):
        write(f"line {number:02}")
    files = [tmp_path / "logs" / f"a.log{end}" for end in (".3", ".2", ".1", "")]
    assert sorted(files) == sorted((tmp_path / "logs").iterdir())
    assert all(path.stat().st_size <= 200 for path in files)
    numbers = [int(line[-2:]) for path in files for line in path.read_text().splitlines()]
    assert numbers == [*range(30 - len(numbers), 30)]


def test_a_line_longer_than_the_file_may_be_is_written(log_to, tmp_path):
    """A line is never lost for its length, and turns over no empty file."""
    write = log_to(tmp_path / "a.log", max_bytes=100)
    for letter in "abc":
        write(letter * 500)
    assert [path.read_text().count("c") for path in sorted(tmp_path.iterdir())] == [500, 0, 0]


def test_threads_write_whole_lines(log_to, tmp_path):
    """Threads that write at once lose nothing, also when two handlers share a file."""
    write = log_to(tmp_path / "a.log", max_bytes=5000, backups=99)
    files = [write.file, log_to(tmp_path / "a.log", max_bytes=5000, backups=99).file]

    def work(name):
        for number in range(100):
            write(f"writer={name} number={number:05} {'x' * number}.", files[number % 2])

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert lines_of(tmp_path) == [(name, number) for name in "abcd" for number in range(100)]


def test_processes_that_turn_over_at_once_lose_nothing(writers, tmp_path):
    """Several processes write to one file that is turned over all the time: every line is there once, and whole."""
    writers("work()", "abc", tmp_path / "a.log", 300, 700, 999)
    assert len([*tmp_path.iterdir()]) > 10
    assert lines_of(tmp_path) == [(name, number) for name in "abc" for number in range(300)]


@pytest.mark.slow
def test_processes_that_turn_over_at_once_lose_nothing_in_the_long_run(writers, tmp_path):
    """The same with more of everything, and with files that somebody takes away meanwhile."""
    taken = tmp_path / "taken"
    taken.mkdir()
    work = threading.Thread(target=writers, args=("work()", "abcdefgh", tmp_path / "logs" / "a.log", 5000, 20_000, 999))
    work.start()
    number = 0
    while work.is_alive():
        number += 1
        with suppress(FileNotFoundError):
            os.replace(tmp_path / "logs" / "a.log", taken / f"{number}.log")
        work.join(0.01)
    for path in (tmp_path / "logs").iterdir():
        os.replace(path, taken / path.name)
    assert lines_of(taken) == [(name, number) for name in "abcdefgh" for number in range(5000)]


def test_a_fork_goes_on_writing(writers, tmp_path):
    """A child forked while another thread writes has no lock to wait for and no half line to finish."""
    script = """
        import os, threading, time
        thread = threading.Thread(target=work)
        thread.start()
        children = []
        for child in "bcdefgh":
            time.sleep(0.002)
            children.append(os.fork())
            if not children[-1]:
                name = child
                work()
                os._exit(0)
        thread.join()
        assert [os.waitpid(child, 0)[1] for child in children] == [0] * 7
    """
    writers(script, "a", tmp_path / "a.log", 200, 20_000, 99)
    assert lines_of(tmp_path) == [(name, number) for name in "abcdefgh" for number in range(200)]


def test_a_killed_process_loses_no_line_it_wrote(tmp_path):
    """What was logged is in the file though the process is killed in the next moment."""
    script = dedent(WRITER) + "\nimport os, signal\nwork()\nos.kill(os.getpid(), signal.SIGKILL)\n"
    command = [sys.executable, "-c", script, tmp_path / "a.log", "a", "50", "99999", "2"]
    assert subprocess.run(command, check=False, input=b"", stdout=subprocess.PIPE).returncode == -9
    assert lines_of(tmp_path) == [("a", number) for number in range(50)]


def test_a_process_that_stops_in_mid_turn_holds_nobody_up(log_to, tmp_path):
    """While another process holds the folder's lock, lines are appended; after that, the file is turned over."""
    fcntl = pytest.importorskip("fcntl")
    write = log_to(tmp_path / "a.log", max_bytes=100)
    other = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)
    for _ in range(9):
        write("x" * 30)
    assert [path.name for path in tmp_path.iterdir()] == ["a.log"]
    os.close(other)
    write("last")
    assert (tmp_path / "a.log").read_text().endswith("last\n")
    assert (tmp_path / "a.log.1").read_text().count("\n") == 9


@pytest.mark.parametrize("device", ["/dev/full", "a-pipe-nobody-reads", "a-folder"])
def test_what_takes_no_line_is_told_of_once(log_to, tmp_path, device):
    """A full device, a pipe without a reader, a folder in the way: told once until it works again; nobody waits."""
    path = tmp_path / "a.log"
    if device.startswith("/dev"):
        path.symlink_to(device)
    elif device == "a-folder":
        path.mkdir()
    else:
        os.mkfifo(path)
    write = log_to(path, kind=Told)
    for _ in range(3):
        write("lost")
    assert write.file.times == 1
    path.rmdir() if device == "a-folder" else path.unlink()
    write("kept")
    assert path.read_text().endswith("kept\n")
    path.unlink()
    path.mkdir()
    write("lost")
    write("lost")
    assert write.file.times == 2


def test_a_line_that_was_cut_off_ends_before_the_next(run_python, tmp_path):
    """Where the disk was full in the middle of a line, the next one begins on a line of its own."""
    script = """
        import logging, pathlib, resource, signal, sys
        from hermes_core.config.logfile import LogFile
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        class Told(LogFile):
            def handleError(self, record):
                print("told", sys.exc_info()[1].errno)
        file = Told(pathlib.Path(sys.argv[1]), max_bytes=10_000, backups=1)
        def log(text):
            file.handle(logging.LogRecord("n", logging.INFO, "f", 1, text, (), None))
        log("first")
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        resource.setrlimit(resource.RLIMIT_FSIZE, (80, hard))
        log("second " + "x" * 50)
        log("third")
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        log("fourth")
    """
    done = run_python(script, tmp_path / "a.log")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "told 28\n"
    assert [line[:-1].rstrip("x")[24:] for line in (tmp_path / "a.log").read_text().splitlines(keepends=True)] == [
        "INFO n: first", "INFO n: second ", "INFO n: fourth",
    ]  # fmt: skip


def test_a_folder_that_cannot_be_changed_costs_no_line(as_nobody):
    """Where the file may be written but not renamed, it grows, which is told once, and no line is lost."""
    script = """
        import logging, pathlib, sys
        from hermes_core.config.logfile import LogFile
        class Told(LogFile):
            def handleError(self, record):
                print("told", type(sys.exc_info()[1]).__name__)
        file = Told(pathlib.Path(sys.argv[1], "a.log"), max_bytes=100, backups=1)
        for number in range(9):
            file.handle(logging.LogRecord("n", logging.INFO, "f", 1, f"line {number}", (), None))
    """
    folder = as_nobody.folder / "logs"
    folder.mkdir(mode=0o755)
    (folder / "a.log").touch()
    (folder / "a.log").chmod(0o666)
    done = as_nobody(script, folder, first="import hermes_core.config.logfile")
    assert (done.stdout, done.stderr) == ("told PermissionError\n", "")
    assert [line[-1] for line in (folder / "a.log").read_text().splitlines()] == [*"012345678"]


def test_a_closed_file_opens_again_for_a_late_line(log_to, tmp_path):
    """What is logged while a program ends is not lost."""
    write = log_to(tmp_path / "a.log")
    write("one")
    write.file.close()
    write("two")
    assert [line[-3:] for line in (tmp_path / "a.log").read_text().splitlines()] == ["one", "two"]
