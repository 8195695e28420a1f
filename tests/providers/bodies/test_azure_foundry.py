"""What Azure Foundry is sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from hermes_core import EndpointHost, Host, MissingCredentialError
from hermes_core.testing import FakeProvider

BASE = "https://acme.openai.azure.com/openai/v1"
WIRES = {
    **dict.fromkeys(("codex-mini", "gpt-5.4", "o1", "o3-mini", "openai/o4-mini", "GPT-5"), "responses"),
    **dict.fromkeys(("gpt-4o", "gpt-4.1", "Phi-4", "gpt-oss-120b", "my-o1-copy"), "chat/completions"),
}


@pytest.mark.parametrize(("model", "path"), WIRES.items(), ids=WIRES)
def test_the_model_says_the_format(ask, model, path):
    """Names that begin like newer OpenAI models speak the Responses API."""
    assert ask("azure", model, base_url=BASE).url == f"{BASE}/{path}"


def test_the_operator_says_it_first(ask):
    """A format that the operator demands counts for every model."""
    assert ask("azure", "gpt-5.4", base_url=BASE, api_mode="chat_completions").url == f"{BASE}/chat/completions"


@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "gpt-5.4"])
def test_an_anthropic_path_speaks_that_format(ask, model):
    """Its version is said in the query, and the key is a bearer token."""
    request = ask("azure", model, base_url="https://acme.services.ai.azure.com/anthropic/v1")
    assert request.url == "https://acme.services.ai.azure.com/anthropic/v1/messages?api-version=2025-04-15"
    assert request.headers["authorization"] == "Bearer k-test-1"


def test_a_query_stays_at_the_end(ask):
    """What the address asks for goes with every request."""
    url = ask("azure", "gpt-4o", base_url=f"{BASE}?api-version=preview").url
    assert url == f"{BASE}/chat/completions?api-version=preview"


CASES = {
    "words": ({}, {}),
    "a limit": ({"max_tokens": 7, "temperature": 0.3}, {"max_completion_tokens": 7, "temperature": 0.3}),
    **{word: ({"reasoning": word}, {}) for word in ("none", "low", "high")},
    "tools": ({"tools": True}, {}),
    "an image": ({"image": True}, {}),
    "a session": ({"session_id": "s-1"}, {}),
}


@pytest.mark.parametrize(("asked", "sent"), CASES.values(), ids=CASES)
def test_a_chat_is_sent_what_was_asked(ask, asked, sent):
    """The limit has the name that newer models take."""
    assert ask("azure", "gpt-4o", base_url=BASE, **asked).rest == sent


LIBRARY = """
    class Token:
        def __init__(self, token):
            self.token = token
    class DefaultAzureCredential:
        name = "default"
        def get_token(self, scope):
            if "nobody" in scope:
                raise RuntimeError("secret-of-the-library")
            return Token(f"{self.name}@{scope}")
    class ClientSecretCredential(DefaultAzureCredential):
        def __init__(self, *parts):
            self.name = "-".join(parts)
"""
APP = {"AZURE_TENANT_ID": "t", "AZURE_CLIENT_ID": "c", "AZURE_CLIENT_SECRET": "s"}
USUAL_SCOPE = "https://cognitiveservices.azure.com/.default"


@pytest.fixture
def opened(tmp_path):
    """What the profile opens with these settings, variables and key; a new import of the plugin each time."""

    def ask(settings, variables=None, api_key=""):
        with Host.load(tmp_path, {}) as host:
            given = EndpointHost(
                Path("/nonexistent"),
                settings,
                False,
                print,
                BASE,
                api_key,
                lambda name: (variables or {}).get(name, ""),
            )
            return host.providers.get("azure").open_endpoint(given)

    return ask


@pytest.mark.parametrize(
    ("settings", "variables", "token"),
    [
        ({}, {}, f"default@{USUAL_SCOPE}"),
        ({"entra": {"scope": "https://ai.acme.test/.default"}}, {}, "default@https://ai.acme.test/.default"),
        ({}, APP, f"t-c-s@{USUAL_SCOPE}"),
        ({}, {"AZURE_TENANT_ID": "t"}, f"default@{USUAL_SCOPE}"),
    ],
)
def test_a_token_of_entra_stands_for_the_key(site, opened, settings, variables, token):
    """It is asked for at each request, for the scope that is written, as the application or whoever is logged in."""
    site.write("azure/identity.py", LIBRARY)
    assert opened({"auth_mode": "entra_id", **settings}, variables) == (BASE, token)


def test_no_login_is_an_error_that_says_what_helps(site, opened):
    """What the library says stays out of it."""
    site.write("azure/identity.py", LIBRARY)
    with pytest.raises(MissingCredentialError, match="Entra gives no access token: RuntimeError") as raised:
        opened({"auth_mode": "entra_id", "entra": {"scope": "nobody"}})
    assert "az login" in raised.value.hint


def test_without_the_library_the_error_names_it(opened):
    """It is no part of this host."""
    with pytest.raises(MissingCredentialError, match="azure-identity") as raised:
        opened({"auth_mode": "entra_id"})
    assert raised.value.hint == "pip install azure-identity"


def test_without_a_key_the_error_names_both_ways(opened):
    """A key is demanded, unless Entra is chosen; one that is there is used as it is."""
    with pytest.raises(MissingCredentialError, match="no credential for provider 'azure-foundry'") as raised:
        opened({})
    assert "AZURE_FOUNDRY_API_KEY" in raised.value.hint
    assert "entra_id" in raised.value.hint
    assert opened({}, api_key="k-12345") is None


def test_the_model_section_chooses_entra(site, load_host):
    """``model.auth_mode`` and ``model.entra`` reach the provider, and the token its server."""
    site.write("azure/identity.py", LIBRARY)
    with FakeProvider() as server:
        model = {
            "provider": "azure", "base_url": server.base_url, "default": "gpt-4o", "auth_mode": "entra_id",
            "entra": {"scope": "of-acme"},
        }  # fmt: skip
        load_host(config={"model": model}).llm("p").complete([{"role": "user", "content": "ping"}])
    assert server.requests[0].headers["authorization"] == "Bearer default@of-acme"
