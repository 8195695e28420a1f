"""Third-party packages, really installed by pip beside the host, and asked about with the ``hermes`` command."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).parents[2]
CALL = """
import json, tempfile
from hermes_core import Host
from hermes_core.testing import FakeProvider
with FakeProvider() as server, tempfile.TemporaryDirectory() as home:
    config = {"model": {"provider": "mimo", "base_url": server.base_url, "api_key": "k-12345"}}
    with Host.load(home, config) as host:
        result = host.llm("program").complete([{"role": "user", "content": "ping"}])
        profile = host.providers.get("mimo")
print(json.dumps([result.text, result.provider, server.requests[0].body["model"], profile.display_name]))
"""
PLAIN, FIRST = "@hookimpl\n", "@hookimpl(tryfirst=True)\n"


class Venv:
    """A virtual environment with the host installed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.acme = ""
        subprocess.run([sys.executable, "-m", "venv", str(path)], check=True, timeout=120)
        self.pip("install", "hatchling>=1.27", str(REPOSITORY))

    def run(self, *words: object, **keywords: object) -> subprocess.CompletedProcess:
        """Run one of its programs, outside the repository."""
        command = [str(self.path / "bin" / str(words[0])), *map(str, words[1:])]
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTHONPATH", "PYTEST"))
        }
        return subprocess.run(
            command,
            cwd=self.path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
            **keywords,
        )

    def pip(self, *words: object) -> None:
        """Run its pip."""
        done = self.run("python", "-m", "pip", "--quiet", "--disable-pip-version-check", *words)
        assert done.returncode == 0, done.stderr

    def install(self, folder: Path) -> None:
        """Build a package from a folder and install it, in place of any version that is there."""
        self.pip("install", "--no-build-isolation", "--no-deps", "--force-reinstall", folder)

    def hermes(self, *words: object) -> object:
        """What a ``hermes … --json`` command prints."""
        done = self.run("hermes", *words, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture(scope="module")
def venv(tmp_path_factory):
    """A fresh virtual environment with the host, really installed by pip."""
    return Venv(tmp_path_factory.mktemp("fresh") / "venv")


@pytest.fixture
def install_acme(venv, tmp_path):
    """Install a copy of the example package, its hook marked as asked for."""

    def install(mark=PLAIN):
        if venv.acme == mark:
            return
        copy = tmp_path / "hermes-acme"
        shutil.copytree(REPOSITORY / "examples" / "hermes-acme", copy)
        module = copy / "hermes_acme.py"
        module.write_text(module.read_text().replace(PLAIN, mark))
        venv.install(copy)
        venv.acme = mark

    return install


def chain(venv):
    """Who claims ``xiaomi``, in order."""
    return [(row["status"], row["tier"], row["source"]) for row in venv.hermes("providers", "explain", "xiaomi")]


def test_a_pip_package_overrides_a_bundled_profile(venv, install_acme):
    """An installed package's profile wins over the bundled one of its name, which is shown as shadowed."""
    install_acme()
    (winner, shadowed), shown = chain(venv), venv.hermes("providers", "show", "mimo")
    assert (
        winner,
        shadowed[:2],
        shown["base_url"],
    ) == (("wins", "entrypoint", "hermes-acme 1.0.0"), ("shadowed", "bundled"), "https://gateway.acme.test/xiaomi/v1")


def test_a_pip_package_offers_a_provider_of_its_own(venv, install_acme):
    """An installed package's own provider is found by name and alias, and listed."""
    install_acme()
    names = [row["name"] for row in venv.hermes("providers", "list")]
    assert ("acme" in names, venv.hermes("providers", "show", "acme-ai")["name"]) == (True, "acme")


def test_a_wheel_file_overrides_a_bundled_profile_in_a_call(venv, tmp_path):
    """A wheel that was built and then installed from its file alone answers a call by the bundled alias."""
    folder = REPOSITORY / "examples" / "hermes-acme"
    venv.pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", tmp_path, folder)
    (wheel,) = tmp_path.glob("*.whl")
    venv.pip("install", "--no-index", "--no-deps", "--force-reinstall", wheel)
    venv.acme = PLAIN
    done = venv.run("python", "-c", CALL)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == ["pong", "xiaomi", "mimo-v2.5", "Xiaomi MiMo through Acme"]


def test_a_user_folder_overrides_a_pip_package(venv, install_acme, home):
    """A profile in the user's plugin folder wins over the installed package's."""
    install_acme()
    folder = home.plugin("mine", name="mine", profile={"name": "xiaomi", "base_url": "https://mine.test/v1"})
    assert [("wins", "user", str(folder)), ("shadowed", "entrypoint", "hermes-acme 1.0.0")] == chain(venv)[:2]
    assert venv.hermes("providers", "show", "xiaomi")["base_url"] == "https://mine.test/v1"


def test_tryfirst_turns_the_order_round(venv, install_acme, home):
    """With ``tryfirst=True`` on its hook the installed package wins over the user's folder."""
    install_acme(FIRST)
    home.plugin("mine", name="mine", profile={"name": "xiaomi", "base_url": "https://mine.test/v1"})
    assert [row[:2] for row in chain(venv)] == [("wins", "entrypoint"), ("shadowed", "user"), ("shadowed", "bundled")]
    assert venv.hermes("providers", "show", "xiaomi")["base_url"] == "https://gateway.acme.test/xiaomi/v1"


def test_disabling_the_package_gives_the_name_back(venv, install_acme):
    """``hermes plugins disable acme`` gives the bundled profile its name back, and enabling takes it again."""
    install_acme()
    off = venv.hermes("plugins", "disable", "acme")["state"], chain(venv)[0][:2]
    on = venv.hermes("plugins", "enable", "acme")["state"], chain(venv)[0][:2]
    assert (off, on) == (("off", ("wins", "bundled")), ("ready", ("wins", "entrypoint")))


def test_a_package_that_is_uninstalled_is_gone(venv, install_acme):
    """After ``pip uninstall`` the package is in no list, although it was remembered."""
    install_acme()
    before = [row[1] for row in chain(venv)]
    venv.pip("uninstall", "--yes", "hermes-acme")
    venv.acme = ""
    assert (before, [row[1] for row in chain(venv)]) == (["entrypoint", "bundled"], ["bundled"])


def test_the_examples_own_tests_pass(venv, install_acme, tmp_path):
    """The example's test file passes where the package is installed, as its README says."""
    install_acme()
    venv.pip("install", "pytest>=8.3")
    (tmp_path / "tests").mkdir()
    shutil.copy(REPOSITORY / "examples" / "hermes-acme" / "test_hermes_acme.py", tmp_path / "tests")
    done = venv.run("python", "-m", "pytest", "-q", "--rootdir", tmp_path / "tests", tmp_path / "tests")
    assert done.returncode == 0, done.stdout


def test_a_declared_provider_of_a_package_is_listed_without_import(venv, tmp_path):
    """A pip package whose ``plugin.yaml`` declares a provider is listed, and explained, without being imported."""
    files = {
        "pyproject.toml": """
            [build-system]
            requires = ["hatchling"]
            build-backend = "hatchling.build"
            [project]
            name = "hermes-declared"
            version = "2.0"
            dependencies = ["hermes-plugin-host"]
            [project.entry-points.hermes]
            declared = "hermes_declared"
            """,
        "hermes_declared/plugin.yaml": """
            description: Declared
            profile: {base_url: "https://declared.test/v1", aliases: [decl]}
            """,
        "hermes_declared/__init__.py": """
            from pathlib import Path
            from hermes_core import ProviderProfile, hookimpl
            Path(__file__).with_name("it-ran").touch()
            @hookimpl
            def hermes_provider_profiles(ctx):
                yield ctx.declared_profile(ProviderProfile)
            """,
    }
    for name, text in files.items():
        path = tmp_path / "package" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
    venv.install(tmp_path / "package")
    (installed,) = venv.path.rglob("hermes_declared/plugin.yaml")
    trace = installed.with_name("it-ran")
    (row,) = [row for row in venv.hermes("providers", "list") if row["name"] == "declared"]
    (plugin,) = [row for row in venv.hermes("plugins", "list") if row["key"] == "declared"]
    before = trace.exists()
    shown = venv.hermes("providers", "show", "decl")
    venv.pip("uninstall", "--yes", "hermes-declared")
    assert (
        (row["base_url"], row["aliases"]),
        (plugin["state"], plugin["source"]),
        before,
        shown["base_url"],
    ) == (("https://declared.test/v1", ["decl"]), ("ready", "hermes-declared 2.0"), False, "https://declared.test/v1")
    assert trace.exists()


def test_the_repositorys_folders_are_not_installed_as_packages(venv):
    """The wheel brings its three packages, and no module called ``tests``, ``hookspecs`` or ``examples``."""
    done = venv.run("python", "-c", "import tests")
    names = {path.name for path in venv.path.glob("lib/python*/site-packages/*")}
    assert (1, {"hermes_core", "hermes_hookspecs", "hermes_builtin_plugins"}, set()) == (
        done.returncode,
        names & {"hermes_core", "hermes_hookspecs", "hermes_builtin_plugins"},
        names & {"tests", "hookspecs", "builtin_plugins", "examples", "docs"},
    )
