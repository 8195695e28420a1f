"""What an operator sets for one plugin: its own settings, read and written, and what it is granted."""

import pytest

from hermes_core.config.settings import merge
from hermes_core.errors import ConfigError, PluginContractError, PluginLlmTrustError
from hermes_core.plugins.manifest import Manifest
from hermes_core.testing import FakeProvider

WRITTEN = """\
# my home
model: {default: m}   # the model

plugins:
  enabled: [acme]
  entries:
    acme:
        settings:
            # short
            greeting: "hi"
            limits: {daily: 5}
        config: {greeting: older, only-old: 1}
    other:  # not ours
        settings: {greeting: theirs}
"""


@pytest.fixture
def ctx(home, load_host):
    """The context of plugin ``acme`` in a home with these lines as ``config.yaml``; and the file."""

    def load(text=WRITTEN, where="acme", **keywords):
        home.write("config.yaml", text)
        home.plugin(where, "def register(ctx): pass", name="acme")
        return load_host(**keywords).context("acme")

    load.file = home.path / "config.yaml"
    return load


@pytest.mark.parametrize(
    ("key", "value"),
    [
        pytest.param("greeting", "hi", id="a setting, which beats the older place"),
        pytest.param("limits.daily", 5, id="a setting in a mapping"),
        pytest.param("limits", {"daily": 5}, id="a whole mapping"),
        pytest.param("only-old", 1, id="a setting in the older place alone"),
        pytest.param("nothing", "default", id="no setting"),
        pytest.param("greeting.deeper", "default", id="nothing below a text"),
    ],
)
def test_a_setting_is_read_from_the_plugins_own_entry(ctx, key, value):
    """``get_config`` reads ``settings``, else ``config``, of the plugin's entry, else gives the default."""
    assert ctx().get_config(key, "default") == value


def test_an_explicit_null_is_a_setting(ctx):
    """A setting that the operator left empty is None, not the default."""
    text = "plugins: {entries: {acme: {settings: {greeting: }, config: {greeting: older}}}}"
    assert ctx(text).get_config("greeting", "default") is None


def test_an_edit_of_the_file_counts_at_once(ctx, home):
    """A setting is what the file says now."""
    acme = ctx()
    before = acme.get_config("greeting")
    home.write("config.yaml", WRITTEN.replace('"hi"', '"good day"'))
    assert (before, acme.get_config("greeting")) == ("hi", "good day")


def test_what_is_read_is_the_plugins_own_copy(ctx):
    """A plugin that changes what it read changes nothing for the host, nor for itself."""
    acme = ctx()
    acme.get_config("limits")["daily"] = 6
    assert acme.get_config("limits.daily") == 5


@pytest.mark.parametrize(
    ("key", "value"),
    [
        pytest.param("greeting", "hi", id="the operator's word beats it"),
        pytest.param("colour", "red", id="the manifest's default beats the call's"),
        pytest.param("limits.weekly", {"a": []}, id="a dotted key"),
        pytest.param("size", "default", id="declared without a default"),
    ],
)
def test_a_default_may_be_declared(ctx, key, value):
    """Where nothing is configured, the default in the manifest's ``config_schema`` counts, a copy each time."""
    acme = ctx()
    schema = {
        "greeting": {"type": "string", "default": "declared"},
        "colour": {"type": "string", "default": "red"},
        "limits.weekly": {"default": {"a": []}},
        "size": {"type": "integer", "required": True, "default": None},
    }
    acme.manifest.manifest = Manifest(name="acme", config_schema=schema)
    assert acme.get_config(key, "default") == value
    assert acme.get_config("limits.weekly") is not schema["limits.weekly"]["default"]


def test_a_variable_that_the_operator_wrote_is_expanded(ctx, home):
    """A setting may refer to a variable of the home."""
    home.write(".env", "ACME_CITY=Oslo")
    assert ctx("plugins: {entries: {acme: {settings: {city: 'in ${ACME_CITY}'}}}}").get_config("city") == "in Oslo"


@pytest.mark.parametrize(
    ("entries", "value"),
    [
        pytest.param({"tools/acme": 1}, 1, id="by its key"),
        pytest.param({"acme": 2}, 2, id="by its name"),
        pytest.param({"acme": 2, "tools/acme": 1}, 1, id="by its key, where both are there"),
        pytest.param({"other": 3}, "default", id="not another plugin's"),
    ],
)
def test_an_entry_is_found_by_key_else_by_name(home, load_host, entries, value):
    """The entry of a nested plugin may bear its key or its bare name; the key's counts."""
    home.plugin("tools/acme", "", name="acme")
    config = {"plugins": {"entries": {name: {"settings": {"x": given}} for name, given in entries.items()}}}
    assert load_host(config=config).context("tools/acme").get_config("x", "default") == value


BAD_KEYS = pytest.mark.parametrize(
    "key",
    [
        pytest.param("", id="nothing"),
        pytest.param("..", id="dots alone"),
        pytest.param("a..b", id="an empty part"),
        pytest.param(".a", id="a leading dot"),
        pytest.param("a.", id="a dot at the end"),
        pytest.param("../other/settings", id="a way up"),
        pytest.param("/model", id="a slash"),
        pytest.param("a\\b", id="a backslash"),
        pytest.param("plugins.entries.other.settings.greeting", id="a place in the whole file"),
        pytest.param("a\n", id="a line break"),
        pytest.param(None, id="no text"),
        pytest.param(["a"], id="a list"),
    ],
)


@BAD_KEYS
def test_a_key_leads_nowhere_else(ctx, key):
    """A key that is empty, climbs, or names a place in the whole file is a ValueError, for reading and writing."""
    acme = ctx()
    for call in (lambda: acme.get_config(key), lambda: acme.set_config(key, 1)):
        with pytest.raises(ValueError, match=r"plugin 'acme': .* is no key of its own settings"):
            call()
    assert ctx.file.read_text() == WRITTEN


def test_writing_changes_the_lines_it_means(ctx):
    """``set_config`` changes its line, and keeps comments, quotes, order and everybody else's lines."""
    acme = ctx()
    acme.set_config("greeting", "hello")
    acme.set_config("limits.weekly", 20)
    expected = WRITTEN.replace("hi", "hello").replace("{daily: 5}", "{daily: 5, weekly: 20}")
    assert (ctx.file.read_text(), acme.get_config("greeting"), acme.get_config("limits.weekly")) == (
        expected,
        "hello",
        20,
    )


def test_writing_the_same_again_writes_nothing(ctx):
    """A setting that has the value already leaves the file alone."""
    acme = ctx()
    before = ctx.file.stat()
    acme.set_config("limits.daily", 5)
    assert ctx.file.stat() == before


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="an empty file"),
        pytest.param("# only a comment\n", id="a file of comments"),
        pytest.param("plugins:\n  entries:\n    acme:\n", id="an empty entry"),
        pytest.param("plugins:\n  entries:\n    acme:\n      settings:\n", id="empty settings"),
        pytest.param("plugins:\n  entries:\n    other: {settings: {deep: {er: 1}}}\n", id="another plugin's entry"),
    ],
)
@pytest.mark.parametrize("value", ["a: b", 1.5, True, None, [1, {"x": "y"}], {"a": {"b": []}}, "ü\n#x"])
def test_a_setting_is_read_as_it_was_written(ctx, text, value):
    """Whatever JSON can hold comes back, whatever the file held, and what was there is there still."""
    acme = ctx(text)
    acme.set_config("deep.er", value)
    assert acme.get_config("deep.er", "default") == value
    assert text.splitlines()[:1] == ctx.file.read_text().splitlines()[: len(text.splitlines()[:1])]


def test_an_entry_under_the_bare_name_is_written_there(ctx):
    """Where the operator calls a nested plugin by its name, so does ``set_config``."""
    acme = ctx("plugins:\n  entries:\n    acme: {settings: {x: 1}}\n", where="tools/acme")
    acme.set_config("x", 2)
    assert ctx.file.read_text() == "plugins:\n  entries:\n    acme: {settings: {x: 2}}\n"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        pytest.param(object(), "must be one that JSON can hold", id="an object"),
        pytest.param({1, 2}, "must be one that JSON can hold", id="a set"),
        pytest.param(float("nan"), "must be one that JSON can hold", id="a number that is none"),
        pytest.param("${OPENROUTER_API_KEY}", r"may not refer to \$\{OPENROUTER_API_KEY\}", id="a variable"),
        pytest.param({"a": ["x ${A} y"]}, r"may not refer to \$\{A\}", id="a variable deep in a value"),
    ],
)
def test_what_cannot_be_a_setting_is_refused(ctx, value, said):
    """A value that the file cannot hold, or that would have the host fill in a secret, is an error; nothing changes."""
    acme = ctx()
    with pytest.raises(PluginContractError, match=f"plugin 'acme': the value of 'x.y' {said}"):
        acme.set_config("x.y", value)
    assert ctx.file.read_text() == WRITTEN


@pytest.mark.parametrize(
    ("text", "key"),
    [
        pytest.param("plugins: {entries: {acme: {settings: text}}}\n", "plugins.entries.acme.settings", id="a text"),
        pytest.param("plugins: {entries: [acme]}\n", "plugins.entries", id="a list of entries"),
        pytest.param(
            "plugins: {entries: {acme: {settings: {x: 1}}}}\n", "plugins.entries.acme.settings.x", id="a number"
        ),
    ],
)
def test_what_stands_in_the_way_is_not_overwritten(ctx, text, key):
    """Where something else stands on the way to the setting, the error names it, and the file stays as it is."""
    acme = ctx(text)
    with pytest.raises(ConfigError, match=f"{key} must be a mapping, not") as caught:
        acme.set_config("x.y", 1)
    assert (caught.value.key, ctx.file.read_text()) == (key, text)


def test_a_broken_file_is_read_as_it_last_was_and_never_written(ctx, home):
    """While ``config.yaml`` cannot be parsed, the last good settings count, and writing is an error."""
    acme = ctx()
    assert acme.get_config("greeting") == "hi"
    home.write("config.yaml", "plugins: [")
    assert acme.get_config("greeting") == "hi"
    with pytest.raises(ConfigError, match="cannot read"):
        acme.set_config("greeting", "hello")
    assert ctx.file.read_text() == "plugins: ["


def test_a_managed_install_is_not_written(ctx, tmp_path):
    """Where an administrator manages the configuration, ``set_config`` is a PermissionError that names the file."""
    managed = tmp_path / "managed" / "config.yaml"
    managed.parent.mkdir()
    managed.write_text("plugins: {entries: {acme: {settings: {greeting: official}}}}")
    acme = ctx()
    with pytest.raises(PermissionError, match=f"plugin 'acme': set_config: {managed} manages"):
        acme.set_config("greeting", "hello")
    assert (acme.get_config("greeting"), ctx.file.read_text()) == ("official", WRITTEN)


def test_a_home_that_cannot_be_written_is_an_error(as_nobody):
    """In a home of somebody else's ``set_config`` is an error that names the file."""
    script = """
    from hermes_core.errors import ConfigError
    home = sys.argv[1]
    ctx = Host.load(home).program_context()
    try:
        ctx.set_config("x", 1)
    except ConfigError as error:
        print(error)
    """
    (as_nobody.folder / "home").mkdir(mode=0o755)
    done = as_nobody(script, as_nobody.folder / "home")
    assert (done.returncode, "cannot write" in done.stdout, "config.yaml" in done.stdout) == (0, True, True), (
        done.stderr
    )


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        pytest.param({"type": "int"}, 5, "", id="a number where one is wanted"),
        pytest.param({"type": "int"}, "5", "must be of type int, got str", id="a text where a number is wanted"),
        pytest.param({"type": "integer"}, True, "must be of type integer, got bool", id="a switch is no number"),
        pytest.param({"type": "float"}, 5, "", id="a whole number is a number"),
        pytest.param({"type": "float"}, False, "must be of type float, got bool", id="a switch is no fraction"),
        pytest.param({"type": "boolean"}, True, "", id="a switch where one is wanted"),
        pytest.param({"type": "boolean"}, 1, "must be of type boolean, got int", id="a number is no switch"),
        pytest.param({"type": "secret"}, "x", "", id="a secret is a text"),
        pytest.param({"type": "array"}, ["x"], "", id="a list by its other name"),
        pytest.param({"type": "object"}, ["x"], "must be of type object, got list", id="a list is no mapping"),
        pytest.param({"type": "starship"}, 5, "", id="a type nobody knows"),
        pytest.param({"type": ["int"]}, 5, "", id="a type that is no text"),
        pytest.param({"required": True}, None, "is missing", id="one that is required"),
        pytest.param({"required": True, "default": 1}, None, "", id="one that is required, with a default"),
        pytest.param({}, None, "", id="one that is not required"),
    ],
)
def test_settings_are_held_against_the_schema(home, load_host, caplog, field, value, problem):
    """Loading a plugin warns of each setting that is not what its ``config_schema`` says, by its key; it loads."""
    home.plugin("acme", "def register(ctx): pass", name="acme", config_schema={"limit": field})
    settings = {} if value is None else {"limit": value}
    config = {"plugins": {"enabled": ["acme"], "entries": {"acme": {"settings": settings}}}}
    assert load_host(config=config).reload("acme").state == "loaded"
    said = f"plugins.entries.acme.settings.limit {problem}"
    assert bool(problem) == any(said in record.getMessage() for record in caplog.records)


CAPABILITIES = {
    "tools.override": {"allow_tool_override": True},
    "llm.provider_override": {"llm": {"allow_provider_override": True}},
    "llm.model_override": {"llm": {"allow_model_override": True}},
    "llm.agent_id_override": {"llm": {"allow_agent_id_override": True}},
    "llm.profile_override": {"llm": {"allow_profile_override": True}},
    "llm.task_override": {"llm": {"allow_task_override": True}},
    "gateway.platform_actions": {"allow_platform_actions": True},
}


@pytest.fixture
def granted(home, load_host):
    """Which capabilities a plugin has, by its entry."""

    def ask(entry):
        home.plugin("acme", "", name="acme")
        acme = load_host(config={"plugins": {"entries": {"acme": entry}}}).context("acme")
        return {capability for capability in [*CAPABILITIES, "made.up", ""] if acme.has_capability(capability)}

    return ask


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_a_capability_is_granted_by_name_or_by_flag(granted, capability):
    """Each capability may be switched on by its own key, or listed where it is none of the trust gate's."""
    listed = set() if capability.startswith("llm.") else {capability}
    assert granted({"granted_capabilities": [capability]}) == listed
    assert granted(CAPABILITIES[capability]) == {capability}


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        pytest.param({}, set(), id="nothing said"),
        pytest.param({"allow_tool_override": "false"}, set(), id="a flag in quotes that says false"),
        pytest.param({"allow_tool_override": "yes"}, {"tools.override"}, id="a flag that says yes"),
        pytest.param({"allow_tool_override": [1]}, set(), id="a flag that is a list"),
        pytest.param({"llm": True}, set(), id="a section that is no mapping"),
        pytest.param({"granted_capabilities": "tools.override"}, {"tools.override"}, id="one name, not in a list"),
        pytest.param({"granted_capabilities": [" Tools.Override "]}, {"tools.override"}, id="blanks and capitals"),
        pytest.param({"granted_capabilities": {"tools.override": 1}}, set(), id="a mapping"),
        pytest.param({"granted_capabilities": [5, None, "made.up", "*"]}, set(), id="what is no capability"),
        pytest.param(
            {"granted_capabilities": ["tools.override"], "allow_tool_override": False}, set(), id="a flag that denies"
        ),
        pytest.param(
            {"granted_capabilities": ["tools.override"], "allow_tool_override": None}, set(), id="an empty flag"
        ),
        pytest.param({"granted_capabilities": ["llm.model_override"]}, set(), id="the trust gate goes by flags"),
        pytest.param({"": True}, set(), id="a key without a name"),
        pytest.param([], set(), id="an entry that is a list"),
    ],
)
def test_all_else_grants_nothing(granted, entry, expected):
    """Flags go by the host's one rule for true, a flag that denies beats the list, and what is malformed is nothing."""
    assert granted(entry) == expected


def test_an_unknown_capability_is_not_granted(load_host):
    """What is no capability's name, or no text, is not granted, whoever asks."""
    ctx = load_host().context("tldr")
    assert [ctx.has_capability(word) for word in ("made.up", None, ["tools.override"], 5)] == [False] * 4


def test_a_bundled_plugin_may_override_tools(load_host):
    """A bundled plugin is trusted with tools, unless the operator says otherwise; with nothing else."""
    config = {"plugins": {"entries": {"tldr": {"allow_tool_override": False}, "paste-to-tasks": {}}}}
    host = load_host(config=config)
    found = {
        name: {c for c in CAPABILITIES if host.context(name).has_capability(c)} for name in ("tldr", "paste-to-tasks")
    }
    assert found == {"tldr": set(), "paste-to-tasks": {"tools.override"}}


def test_nothing_is_granted_while_the_file_is_broken(home, load_host):
    """While ``config.yaml`` cannot be read no grant counts, but for what bundled plugins have of themselves."""
    home.plugin("acme", "", name="acme")
    home.config({"plugins": {"entries": {"acme": {"granted_capabilities": ["tools.override"]}}}})
    host = load_host()
    before = host.context("acme").has_capability("tools.override")
    home.write("config.yaml", "plugins: [")
    after = [host.context(name).has_capability("tools.override") for name in ("acme", "tldr")]
    assert (before, after) == (True, [False, True])


@pytest.mark.parametrize(
    ("entry", "opens"),
    [
        pytest.param({"llm": {"allow_model_override": True}}, True, id="granted by its flag"),
        pytest.param({"granted_capabilities": ["llm.model_override"]}, False, id="named in the list alone"),
        pytest.param(
            {"llm": {"allow_model_override": True, "allowed_models": ["b"]}},
            False,
            id="not this model",
        ),
        pytest.param(
            {"granted_capabilities": ["llm.model_override"], "llm": {"allow_model_override": "no"}},
            False,
            id="granted by name, and denied by its flag",
        ),
    ],
)
def test_a_capability_is_what_the_gate_goes_by(home, load_host, entry, opens):
    """A model override is let through by its flag, within the allowlist; a list of capabilities opens nothing."""
    home.plugin("acme", "", name="acme")
    with FakeProvider() as server:
        ctx = load_host(config=merge(server.config, {"plugins": {"entries": {"acme": entry}}})).context("acme")
        try:
            ctx.llm.complete([{"role": "user", "content": "ping"}], model="a")
        except PluginLlmTrustError:
            assert not opens
        assert [request.body["model"] for request in server.requests] == (["a"] if opens else [])
