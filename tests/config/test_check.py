"""What is wrong in a home's files: each problem has its level, line, key and remedy, and shows no value."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.config.check import check_config, check_env, check_home, find_problems
from hermes_core.config.environment import Environment

KNOWN = ("openai", "openrouter")
WORDS = (*KNOWN, "or")
KEY = "sk-" + "0123456789abcdef"


@pytest.fixture
def check(home):
    """The problems in a ``config.yaml`` with this text, private unless a mode is given."""

    def problems(text, mode=0o600, **variables):
        path = home.write("config.yaml", text)
        path.chmod(mode)
        return check_config(path, lambda name: variables.get(name, ""), KNOWN, WORDS)

    return problems


ONE = {
    "a text for a number": ("a: 1\nmodel:\n  max_tokens: many\n", "error", "wrong-kind", 3, "model.max_tokens"),
    "a number for a text": ("model:\n  default: 4\n", "error", "wrong-kind", 2, "model.default"),
    "a list for a mapping": ("providers: [a]\n", "error", "wrong-kind", 1, "providers"),
    "a mapping for a list": ("custom_providers:\n  a: {}\n", "error", "wrong-kind", 1, "custom_providers"),
    "a bad item": ("plugins:\n  enabled:\n  - a\n  - 5\n", "error", "wrong-kind", 4, "plugins.enabled.1"),
    "a switch in other words": (
        "plugins:\n  entries:\n    a/b:\n      llm:\n        allow_model_override: sure\n",
        "error", "wrong-kind", 5, "plugins.entries.a/b.llm.allow_model_override",
    ),
    "a key that is no text": ("x: 1\n5: y\n", "error", "wrong-kind", 2, "5"),
    "a slip at the root": ("modle: m\n", "error", "unknown-key", 1, "modle"),
    "a slip in a section": ("model:\n  defualt: m\n", "error", "unknown-key", 2, "model.defualt"),
    "a key of nobody": ("model:\n  zzz: m\n", "warning", "unknown-key", 2, "model.zzz"),
    "an entry without an address": ("providers:\n  acme:\n    model: m\n", "error", "no-address", 2, "providers.acme"),
    "an item without an address": ("custom_providers:\n- name: a\n", "error", "missing-key", 2, "custom_providers.0"),
    "a fallback without a provider": ("fallback_model: {model: m}\n", "error", "missing-key", 1, "fallback_model"),
    "no such provider": ("model:\n  provider: opnai\n", "error", "unknown-provider", 2, "model.provider"),
    "no such provider in a chain": (
        "fallback_providers:\n- provider: openai\n- provider: acme\n",
        "error", "unknown-provider", 3, "fallback_providers.1.provider",
    ),
    "no address": ("model:\n  base_url: x.test/v1\n", "error", "wrong-kind", 2, "model.base_url"),
    "a password in it": ("model:\n  base_url: http://u:hunter22@x\n", "error", "wrong-kind", 2, "model.base_url"),
    "a key in the wrong place": (f"model:\n  default: {KEY}\n", "error", "plain-secret", 2, "model.default"),
    "a key in another's section": (f"other:\n- {{a: {KEY}}}\n", "error", "plain-secret", 2, "other.0.a"),
    "a key in plain text": ("model:\n  api_key: hunter22\n", "warning", "plain-secret", 2, "model.api_key"),
    "a header in plain text": (
        "model:\n  extra_headers:\n    X-Org: o\n    X-Token: hunter22\n",
        "warning", "plain-secret", 4, "model.extra_headers.X-Token",
    ),
    "a plugin's secret": ("memory:\n  x_token: hunter22\n", "warning", "plain-secret", 2, "memory.x_token"),
    "a key that refers to nothing": ("model:\n  api_key: ${NO}\n", "error", "unset-variable", 2, "model.api_key"),
    "an address that does": ("model: {base_url: '${NO}/v1'}\n", "error", "unset-variable", 1, "model.base_url"),
    "a text that refers to nothing": ("zz:\n  note: a ${NO}\n", "warning", "unset-variable", 2, "zz.note"),
    "a key that stands twice": ("a: 1\nmodel: m\nmodel: n\n", "error", "twice", 3, "model"),
    "no YAML r21-05": ("a: 1\nb: [\n", "error", "unreadable", 3, ""),
    "a tab r21-11": ("a:\n\tb: 1\n", "error", "unreadable", 2, ""),
    "no UTF-8": (b"a: 1\nb: \xff\n", "error", "unreadable", 2, ""),
    "a list": ("- a\n", "error", "unreadable", None, ""),
}  # fmt: skip


@pytest.mark.parametrize(("text", "level", "code", "line", "key"), ONE.values(), ids=ONE)
def test_a_problem_is_named_with_its_place(check, text, level, code, line, key):
    """One thing that is wrong is one problem, with its level, its sort, its line, its key, and a remedy."""
    (found,) = check(text)
    assert (found.level, found.code, found.line, found.key) == (level, code, line, key)
    assert found.file.endswith("config.yaml")
    assert found.message
    assert found.remedy
    assert [secret for secret in ("hunter22", KEY) if secret in str(found)] == []


FINE = {
    "an empty file": "",
    "older spellings": "model: gpt\nprovider: openai\napi_base: https://x.test\n",
    "a provider by its alias": "model: {provider: OR}\n",
    "words that name no provider": "model: {provider: auto}\nauxiliary: {vision: {provider: main}}\n",
    "an entry of one's own": "model: {provider: acme}\nproviders: {acme: {url: 'https://x.test'}}\n",
    "an entry under its other names": (
        "model: {provider: 'custom:my-own'}\ncustom_providers: [{name: My Own, url: 'https://x.test'}]\n"
    ),
    "an unknown provider with an address": "model: {provider: mystery, base_url: 'https://x.test'}\n",
    "an entry that only switches": "providers: {openai: {enabled: false}}\n",
    "an entry that is off": "model: {provider: acme}\nproviders: {acme: {url: 'https://x.test', enabled: no}}\n",
    "references": "model: {api_key: '${SET}', base_url: '${URL}', extra_headers: {Authorization: 'Bearer ${SET}'}}\n",
    "a number from a variable": "auxiliary: {vision: {timeout: '${SECONDS}'}}\n",
    "an anchor and a merge": "base: &x {timeout: 5}\nauxiliary: {vision: {<<: *x}, mcp: *x}\n",
    "sections of others": "agent: {anything: 1}\ndisplay: [1, 2]\nplugins: {entries: {p: {config: {deep: {er: 1}}}}}\n",
    "a task of any name": "auxiliary: {mine: {timeout: 5, own: 1}}\n",
    "an ordinary header": "model: {extra_headers: {X-Title: my app}}\n",
    "a key with nothing behind it": "model:\n  api_key:\nproviders:\nplugins:\n  enabled:\n",
}


@pytest.mark.parametrize("text", FINE.values(), ids=FINE)
def test_what_is_right_is_not_complained_of(check, text):
    """What the host understands is no problem, in whatever spelling."""
    assert check(text, SET="k-123456", URL="https://x.test", SECONDS="45") == []


def test_a_missing_file_is_no_problem(home):
    """A home without files has nothing wrong in it."""
    assert check_home(home.path, Environment(home.path, {})) == []


def test_a_file_that_may_not_be_read_is_a_problem(home):
    """A folder in the file's place is one problem that says why."""
    (home.path / "config.yaml").mkdir(parents=True)
    (home.path / ".env").mkdir()
    found = check_home(home.path, Environment(home.path, {}))
    assert [(problem.code, problem.file.rpartition("/")[2], problem.message) for problem in found] == [
        ("unreadable", "config.yaml", "Is a directory"),
        ("unreadable", ".env", "Is a directory"),
    ]


def test_problems_come_in_the_order_of_the_file(check):
    """Problems are sorted by line, those of the whole file first."""
    text = f"model:\n  zzz: 1\n  max_tokens: x\n  api_key: {KEY}\nmodle: 1\n"
    assert [problem.line for problem in check(text, mode=0o644)] == [None, 2, 3, 4, 5]


@pytest.mark.parametrize(("mode", "count"), [(0o600, 0), (0o640, 1), (0o604, 1), (0o200, 0)])
def test_secrets_that_others_may_read_are_a_problem(check, home, mode, count):
    """A file that holds secrets should be its owner's alone; a file without any may be read by all."""
    text = f"model: {{api_key: {KEY}}}\n"
    found = [problem.remedy for problem in check(text, mode | 0o400) if problem.code == "open-to-others"]
    assert found == [f"chmod 600 {home.path / 'config.yaml'}"] * count
    assert check("model: m\n", 0o644) == []


def test_the_administrators_files_are_checked_too(home, tmp_path):
    """A problem in the administrator's file names that file."""
    (tmp_path / "managed").mkdir()
    (tmp_path / "managed" / "config.yaml").write_text("modle: x\n")
    (tmp_path / "managed" / ".env").write_text("odd line\n")
    (tmp_path / "managed" / ".env").chmod(0o600)
    found = check_home(home.path, Environment(home.path, {"HERMES_MANAGED_DIR": str(tmp_path / "managed")}))
    assert [(problem.file, problem.code) for problem in found] == [
        (str(tmp_path / "managed" / "config.yaml"), "unknown-key"),
        (str(tmp_path / "managed" / ".env"), "odd-line"),
    ]


@pytest.mark.parametrize(
    ("text", "mode", "expected"),
    [
        pytest.param("A=1\n# n\nexport B=2\n", 0o600, [], id="all is well"),
        pytest.param("A=1\nACME_API_KEY hunter22\n", 0o600, [("error", "odd-line", 2)], id="a line without a sign"),
        pytest.param("A=1\n", 0o644, [("warning", "open-to-others", None)], id="others may read it"),
        pytest.param("# nothing\n", 0o644, [], id="nothing to read"),
    ],
)
def test_env_files_are_checked(home, text, mode, expected):
    """A line that makes no sense, and a file that others may read, are problems; no text of a line is shown."""
    path = home.write(".env", text)
    path.chmod(mode)
    found = check_env(path)
    assert [(problem.level, problem.code, problem.line) for problem in found] == expected
    assert "hunter22" not in str(found)


meant = """
model providers custom_providers fallback_providers fallback_model auxiliary url plugins entries llm default provider
models api_key extra_headers name timeout enabled fallback_chain vision plugin transient_retries supports_vision
""".split()
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.dates(), st.binary(max_size=3),
    st.sampled_from(["${HOME}", "${", "custom:x", "auto", "https://x.test", KEY, " "]),
)  # fmt: skip
names = st.one_of(st.sampled_from(meant), st.text(max_size=4), st.integers(), st.booleans())
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(names, inner, max_size=4)),
    max_leaves=12,
)


@given(st.dictionaries(names, values, max_size=4))
def test_no_tree_is_too_odd_to_check(tree):
    """Whatever stands in a file, the check ends with a list of problems."""
    for finding in find_problems(tree, lambda _name: "", KNOWN, WORDS):
        assert finding.level in ("error", "warning")
        assert finding.message
        assert json.dumps([finding.path, finding.remedy])
