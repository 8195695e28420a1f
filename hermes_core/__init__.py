"""hermes_core: the Hermes plugin host as a library.

::

    from hermes_core import Host

    with Host.load() as host:
        print(host.llm("my-program").complete([{"role": "user", "content": "ping"}]).text)

Importing this package loads nothing but two import finders; each name below is imported on first use.
"""

from __future__ import annotations

from hermes_core.compat import finders as _finders

TYPE_CHECKING = False  # a type checker reads it as True; importing typing would cost more than the rest
if TYPE_CHECKING:
    from hermes_hookspecs.markers import hookimpl as hookimpl

    from hermes_core.config.database import open_database as open_database
    from hermes_core.config.redact import redact as redact
    from hermes_core.errors import HermesError as HermesError
    from hermes_core.errors import MissingCredentialError as MissingCredentialError
    from hermes_core.errors import PluginLlmTrustError as PluginLlmTrustError
    from hermes_core.errors import StructuredOutputError as StructuredOutputError
    from hermes_core.host import Host as Host
    from hermes_core.llm.client import PluginLlm as PluginLlm
    from hermes_core.memory.provider import MemoryProvider as MemoryProvider
    from hermes_core.memory.provider import RecallStatus as RecallStatus
    from hermes_core.plugins.context import PluginContext as PluginContext
    from hermes_core.providers.gemini import gemini_thinking as gemini_thinking
    from hermes_core.providers.profile import OMIT_TEMPERATURE as OMIT_TEMPERATURE
    from hermes_core.providers.profile import EndpointHost as EndpointHost
    from hermes_core.providers.profile import ProviderProfile as ProviderProfile
    from hermes_core.types.call import Completion as Completion
    from hermes_core.types.call import LlmCall as LlmCall
    from hermes_core.types.contributions import Command as Command
    from hermes_core.types.contributions import Tool as Tool
    from hermes_core.types.llm import PluginLlmCompleteResult as PluginLlmCompleteResult
    from hermes_core.types.llm import PluginLlmImageInput as PluginLlmImageInput
    from hermes_core.types.llm import PluginLlmInput as PluginLlmInput
    from hermes_core.types.llm import PluginLlmStructuredResult as PluginLlmStructuredResult
    from hermes_core.types.llm import PluginLlmTextInput as PluginLlmTextInput
    from hermes_core.types.llm import PluginLlmUsage as PluginLlmUsage
    from hermes_core.types.wire import ApiMode as ApiMode
    from hermes_core.version import __version__ as __version__

_HOME_OF = {
    "ApiMode": "hermes_core.types.wire",
    "Command": "hermes_core.types.contributions",
    "Completion": "hermes_core.types.call",
    "EndpointHost": "hermes_core.providers.profile",
    "HermesError": "hermes_core.errors",
    "Host": "hermes_core.host",
    "LlmCall": "hermes_core.types.call",
    "MemoryProvider": "hermes_core.memory.provider",
    "MissingCredentialError": "hermes_core.errors",
    "OMIT_TEMPERATURE": "hermes_core.providers.profile",
    "PluginContext": "hermes_core.plugins.context",
    "PluginLlm": "hermes_core.llm.client",
    "PluginLlmCompleteResult": "hermes_core.types.llm",
    "PluginLlmImageInput": "hermes_core.types.llm",
    "PluginLlmInput": "hermes_core.types.llm",
    "PluginLlmStructuredResult": "hermes_core.types.llm",
    "PluginLlmTextInput": "hermes_core.types.llm",
    "PluginLlmTrustError": "hermes_core.errors",
    "PluginLlmUsage": "hermes_core.types.llm",
    "ProviderProfile": "hermes_core.providers.profile",
    "RecallStatus": "hermes_core.memory.provider",
    "StructuredOutputError": "hermes_core.errors",
    "Tool": "hermes_core.types.contributions",
    "__version__": "hermes_core.version",
    "gemini_thinking": "hermes_core.providers.gemini",
    "hookimpl": "hermes_hookspecs.markers",
    "open_database": "hermes_core.config.database",
    "redact": "hermes_core.config.redact",
}

__all__ = [
    "OMIT_TEMPERATURE",
    "ApiMode",
    "Command",
    "Completion",
    "EndpointHost",
    "HermesError",
    "Host",
    "LlmCall",
    "MemoryProvider",
    "MissingCredentialError",
    "PluginContext",
    "PluginLlm",
    "PluginLlmCompleteResult",
    "PluginLlmImageInput",
    "PluginLlmInput",
    "PluginLlmStructuredResult",
    "PluginLlmTextInput",
    "PluginLlmTrustError",
    "PluginLlmUsage",
    "ProviderProfile",
    "RecallStatus",
    "StructuredOutputError",
    "Tool",
    "__version__",
    "gemini_thinking",
    "hookimpl",
    "open_database",
    "redact",
]


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    from importlib import import_module

    value: object = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


_finders.install()
