"""Access tokens of Microsoft Entra, by Microsoft's own library, which keeps each until it ends."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from hermes_core import MissingCredentialError

if TYPE_CHECKING:
    from hermes_core import EndpointHost

SCOPE = "https://cognitiveservices.azure.com/.default"
APP = ("AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET")
"""The variables that name an application; without them, the library looks where else it may be logged in."""


def access_token(host: EndpointHost) -> str:
    """A token for the scope that ``entra.scope`` names. May ask Microsoft.

    Raises:
        MissingCredentialError: The library is not installed, or finds no login.
    """
    said = host.settings.get("entra")
    scope = str(said.get("scope") or SCOPE) if isinstance(said, Mapping) else SCOPE
    try:
        return str(_credential(*map(host.variable, APP)).get_token(scope).token)
    except ImportError as error:
        message = "a token of Entra is given by the package 'azure-identity', which is not installed"
        raise MissingCredentialError(message, provider="azure-foundry", hint="pip install azure-identity") from error
    except Exception as error:  # the library's own, which cannot be named before it is imported
        message = f"Entra gives no access token: {type(error).__name__}"
        hint = f"run `az login`, or set {', '.join(APP)}"
        raise MissingCredentialError(message, provider="azure-foundry", hint=hint) from error


@lru_cache(8)
def _credential(tenant: str, client: str, secret: str) -> Any:
    library = import_module("azure.identity")
    if tenant and client and secret:
        return library.ClientSecretCredential(tenant, client, secret)
    return library.DefaultAzureCredential()
