"""Model calls in the shape of OpenAI's client; each goes through ``ctx.llm``, its trust gate and its audit."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from hermes_core.compat.hosts import current_host
from hermes_core.host import Host
from hermes_core.llm.reasoning import split_reasoning
from hermes_core.plugins.current import plugin_context

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hermes_core.llm.client import PluginLlm
    from hermes_core.types.llm import PluginLlmCompleteResult

__all__ = ["async_call_llm", "call_llm", "extract_content_or_reasoning"]

OWN = "caller"
"""What a provider is called whose address and key the caller brings."""


def call_llm(
    task: str | None = None,
    *,
    messages: list[dict[str, Any]],
    provider: str | None = None,
    model: str | None = None,
    base_url: str | None = None,
    api_key: str | None = None,
    tools: Any = None,
    **options: Any,
) -> Any:
    """Make a model call; the answer is shaped as OpenAI's client shapes it.

    With ``base_url`` the call goes there, with ``api_key`` and no key of the host's. Without it, ``provider`` and
    ``model`` need the operator's leave, as in ``ctx.llm``.

    Raises:
        NotImplementedError: It has ``tools``: such calls are the agent's own.
        PluginLlmTrustError: ``provider`` or ``model`` is not granted.
        ProviderError: There is no answer.
    """
    _refuse(tools)
    with _surface(provider, model, base_url, api_key) as (llm, chosen):
        return _shaped(llm.complete(messages, purpose=task, **chosen, **_known(options)))


async def async_call_llm(
    task: str | None = None,
    *,
    messages: list[dict[str, Any]],
    provider: str | None = None,
    model: str | None = None,
    base_url: str | None = None,
    api_key: str | None = None,
    tools: Any = None,
    **options: Any,
) -> Any:
    """As ``call_llm``, without blocking the event loop."""
    _refuse(tools)
    with _surface(provider, model, base_url, api_key) as (llm, chosen):
        return _shaped(await llm.acomplete(messages, purpose=task, **chosen, **_known(options)))


def extract_content_or_reasoning(response: Any) -> str:
    """The words of an answer, without its reasoning; the reasoning where there are no words."""
    message = response.choices[0].message
    reasoning, text = split_reasoning(message.content or "")
    return (text or getattr(message, "reasoning_content", None) or reasoning or "").strip()


def _refuse(tools: Any) -> None:
    if tools:
        message = "a model call with tools is the agent's own; register_tool offers it a tool"
        raise NotImplementedError(message)


def _known(options: dict[str, Any]) -> dict[str, Any]:
    return {name: options[name] for name in ("temperature", "max_tokens", "timeout") if options.get(name) is not None}


@contextmanager
def _surface(
    provider: str | None, model: str | None, base_url: str | None, api_key: str | None
) -> Iterator[tuple[PluginLlm, dict[str, Any]]]:
    """What is asked, and what it is asked to choose."""
    context = plugin_context()
    caller = context.plugin_id if context is not None else "program"
    host = current_host()
    if not base_url:
        yield host.llm(caller), {"provider": provider, "model": model}
        return
    config = host.config()  # what it says of the user's model, and of tasks, is blanked: none of it is for that address
    blank = {name: _blanked(config.section(name)) for name in ("model", "auxiliary")}
    own = {
        **blank,
        "model": {**blank["model"], "provider": OWN, "default": model},
        "providers": {OWN: {"base_url": base_url, "api_key": api_key or "none"}},
        "fallback_providers": [],
        "fallback_model": [],
    }
    with Host.load(host.home, own) as other:
        yield other.llm(caller), {}


def _blanked(node: Any) -> Any:
    return {key: _blanked(value) for key, value in node.items()} if isinstance(node, Mapping) else None


def _shaped(result: PluginLlmCompleteResult) -> Any:
    usage = result.usage
    message = SimpleNamespace(role="assistant", content=result.text, tool_calls=None)
    return SimpleNamespace(
        choices=[SimpleNamespace(index=0, message=message, finish_reason="stop")],
        model=result.model,
        usage=SimpleNamespace(
            prompt_tokens=usage.input_tokens,
            completion_tokens=usage.output_tokens,
            total_tokens=usage.total_tokens,
        ),
    )
