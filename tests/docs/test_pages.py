"""What the pages show runs."""

import dataclasses
import inspect
import logging
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft7Validator

from hermes_core import Host, PluginContext, ProviderProfile
from hermes_core.config.check import find_problems
from hermes_core.config.schema import schema
from hermes_core.plugins.entries import CAPABILITIES
from hermes_core.plugins.manifest_file import ABOUT, parse_manifest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", *(path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").rglob("*.md")))]


def test_a_python_fence_runs(python_fence, configured):
    """Each Python block runs with a plugin's ``ctx``, in a home that leads to a provider on this machine."""
    code = compile(python_fence.text, str(python_fence), "exec")
    with Host.load() as host:
        exec(code, {"__name__": "fence", "ctx": host.program_context()})


def test_a_yaml_fence_parses(yaml_fence):
    """Each YAML block is a mapping."""
    assert isinstance(yaml.safe_load(yaml_fence.text), dict)


def test_a_configuration_in_a_page_is_right(config_fence):
    """What a page shows as ``config.yaml`` is valid under the schema, and the check finds nothing to correct."""
    tree = yaml.safe_load(config_fence.text)
    assert [error.message for error in Draft7Validator(schema()).iter_errors(tree)] == []
    found = [problem.message for problem in find_problems(tree) if problem.code != "unset-variable"]
    assert found == []


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    """Each relative link in a page leads to a file that is there."""
    text = (ROOT / page).read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
    assert [target for target in targets if not (ROOT / page).parent.joinpath(target).exists()] == []


def test_generated_parts_are_current():
    """``cog --check`` finds nothing to write: the reference pages say what code and commands say."""
    pages = [page for page in PAGES if page.count("/") < 2]
    done = subprocess.run(
        [sys.executable, "-m", "cogapp", "--check", *pages], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{done.stdout}{done.stderr}\nrun `just docs`"


def test_the_plugin_in_the_readme_works(readme_files, configured, server):
    """The README's own plugin, put where the README says, is loaded and answers through ``ctx.llm``."""
    lay_out(configured, {path: text for path, text in readme_files.items() if path.startswith("plugins/")})
    server.answer("Would you mind closing the door?")
    with Host.load(config={"plugins": {"enabled": ["polite"]}}) as host:
        assert host.run_command("polite", "shut the door") == "Would you mind closing the door?"
    assert server.requests[-1].body["messages"][-1]["content"] == "shut the door"


def test_the_override_in_the_readme_works(readme_files, configured):
    """The README's three lines change the bundled provider's address, and leave the rest of it alone."""
    with Host.load() as host:
        before = host.providers.get("openrouter")
    lay_out(configured, {path: text for path, text in readme_files.items() if path.startswith("plugins/")})
    with Host.load() as host:
        after = host.providers.get("openrouter")
        assert host.providers.explain("openrouter")[0].tier == "user"
    assert before.base_url != after.base_url == "https://llm-proxy.example.com/v1"
    assert (before.env_vars, before.aliases, before.fallback_models) == (
        after.env_vars,
        after.aliases,
        after.fallback_models,
    )


def test_the_providers_of_the_page_work(providers_files, configured):
    """The overrides and the new provider of docs/providers.md are what the page says they are."""
    with Host.load() as host:
        before = host.providers.get("openai")
    lay_out(configured, providers_files)
    with Host.load() as host:
        after, other = host.providers.get("openai"), host.providers.get("openai-eu")
        assert host.providers.explain("openai")[0].plugin == "my-openai"
    assert (after.base_url, after.env_vars) == ("https://llm-proxy.example.com/v1", before.env_vars)
    assert (other.base_url, other.env_vars) == ("https://eu.example.com/v1", ("OPENAI_EU_API_KEY",))
    assert (other.fallback_models, other.aliases) == (before.fallback_models, ())


def test_the_hooks_of_the_page_are_asked(providers_files, configured, server):
    """The provider with code of docs/providers.md is called with what its hooks add."""
    lay_out(configured, providers_files)
    configured.write(".env", f"ACME_API_KEY=acme-key-1\nACME_BASE_URL={server.base_url}\n")
    with Host.load(config={"model": {"provider": "acme-ai", "base_url": "", "default": ""}}) as host:
        host.llm("p").complete([{"role": "user", "content": "ping"}])
    (request,) = server.requests
    assert request.headers["authorization"] == "Bearer acme-key-1"
    assert (request.body["model"], request.body["safe_mode"], request.body["service_tier"]) == (
        "acme-large",
        True,
        "batch",
    )
    assert request.body["messages"][0] == {"role": "system", "content": "Answer in English."}


@pytest.mark.parametrize("files", ["readme_files", "providers_files"])
def test_no_file_of_a_page_is_refused(files, request, configured, caplog):
    """A home laid out as a page shows is read without a warning, and no plugin in it has failed."""
    lay_out(configured, request.getfixturevalue(files))
    with caplog.at_level(logging.WARNING), Host.load() as host:
        list(host.providers)
        _ = host.commands
        assert [row.reason for row in host.plugins if row.state == "failed"] == []
        assert host.config().error is None
    assert caplog.messages == []


def lay_out(home, files):
    """Write files below a home."""
    for path, text in files.items():
        home.write(path, text)


def fields_in(page, heading):
    """The fields that the table below a heading explains."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8").partition(f"\n{heading}\n")[2]
    text = re.split(r"^##+ ", text, maxsplit=1, flags=re.MULTILINE)[0]
    return {
        field
        for line in text.splitlines()
        if line.startswith("| `")
        for field in re.findall(r"`(\w+)`", line.split("|")[1])
    }


def test_every_field_of_a_profile_is_explained():
    """docs/providers.md has each field of ``ProviderProfile``, and ``extends``, and no other."""
    expected = {field.name for field in dataclasses.fields(ProviderProfile)} | {"extends"}
    assert fields_in("providers.md", "### Fields") == expected


def test_every_hook_of_a_profile_is_explained():
    """docs/providers.md has each hook of ``ProviderProfile`` with its arguments, in a table or in the text."""
    text = (ROOT / "docs" / "providers.md").read_text(encoding="utf-8")
    hooks = {name for name, member in vars(ProviderProfile).items() if inspect.isfunction(member) and name[0] != "_"}
    assert hooks - set(re.findall(r"`(\w+)\(", text)) == set()


def test_every_field_of_a_manifest_is_explained():
    """docs/plugins.md has each field that a manifest is read for, and no other."""
    source = inspect.getsource(parse_manifest)
    read = re.findall(r"(?:read\.\w+|data\.get)\(\"(\w+)\"", source)
    assert fields_in("plugins.md", "## The manifest") == {*read, *ABOUT, "profile"}


def arguments(function):
    """The arguments of a method as a table shows them; what it takes for the sake of newer plugins is left out."""
    shown = []
    for parameter in [*inspect.signature(function).parameters.values()][1:]:
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in shown:
            shown.append("*")
        if parameter.kind is not parameter.VAR_KEYWORD:
            default = "" if parameter.default is parameter.empty else f"={parameter.default!r}".replace("'", '"')
            shown.append(parameter.name + default)
    return ", ".join(shown)


def test_everything_in_a_context_is_explained():
    """docs/context.md has each name of ``ctx``, and each method with its arguments."""
    there = {name for name in dir(PluginContext) if not name.startswith("_")} | {"plugin_id", "manifest", "home"}
    assert fields_in("context.md", "## Ask") | fields_in("context.md", "## Register") == there
    page = (ROOT / "docs/context.md").read_text(encoding="utf-8")
    methods = {name: getattr(PluginContext, name) for name in there if callable(getattr(PluginContext, name, None))}
    assert [name for name, method in methods.items() if f"| `{name}` | `{arguments(method)}` |" not in page] == []


def test_every_capability_is_explained():
    """docs/context.md has each capability with its flag."""
    page = (ROOT / "docs/context.md").read_text(encoding="utf-8")
    assert [name for name, path in CAPABILITIES.items() if f"| `{name}` | `{'.'.join(path)}` |" not in page] == []


def test_every_test_that_the_cases_name_is_there():
    """Each test that docs/design/cases.md names exists."""
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "docs/design/cases.md").read_text(encoding="utf-8")))
    written = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    assert set() == {name for name in named if f"def {name}(" not in written}
