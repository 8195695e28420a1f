"""The embedded default: SmolLM2-135M-Instruct in a private child process, offline once its weights are here.

Settings, all optional, in ``config.yaml``::

    embedded:
      model_path: models/other.gguf   # any GGUF in its place; relative paths start at the home
      n_ctx: 4096                     # context in tokens
      threads: 2                      # processors, up to four, unless given
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hermes_core import ProviderProfile, hookimpl

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterable, Mapping

    from hermes_core import EndpointHost, PluginContext


class EmbeddedProfile(ProviderProfile):
    """A provider that runs its own server and adapts requests to a tiny model."""

    def open_endpoint(self, host: EndpointHost) -> tuple[str, str]:
        """The address and key of this process's server, which is started on the first call."""
        from .endpoint import open_endpoint

        return open_endpoint(host)

    def check_endpoint(self, host: EndpointHost) -> None:
        """Whether the library is installed, and the model there or to be had."""
        from .endpoint import check_endpoint

        check_endpoint(host)

    def build_api_kwargs_extras(
        self, *, reasoning_config: Mapping[str, Any] | None = None, **context: Any
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Messages, schema and token limit in a form from which this model ends in a usable answer."""
        from .messages import adapt

        messages = context.get("messages") or []
        return {}, adapt(messages, context.get("response_format"), context.get("max_tokens"))


@hookimpl
def hermes_provider_profiles(ctx: PluginContext) -> Iterable[ProviderProfile]:
    """Offer the profile whose data is in ``plugin.yaml``."""
    yield ctx.declared_profile(EmbeddedProfile)


def register(ctx: PluginContext) -> None:
    """Offer ``hermes embedded``."""

    def setup(parser: ArgumentParser) -> None:
        from .cli import add_arguments

        add_arguments(parser)

    def run(arguments: Namespace) -> int:
        from .cli import run

        return run(arguments, ctx.home)

    ctx.register_cli_command(
        "embedded",
        help="Pull, check or remove the embedded model's weights",
        setup_fn=setup,
        handler_fn=run,
    )
