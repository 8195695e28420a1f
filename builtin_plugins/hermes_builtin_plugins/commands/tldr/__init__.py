"""/tldr: a text in one paragraph."""

from hermes_core import PluginContext


def register(ctx: PluginContext) -> None:
    ctx.register_command(
        "tldr",
        handler=lambda raw: summarise(ctx, raw),
        description="Summarise the supplied text in one paragraph.",
        args_hint="<text>",
    )


def summarise(ctx: PluginContext, raw_args: str) -> str:
    """The text's gist, or how to use the command when there is no text."""
    text = raw_args.strip()
    if not text:
        return "Usage: /tldr <text to summarise>"
    result = ctx.llm.complete(
        [
            {"role": "system", "content": "Summarise the user's text in one tight paragraph. No preamble."},
            {"role": "user", "content": text},
        ],
        max_tokens=256,
        temperature=0.3,
        purpose="tldr",
    )
    return result.text
