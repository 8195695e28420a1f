"""The host: loading a home, finding plugins and contexts, exporting ``.env``, closing."""

import contextlib
import logging
import os
from pathlib import Path

import pytest

from hermes_core import Host
from hermes_core.errors import ConfigError, MissingCredentialError, PluginError
from hermes_core.testing import FakeProvider

LEAVES_A_TRACE = """
from pathlib import Path
Path(__file__).with_name("it-ran").touch()
def register(ctx): pass
"""


def test_loading_imports_no_plugin(home, load_host, site):
    """``Host.load()`` imports no plugin of any tier."""
    folders = [home.plugin(name, LEAVES_A_TRACE, name=name) for name in ("aa", "model-providers/bb", "memory/cc")]
    home.write("providers/old.py", LEAVES_A_TRACE)
    site.install("acme", {"hermes": {"acme": "acme_mod"}}, acme_mod=LEAVES_A_TRACE)
    load_host(config={"plugins": {"enabled": ["aa"]}, "memory": {"provider": "cc"}})
    places = [*folders, home.path / "providers", site.path]
    assert [place for place in places if (place / "it-ran").exists()] == []


@pytest.mark.parametrize("kind", ["a text", "a path", "with ~"])
def test_a_home_may_be_given(tmp_path, monkeypatch, kind):
    """The home may be a text or a path, and ``~`` in it is the user's own folder."""
    monkeypatch.setenv("HOME", str(tmp_path))
    given = {"a text": str(tmp_path / "bot"), "a path": tmp_path / "bot", "with ~": "~/bot"}[kind]
    with Host.load(given) as host:
        assert (tmp_path / "bot", f"<Host '{tmp_path}/bot'>") == (host.home, repr(host))


def test_without_one_it_is_the_active_home(home):
    """Without a home it is that of HERMES_HOME."""
    with Host.load() as host:
        assert host.home == home.path


def test_the_configuration_given_is_laid_over_the_file(home, load_host):
    """``config=`` wins over the home's file, which is not written."""
    path = home.config({"plugins": {"disabled": ["tldr"]}, "model": {"default": "file"}})
    before = path.read_bytes()
    host = load_host(config={"plugins": {"disabled": []}})
    assert ("ready", "file", before) == (
        host.plugin("tldr").state,
        host.config().text("model", "default"),
        path.read_bytes(),
    )


def test_an_edit_of_the_configuration_counts_at_once(home, load_host):
    """An edit of the file is seen by the next look, without a new host."""
    home.config({"model": {"default": "one"}})
    host = load_host()
    first = host.config().text("model", "default")
    home.config({"model": {"default": "other"}})
    assert (first, host.config().text("model", "default")) == ("one", "other")


def test_a_broken_configuration_is_no_crash_r21_05(home, load_host, caplog):
    """A home whose configuration is broken loads, with the error in ``config()`` and one warning."""
    home.write("config.yaml", "plugins: [")
    host = load_host()
    assert (
        isinstance(host.config().error, ConfigError),
        host.providers.get("xiaomi").name,
        len([record for record in caplog.records if record.levelno >= logging.WARNING]),
    ) == (True, "xiaomi", 1)


@pytest.mark.parametrize("word", ["tools/acme", "acme"])
def test_a_plugin_is_found_by_key_and_name(home, load_host, word):
    """``plugin`` finds a row by key or by name."""
    home.plugin("tools/acme", "", name="acme")
    assert load_host().plugin(word).key == "tools/acme"


@pytest.mark.parametrize(("folders", "found"), [(["tools/acme"], True), (["tools/acme", "themes/acme"], False)])
def test_a_nested_plugin_is_found_by_its_folder(home, load_host, folders, found):
    """A plugin below a category is also found by its folder's name alone, while no other has the same."""
    for folder in folders:
        home.plugin(folder, "", name=folder.replace("/", "-"))
    host = load_host()
    if found:
        assert host.plugin("acme").key == "tools/acme"
    else:
        with pytest.raises(PluginError, match="no plugin 'acme'"):
            host.plugin("acme")


def test_of_several_with_one_name_the_highest_tier_is_found(home, load_host):
    """A bare name that several plugins have leads to the one of the highest tier."""
    home.plugin("mine", "", name="tldr")
    assert (load_host().plugin("tldr").tier, load_host().plugin("commands/tldr").tier) == ("user", "bundled")


def test_an_unknown_plugin_is_an_error_with_a_suggestion(load_host):
    """A plugin that is not there is an error that suggests a close name and says how to list them."""
    with pytest.raises(PluginError, match="no plugin 'tldrr'; did you mean 'tldr'") as caught:
        load_host().plugin("tldrr")
    assert (caught.value.plugin, caught.value.hint) == ("tldrr", "run `hermes plugins list`")


def test_a_context_is_the_plugins_own(home, load_host):
    """``context`` gives the context that the plugin itself was given."""
    home.plugin("acme", "def register(ctx): ctx.register_command('me', handler=lambda raw: str(id(ctx)))", name="acme")
    host = load_host(config={"plugins": {"enabled": ["acme"]}})
    assert host.run_command("me") == str(id(host.context("acme")))


def test_a_context_of_no_plugin_is_an_error(load_host):
    """There is no context of a plugin that is not there."""
    with pytest.raises(PluginError, match="no plugin 'ghost'"):
        load_host().context("ghost")


def test_any_id_has_a_model_surface(load_host):
    """``llm`` takes any id: a program that is no plugin asks by a name of its own."""
    with FakeProvider() as server:
        host = load_host(config=server.config)
        result = host.llm("my-program").complete([{"role": "user", "content": "ping"}])
    assert (result.text, result.audit["plugin_id"]) == ("pong", "my-program")


def test_the_programs_context_is_a_plugin_like_any_other(load_host):
    """What the program offers has a row of tier ``program``, loaded, and one context."""
    host = load_host()
    ctx = host.program_context()
    ctx.register_command("mine", handler=lambda raw: "yes")
    (row,) = [row for row in host.plugins if row.tier == "program"]
    assert ("yes", ctx, "loaded", "this program") == (
        host.run_command("mine"),
        host.program_context(),
        row.state,
        row.source,
    )


def test_what_a_plugin_offers_later_counts(home, load_host):
    """A plugin that registers a command after it was loaded offers it from then on."""
    home.plugin("acme", "def register(ctx): pass", name="acme")
    host = load_host(config={"plugins": {"enabled": ["acme"]}})
    before = "late" in host.commands
    host.context("acme").register_command("late", handler=lambda raw: "late")
    assert (before, host.run_command("late")) == (False, "late")


def test_closing_twice_does_nothing_more(home, load_host):
    """A host may be closed again; its plugins unload once."""
    code = """
    def register(ctx):
        log = ctx.home / "unloaded"
        ctx.on_unload(lambda: log.write_text(log.read_text() + "x" if log.exists() else "x"))
    """
    home.plugin("acme", code, name="acme")
    host = load_host(config={"plugins": {"enabled": ["acme"]}})
    _ = host.commands
    host.close()
    host.close()
    assert (home.path / "unloaded").read_text() == "x"


def test_a_with_block_closes(home):
    """Leaving the ``with`` block closes the host, after an error too."""
    code = "def register(ctx): ctx.on_unload((ctx.home / 'unloaded').touch)"
    home.plugin("acme", code, name="acme")
    with pytest.raises(LookupError), Host.load(config={"plugins": {"enabled": ["acme"]}}) as host:  # noqa: PT012
        _ = host.commands
        raise LookupError
    assert (home.path / "unloaded").exists()


def test_a_host_that_did_nothing_closes(home):
    """Closing a host that was never used makes no home."""
    Host.load(home.path / "nowhere").close()


def test_a_line_is_said_once(load_host):
    """``say`` shows a line to the operator, once."""
    said = []
    host = load_host(say=said.append)
    for line in ("a", "b", "a"):
        host.say(line)
    assert said == ["a", "b"]


def test_lines_go_to_standard_error(load_host, capsys):
    """Without ``say=`` a line goes to standard error, and standard output stays the program's own."""
    load_host().say("hello")
    assert tuple(capsys.readouterr()) == ("", "hello\n")


@pytest.fixture
def _restored_environment(monkeypatch):
    """Take out again what an export puts into ``os.environ``."""
    before = dict(os.environ)
    yield
    for name in {*os.environ} - {*before}:
        del os.environ[name]


@pytest.mark.usefixtures("_restored_environment")
def test_export_sets_what_no_provider_declares(home, load_host, monkeypatch):
    """``export_env=True`` sets ``.env``'s variables, but for those a provider declares and those the shell has set."""
    home.plugin("acme", name="acme", profile={"base_url": "u", "env_vars": ["ACME_SECRET"]})
    home.write(
        ".env", "PLUGIN_SETTING=file\nOPENAI_API_KEY=k-12345\nACME_SECRET=k-12345\nOF_THE_SHELL=file\nKIMI_BASE_URL=u\n"
    )
    monkeypatch.setenv("OF_THE_SHELL", "shell")
    host = load_host(export_env=True)
    names = ("PLUGIN_SETTING", "OPENAI_API_KEY", "ACME_SECRET", "KIMI_BASE_URL", "OF_THE_SHELL")
    assert [os.environ.get(name) for name in names] == ["file", None, None, None, "shell"]
    assert host.environment.credential("ACME_SECRET") == "k-12345"


@pytest.mark.usefixtures("_restored_environment")
@pytest.mark.parametrize("state", ["off", "failed"])
def test_what_a_plugin_that_is_off_declares_is_not_exported_either(home, load_host, state):
    """A key that a disabled or broken provider declares stays out of the process too."""
    home.plugin("acme", name="acme", profile={"base_url": "u", "env_vars": ["ACME_SECRET"]})
    if state == "failed":
        home.plugin("acme", "1 / 0", name="acme", profile={"base_url": "u", "env_vars": ["ACME_SECRET"]})
    home.write(".env", "ACME_SECRET=k-12345")
    load_host(config={"plugins": {"disabled": ["acme"] if state == "off" else []}}, export_env=True)
    assert "ACME_SECRET" not in os.environ


@pytest.mark.usefixtures("_restored_environment")
@pytest.mark.parametrize("value", [None, "ACME_SECRET", 5, {"ACME_SECRET": 1}])
def test_an_odd_list_of_variables_stops_no_export(home, load_host, value):
    """A manifest whose ``env_vars`` is no list is no crash, and lets nothing of a known provider out."""
    home.plugin("acme", name="acme", profile={"base_url": "u", "env_vars": value})
    home.write(".env", "OPENAI_API_KEY=k-12345\nOTHER=1")
    load_host(export_env=True)
    assert ("OPENAI_API_KEY" in os.environ, os.environ.get("OTHER")) == (False, "1")


@pytest.mark.usefixtures("_restored_environment")
def test_export_keeps_the_keys_of_the_configuration_back(home, load_host):
    """Variables that the configuration takes keys from stay in the host; the others are exported."""
    names = ["A_KEY_ENV", "B_REFERRED", "C_HEADER", "D_PLAIN"]
    home.write(".env", "".join(f"{name}=value-{name}\n" for name in names))
    entry = {"base_url": "https://x.test/v1", "keyEnv": "A_KEY_ENV", "extra_headers": {"X-Key": "Bearer ${C_HEADER}"}}
    home.config({"providers": {"acme": entry}, "model": {"api_key": "${B_REFERRED}", "default": "${D_PLAIN}"}})
    load_host(export_env=True)
    assert [name for name in names if name in os.environ] == ["D_PLAIN"]


def test_nothing_is_exported_unasked(home, load_host):
    """``Host.load()`` sets no variable of the process."""
    home.write(".env", "PLUGIN_SETTING=file")
    before = dict(os.environ)
    load_host()
    assert dict(os.environ) == before


@pytest.mark.usefixtures("_restored_environment")
def test_plugins_see_what_the_command_exported(home, capsys):
    """The ``hermes`` command exports before plugins load, so their module-level code sees the variables."""
    from hermes_core.cli.main import main

    code = """
    import os
    VALUE = os.environ["PLUGIN_SETTING"]
    def register(ctx):
        ctx.register_command("v", handler=lambda raw: VALUE)
    """
    home.plugin("acme", code, name="acme")
    home.config({"plugins": {"enabled": ["acme"]}})
    home.write(".env", "PLUGIN_SETTING=seen")
    assert (main(["run", "v", "x"]), capsys.readouterr().out) == (0, "seen\n")


def test_loading_writes_nothing_but_its_cache(home, load_host):
    """Loading, listing and looking up write nothing into the home but files below ``cache``."""
    home.plugin("model-providers/acme", "def register(ctx): pass")
    before = {path for path in home.path.rglob("*") if path.is_file()}
    host = load_host()
    _ = host.commands, host.providers.get("acme"), list(host.providers)
    host.close()
    written = {path.relative_to(home.path) for path in home.path.rglob("*") if path.is_file()} - {
        path.relative_to(home.path) for path in before
    }
    assert [path for path in written if path.parts[0] != "cache" and "__pycache__" not in path.parts] == []


def test_a_read_only_home_works_r22_06(home, as_nobody):
    """In a home that may not be written, discovery, a command and a model call work; at most one warning is given."""
    there = type(home)(as_nobody.folder / "home")
    there.plugin("acme", "def register(ctx): ctx.register_command('x', handler=lambda raw: 'done')", name="acme")
    there.config({"plugins": {"enabled": ["acme"]}})
    for path in (there.path, there.path / "plugins" / "acme"):
        path.chmod(0o555)
    with FakeProvider() as server:
        done = as_nobody(
            """
            with Host.load(sys.argv[1], overlay) as host:
                print(host.run_command("x"), host.llm("p").complete(ping).text)
            """,
            there.path,
            server.base_url,
            first="""
            import asyncio, logging
            logging.basicConfig(level=logging.WARNING)
            overlay = {"model": {"provider": "custom", "base_url": sys.argv[2], "default": "m"}}
            ping = [{"role": "user", "content": "ping"}]
            with tempfile.TemporaryDirectory() as folder, Host.load(folder, overlay) as host:
                host.run_command("tldr")
                host.llm("p").complete(ping)
            """,
        )
    assert (done.stdout, done.stderr.count("WARNING") <= 1) == ("done pong\n", True), done.stderr


def test_a_home_with_a_read_only_user_home_works_r22_01(home, load_host, monkeypatch, tmp_path):
    """Everything is read and written below HERMES_HOME, wherever HOME points."""
    (tmp_path / "user").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    home.plugin("model-providers/acme", "def register(ctx): pass")
    with FakeProvider() as server:
        load_host(config=server.config).llm("p").complete([{"role": "user", "content": "ping"}])
    assert [*Path(tmp_path / "user").rglob("*")] == []


@pytest.mark.parametrize("export_env", [False, True])
def test_one_homes_keys_are_nothing_to_another_r11_08_r11_09(home, load_host, tmp_path, monkeypatch, export_env):
    """What one home's ``.env`` holds answers no call of another's, even where it was set in the process for plugins."""
    monkeypatch.setattr(os, "environ", os.environ.copy())
    before = dict(os.environ)
    home.write(".env", "ACME_API_KEY=acme-key-of-the-first-home\n")
    with FakeProvider() as server:
        entry = {"base_url": server.base_url, "key_env": "ACME_API_KEY"}
        config = {"model": {"provider": "acme", "default": "m"}, "providers": {"acme": entry}}
        one, other = load_host(config=config, export_env=export_env), load_host(tmp_path / "other", config)
        assert one.llm("p").complete([{"role": "user", "content": "hi"}]).text == "pong"
        with contextlib.suppress(MissingCredentialError):
            other.llm("p").complete([{"role": "user", "content": "hi"}])
    sent = [request.headers.get("authorization") for request in server.requests]
    assert sent[0] == "Bearer acme-key-of-the-first-home"
    assert sent[1:] in ([], [None])
    assert export_env or dict(os.environ) == before
