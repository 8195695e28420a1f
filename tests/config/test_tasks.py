"""Side tasks and the fallback chain: from what is written to rows."""

import pytest

from hermes_core.config.keys import TASK_TIMEOUTS
from hermes_core.config.settings import Config, heal
from hermes_core.config.tasks import auxiliary_task, fallback_chain, transient_retries


def config(**tree):
    """A configuration as a host reads it."""
    return Config(tree=heal(tree))


@pytest.fixture
def told():
    """What is wrong, as it was told."""
    return []


CHAINS = {
    "nothing": ({}, []),
    "a list": ({"fallback_providers": [{"provider": "a", "model": "m"}, {"provider": "b"}]}, [("a", "m"), ("b", "")]),
    "one in place of a list": ({"fallback_providers": {"provider": "a"}}, [("a", "")]),
    "the older key": ({"fallback_model": {"provider": "a"}}, [("a", "")]),
    "both, the older one last": (
        {"fallback_model": [{"provider": "c"}], "fallback_providers": [{"provider": "a"}]},
        [("a", ""), ("c", "")],
    ),
    "the same twice": (
        {
            "fallback_providers": [{"provider": "A", "model": "M", "base_url": "https://x.test/v1/"}],
            "fallback_model": {"provider": "a", "model": "m", "base_url": "https://X.test/v1"},
        },
        [("A", "M")],
    ),
    "one provider with two models": (
        {"fallback_providers": [{"provider": "a", "model": "m"}, {"provider": "a", "model": "n"}]},
        [("a", "m"), ("a", "n")],
    ),
    "junk": ({"fallback_providers": 5, "fallback_model": "m"}, []),
}


@pytest.mark.parametrize(("tree", "expected"), CHAINS.values(), ids=CHAINS)
def test_the_chain_is_read_in_order_and_each_once(tree, expected):
    """``fallback_providers`` comes before ``fallback_model``; what is the same but for case and slash counts once."""
    assert expected == [(row.provider, row.model) for row in fallback_chain(config(**tree))]


@pytest.mark.parametrize("item", [{"model": "m"}, {"provider": " "}, "acme", None, 5])
def test_what_names_no_provider_is_dropped_and_told(told, item):
    """An item of the chain without a provider is dropped; the warning names its place, and the others stay."""
    chain = config(fallback_providers=[item, {"provider": "b"}])
    rows = fallback_chain(chain, lambda message, *values: told.append(message % values))
    assert (
        [row.provider for row in rows],
        told,
    ) == (["b"], ["fallback_providers.0 names no provider; it is not used"])


def test_a_fallback_has_every_key():
    """Each key of an item is read, under its aliases too."""
    written = {"provider": "a", "base_url": "https://x.test", "api_key_env": "K", "transport": "gemini", "timeout": "9"}
    (row,) = fallback_chain(config(fallback_providers=[written]))
    assert (
        row.base_url,
        row.key_env,
        row.api_mode,
        row.timeout,
        row.place,
    ) == ("https://x.test", "K", "gemini", 9.0, "fallback_providers.0")


@pytest.mark.parametrize("task", TASK_TIMEOUTS)
def test_a_task_has_its_own_time_limit(task):
    """Where nothing is configured, each named task takes its own time."""
    assert (TASK_TIMEOUTS[task], False) == (
        auxiliary_task(config(), task).timeout,
        auxiliary_task(config(), task).is_timeout_set,
    )


TIMEOUTS = {
    "a number": ({"vision": {"timeout": 7}}, "vision", 7.0),
    "in quotes r23-05": ({"vision": {"timeout": "45"}}, "vision", 45.0),
    "junk means the default": ({"vision": {"timeout": "soon"}}, "vision", 120.0),
    "zero means the default": ({"vision": {"timeout": 0}}, "vision", 120.0),
    "a task of any name": ({"mine": {"timeout": 7}}, "mine", 7.0),
    "an unknown task": ({}, "mine", 30.0),
    "the other name of plugin calls": ({"plugin_llm": {"timeout": 7}}, "plugin", 7.0),
    "the name beats the other name": ({"plugin_llm": {"timeout": 7}, "plugin": {"timeout": 8}}, "plugin", 8.0),
    "a task that is no mapping": ({"vision": 5}, "vision", 120.0),
}


@pytest.mark.parametrize(("tree", "task", "expected"), TIMEOUTS.values(), ids=TIMEOUTS)
def test_a_time_limit_is_the_configured_one_else_the_default(tree, task, expected):
    """A usable timeout counts; anything else leaves the task's default."""
    assert expected == auxiliary_task(config(auxiliary=tree), task).timeout


EXPLICIT = {
    "nothing": ({}, False),
    "auto": ({"provider": "Auto", "model": "auto"}, False),
    "a provider": ({"provider": "acme"}, True),
    "a model": ({"model": "m"}, True),
    "an address": ({"base_url": "https://x.test"}, True),
    "a time limit alone": ({"timeout": 5}, False),
}


@pytest.mark.parametrize(("written", "expected"), EXPLICIT.values(), ids=EXPLICIT)
def test_a_task_goes_where_it_is_said_or_where_all_calls_go(written, expected):
    """A task is explicit once it names a provider, a model or an address; ``auto`` names nothing."""
    assert auxiliary_task(config(auxiliary={"vision": written}), "vision").is_explicit is expected


@pytest.mark.parametrize(
    ("effort", "expected"), [("high", "high"), (False, "none"), ("none", "none"), ("much", ""), (None, "")]
)
def test_a_task_has_an_effort(effort, expected):
    """An effort is one of the known words; YAML's bare ``off`` means none, and anything else nothing."""
    assert auxiliary_task(config(auxiliary={"x": {"reasoning_effort": effort}}), "x").reasoning_effort == expected


def test_a_task_has_a_chain_of_its_own():
    """``fallback_chain`` is read like ``fallback_providers``, and each row knows its place."""
    (row,) = auxiliary_task(config(auxiliary={"x": {"fallback_chain": {"provider": "a"}}}), "x").fallback_chain
    assert (row.provider, row.place) == ("a", "auxiliary.x.fallback_chain")


def test_a_plugins_task_has_the_plugins_defaults():
    """What a plugin declared counts where the configuration says nothing."""
    defaults = {"timeout": 60, "provider": "acme", "extra_body": {"a": 1}}
    task = auxiliary_task(config(auxiliary={"mine": {"provider": "b"}}), "mine", defaults)
    assert (task.provider, task.timeout, task.extra_body) == ("b", 60.0, {"a": 1})


@pytest.mark.parametrize(("said", "expected"), [(0, 0), (3, 3), (-1, 0), (99, 6), ("3", 2), (True, 2), (None, 2)])
def test_retries_are_kept_in_bounds(said, expected):
    """The number of retries is 0 to 6, and 2 where nothing usable is said."""
    assert transient_retries(config(auxiliary={"transient_retries": said})) == expected


def test_rows_show_no_secret_r20_03():
    """No key and no body stands in a row's repr."""
    tree = config(
        fallback_providers=[{"provider": "a", "api_key": "hunter22"}],
        auxiliary={"vision": {"api_key": "hunter22", "extra_body": {"k": "hunter22"}}},
    )
    rows = [*fallback_chain(tree), auxiliary_task(tree, "vision")]
    assert [row for row in rows if "hunter22" in f"{row}{row!r}"] == []
