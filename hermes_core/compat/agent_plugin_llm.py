"""``ctx.llm``'s types, under the original's names; a bare ``PluginLlm(id)`` acts on the current host."""

from hermes_core.compat import hosts as _hosts  # noqa: F401 - makes the default host known
from hermes_core.errors import PluginLlmTrustError
from hermes_core.llm.client import PluginLlm
from hermes_core.llm.injected import make_plugin_llm_for_test
from hermes_core.types.llm import (
    PluginLlmCompleteResult,
    PluginLlmImageInput,
    PluginLlmInput,
    PluginLlmStructuredResult,
    PluginLlmTextInput,
    PluginLlmUsage,
)

__all__ = [
    "PluginLlm",
    "PluginLlmCompleteResult",
    "PluginLlmImageInput",
    "PluginLlmInput",
    "PluginLlmStructuredResult",
    "PluginLlmTextInput",
    "PluginLlmTrustError",
    "PluginLlmUsage",
    "make_plugin_llm_for_test",
]
