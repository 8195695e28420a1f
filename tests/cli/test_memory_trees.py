"""``hermes <provider> …``: the command-line tree of the active memory provider, and of no other."""

import pytest

CLI = """
import pathlib
from .words import greet

pathlib.Path(__file__).with_name("imported").touch()


def register_cli(subparser):
    actions = subparser.add_subparsers(dest="acme_command")
    status = actions.add_parser("status")
    status.add_argument("--target-profile", default="")
    {more}


{handler}
"""
HANDLER = "def {name}(args):\n    print(greet(), args.acme_command, args.target_profile)\n    return 3"


@pytest.fixture
def provider(home):
    """Install a provider with a ``cli.py``, and make it the active one unless told otherwise."""

    def install(name="acme", handler="acme_command", more="", *, is_active=True, code=None, description="Acme's own"):
        folder = home.plugin(
            name, "raise RuntimeError('imported')", name=name, kind="exclusive", description=description
        )
        text = CLI.replace("{more}", more).replace("{handler}", HANDLER.replace("{name}", handler))
        (folder / "cli.py").write_text(text if code is None else code)
        (folder / "words.py").write_text("def greet():\n    return 'hello'\n")
        if is_active:
            home.config({"memory": {"provider": name}})
        return folder

    return install


@pytest.mark.parametrize(
    ("name", "handler", "more"),
    [
        ("acme", "acme_command", ""),
        ("acme", "command", ""),
        ("acme-two", "acme_two_command", ""),
        ("acme", "other", "subparser.set_defaults(func=other)"),
        ("acme", "other", "status.set_defaults(func=other)"),
        ("acme", "acme_command", "subparser.set_defaults(func=acme_command)"),
    ],
)
def test_the_tree_of_the_active_provider_is_run(hermes, provider, name, handler, more):
    """Its handler is found by name, hyphens or not, or set by its parser; its exit code is the command's."""
    provider(name, handler, more)
    done = hermes(name, "status", "--target-profile", "work")
    assert (done.code, done.out, done.err) == (3, "hello status work\n", "")


def test_a_handler_of_its_parser_beats_the_one_found_by_name(hermes, provider):
    """``set_defaults(func=…)`` is what the author meant."""
    folder = provider(more="subparser.set_defaults(func=lambda args: print('mine'))")
    assert hermes("acme", "status").out == "mine\n"
    assert (folder / "imported").exists()


def test_without_a_handler_the_help_is_shown(hermes, provider):
    """A tree that nothing answers for shows what it takes."""
    provider(handler="unrelated")
    done = hermes("acme")
    assert (done.code, "usage: hermes acme" in done.out) == (2, True)


def test_the_help_lists_the_active_provider_alone_r10_12(hermes, provider):
    """Its line is that of the manifest, and nothing is imported for it; other providers are not listed."""
    folder = provider()
    other = provider("other", is_active=False)
    out = hermes("--help").out
    assert [line.split(maxsplit=1) for line in out.splitlines() if "Acme's own" in line] == [["acme", "Acme's own"]]
    assert "\n  other" not in out
    assert not (folder / "imported").exists()
    assert hermes("acme", "status").code == 3
    assert not (other / "imported").exists()


def test_a_provider_without_a_tree_is_not_listed(hermes, home):
    """The provider that comes along has none."""
    home.config({"memory": {"provider": "sqlite"}})
    assert "\n  sqlite" not in hermes("--help").out
    assert "no command 'sqlite'" in hermes("sqlite").err


def test_a_tree_without_a_description_has_a_line(hermes, provider):
    """The line then says whose it is."""
    provider(description="")
    assert "Manage acme memory plugin" in hermes("--help").out


def test_the_tree_of_another_provider_says_why_it_is_not_there(hermes, provider):
    """The error names the provider, and how to make it the active one."""
    folder = provider(is_active=False)
    done = hermes("acme", "status")
    assert done.code == 1
    assert done.err.splitlines() == [
        "error: hermes acme belongs to memory provider 'acme', which is not the active one",
        "hint: run `hermes memory setup acme`",
    ]
    assert not (folder / "imported").exists()


@pytest.mark.parametrize("code", ["raise RuntimeError('oh')", "import sys; sys.exit(5)", "x = 1", "def broken(:"])
def test_a_broken_tree_breaks_nothing_else_r10_12(hermes, provider, code):
    """The help is whole, and the command itself is one line that names the file."""
    provider(code=code)
    assert hermes("--help").code == 0
    done = hermes("acme", "status")
    assert done.code == 1
    assert "plugin 'acme': its cli.py cannot be used" in done.err
    assert "cli.py" in done.err.splitlines()[1]


def test_a_command_of_the_host_is_not_taken(hermes, provider):
    """A provider called like a command of the host has no tree."""
    provider("auth", "command")
    assert "Acme's own" not in hermes("--help").out
    assert hermes("auth", "list").code == 0


def test_a_disabled_provider_has_no_tree(hermes, home, provider):
    """What the operator has switched off is not imported."""
    folder = provider()
    home.config({"memory": {"provider": "acme"}, "plugins": {"disabled": ["acme"]}})
    assert "\n  acme" not in hermes("--help").out
    assert hermes("acme", "status").code == 1
    assert not (folder / "imported").exists()
