"""Every bundled provider keeps what the public contract suite demands."""

import pytest

from hermes_core import Host
from hermes_core.testing import ProviderContract

MODELS = {
    "anthropic": ("claude-haiku-4-5-20251001", "claude-sonnet-4-5", "claude-opus-4-7"),
    "azure-foundry": ("gpt-5.4", "gpt-4o", "claude-sonnet-4-5"),
    "bedrock": ("anthropic.claude-haiku-4-5-20251001-v1:0", "amazon.nova-lite-v1:0"),
    "copilot": ("gpt-5.4", "gpt-5-mini", "o4-mini", "claude-sonnet-4.5"),
    "deepseek": ("deepseek-chat", "deepseek-reasoner", "deepseek-v4-flash"),
    "gemini": ("gemini-3-pro-preview", "gemini-3.5-flash", "gemini-2.5-pro", "gemma-3"),
    "minimax": ("MiniMax-M3", "MiniMax-M2.7"),
    "opencode-zen": ("claude-sonnet-4.6", "gpt-5.4", "google/gemini-3-flash", "glm-5"),
    "opencode-go": ("glm-5.2", "kimi-k2.5", "deepseek-v4", "minimax-m3", "qwen3-max", "mimo-v2.5-pro"),
    "openrouter": ("anthropic/claude-sonnet-4.6", "openai/gpt-5.4", "x-ai/grok-4", "openrouter/pareto-code"),
    "vertex": ("google/gemini-3-flash-preview", "google/gemini-2.5-pro", "meta/llama-4"),
    "xai": ("grok-4.3", "grok-4", "grok-3-mini"),
    "xai-oauth": ("grok-4.3", "grok-4"),
    "zai": ("glm-5.2", "glm-5v-turbo", "glm-4-9b"),
}
"""Models that a provider's hooks tell apart; of the others, those that the profile names will do."""


@pytest.fixture(scope="module")
def catalog(tmp_path_factory):
    """The bundled providers, as a host offers them."""
    with Host.load(tmp_path_factory.mktemp("home")) as host:
        yield host.providers


def bundled():
    """The names of the bundled providers, from their manifests."""
    from pathlib import Path

    import hermes_builtin_plugins
    import yaml

    names = []
    for path in sorted(Path(hermes_builtin_plugins.__path__[0]).glob("model_providers/*/plugin.yaml")):
        tree = yaml.safe_load(path.read_text(encoding="utf-8"))
        blocks = tree["profile"] if isinstance(tree["profile"], list) else [tree["profile"]]
        names += [block.get("name", tree["name"]) for block in blocks]
    return names


class TestBundled(ProviderContract):
    """The suite, once for each."""

    @pytest.fixture(autouse=True, params=bundled())
    def _choose(self, request, catalog):
        self.profile = catalog.get(request.param)
        self.models = MODELS.get(request.param, ())
