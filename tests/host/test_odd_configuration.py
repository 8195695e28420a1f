"""Whatever a configuration holds, the host loads, reads it, and fails with an error of its own at most."""

import contextlib
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_core import Host
from hermes_core.config.keys import ROOT
from hermes_core.config.tasks import auxiliary_task, fallback_chain, transient_retries
from hermes_core.errors import HermesError
from hermes_core.llm.plan import Planner
from hermes_core.llm.trust import Overrides

scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=6), st.dates(), st.binary(max_size=3),
    st.sampled_from(["acme", "custom:acme", "openai", "kimi", "${HOME}", "${", "${NO_SUCH}", "off", "https://x.test/v1"]),
    st.sampled_from(["http://[", "https://x.test:99999", "auto", "custom", " ", "1", "gemini"]),
)  # fmt: skip
odd_names = st.one_of(st.sampled_from(["acme", "openai", "kimi", "custom:acme"]), st.text(max_size=4), st.integers())


def mappings(kind, depth=0):
    """Mappings with a few of a kind's own keys, under any of their names."""
    known = [(name, key.kind) for key in kind.keys for name in (key.name, *key.aliases)]
    picked = st.lists(st.sampled_from(known), max_size=4, unique_by=lambda pair: pair[0])
    return picked.flatmap(lambda pairs: st.fixed_dictionaries({name: trees(held, depth + 1) for name, held in pairs}))


def trees(kind, depth):
    """What may stand in a kind's place, and now and then what may not."""
    options = [scalars, st.lists(scalars, max_size=2)]
    if depth < 5:
        options += [mappings(kind, depth)] * 3 if kind.keys else []
        options += [st.dictionaries(odd_names, trees(kind.each, depth + 1), max_size=3)] if kind.each else []
        options += [st.lists(trees(kind.items, depth + 1), max_size=3)] if kind.items else []
    return st.one_of(*reversed(options))


@settings(max_examples=60)
@given(mappings(ROOT))
def test_no_configuration_keeps_a_host_from_loading(tree):
    """No tree makes ``Host.load(config=…)`` or a read raise; planning a call raises the host's own errors alone."""
    with tempfile.TemporaryDirectory() as home, Host.load(Path(home), tree, say=lambda line: None) as host:
        config = host.config()
        assert config.error is None
        assert [row.name for row in host.providers]
        assert host.plugin("commands/tldr")
        fallback_chain(config)
        transient_retries(config)
        for task in ("vision", "plugin", "acme"):
            assert auxiliary_task(config, task).timeout > 0
        assert host.llm_settings(config, "acme")
        planner = Planner.of(host)
        for overrides in (Overrides(), Overrides(provider="acme", model="m")):
            with contextlib.suppress(HermesError):
                assert planner.route(config, overrides).provider
