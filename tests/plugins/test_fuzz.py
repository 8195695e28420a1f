"""Whatever stands in manifests and configuration, a host loads."""

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes_core import Host

FIELDS = (
    "name version description author kind default requires_env provides_commands provides_cli_commands provides_tools "
    "provides_hooks hooks profile"
).split()
PROFILE_FIELDS = (
    "name extends aliases env_vars base_url fixed_temperature fallback_models auto_rank default_headers".split()
)
SECTIONS = "model plugins memory auxiliary logging providers provider base_url".split()
KEYS = "enabled disabled entries provider default base_url api_key timeout max_size_mb backup_count acme llm".split()

scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20), st.dates(), st.binary(max_size=5),
    st.sampled_from(["acme", "openai", "model-provider", "exclusive", "${HOME}", "off", "${", "../x", "a/b", " "]),
)  # fmt: skip


def trees(keys):
    """Nested values, often under the keys that mean something."""
    names = st.one_of(st.sampled_from(keys), st.text(max_size=5), st.integers())
    return st.recursive(
        scalars,
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(names, inner, max_size=4)),
        max_leaves=8,
    )


manifests = st.dictionaries(
    st.sampled_from(FIELDS),
    st.one_of(trees(FIELDS), st.dictionaries(st.sampled_from(PROFILE_FIELDS), scalars)),
    max_size=6,
)
configs = st.dictionaries(st.sampled_from(SECTIONS), st.dictionaries(st.sampled_from(KEYS), trees(KEYS)), max_size=4)
raw_text = st.one_of(
    st.text(max_size=60), st.sampled_from(["[", "{", "- a\n- b", "a: &x [*x]", "\t", "\x00", "%", "--- --- a"])
)


def written(value):
    """A value as YAML, or a text as it is."""
    return value if isinstance(value, str) else yaml.safe_dump(value)


@pytest.mark.slow
@settings(
    max_examples=2000,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, *HealthCheck],
)
@given(manifest=st.one_of(manifests, raw_text), config=st.one_of(configs, trees(SECTIONS), raw_text))
def test_nothing_written_keeps_a_host_from_loading(home, manifest, config):
    """No manifest and no configuration raises out of ``Host.load``, of a list, or of a lookup."""
    home.write("plugins/odd/plugin.yaml", written(manifest).encode("utf-8", "replace"))
    home.write("config.yaml", written(config).encode("utf-8", "replace"))
    with Host.load(home.path) as host:
        assert all(row.name for row in host.providers)
        assert host.plugin("commands/tldr")
        assert isinstance(host.commands, dict)
        host.providers.get("acme")
        assert host.providers.explain("openai")
