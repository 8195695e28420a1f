"""Module paths of the original host, answered by this one."""

import importlib
import os
import sys
import threading
from importlib.machinery import PathFinder
from textwrap import dedent

import pytest

from hermes_core import Host, PluginLlmTrustError, ProviderProfile
from hermes_core.compat.finders import SHIMS, ShimFinder, install


@pytest.fixture
def forget():
    """Take modules out of ``sys.modules`` for the test, and put them back after it."""
    asked, kept = set(), {}

    def take_out():
        names = [name for name in sys.modules if name.partition(".")[0] in asked]
        return {name: sys.modules.pop(name) for name in names}

    def forgotten(*names):
        asked.update(names)
        kept.update(take_out())

    yield forgotten
    take_out()
    sys.modules.update(kept)


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("providers", "register_provider get_provider_profile list_providers ProviderProfile OMIT_TEMPERATURE"),
        ("providers.base", "ProviderProfile OMIT_TEMPERATURE"),
        (
            "hermes_constants",
            """get_hermes_home display_hermes_home get_config_path get_env_path get_default_hermes_root
            set_hermes_home_override reset_hermes_home_override get_hermes_home_override""",
        ),
        (
            "agent.plugin_llm",
            """PluginLlm PluginLlmTrustError PluginLlmCompleteResult PluginLlmStructuredResult PluginLlmUsage
            PluginLlmInput PluginLlmTextInput PluginLlmImageInput""",
        ),
        (
            "agent.memory_provider",
            """MemoryProvider RecallStatus is_trivial_prompt spawn_context_thread ctx_bound INDICATOR_GLYPH
            TRIVIAL_PROMPT_RE PRE_COMPRESS_CHECKPOINT_API_VERSION""",
        ),
        (
            "agent.memory_manager",
            """MemoryManager sanitize_context build_memory_context_block StreamingContextScrubber
            normalize_tool_schema _EXTERNAL_PREFETCH_TIMEOUT_S""",
        ),
        ("agent.auxiliary_client", "call_llm async_call_llm extract_content_or_reasoning"),
        ("agent.context_engine", "ContextEngine"),
        ("agent.skill_commands", "extract_user_instruction_from_skill_message"),
        ("hermes_cli.config", "load_config load_config_readonly save_config cfg_get get_env_value save_env_value"),
        (
            "hermes_cli.plugins",
            """PluginContext PluginManifest PluginManager get_plugin_manager discover_plugins invoke_hook has_hook
            VALID_HOOKS get_plugin_command_handler get_plugin_commands PluginToolOverrideError""",
        ),
        ("hermes_cli.profiles", "get_active_profile_name list_profiles"),
        ("hermes_cli.secret_prompt", "masked_secret_prompt"),
        ("hermes_cli.memory_setup", "cmd_setup_provider"),
        ("hermes_cli.urllib_security", "open_credentialed_url"),
        ("hermes_state", "apply_wal_with_fallback"),
        (
            "plugins.memory",
            """load_memory_provider discover_memory_providers list_memory_provider_names find_provider_dir
            discover_plugin_cli_commands""",
        ),
        (
            "plugins.memory.config_schema",
            """ProviderConfigSchema ProviderField ProviderFieldOption KIND_TEXT KIND_SECRET KIND_BOOL KIND_NUMBER
            KIND_SELECT STORAGE_FLAT_JSON""",
        ),
        ("plugins.plugin_storage", "plugin_data_dir plugin_db"),
        ("plugins.plugin_utils", "lazy_singleton SingletonSlot"),
        ("tools.lazy_deps", "ensure FeatureUnavailable"),
        ("tools.registry", "registry tool_error tool_result"),
        (
            "utils",
            """atomic_json_write atomic_replace env_var_enabled is_truthy_value fast_safe_load env_int env_float
            env_bool read_json_or_empty""",
        ),
        (
            "agent.secret_scope",
            """get_secret get_secret_str set_secret_scope reset_secret_scope current_secret_scope
            UnscopedSecretError""",
        ),
    ],
)
def test_a_shim_has_the_names_that_plugins_use(module, names):
    """Each shim has the names that published plugins import from it."""
    found = importlib.import_module(module)
    assert [name for name in names.split() if not hasattr(found, name)] == []


def test_shims_give_the_hosts_own_classes():
    """A class from a shim is the host's class, so ``except`` and ``isinstance`` work across both."""
    from agent.plugin_llm import PluginLlmTrustError as Shimmed
    from providers.base import ProviderProfile as Based

    assert (PluginLlmTrustError, ProviderProfile) == (Shimmed, Based)


@pytest.mark.parametrize("module", sorted(SHIMS))
def test_a_shim_says_what_it_is(module):
    """A shim's ``__file__`` says that it is one, and of what."""
    found = importlib.import_module(module)
    assert f"shim of {module} in hermes_core" == found.__file__


@pytest.mark.parametrize("module", sorted(name for name, target in SHIMS.items() if target))
def test_a_name_a_shim_lacks_is_an_import_error_that_names_it(module):
    """Importing a name that a shim lacks is an ImportError with the name and the shim."""
    with pytest.raises(ImportError, match=rf"'nonsense' from '{module}' \(shim of {module} in hermes_core\)"):
        exec(f"from {module} import nonsense", {})


def test_a_module_that_no_table_names_is_not_there():
    """Below a shimmed package there are the table's modules and no others."""
    with pytest.raises(ModuleNotFoundError, match=r"agent\.nonsense"):
        importlib.import_module("agent.nonsense")


@pytest.mark.parametrize("module", ["providers", "hermes_constants", "agent"])
def test_a_real_module_wins(site, forget, module):
    """A module of that name that is really installed is the one that is imported."""
    forget(module)
    site.write(f"{module}.py", "REAL = True")
    assert importlib.import_module(module).REAL


def test_a_real_package_gets_the_modules_it_lacks(site, forget):
    """A real ``agent`` package without ``plugin_llm`` keeps its own modules, and gets that one beside them."""
    forget("agent")
    site.write("agent/__init__.py", "REAL = True")
    site.write("agent/own.py", "OWN = True")
    agent = importlib.import_module("agent")
    assert (agent.REAL, importlib.import_module("agent.own").OWN) == (True, True)
    assert importlib.import_module("agent.plugin_llm").PluginLlmTrustError is PluginLlmTrustError


def test_a_mere_folder_of_that_name_is_no_module(site, forget):
    """A folder without code on ``sys.path`` does not take the shim's place; the modules in it are there."""
    forget("providers")
    site.write("providers/left_over.py", "LEFT = True")
    providers = importlib.import_module("providers")
    assert callable(providers.register_provider)
    assert importlib.import_module("providers.left_over").LEFT


def test_the_finder_is_added_once_and_last():
    """Installing again adds no second finder; it stands behind the one that looks for real modules."""
    install()
    finders = [finder for finder in sys.meta_path if finder in {ShimFinder, PathFinder}]
    assert [PathFinder, ShimFinder] == finders


@pytest.mark.parametrize(
    ("value", "expected"),
    [("off", "no"), (" OFF ", "no"), ("", "yes"), ("on", "yes"), ("0", "yes")],
)
def test_shims_can_be_turned_off(run_python, value, expected):
    """``HERMES_COMPAT=off`` leaves every such path unanswered; the host itself works."""
    done = run_python(
        """
        from hermes_core import Host
        assert Host.load().providers.get("xiaomi")
        try:
            import providers
        except ModuleNotFoundError:
            print("no")
        else:
            print("yes")
        """,
        env={**os.environ, "HERMES_COMPAT": value},
    )
    assert f"{expected}\n" == done.stdout, done.stderr


def test_importing_the_package_loads_no_shim(run_python):
    """The paths are answered without anything having been loaded for it beforehand."""
    done = run_python("""
        import sys, hermes_core
        print(sorted(name for name in sys.modules if name.startswith(("hermes_core.", "providers", "agent"))))
        import providers
        print("providers" in sys.modules)
    """)
    assert done.stdout == "['hermes_core.compat', 'hermes_core.compat.finders']\nTrue\n"


def test_a_real_module_that_wins_is_blamed_by_the_plugin_that_fails(home, load_host, site, forget):
    """When a user's own ``hermes_constants.py`` wins, the plugin that then fails says whose file it found."""
    forget("hermes_constants")
    path = site.write("hermes_constants.py", "MINE = 1")
    home.plugin("model-providers/acme", "from hermes_constants import get_hermes_home")
    host = load_host()
    host.providers.get("acme")
    assert str(path) in host.plugin("acme").reason


PLUGIN = """
from hermes_constants import get_hermes_home
from providers import ProviderProfile, get_provider_profile, list_providers, register_provider
register_provider(ProviderProfile(name="{name}", base_url="https://{name}.test/v1"))
def register(ctx):
    ctx.register_command("ask", handler=lambda raw: getattr(get_provider_profile(raw), "base_url", "none"))
    ctx.register_command("list", handler=lambda raw: " ".join(sorted(p.name for p in list_providers())))
"""


def test_code_of_a_plugin_acts_on_its_own_host(home, load_host, tmp_path):
    """What a plugin asks through a shim is answered by the host that runs it, not by another of the process."""
    hosts = {}
    for name in ("one", "two"):
        there = type(home)(tmp_path / name)
        there.plugin("acme", PLUGIN.format(name=name), name="acme")
        hosts[name] = load_host(there.path, config={"plugins": {"enabled": ["acme"]}})
    answers = {name: (host.run_command("ask", "one"), host.run_command("ask", "two")) for name, host in hosts.items()}
    assert answers == {"one": ("https://one.test/v1", "none"), "two": ("none", "https://two.test/v1")}
    assert ("one" in hosts["one"].run_command("list").split(), "two" in hosts["one"].run_command("list").split()) == (
        True,
        False,
    )


def test_code_outside_any_plugin_acts_on_the_homes_host(home):
    """Outside any plugin the shims act on one host a home, made at first use and kept."""
    from providers import get_provider_profile, list_providers

    from hermes_core.compat.hosts import default_host

    home.plugin("model-providers/acme", name="acme", profile={"base_url": "https://acme.test/v1"})
    assert ("https://acme.test/v1", home.path) == (get_provider_profile("acme").base_url, default_host().home)
    assert (True, default_host()) == ("acme" in [profile.name for profile in list_providers()], default_host())


@pytest.mark.parametrize("name", [None, "", 5, "nope"])
def test_an_unknown_name_is_none_r26_11(name):
    """``get_provider_profile`` of no name, or of an unknown one, is None."""
    from providers import get_provider_profile

    assert get_provider_profile(name) is None


def test_each_home_has_a_host_of_its_own_r22_05(home, tmp_path):
    """When the active home changes, by variable or by context, the shims act on that home's host."""
    from hermes_constants import reset_hermes_home_override, set_hermes_home_override
    from providers import get_provider_profile

    from hermes_core.compat.hosts import default_host

    there = type(home)(tmp_path / "two")
    there.plugin("model-providers/acme", name="acme", profile={"base_url": "https://two.test/v1"})
    first = default_host()
    token = set_hermes_home_override(there.path)
    during = default_host(), get_provider_profile("acme").base_url
    reset_hermes_home_override(token)
    assert (during[0] is not first, during[1], get_provider_profile("acme")) == (True, "https://two.test/v1", None)
    assert default_host() is first


def test_threads_share_the_homes_host(home):
    """Threads that need the home's host first, at once, get the same one."""
    from hermes_core.compat.hosts import default_host

    barrier, found = threading.Barrier(8), []

    def look():
        barrier.wait(timeout=30)
        found.append(default_host())

    threads = [threading.Thread(target=look) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert (len(found), len({*map(id, found)})) == (8, 1)


def test_registering_outside_a_plugin_is_the_programs_own_offer(home):
    """``register_provider`` outside any plugin offers for the program, above every plugin; the last one counts."""
    from providers import get_provider_profile, register_provider

    from hermes_core.compat.hosts import default_host

    home.plugin("model-providers/xiaomi", name="xiaomi", profile={"base_url": "https://user.test/v1"})
    before = get_provider_profile("xiaomi").base_url
    for number in (1, 2):
        register_provider(ProviderProfile(name="xiaomi", base_url=f"https://{number}.test/v1", aliases=(f"x{number}",)))
    tiers = [(verdict.status, verdict.tier) for verdict in default_host().providers.explain("xiaomi")][:1]
    assert (
        before,
        get_provider_profile("mimo").base_url,
        get_provider_profile("x1").base_url,
        tiers,
    ) == ("https://user.test/v1", "https://2.test/v1", "https://2.test/v1", [("wins", "program")])


def test_listing_gives_each_provider_once_r26_16(home):
    """``list_providers`` has one profile a name, with those of plugins that declare nothing."""
    from providers import list_providers

    home.plugin("model-providers/acme", PLUGIN.format(name="acme"))
    names = [profile.name for profile in list_providers()]
    assert (sorted({*names}), True) == (sorted(names), {"acme", "xiaomi", "openrouter"} <= {*names})


def test_a_plugin_that_exits_costs_no_listing_r01_05(home):
    """``list_providers`` gives the others when one provider's module exits."""
    from providers import list_providers

    home.plugin("model-providers/acme", "import sys; sys.exit(3)")
    home.plugin("model-providers/other", PLUGIN.format(name="other"))
    assert {"other", "xiaomi"} <= {profile.name for profile in list_providers()}


def test_without_a_host_the_error_says_so(run_python):
    """Asking for the host where there is none, and none can be made, is a clear error."""
    done = run_python("""
        from hermes_core.plugins import current
        try:
            current.host()
        except RuntimeError as error:
            print(error)
    """)
    assert done.stdout == "no host is running\n"


def test_a_bare_model_surface_acts_on_the_homes_host(home):
    """``PluginLlm(id)``, as the original's tests build it, is the model surface of the home's host."""
    from agent.plugin_llm import PluginLlm

    from hermes_core.testing import FakeProvider

    with FakeProvider() as server:
        home.config(server.config)
        assert PluginLlm("acme").complete([{"role": "user", "content": "ping"}]).text == "pong"


def test_a_package_made_for_the_original_works_unmodified(site):
    """A module that imports through shims alone is loaded by a host as it is."""
    code = dedent("""
        from providers import register_provider
        from providers.base import OMIT_TEMPERATURE, ProviderProfile

        class AcmeProfile(ProviderProfile):
            def build_extra_body(self, *, session_id=None, **context):
                return {"acme": session_id}

        acme = AcmeProfile(name="acme", aliases=("ac",), env_vars=("ACME_API_KEY",), base_url="https://acme.test/v1",
                           fixed_temperature=OMIT_TEMPERATURE, newer_field=True)
        register_provider(acme)
    """)
    site.install("acme", {"hermes_agent.model_providers": {"acme": "acme_original"}}, acme_original=code)
    with Host.load() as host:
        assert host.providers.get("ac").build_extra_body(session_id="s") == {"acme": "s"}
