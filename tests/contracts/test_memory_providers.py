"""The public contract suite, over every memory provider that comes with the host."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from hermes_core import Host
from hermes_core.testing import MemoryContract

QUICK = {"sqlite": {"semantic": False}}
"""Settings with which a provider loads no model; with those it has by itself, its suite is marked ``slow``."""


def suite(name, settings):
    """The suite for one bundled provider, made as a host makes it."""

    def make(self, home):
        self.hosts = [*getattr(self, "hosts", ()), Host.load(home, {"memory": {name: settings}})]
        return self.hosts[-1].memory_provider(name)

    def teardown_method(self):
        for host in getattr(self, "hosts", ()):
            host.close()

    return type(name, (MemoryContract,), {"make": make, "teardown_method": teardown_method})


with TemporaryDirectory() as folder, Host.load(folder) as host:
    NAMES = [name for name, row in host.memory_plugins.items() if row.tier == "bundled"]

for name in NAMES:
    title = "".join(part.title() for part in name.split("-"))
    globals()[f"Test{title}"] = suite(name, QUICK.get(name, {}))
    if name in QUICK:
        globals()[f"Test{title}AsItIs"] = pytest.mark.slow(suite(name, {}))


def test_no_bundled_provider_is_left_out():
    """Each folder of a bundled memory provider has its suite."""
    import hermes_builtin_plugins

    folders = Path(hermes_builtin_plugins.__path__[0]).glob("memory/*/plugin.yaml")
    assert sorted(file.parent.name.replace("_", "-") for file in folders) == sorted(NAMES)
