"""What a model demands wherever it is served."""

from __future__ import annotations

import re
from functools import lru_cache

from hermes_core.providers.profile import OMIT_TEMPERATURE

_TEMPERATURES = ((r"kimi(-.*)?", OMIT_TEMPERATURE), (r"trinity-large-thinking", 0.5))
"""Names of models → the one temperature they take; OMIT_TEMPERATURE: none may be sent."""

_COMPLETION_TOKENS = re.compile(r"(gpt-4o|gpt-4\.1|gpt-5|o1|o3|o4).*")
"""Models that refuse OpenAI's older name of the output limit."""


def bare_name(model: str) -> str:
    """A model's name without its vendor's, in lower case.

    Example:
        >>> bare_name("moonshotai/Kimi-K2.5")
        'kimi-k2.5'
    """
    return model.rpartition("/")[2].lower()


@lru_cache(256)
def fixed_temperature(model: str) -> object:
    """The temperature that a model takes, ``OMIT_TEMPERATURE`` for none, or None: the caller's.

    Example:
        >>> fixed_temperature("kimi-k2.5"), fixed_temperature("arcee-ai/trinity-large-thinking"), fixed_temperature("m")
        (OMIT_TEMPERATURE, 0.5, None)
    """
    name = bare_name(model)
    return next((value for pattern, value in _TEMPERATURES if re.fullmatch(pattern, name)), None)


@lru_cache(256)
def max_tokens_field(model: str, usual: str) -> str:
    """The name of the output limit in OpenAI's format.

    Example:
        >>> max_tokens_field("openai/gpt-5.4", "max_tokens"), max_tokens_field("gpt-oss-120b", "max_tokens")
        ('max_completion_tokens', 'max_tokens')
    """
    return "max_completion_tokens" if _COMPLETION_TOKENS.fullmatch(bare_name(model)) else usual
