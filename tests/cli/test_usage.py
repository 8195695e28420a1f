"""``hermes usage``: what the model calls used."""

import time

import pytest

from hermes_core.llm.ledger import Usage, UsageLedger


@pytest.fixture
def ledger(home):
    """The ledger of the active home, with a few calls in it."""
    home.path.mkdir(exist_ok=True)
    ledger = UsageLedger(home.path)
    now = time.time()
    ledger.record(Usage(now, "tldr", "complete", "openrouter", "m-1", total_tokens=30, input_tokens=20, cost_usd=0.5))
    ledger.record(Usage(now, "triage", "acomplete", "openrouter", "m-2", total_tokens=300))
    ledger.record(Usage(now - 3 * 86400, "triage", "complete", "openai", "m-2", "error:ServerError"))
    ledger.close()
    return ledger


def test_nothing_used_is_an_empty_list(hermes):
    """A home without calls gives headings alone, and for programs an empty array."""
    assert (hermes("usage").rows, hermes("usage", "--json").json) == ([], [])


def test_calls_are_summed_up_by_plugin(hermes, ledger):
    """Without arguments, each plugin is a line, the one that used most tokens first."""
    rows = [(row["plugin"], row["calls"], row["failed"], row["total_tokens"]) for row in hermes("usage").rows]
    assert rows == [("triage", "2", "1", "300"), ("tldr", "1", "0", "30")]


@pytest.mark.parametrize(("by", "count"), [("plugin", 2), ("provider", 2), ("model", 2), ("day", 2)])
def test_calls_may_be_summed_up_by(hermes, ledger, by, count):
    """``--by`` chooses what a line stands for; for programs it is one array of objects with numbers in them."""
    rows = hermes("usage", "--by", by, "--json").json
    assert (count, 3) == (len(rows), sum(row["calls"] for row in rows))


@pytest.mark.parametrize(("since", "calls"), [("24h", 2), ("2d", 2), ("1w", 3), ("2020-01-01", 3), ("2999-01-01", 0)])
def test_a_sum_may_begin_later(hermes, ledger, since, calls):
    """``--since`` takes hours, days, weeks or a date."""
    assert sum(row["calls"] for row in hermes("usage", "--since", since, "--json").json) == calls


@pytest.mark.parametrize("since", ["yesterday", "5", "-1d", "2026-13-01", ""])
def test_what_is_no_time_is_refused(hermes, since):
    """What is neither a span nor a date is an error that says how to write one."""
    done = hermes("usage", f"--since={since}")
    assert (done.code, "--since" in done.err, "24h" in done.err) == (1, True, True)
