"""What happens before a server is started."""

import subprocess
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

import pytest

from hermes_core import HermesError, MissingCredentialError


@pytest.fixture
def library(monkeypatch, tmp_path):
    """The library, as far as anybody looks for it before a server is started."""
    module = ModuleType("xllamacpp")
    module.__spec__ = ModuleSpec("xllamacpp", None, origin=str(tmp_path / "xllamacpp" / "__init__.py"))
    monkeypatch.setitem(sys.modules, "xllamacpp", module)


def test_manifest_declares_the_data(profile):
    """The profile's data is the manifest's."""
    assert (profile.name, profile.aliases, profile.auth_type) == ("embedded", ("smollm2",), "none")
    assert (profile.fixed_temperature, profile.default_max_tokens, profile.auto_rank) == (0, 512, 1000)
    assert not profile.schema_in_prompt
    assert not profile.supports_vision


def test_without_the_library(profile, host, monkeypatch):
    """Without the extra, the error says how to install it and where to choose another provider."""
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(MissingCredentialError) as caught:
        profile.open_endpoint(host())
    assert caught.value.provider == "embedded"
    assert "pip install 'hermes-plugin-host[embedded]'" in caught.value.hint
    assert "hermes setup" in caught.value.hint


@pytest.mark.usefixtures("library")
def test_without_weights(profile, host):
    """A program that embeds the host is never made to download: the error names the command."""
    with pytest.raises(HermesError, match="there is no model") as caught:
        profile.open_endpoint(host())
    assert "hermes embedded pull" in caught.value.hint


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("name", ["notes.txt", "missing.gguf"])
def test_model_path_that_is_no_model(profile, host, tmp_path, name):
    """An operator's path that is no model is named with its key, and nothing is downloaded to it."""
    (tmp_path / "notes.txt").write_text("hello")
    said = []
    with pytest.raises(HermesError, match=r"embedded\.model_path") as caught:
        profile.open_endpoint(host(allow_downloads=True, said=said, model_path=str(tmp_path / name)))
    assert name in str(caught.value)
    assert said == []


@pytest.mark.usefixtures("library")
def test_what_is_missing_is_told_without_starting_anything(profile, host, monkeypatch, tmp_path):
    """Before a call, the profile says what would keep it from working: weights that may be pulled are no obstacle."""
    profile.check_endpoint(host(allow_downloads=True))
    with pytest.raises(HermesError, match="there is no model"):
        profile.check_endpoint(host())
    with pytest.raises(HermesError, match=r"embedded\.model_path"):
        profile.check_endpoint(host(allow_downloads=True, model_path=str(tmp_path / "missing.gguf")))
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(MissingCredentialError):
        profile.check_endpoint(host(allow_downloads=True))


def test_model_path_is_found_from_the_home(part, tmp_path):
    """A relative path starts at the home."""
    assert part("endpoint").model_path(tmp_path, {"model_path": "models/x.gguf"}) == tmp_path / "models/x.gguf"


@pytest.mark.parametrize(
    "settings", [{"n_ctx": 0}, {"n_ctx": "big"}, {"threads": -1}, {"threads": True}, {"model_path": 7}], ids=str
)
def test_settings_that_make_no_sense(profile, host, settings):
    """A setting of the wrong kind is named."""
    with pytest.raises(HermesError, match=rf"config\.yaml: embedded\.{next(iter(settings))} must be"):
        profile.open_endpoint(host(**settings))


def test_nothing_is_started_unasked(part):
    """Importing the plugin and adapting a request start nothing, and import neither server nor subprocess."""
    code = f"""
import importlib.util, sys
from pathlib import Path
folder = Path({str(part("endpoint").__file__)!r}).parent
spec = importlib.util.spec_from_file_location("p", folder / "__init__.py", submodule_search_locations=[str(folder)])
sys.modules["p"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["p"])
profile = sys.modules["p"].EmbeddedProfile("embedded")
assert not [name for name in sys.modules if name.startswith("p.")]
profile.build_api_kwargs_extras(messages=[{{"role": "user", "content": "hi"}}], response_format=None, max_tokens=None)
print(sorted({{"p.server", "p.endpoint", "subprocess", "xllamacpp"}} & {{*sys.modules}}))
"""
    run = [sys.executable, "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{code}"]
    assert subprocess.run(run, capture_output=True, text=True, check=True).stdout == "[]\n"
