"""Plugins, and hosts, live beside each other without touching each other, or the process."""

import os
import sys
import threading

import pytest

OFFERS = """
from hermes_core import ProviderProfile
from . import helper
def register(ctx):
    ctx.register_provider(ProviderProfile("{name}", base_url=helper.URL))
"""


def in_threads(number, work):
    """What ``work(n)`` returns in each of as many threads, all let go at once."""
    barrier = threading.Barrier(number)
    results = [None] * number

    def run(place):
        barrier.wait(timeout=30)
        results[place] = work(place)

    threads = [threading.Thread(target=run, args=(place,), daemon=True) for place in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert not any(thread.is_alive() for thread in threads), "threads wait for each other"
    return results


def test_each_plugin_sees_its_own_helper_r02_07(home, load_host):
    """Two plugins with a helper module of one name each get their own; ``sys.path`` is as it was."""
    for name in ("one", "two"):
        home.plugin(f"model-providers/{name}", OFFERS.format(name=name))
        home.write(f"plugins/model-providers/{name}/helper.py", f"URL = 'https://{name}.test/v1'")
    before = [*sys.path]
    host = load_host()
    assert [host.providers.get(n).base_url for n in ("one", "two")] == ["https://one.test/v1", "https://two.test/v1"]
    assert (before, False) == (sys.path, "helper" in sys.modules)


@pytest.mark.parametrize("name", ["json", "config", "host", "providers", "utils"])
def test_a_helper_may_be_called_like_any_other_module_r02_07(home, load_host, name):
    """A plugin's own ``json.py`` is its own, and the process's ``json`` stays what it is."""
    code = f"from hermes_core import ProviderProfile\nfrom . import {name}\nimport json as real\n"
    code += f"def register(ctx): ctx.register_provider(ProviderProfile('acme', base_url={name}.URL + real.dumps(1)))"
    home.plugin("model-providers/acme", code)
    home.write(f"plugins/model-providers/acme/{name}.py", "URL = 'https://acme.test/'")
    before = sys.modules.get(name)
    assert load_host().providers.get("acme").base_url == "https://acme.test/1"
    assert sys.modules.get(name) is before


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(("aa-b", "aa_b"), id="dash and underscore r04-10"),
        pytest.param(("a.b", "a-b"), id="dot and dash"),
        pytest.param(("a b", "ä", "a|b", "a:b", "1"), id="blank, umlaut, bar, colon, digit"),
        pytest.param(("class", "import"), id="keywords"),
    ],
)
def test_names_that_look_alike_both_load(home, load_host, names):
    """Plugins whose folders differ by a sign that no module name may hold all load, and are all asked."""
    for number, name in enumerate(names):
        code = OFFERS.format(name=f"p{number}")
        home.plugin(f"model-providers/{name}", code)
        home.write(f"plugins/model-providers/{name}/helper.py", f"URL = 'https://p{number}.test/v1'")
    host = load_host()
    found = [host.providers.get(f"p{number}") for number in range(len(names))]
    assert [f"https://p{number}.test/v1" for number in range(len(names))] == [item and item.base_url for item in found]


def test_two_hosts_with_homes_of_their_own(home, load_host, tmp_path):
    """Two hosts of one process have each their own plugins, of one name too, settings and keys."""
    homes = [type(home)(tmp_path / name) for name in ("one", "two")]
    for name, there in zip(("one", "two"), homes, strict=True):
        there.plugin("model-providers/acme", OFFERS.format(name="acme"))
        there.write("plugins/model-providers/acme/helper.py", f"URL = 'https://{name}.test/v1'")
        there.config({"model": {"default": name}})
        there.write(".env", f"ACME_API_KEY=key-of-{name}")
    hosts = [load_host(there.path) for there in homes]
    assert [
        (
            host.providers.get("acme").base_url,
            host.config().text("model", "default"),
            host.environment.credential("ACME_API_KEY"),
        )
        for host in hosts
    ] == [("https://one.test/v1", "one", "key-of-one"), ("https://two.test/v1", "two", "key-of-two")]


def test_a_home_never_sees_anothers_secrets_r11_08(home, load_host, tmp_path):
    """What one home's ``.env`` sets reaches no other home, and not ``os.environ``."""
    type(home)(tmp_path / "one").write(".env", "ACME_API_KEY=of-one\nHERMES_SAFE_MODE=1\n")
    before = dict(os.environ)
    hosts = [load_host(tmp_path / name) for name in ("one", "two")]
    found = [host.environment.credential("ACME_API_KEY") for host in hosts]
    _ = [host.commands for host in hosts], [host.providers.get("xiaomi") for host in hosts]
    assert (["of-one", ""], before) == (found, dict(os.environ))


def test_two_hosts_of_one_home(home, load_host):
    """Two hosts of one home each load their plugins; closing one leaves the other at work."""
    code = """
    from . import helper
    def register(ctx):
        ctx.register_command("count", handler=lambda raw: str(helper.count()))
    """
    home.plugin("acme", code, name="acme")
    helper = """
    CALLS = []
    def count():
        from . import later
        CALLS.append(later.ONE)
        return len(CALLS)
    """
    home.write("plugins/acme/helper.py", helper)
    home.write("plugins/acme/later.py", "ONE = 1")
    config = {"plugins": {"enabled": ["acme"]}}
    one, two = load_host(config=config), load_host(config=config)
    answers = [one.run_command("count"), one.run_command("count"), two.run_command("count")]
    one.close()
    assert [*answers, two.run_command("count")] == ["1", "2", "1", "2"]


def test_hosts_of_many_threads_each_get_a_plugin_of_their_own(home, run_python):
    """Hosts that load one plugin at the same moment each get a module of their own."""
    home.plugin("model-providers/acme", OFFERS.format(name="acme"))
    home.write("plugins/model-providers/acme/helper.py", "URL = 'https://acme.test/v1'")
    done = run_python("""
        import sys, threading
        from hermes_core import Host
        Host.load().providers.get("acme")
        sys.setswitchinterval(1e-6)  # have threads take turns as often as can be
        for _ in range(8):
            hosts = [Host.load() for _ in range(6)]
            barrier = threading.Barrier(6)
            def look(host):
                barrier.wait(timeout=30)
                host.providers.get("acme")
            threads = [threading.Thread(target=look, args=(host,)) for host in hosts]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            print(len({host.plugin("acme").module for host in hosts}), end=" ")
    """)
    assert done.stdout.split() == ["6"] * 8, done.stderr


def test_threads_that_look_first_all_see_everything_r03_01(home, load_host):
    """Sixteen threads that make the first lookup at once all see the same full list, and one profile."""
    for number in range(6):
        home.plugin(f"model-providers/p{number}", OFFERS.format(name=f"p{number}"))
        home.write(
            f"plugins/model-providers/p{number}/helper.py", "import time; time.sleep(0.01); URL = 'https://x.test'"
        )
    host = load_host()
    found = in_threads(16, lambda _: (tuple(host.providers.names()), id(host.providers.get("p5"))))
    expected = (tuple(sorted({row.name for row in host.providers})), id(host.providers.get("p5")))
    assert ({expected}, True) == ({*found}, "p5" in expected[0])


def test_threads_that_ask_for_commands_at_once_load_once(home, load_host):
    """Sixteen threads that ask for commands at once load each plugin once, and all get its command."""
    code = """
    from pathlib import Path
    import time
    time.sleep(0.02)
    with open(Path(__file__).with_name("loads"), "a") as file:
        file.write("x")
    def register(ctx):
        ctx.register_command("acme", handler=lambda raw: "done")
    """
    folder = home.plugin("acme", code, name="acme")
    host = load_host(config={"plugins": {"enabled": ["acme"]}})
    answers = in_threads(16, lambda _: host.run_command("acme"))
    assert (answers, (folder / "loads").read_text()) == (["done"] * 16, "x")


@pytest.mark.parametrize(
    "look_up", ["get_provider_profile('xiaomi')", "get_provider_profile('two')", "list_providers()"]
)
def test_a_plugin_may_look_providers_up_while_it_is_imported_r03_04(home, load_host, look_up):
    """A plugin that asks for providers at its own import gets an answer, not a deadlock, in several threads too."""
    for name in ("one", "two"):
        code = "from providers import *\nFOUND = {0}\n" + OFFERS.replace("from . import helper", "").replace(
            "helper.URL", "'https://{name}.test/v1'"
        )
        home.plugin(f"model-providers/{name}", code.replace("{0}", look_up).replace("{name}", name))
    host = load_host()
    names = ("one", "two", "xiaomi", "one")
    found = in_threads(4, lambda place: host.providers.get(names[place]))
    assert [*names] == [profile and profile.name for profile in found]


def test_loading_leaves_the_process_alone(home, load_host):
    """Loading plugins changes neither ``os.environ`` nor ``sys.path`` nor the working directory."""
    home.write(".env", "FROM_FILE=1\nOPENAI_API_KEY=k-12345\n")
    home.plugin("model-providers/acme", "def register(ctx): pass")
    before = dict(os.environ), [*sys.path], os.getcwd()
    host = load_host()
    _ = host.commands, host.providers.get("acme")
    assert (dict(os.environ), sys.path, os.getcwd()) == before


def test_closing_drops_the_modules_of_folders(home, load_host):
    """A closed host's folders are out of ``sys.modules``, with their helpers."""
    home.plugin("model-providers/acme", OFFERS.format(name="acme"))
    home.write("plugins/model-providers/acme/helper.py", "URL = 'https://acme.test/v1'")
    before = set(sys.modules)
    host = load_host()
    host.providers.get("acme")
    loaded = {name for name in sys.modules if "acme" in name} - before
    host.close()
    assert (len(loaded), {name for name in sys.modules if "acme" in name} - before) == (2, set())


def test_a_new_host_reads_a_plugin_anew_r02_08(home, load_host):
    """After an edit a new host runs the new code, helpers included, and has each command once."""
    code = "from . import helper\ndef register(ctx): ctx.register_command('say', handler=lambda raw: helper.WORD)"
    home.plugin("acme", code, name="acme")
    answers = []
    for word in ("old", "newer"):
        home.write("plugins/acme/helper.py", f"WORD = {word!r}")
        with load_host(config={"plugins": {"enabled": ["acme"]}}) as host:
            answers.append(host.run_command("say"))
            assert len(host.context("acme").registrations.commands) == 1
    assert answers == ["old", "newer"]


def test_on_unload_goes_backwards(home, load_host):
    """``on_unload`` callbacks run once, last registered first, highest plugin first; one that fails stops none."""
    code = """
    import sys
    def register(ctx):
        def note(number):
            with open(ctx.home / "log", "a") as file:
                file.write(f"{ctx.plugin_id}{number} ")
        for number in (1, 2, 3):
            ctx.on_unload(lambda number=number: note(number))
        ctx.on_unload(lambda: sys.exit(1))
        ctx.on_unload(lambda: 1 / 0)
    """
    for name in ("a", "b"):
        home.plugin(name, code, name=name)
    host = load_host(config={"plugins": {"enabled": ["a", "b"]}})
    _ = host.commands
    host.close()
    host.close()
    assert (home.path / "log").read_text().split() == ["b3", "b2", "b1", "a3", "a2", "a1"]


def test_a_plugin_knows_itself(home, load_host):
    """A plugin's context has its id, its row, its home and its model surface."""
    home.plugin("tools/acme", "def register(ctx): pass", name="acme", version="2")
    host = load_host(config={"plugins": {"enabled": ["acme"]}})
    ctx = host.context("acme")
    assert ("tools/acme", "acme", "2", home.path, "custom") == (
        ctx.plugin_id,
        ctx.manifest.name,
        ctx.manifest.version,
        ctx.home,
        ctx.profile_name,
    )
    assert (ctx.llm is ctx.llm, repr(ctx)) == (True, "<PluginContext 'tools/acme'>")


def test_a_profile_of_a_home_is_known_by_its_name_r22_04(home, load_host, tmp_path):
    """The context of a home below ``profiles`` bears that profile's name."""
    there = type(home)(tmp_path / "root" / "profiles" / "work")
    there.plugin("acme", "", name="acme")
    assert load_host(there.path).context("acme").profile_name == "work"


def test_an_unknown_attribute_of_the_context_is_an_error(home, load_host):
    """A misspelt attribute of the context fails; only names that begin with ``register_`` are taken on trust."""
    home.plugin("acme", "", name="acme")
    ctx = load_host().context("acme")
    with pytest.raises(AttributeError, match="PluginContext has no attribute 'lllm'"):
        _ = ctx.lllm


def test_a_forked_child_is_not_locked_out(home, run_python):
    """A process forked while another thread was loading plugins can use its host."""
    done = run_python("""
        import os, sys, threading, warnings
        from hermes_core import Host
        warnings.simplefilter("ignore")  # newer Pythons warn of forking beside threads
        host, held = Host.load(), threading.Event()
        def hold():
            with host._registry.lock:
                held.set()
                threading.Event().wait()
        threading.Thread(target=hold, daemon=True).start()
        held.wait()
        child = os.fork()
        if not child:
            os._exit(0 if host.providers.get("xiaomi") else 1)
        print(os.waitpid(child, 0)[1], flush=True)
        os._exit(0)
    """)
    assert done.stdout == "0\n", done.stderr


WAITS = """
import asyncio, contextvars, threading
from concurrent.futures import ThreadPoolExecutor
from hermes_core import Command, hookimpl
SEEN = []
def use(ctx):
    ctx.register_command("from-within", handler=lambda raw: "here")
    SEEN.append("xiaomi" in ctx._host.providers.names() and bool(ctx._host.wires()) and "tldr" in ctx._host.commands)
def wait(ctx):
    {wait}
"""
WAYS = [
    pytest.param("t = threading.Thread(target=use, args=(ctx,)); t.start(); t.join()", id="joins a thread"),
    pytest.param("with ThreadPoolExecutor(1) as pool: pool.submit(use, ctx).result()", id="asks a pool"),
    pytest.param("asyncio.run(asyncio.to_thread(use, ctx))", id="runs an event loop with threads"),
    pytest.param("asyncio.run(asyncio.sleep(0, use(ctx)))", id="runs an event loop"),
]
PLACES = [
    pytest.param("def register(ctx): wait(ctx)\n", id="in register"),
    pytest.param("from hermes_core.plugins.current import plugin_context\nwait(plugin_context())\n"
                 "def register(ctx): pass\n", id="at its import"),
    pytest.param("@hookimpl\ndef hermes_commands(ctx):\n    wait(ctx)\n    return []\n", id="in an offer hook"),
    pytest.param("def register(ctx): ctx.on_unload(lambda: wait(ctx))\n", id="while it is unloaded"),
]  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("way", WAYS)
def test_a_plugin_may_wait_for_a_thread_that_uses_the_host(home, load_host, way, place):
    """A plugin whose code waits for another thread's lookups and registrations gets them, and loads."""
    home.plugin("acme", WAITS.replace("{wait}", way) + place, name="acme")
    host = load_host(config={"plugins": {"enabled": ["acme"]}})

    def go(_):
        command = "from-within" in host.commands
        seen = sys.modules[host.plugin("acme").module].SEEN
        host.close()
        return command, seen

    ((command, seen),) = in_threads(1, go)
    assert (command or "on_unload" in place, seen) == (True, [True])


def test_plugins_that_wait_for_each_others_threads_load(home, load_host):
    """A plugin waits for a thread whose lookup loads another, which waits for one of its own: all of them go on."""
    code = """
    import threading
    from hermes_core import ProviderProfile
    def register(ctx):
        found = []
        thread = threading.Thread(target=lambda: found.append([*ctx._host.commands]))
        thread.start()
        thread.join()
        ctx.register_command(ctx.plugin_id, handler=lambda raw: str(bool(found)))
    """
    for name in ("aa", "bb", "cc"):
        home.plugin(name, code, name=name)
    host = load_host(config={"plugins": {"enabled": ["aa", "bb", "cc"]}})
    answers = in_threads(4, lambda place: host.run_command(("aa", "bb", "cc", "aa")[place]))
    assert answers == ["True"] * 4


def test_a_thread_that_has_nothing_to_do_with_a_load_waits_for_it(home, load_host):
    """While a plugin's code works, another thread's lookup waits, and then sees what the plugin offers."""
    code = """
    import time
    def register(ctx):
        (ctx.home / "begun").touch()
        end = time.monotonic() + 1
        while time.monotonic() < end:
            pass
        ctx.register_command("slow", handler=lambda raw: "here")
    """
    home.plugin("slow", code, name="slow")
    host = load_host(config={"plugins": {"enabled": ["slow"]}})

    def look(place):
        while place and not (home.path / "begun").exists():
            pass
        return "slow" in host.commands

    assert in_threads(3, look) == [True, True, True]


def test_a_folder_with_neither_code_nor_a_profile_says_so(home, load_host):
    """A plugin that has nothing to load fails with a reason that names both things it may have."""
    home.plugin("acme", kind="model-provider")
    host = load_host()
    host.providers.get("acme")
    row = host.plugin("acme")
    assert (row.state, "__init__.py" in row.reason, "no profile" in row.reason) == ("failed", True, True)
