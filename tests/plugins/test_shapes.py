"""The shapes an entry point's target, or a folder's module, may have."""

import sys

import pytest

NATIVE = """
from hermes_core import ProviderProfile, hookimpl
@hookimpl
def hermes_provider_profiles():
    yield ProviderProfile("acme", base_url="https://acme.test/v1")
"""
REGISTER = """
from hermes_core import ProviderProfile
def register(ctx):
    ctx.register_provider(ProviderProfile("acme", base_url="https://acme.test/v1"))
"""
CLASSES = """
from hermes_core import MemoryProvider, ProviderProfile, hookimpl
ACME = ProviderProfile("acme", base_url="https://acme.test/v1")
class Registrar:
    def register(self, ctx):
        ctx.register_provider(ACME)
class Native:
    @hookimpl
    def hermes_provider_profiles(self, ctx):
        return [ACME]
class Notes(MemoryProvider):
    name = "notes"
    def is_available(self): return True
    def initialize(self, session_id, **kwargs): pass
    def get_tool_schemas(self): return []
registrar, native, notes = Registrar(), Native(), Notes()
def takes_nothing():
    from providers import register_provider
    register_provider(ACME)
def takes_anything(*args):
    args[0].register_provider(ACME)
def makes_profile(): return ACME
def makes_native(): return Native()
def makes_notes(ctx): return notes
"""
SELF_REGISTERING = """
from providers import ProviderProfile, register_provider
register_provider(ProviderProfile(name="acme", base_url="https://acme.test/v1"))
"""

PROVIDER_SHAPES = [
    pytest.param("acme_mod", NATIVE, id="a module with hookimpls"),
    pytest.param("acme_mod", REGISTER, id="a module with register"),
    pytest.param("acme_mod:register", REGISTER, id="a callable that takes the context r04-01"),
    pytest.param("acme_mod:takes_nothing", CLASSES, id="a callable that takes nothing"),
    pytest.param("acme_mod:takes_anything", CLASSES, id="a callable that takes anything"),
    pytest.param("acme_mod:makes_profile", CLASSES, id="a callable that returns a profile"),
    pytest.param("acme_mod:makes_native", CLASSES, id="a callable that returns an object with hookimpls"),
    pytest.param("acme_mod:registrar", CLASSES, id="an object with register r04-01"),
    pytest.param("acme_mod:native", CLASSES, id="an object with hookimpls"),
    pytest.param("acme_mod:Registrar", CLASSES, id="a class with register"),
    pytest.param("acme_mod:Native", CLASSES, id="a class with hookimpls"),
    pytest.param("acme_mod:ACME", CLASSES, id="a profile"),
    pytest.param("self_mod", SELF_REGISTERING, id="a module that registers itself"),
]


@pytest.mark.parametrize("group", ["hermes", "hermes_agent.plugins", "hermes_agent.model_providers"])
@pytest.mark.parametrize(("value", "code"), PROVIDER_SHAPES)
def test_an_entry_point_of_any_shape_offers_its_provider(load_host, site, group, value, code):
    """Whatever the shape of its target, an allowed entry point's provider is found, and its row is loaded."""
    site.install("hermes-acme", {group: {"acme": value}}, **{value.partition(":")[0]: code})
    host = load_host(config={"plugins": {"enabled": ["acme"]}})
    profile = host.providers.get("acme")
    row = host.plugin("acme")
    assert (profile and profile.base_url, row.state, row.reason) == ("https://acme.test/v1", "loaded", "")


@pytest.mark.parametrize(("value", "code"), PROVIDER_SHAPES)
def test_a_second_host_finds_the_provider_too(load_host, site, tmp_path, value, code):
    """A package that one host of the process has imported already is found by the next one."""
    site.install("hermes-acme", {"hermes": {"acme": value}}, **{value.partition(":")[0]: code})
    found = [load_host(tmp_path / name).providers.get("acme") for name in ("one", "two")]
    assert [profile and profile.base_url for profile in found] == ["https://acme.test/v1"] * 2


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(NATIVE, id="hookimpls"),
        pytest.param(REGISTER, id="register"),
        pytest.param(SELF_REGISTERING, id="itself"),
    ],
)
@pytest.mark.parametrize("where", ["folder", "legacy file"])
def test_a_folder_has_the_shapes_of_a_module(home, load_host, where, code):
    """A folder's ``__init__.py`` and a legacy file may have hookimpls, ``register``, or register themselves."""
    if where == "folder":
        home.plugin("model-providers/acme", code)
    else:
        home.write("providers/acme.py", code)
    assert load_host().providers.get("acme").base_url == "https://acme.test/v1"


@pytest.mark.parametrize("value", ["acme_mod", "acme_mod:register", "acme_mod:OBJECT"])
def test_register_is_called_once_r04_01(load_host, site, value):
    """``register`` is called once, whatever surface is asked first, and however often."""
    code = """
    CALLS = []
    def register(ctx):
        CALLS.append(ctx)
    class Registrar:
        register = staticmethod(register)
    OBJECT = Registrar()
    """
    site.install("acme", {"hermes": {"acme": value}}, acme_mod=code)
    host = load_host()
    for _ in range(2):
        assert (host.providers.get("xiaomi").name, "tldr" in host.commands) == ("xiaomi", True)
    import acme_mod

    assert [host.context("acme")] == acme_mod.CALLS


def test_two_entry_points_of_one_module_are_one_offer(load_host, site):
    """A package that names one module in two groups, as those made for several hosts do, offers once."""
    site.install(
        "acme", {"hermes": {"acme": "acme_mod"}, "hermes_agent.model_providers": {"acme": "acme_mod"}}, acme_mod=NATIVE
    )
    host = load_host()
    assert [verdict.status for verdict in host.providers.explain("acme")] == ["wins"]
    assert [row.reason for row in host.plugins if row.state == "failed"] == []


def test_two_packages_may_share_an_entry_points_name(load_host, site):
    """Two packages whose entry points have one name both offer what they offer."""
    code = 'from hermes_core import ProviderProfile\nP = ProviderProfile("{0}", base_url="https://{0}.test/v1")\n'
    for name in ("one", "two"):
        module = f"{name}_mod"
        entry = {"hermes_agent.model_providers": {"acme": f"{module}:P"}}
        site.install(f"hermes-{name}", entry, **{module: code.format(name)})
    host = load_host()
    found = [host.providers.get(name) for name in ("one", "two")]
    assert [profile and profile.base_url for profile in found] == ["https://one.test/v1", "https://two.test/v1"]


@pytest.mark.parametrize(
    ("value", "group"),
    [
        pytest.param("acme_mod:Notes", "hermes_agent.memory_providers", id="a class"),
        pytest.param("acme_mod:notes", "hermes.memory_provider", id="an instance"),
        pytest.param("acme_mod:makes_notes", "hermes.memory_providers", id="a callable that returns one"),
        pytest.param("acme_mod", "hermes_agent.memory_providers", id="a module with a class of its own"),
    ],
)
def test_a_memory_provider_of_any_shape_is_offered(load_host, site, value, group):
    """A memory provider is offered under a name, as a factory, whatever the shape of its entry point."""
    site.install("hermes-notes", {group: {"notes": value}}, acme_mod=CLASSES)
    host = load_host(config={"memory": {"provider": "notes"}})
    ((_, offered),) = [offer for offer in host._registry.offers("hermes_memory_providers") if offer[1]]
    assert {name: factory().name for name, factory in offered.items()} == {"notes": "notes"}


@pytest.mark.parametrize(
    ("value", "code"),
    [
        pytest.param("acme_mod", "X = 1", id="a module that does nothing"),
        pytest.param("acme_mod:X", "X = 1", id="a number"),
        pytest.param("acme_mod:X", "class X: pass", id="a class that does nothing"),
        pytest.param("acme_mod:X", "X = 'register'", id="a text"),
    ],
)
def test_what_is_no_plugin_is_a_failed_row(load_host, site, value, code):
    """A target of no known shape fails, and the reason says what to define."""
    site.install("acme", {"hermes": {"acme": value}}, acme_mod=code)
    host = load_host()
    host.providers.get("xiaomi")
    row = host.plugin("acme")
    assert (row.state, "register" in row.reason, "register(ctx)" in row.remedy) == ("failed", True, True)


def test_an_attribute_that_is_missing_is_a_failed_row(load_host, site):
    """An entry point to an attribute that the module lacks fails with the attribute's name."""
    site.install("acme", {"hermes": {"acme": "acme_mod:nope"}}, acme_mod="")
    host = load_host()
    host.providers.get("xiaomi")
    assert (host.plugin("acme").state, "nope" in host.plugin("acme").reason) == ("failed", True)


def test_a_package_that_was_replaced_offers_what_it_is_now(load_host, site, tmp_path):
    """What a module registered at import is forgotten with the module: a newer version of it speaks for itself."""
    site.install("acme", {"hermes": {"acme": "replaced_mod"}}, replaced_mod=SELF_REGISTERING)
    before = load_host(tmp_path / "one").providers.get("acme")
    del sys.modules["replaced_mod"]
    site.write("replaced_mod.py", SELF_REGISTERING.replace("acme", "newer-acme"))
    host = load_host(tmp_path / "two")
    found = [host.providers.get(name) is not None for name in ("acme", "newer-acme")]
    assert (before.name, found) == ("acme", [False, True])


def test_a_package_that_stops_registering_itself_offers_nothing(load_host, site, tmp_path):
    """A newer version of a module that registers nothing at import is not given what the older one registered."""
    site.install("acme", {"hermes": {"acme": "shrunk_mod"}}, shrunk_mod=SELF_REGISTERING)
    load_host(tmp_path / "one").providers.get("acme")
    del sys.modules["shrunk_mod"]
    site.write("shrunk_mod.py", "def register(ctx): pass\n")
    assert load_host(tmp_path / "two").providers.get("acme") is None


def test_a_module_with_both_shapes_does_both(load_host, site):
    """A module with hookimpls and a ``register`` offers by both."""
    code = """
    from hermes_core import Command, ProviderProfile, hookimpl
    @hookimpl
    def hermes_commands():
        yield Command(name="native", handler=lambda raw: "native")
    def register(ctx):
        ctx.register_command("old", handler=lambda raw: "old")
    """
    site.install("acme", {"hermes": {"acme": "acme_mod"}}, acme_mod=code)
    host = load_host()
    assert (host.run_command("native"), host.run_command("old")) == ("native", "old")
