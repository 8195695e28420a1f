"""What calls used is kept in the home, whoever writes at once, and a plugin's budget is held against it."""

import logging
import os
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from hermes_core.config.redact import register_secret
from hermes_core.errors import BudgetExceededError, HermesError
from hermes_core.llm.ledger import Usage, UsageLedger, read_budget, read_usage_of


@pytest.fixture
def ledger(tmp_path):
    """A ledger in an empty home."""
    ledger = UsageLedger(tmp_path)
    yield ledger
    ledger.close()


def used(**fields):
    """A call that is over."""
    return Usage(**{"at": time.time(), "plugin": "p", "method": "complete", **fields})


def totals(home, by="plugin"):
    """Group → calls and tokens."""
    return {row[by]: (row["calls"], row["total_tokens"]) for row in read_usage_of(home, by)}


def test_a_home_without_calls_has_no_sums(tmp_path):
    """Where nothing was recorded there is nothing to sum up, and no file is made."""
    assert (read_usage_of(tmp_path, "plugin"), os.listdir(tmp_path)) == ([], [])


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("plugin", {"p": (2, 30), "q": (1, 5)}),
        ("provider", {"one": (2, 15), "two": (1, 20)}),
        ("model", {"m": (3, 35)}),
        ("day", {"2026-01-02": (2, 30), "2026-01-03": (1, 5)}),
    ],
)
def test_calls_are_summed_up(ledger, tmp_path, by, expected):
    """Calls are summed up by plugin, provider, model or day."""
    day = time.mktime((2026, 1, 2, 12, 0, 0, 0, 0, -1))
    ledger.record(used(at=day, provider="one", model="m", total_tokens=10))
    ledger.record(used(at=day, provider="two", model="m", total_tokens=20))
    ledger.record(used(at=day + 86400, plugin="q", provider="one", model="m", total_tokens=5))
    ledger.flush()
    assert totals(tmp_path, by) == expected


def test_what_has_no_price_is_counted_as_such(ledger, tmp_path):
    """A sum says how many calls it knows no cost for; where it knows none, the cost is unknown, not nothing."""
    ledger.record(used(total_tokens=10, cost_usd=0.25))
    ledger.record(used(total_tokens=10))
    ledger.record(used(plugin="q", total_tokens=10))
    ledger.record(used(plugin="q", status="error:ServerError"))
    ledger.flush()
    rows = {
        row["plugin"]: (row["cost_usd"], row["unpriced"], row["failed"]) for row in read_usage_of(tmp_path, "plugin")
    }
    assert rows == {"p": (0.25, 1, 0), "q": (None, 1, 1)}


def test_older_calls_are_left_out(ledger, tmp_path):
    """A sum may begin at a point in time."""
    ledger.record(used(at=100.0))
    ledger.record(used(at=200.0))
    ledger.flush()
    assert [row["calls"] for row in read_usage_of(tmp_path, "plugin", since=150.0)] == [1]


def test_calls_are_forgotten_in_the_end(ledger, tmp_path):
    """What is older than 400 days is gone once the file is opened anew; what is younger stays."""
    now, day = time.time(), 86400
    ledger.record(used(at=now - 401 * day, plugin="old"))
    ledger.record(used(at=now - 399 * day, plugin="young"))
    ledger.close()
    assert totals(tmp_path) == {"old": (1, 0), "young": (1, 0)}
    ledger.record(used(at=now))
    ledger.flush()
    assert totals(tmp_path) == {"p": (1, 0), "young": (1, 0)}


def test_a_call_is_written_without_anybody_asking(ledger, tmp_path):
    """A recorded call reaches the file by itself in a moment."""
    ledger.record(used())
    until = time.monotonic() + 10
    while not totals(tmp_path) and time.monotonic() < until:
        time.sleep(0.02)
    assert totals(tmp_path) == {"p": (1, 0)}


def test_a_closed_ledger_may_be_used_again(ledger, tmp_path):
    """Closing writes what is left; recording afterwards works."""
    ledger.record(used())
    ledger.close()
    ledger.record(used())
    ledger.close()
    assert totals(tmp_path) == {"p": (2, 0)}


def test_threads_record_at_once(ledger, tmp_path):
    """No call is lost when many threads record, and others write, at once."""

    def work():
        for _ in range(200):
            ledger.record(used(total_tokens=1))
        ledger.flush()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    ledger.flush()
    assert totals(tmp_path) == {"p": (1600, 1600)}


SHARED = """
import sys, time
from pathlib import Path
from hermes_core.llm.ledger import Usage, UsageLedger
ledger = UsageLedger(Path(sys.argv[1]))
for _ in range(100):
    ledger.record(Usage(time.time(), "p", "complete", total_tokens=1))
    ledger.flush()
ledger.close()
"""


def test_processes_record_at_once(tmp_path, run_python):
    """No call is lost when several processes write to one home at once."""
    threads = [threading.Thread(target=run_python, args=(SHARED, tmp_path)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert totals(tmp_path) == {"p": (400, 400)}


def test_a_forked_child_writes_its_own_calls_alone(tmp_path, run_python):
    """A child made by fork records into the same file, and writes nothing twice."""
    done = run_python(
        """
        import os, sys, time
        from pathlib import Path
        from hermes_core.llm.ledger import Usage, UsageLedger
        ledger = UsageLedger(Path(sys.argv[1]))
        ledger.record(Usage(time.time(), "parent", "complete"))
        child = os.fork()
        if child == 0:
            ledger.record(Usage(time.time(), "child", "complete"))
            ledger.close()
            os._exit(0)
        os.waitpid(child, 0)
        ledger.close()
        """,
        tmp_path,
    )
    assert (done.stderr, totals(tmp_path)) == ("", {"child": (1, 0), "parent": (1, 0)})


def test_a_fork_takes_no_half_written_transaction_along(tmp_path, run_python):
    """Children that are forked while another thread writes can write too: none takes over a lock held for ever."""
    done = run_python(
        """
        import os, sys, threading, time
        from pathlib import Path
        from hermes_core.llm.ledger import Usage, UsageLedger
        ledger = UsageLedger(Path(sys.argv[1]))
        over = threading.Event()
        def write():
            while not over.is_set():
                for _ in range(50):
                    ledger.record(Usage(time.time(), "parent", "complete"))
                ledger.flush()
        thread = threading.Thread(target=write)
        thread.start()
        for _ in range(40):
            child = os.fork()
            if child == 0:
                ledger.record(Usage(time.time(), "child", "complete"))
                ledger.flush(2)
                os._exit(0)
            os.waitpid(child, 0)
        over.set()
        thread.join()
        ledger.close()
        """,
        tmp_path,
    )
    assert (done.stderr, totals(tmp_path)["child"]) == ("", (40, 0))


def test_the_file_is_for_its_owner_alone(ledger, tmp_path):
    """Who calls what is nobody else's business: the file is readable by its owner alone."""
    ledger.record(used())
    ledger.flush()
    assert (tmp_path / "usage.db").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", [b"no database at all" * 100, None], ids=["no database", "a folder"])
def test_a_file_that_cannot_be_used_is_left_alone(ledger, tmp_path, caplog, content):
    """What is no ledger is never overwritten: one warning names it, and calls go on; reading it is an error."""
    path = tmp_path / "usage.db"
    path.mkdir() if content is None else path.write_bytes(content)
    for _ in range(2):
        ledger.record(used())
        ledger.flush()
    warnings = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert [str(path) in record.getMessage() for record in warnings] == [True]
    assert content is None or path.read_bytes() == content
    with pytest.raises(HermesError, match=r"usage\.db"):
        read_usage_of(tmp_path, "plugin")


def test_what_could_not_be_written_is_written_later(ledger, tmp_path):
    """Calls wait while the file cannot be used, and are in it once it can."""
    (tmp_path / "usage.db").mkdir()
    ledger.record(used())
    ledger.flush()
    (tmp_path / "usage.db").rmdir()
    ledger.record(used())
    ledger.flush()
    assert totals(tmp_path) == {"p": (2, 0)}


def test_a_home_that_may_not_be_written_costs_no_call(as_nobody):
    """In a home that may not be written, recording raises nothing; the audit log is what warns of it."""
    as_nobody.folder.chmod(0o555)
    done = as_nobody(
        """
        import time
        ledger = UsageLedger(pathlib.Path(sys.argv[1]))
        for _ in range(2):
            ledger.record(Usage(time.time(), "p", "complete"))
            ledger.flush()
        """,
        as_nobody.folder,
        first="import sqlite3; from hermes_core.llm.ledger import Usage, UsageLedger",
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("budget", "calls", "key"),
    [
        pytest.param({"max_calls_per_hour": 3}, 3, "max_calls_per_hour", id="calls"),
        pytest.param({"max_tokens_per_day": 20}, 2, "max_tokens_per_day", id="tokens"),
        pytest.param({"max_cost_usd_per_day": 0.5}, 2, "max_cost_usd_per_day", id="cost"),
        pytest.param({"max_calls_per_hour": 0}, 0, "max_calls_per_hour", id="no calls at all"),
        pytest.param(
            {"max_calls_per_hour": 9, "max_tokens_per_day": 10}, 1, "max_tokens_per_day", id="the nearest one"
        ),
    ],
)
def test_a_budget_ends(ledger, budget, calls, key):
    """When a limit is reached the next call is refused, with the key that sets it; another plugin goes on."""
    for _ in range(calls):
        ledger.record(used(total_tokens=10, cost_usd=0.25), ledger.admit("p", budget))
    with pytest.raises(BudgetExceededError, match=rf"plugins\.entries\.p\.llm\.{key}") as caught:
        ledger.admit("p", budget)
    assert caught.value.plugin == "p"
    if calls:
        ledger.admit("q", budget)


@pytest.mark.parametrize("plugin", ["half \ud83d", "sk-proj-0123456789abcdef0123456789abcdef"], ids=["odd", "a key"])
def test_a_budget_is_held_whatever_a_plugin_is_called(ledger, plugin):
    """A plugin whose name is not stored as it is has its calls counted all the same."""
    ledger.record(used(plugin=plugin), ledger.admit(plugin, {"max_calls_per_hour": 1}))
    with pytest.raises(BudgetExceededError):
        ledger.admit(plugin, {"max_calls_per_hour": 1})


def test_a_limit_looks_back_over_its_time(ledger):
    """Calls of more than an hour ago leave room for new ones."""
    ledger.record(used(at=time.time() - 3601))
    assert ledger.admit("p", {"max_calls_per_hour": 1}) > 0


def test_calls_that_are_not_over_count(ledger):
    """A call counts from when it is let in, so that calls at once cannot pass together."""
    ledger.admit("p", {"max_calls_per_hour": 1})
    with pytest.raises(BudgetExceededError):
        ledger.admit("p", {"max_calls_per_hour": 1})


def test_a_budget_waits_for_a_process_that_is_just_making_the_file(ledger, tmp_path):
    """A call with a budget is let in once the process that is setting the file up has done so."""
    maker = sqlite3.connect(tmp_path / "usage.db")
    maker.execute("begin immediate")
    with ThreadPoolExecutor(1) as thread:
        admitted = thread.submit(ledger.admit, "p", {"max_calls_per_hour": 1})
        time.sleep(0.1)
        maker.rollback()
        maker.close()
        assert admitted.result() > 0


def test_an_admitted_call_is_counted_once(ledger, tmp_path):
    """A call that was let in by a budget is one row when it is over."""
    ledger.record(used(total_tokens=7), ledger.admit("p", {"max_calls_per_hour": 9}))
    ledger.flush()
    assert totals(tmp_path) == {"p": (1, 7)}


def test_threads_never_pass_a_budget_together(ledger):
    """Of many calls at once, just as many get in as the limit says."""
    passed = []

    def work():
        for _ in range(5):
            try:
                passed.append(ledger.admit("p", {"max_calls_per_hour": 12}))
            except BudgetExceededError:
                return

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert len(passed) == 12


def test_a_budget_that_cannot_be_checked_lets_nobody_in(ledger, tmp_path):
    """When the file cannot be used, a plugin with a budget is refused, and the error names the file."""
    (tmp_path / "usage.db").write_bytes(b"no database" * 100)
    with pytest.raises(BudgetExceededError, match=r"usage\.db"):
        ledger.admit("p", {"max_calls_per_hour": 9})


@pytest.mark.parametrize("value", ["many", True, -1, [5], float("nan")], ids=str)
def test_a_limit_that_is_no_number_is_closed(caplog, value):
    """A limit that is no number leaves no room, and is warned of by its key."""
    assert read_budget("p", {"max_calls_per_hour": value}) == {"max_calls_per_hour": 0}
    assert "plugins.entries.p.llm.max_calls_per_hour" in caplog.text


@pytest.mark.parametrize("is_new", [True, False], ids=["while it is made", "in use"])
def test_a_budget_waits_for_nobody_longer_than_it_may(tmp_path, ledger, is_new):
    """Where another process keeps the file to itself, the error says so, and to try again."""
    if not is_new:
        ledger.admit("p", {"max_calls_per_hour": 9})
    with closing(sqlite3.connect(tmp_path / "usage.db")) as other:
        other.execute("begin exclusive")
        with pytest.raises(BudgetExceededError, match=r"usage\.db cannot be used") as caught:
            ledger.admit("p", {"max_calls_per_hour": 9}, seconds=0.2)
        assert "another process holds it" in caught.value.hint
        other.rollback()
    assert ledger.admit("p", {"max_calls_per_hour": 9}, seconds=5) > 0


def test_a_budget_waits_for_no_thread_that_waits_itself(tmp_path, ledger):
    """A call with a budget is refused in time also while the ledger's own thread waits for another process."""
    ledger.admit("p", {"max_calls_per_hour": 9})
    with closing(sqlite3.connect(tmp_path / "usage.db")) as other, ThreadPoolExecutor(1) as thread:
        other.execute("begin immediate")
        ledger.record(used())
        waiting = thread.submit(ledger.flush)
        time.sleep(0.1)
        with pytest.raises(BudgetExceededError) as caught:
            ledger.admit("p", {"max_calls_per_hour": 9}, seconds=0.2)
        assert ("another process" in caught.value.hint, waiting.done()) == (True, False)
        other.rollback()


def test_a_call_that_is_not_over_has_not_failed(ledger, tmp_path):
    """A call that was let in and is not over, or never will be, counts as a call, and not as a failed one."""
    ledger.admit("p", {"max_calls_per_hour": 9})
    (row,) = read_usage_of(tmp_path, "plugin")
    assert (row["calls"], row["failed"]) == (1, 0)


def test_no_secret_is_stored(ledger, tmp_path):
    """A secret that a server gives for its model's name is blanked before it is stored."""
    register_secret("s3cr-et99")
    ledger.record(used(model="model s3cr-et99", provider="s3cr-et99"))
    ledger.close()
    assert (*totals(tmp_path, "model"), *totals(tmp_path, "provider")) == ("model [redacted]", "[redacted]")


def test_a_home_may_be_given_relative_to_the_folder(ledger, tmp_path, monkeypatch):
    """The ledger of a home is read whether or not its path begins at the root."""
    ledger.record(used())
    ledger.close()
    monkeypatch.chdir(tmp_path.parent)
    assert totals(Path(tmp_path.name)) == {"p": (1, 0)}


@pytest.mark.parametrize("closed", ["folder", "file"])
def test_what_may_not_be_read_is_named(as_nobody, closed):
    """A ledger that the user may not read is an error that names the file."""
    with closing(UsageLedger(as_nobody.folder)) as ledger:
        ledger.record(used())
    (as_nobody.folder if closed == "folder" else as_nobody.folder / "usage.db").chmod(0)
    done = as_nobody(
        """
        try:
            read_usage_of(pathlib.Path(sys.argv[1]), "plugin")
        except HermesError as error:
            print(error)
        """,
        as_nobody.folder,
        first="import sqlite3; from hermes_core.errors import HermesError; "
        "from hermes_core.llm.ledger import read_usage_of",
    )
    as_nobody.folder.chmod(0o755)
    assert (done.returncode, done.stderr, "usage.db" in done.stdout) == (0, "", True)


LEFT_OPEN = """
import sys, time
from pathlib import Path
from hermes_core.llm.ledger import Usage, UsageLedger
ledgers = [UsageLedger(Path(home)) for home in sys.argv[1:]]
for ledger in ledgers:
    ledger.record(Usage(time.time(), "p", "complete", total_tokens=5), ledger.admit("p", {"max_calls_per_hour": 2}))
"""


def test_what_a_program_leaves_open_is_written_when_it_ends(tmp_path, run_python):
    """A program that closes no host loses no call, of none of its homes, so that budgets hold across runs."""
    homes = [tmp_path / "a", tmp_path / "b"]
    run_python(LEFT_OPEN, *homes)
    run_python(LEFT_OPEN, *homes)
    assert [totals(home) for home in homes] == [{"p": (2, 10)}] * 2
    assert "BudgetExceededError" in run_python(LEFT_OPEN, *homes).stderr


KILLED = """
import os, random, signal, sys, threading, time
from pathlib import Path
from hermes_core.llm.ledger import Usage, UsageLedger
def end():
    time.sleep(random.random() / 5)
    os.kill(os.getpid(), signal.SIGKILL)
threading.Thread(target=end).start()
ledger = UsageLedger(Path(sys.argv[1]))
while True:
    ledger.record(Usage(time.time(), "p", "complete"))
    ledger.flush()
"""


@pytest.mark.slow
def test_a_kill_leaves_a_file_that_can_be_read(ledger, tmp_path, run_python):
    """A process killed in the middle of writing leaves a ledger that others read and write on."""
    for _ in range(10):
        run_python(KILLED, tmp_path)
    ledger.record(used(plugin="after"))
    ledger.flush()
    with sqlite3.connect(tmp_path / "usage.db") as connection:
        assert connection.execute("pragma integrity_check").fetchone() == ("ok",)
    assert totals(tmp_path)["after"] == (1, 0)
