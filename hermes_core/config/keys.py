"""Every known key of ``config.yaml``, once: the checks, the JSON Schema and the documentation come from here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hermes_core.config.kinds import (
    ADDRESS,
    ALLOWLIST,
    API_MODE,
    COUNT,
    HEADERS,
    MAPPING,
    NAMES,
    NUMBER,
    SECONDS,
    SECRET,
    SWITCH,
    TEXT,
    VARIABLE,
    WHO,
    Key,
    Kind,
    list_of,
    one_of,
    section,
    whole,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Path = tuple[str, ...]
"""Where a value stands: the keys that lead to it; an item of a list goes by its number."""

TASK_TIMEOUTS = {
    "approval": 30.0,
    "background_review": 120.0,
    "compression": 120.0,
    "curator": 600.0,
    "goal_judge": 60.0,
    "kanban_decomposer": 180.0,
    "mcp": 30.0,
    "memory_query_rewrite": 8.0,
    "moa_aggregator": 900.0,
    "moa_reference": 900.0,
    "monitor": 60.0,
    "plugin": 30.0,
    "profile_describer": 60.0,
    "skills_hub": 30.0,
    "title_generation": 30.0,
    "triage_specifier": 120.0,
    "tts_audio_tags": 30.0,
    "vision": 120.0,
    "web_extract": 360.0,
}
"""Side tasks that have a name, and how many seconds each may take; ``plugin`` is every ``ctx.llm`` call."""
OTHER_TASK_TIMEOUT = 30.0
"""Seconds for a task of any other name."""

REASONING_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max", "ultra")
POOL_STRATEGIES = ("fill_first", "round_robin", "random", "least_used")

_API_KEY = Key("api_key", SECRET, "the key itself; better a `${NAME}` that stands in `.env`", aliases=("api", "apiKey"))
_KEY_ENV = Key(
    "key_env", VARIABLE, "the variable that holds the key", aliases=("api_key_env", "keyEnv", "apiKeyEnv")
)  # fmt: skip
_API_MODE = Key(
    "api_mode", API_MODE, "the wire format, where the address does not say", aliases=("transport", "apiMode")
)

_MODEL = section(
    Key("default", TEXT, "the model to ask", aliases=("model", "name")),
    Key("provider", WHO, "a provider's name or alias, `custom`, `custom:<name>`, or `auto`"),
    Key("base_url", ADDRESS, "root of the API, with its version", aliases=("api_base",)),
    _API_KEY._replace(help="the key for `base_url`; better a `${NAME}` that stands in `.env`", aliases=("api",)),
    _KEY_ENV._replace(aliases=("api_key_env",)),
    _API_MODE._replace(aliases=()),
    Key("max_tokens", COUNT, "longest answer in tokens, for calls that do not say; `HERMES_MAX_TOKENS` beats it"),
    Key("supports_vision", SWITCH, "whether the model takes images, where the host cannot know"),
    Key("default_headers", HEADERS, "sent with every request"),
    Key("extra_headers", HEADERS, "likewise; beats `default_headers`"),
    Key("context_length", COUNT),
    Key("auth_mode", TEXT),
    Key("entra", section(Key("scope", TEXT), is_open=True)),
    text_key="default",
)
_ONE_MODEL = section(
    Key("supports_vision", SWITCH, "whether it takes images"),
    Key("context_length", COUNT, aliases=("contextLength",)),
    Key("timeout_seconds", SECONDS),
    Key("stale_timeout_seconds", SECONDS),
    is_open=True,
)
_LISTED_MODEL = section(
    Key("id", TEXT, "the model, in a list", aliases=("name",)), *_ONE_MODEL.keys, is_open=True, text_key="id"
)
PROVIDER = section(
    Key("name", TEXT, "what it is called for people; the key when missing"),
    Key("base_url", ADDRESS, "root of the API, with its version", aliases=("url", "api", "baseUrl")),
    _API_KEY._replace(aliases=("apiKey",)),
    _KEY_ENV,
    _API_MODE,
    Key("model", TEXT, "the model to ask when nobody says", aliases=("default_model", "defaultModel")),
    Key(
        "models", list_of(_LISTED_MODEL, each=_ONE_MODEL), "what it serves: a list of ids, or a mapping of id to facts"
    ),
    Key("max_output_tokens", COUNT, "longest answer in tokens, for calls that do not say", aliases=("max_tokens",)),
    Key("request_timeout_seconds", SECONDS, "how long a call may take that does not say"),
    Key("extra_body", MAPPING, "fields merged into each request"),
    Key("extra_headers", HEADERS, "sent with every request; beats those of the `model` section"),
    Key("ssl_ca_cert", TEXT, "file with the certificates to trust"),
    Key("ssl_verify", SWITCH, "`false` trusts any certificate", default=True),
    Key("enabled", SWITCH, "`false` hides the provider, and refuses calls to it", default=True),
    Key("context_length", COUNT, aliases=("contextLength",)),
    Key("stale_timeout_seconds", SECONDS),
    Key("rate_limit_delay", NUMBER, aliases=("rateLimitDelay",)),
    Key("discover_models", SWITCH, aliases=("discoverModels",)),
)
FALLBACK = section(
    Key("provider", WHO, "as in `model.provider`"),
    Key("model", TEXT, "the model to ask; the provider's cheap one when missing"),
    Key("base_url", ADDRESS, "another address than the provider's own"),
    _API_KEY._replace(aliases=()),
    _KEY_ENV._replace(aliases=("api_key_env",)),
    _API_MODE._replace(aliases=("transport",)),
    Key("timeout", SECONDS, "seconds for this attempt"),
    needs=("provider",),
)
FALLBACKS = list_of(FALLBACK, or_one=True)
TASK = section(
    Key("provider", WHO, "who answers; `auto`: as every other call", default="auto"),
    Key("model", TEXT, "the model to ask; `auto` or nothing: the provider's"),
    Key("base_url", ADDRESS, "an address of its own"),
    _API_KEY._replace(aliases=()),
    _KEY_ENV._replace(aliases=("api_key_env",)),
    _API_MODE._replace(aliases=()),
    Key("timeout", SECONDS, "seconds over everything a call does"),
    Key("extra_body", MAPPING, "fields merged into each request"),
    Key("reasoning_effort", one_of(*REASONING_EFFORTS), "how long the model may think"),
    Key("fallback_chain", FALLBACKS, "who is asked when it fails, before `fallback_providers`"),
    Key("download_timeout", SECONDS),
    Key("enabled", SWITCH),
    Key("language", TEXT),
    is_open=True,
)
_GATE = section(
    Key("allow_provider_override", SWITCH, "may choose the provider", default=False),
    Key("allowed_providers", ALLOWLIST, "which ones; any when missing"),
    Key("allow_model_override", SWITCH, "may choose the model", default=False),
    Key("allowed_models", ALLOWLIST, "which ones; any when missing"),
    Key("allow_agent_id_override", SWITCH, "may call as another agent", default=False),
    Key("allow_profile_override", SWITCH, "may choose the stored credential", default=False),
    Key("allow_fallback", SWITCH, "whether a call with its own `provider=` or `model=` may fall back", default=False),
    Key(
        "on_schema_failure",
        one_of("raise", "text"),
        "`text`: an answer that misses the schema is no error",
        default="raise",
    ),
    Key("max_calls_per_hour", COUNT, "a budget"),
    Key("max_tokens_per_day", COUNT, "a budget"),
    Key("max_cost_usd_per_day", NUMBER, "a budget"),
)
_PLUGIN = section(
    Key("llm", _GATE, "what the plugin may do with `ctx.llm`"),
    Key("allow_tool_override", SWITCH, "may replace a tool of the host", default=False),
    is_open=True,
)

OF_THE_MODEL = {
    "provider": "provider",
    "api_base": "base_url",
    "base_url": "base_url",
    "context_length": "context_length",
}
"""Older spellings at the root → today's in the model section; a later one beats an earlier."""

ROOT = section(
    Key("model", _MODEL, "the model that answers, and where"),
    Key("provider", TEXT),
    Key("base_url", ADDRESS),
    Key("api_base", ADDRESS),
    Key("context_length", COUNT),
    Key("providers", section(each=PROVIDER), "providers of your own, and switches for the others"),
    Key("custom_providers", list_of(PROVIDER._replace(needs=("name", "base_url"))), "the same as a list"),
    Key("fallback_providers", FALLBACKS, "who is asked when the model's provider fails, in order"),
    Key("fallback_model", FALLBACKS, "an older spelling; comes after `fallback_providers`"),
    Key(
        "auxiliary",
        section(
            Key(
                "transient_retries", whole(0, 6), "how often a failed attempt is repeated at the same place", default=2
            ),
            *(Key(task, TASK) for task in TASK_TIMEOUTS),
            each=TASK,
        ),
        "side tasks: where each goes",
    ),
    Key(
        "plugins",
        section(
            Key("enabled", NAMES, "plugins that may load"),
            Key("disabled", NAMES, "plugins that may not; beats `enabled`"),
            Key("entries", section(each=_PLUGIN), "what each plugin may do, by its key"),
            is_open=True,
        ),
        "which plugins load, and what they may do",
    ),
    Key("memory", section(Key("provider", TEXT, "the one memory provider"), is_open=True), "what is remembered"),
    Key(
        "credential_pool_strategies",
        section(each=one_of(*POOL_STRATEGIES)),
        "by provider: which of several keys is taken first",
    ),
    Key(
        "embedded",
        section(
            Key("model_path", TEXT, "a GGUF file to use in place of the small model"),
            Key("n_ctx", COUNT, "context in tokens", default=4096),
            Key("threads", COUNT, "threads to compute with; the machine's cores when missing"),
            is_open=True,
        ),
        "the embedded model",
    ),
    Key(
        "bedrock",
        section(
            Key("region", TEXT, "the AWS region"),
            Key("guardrail", MAPPING, "sent as `guardrailConfig`"),
            is_open=True,
        ),
        "Amazon Bedrock",
    ),
    Key(
        "logging",
        section(
            Key("max_size_mb", COUNT, "size in MiB at which `agent.log` is rotated", default=5),
            Key("backup_count", COUNT, "how many older ones are kept", default=3),
            Key("level", TEXT),
            is_open=True,
        ),
        "`logs/agent.log`",
    ),
    Key(
        "openrouter",
        section(
            Key("response_cache", SWITCH),
            Key("response_cache_ttl", whole(1, 86400)),
            Key("min_coding_score", NUMBER),
            is_open=True,
        ),
    ),
    Key("vertex", section(Key("project_id", TEXT), Key("region", TEXT), is_open=True)),
    Key("security", section(Key("redact_secrets", SWITCH), is_open=True)),
    Key(
        "model_catalog",
        section(
            Key("enabled", SWITCH),
            Key("url", ADDRESS),
            Key("ttl_hours", NUMBER),
            Key("providers", MAPPING),
            is_open=True,
        ),
    ),
    Key("agent", section(Key("reasoning_effort", TEXT), is_open=True)),
    is_open=True,
)
"""The whole file."""

# compiled when they are first needed: this module is loaded wherever a configuration is read
_SEGMENT = r"""(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<plain>[^."']+))(?P<more>\.|$)"""
_REFERENCE_ALONE = r"\s*(Bearer\s+)?\$\{[A-Za-z_][A-Za-z0-9_]*\}\s*"
_HIDDEN_NAME = r"(^|_)((api|access|secret|private)_?key|token|secret|password|passwd)$"


def find_key(path: Sequence[str]) -> Key | None:
    """The known key that stands at a path, under its own name or an alias; None where anything may stand.

    Example:
        >>> find_key(("providers", "acme", "url")).name
        'base_url'
        >>> find_key(("fallback_providers", "0", "timeout")).kind.wanted
        'a number of seconds above 0'
    """
    key = Key("", ROOT)
    for word in path:
        found = child_of(key.kind, word)
        if found is None:
            return None
        key = found
    return key


def default_of(path: Sequence[str]) -> Any:
    """What counts at a path when nothing is written there; None when that is nothing.

    Example:
        >>> default_of(("auxiliary", "vision", "timeout")), default_of(("logging", "backup_count"))
        (120.0, 3)
    """
    if len(path) == 3 and path[0] == "auxiliary" and path[2] == "timeout":
        return TASK_TIMEOUTS.get(path[1], OTHER_TASK_TIMEOUT)
    key = find_key(path)
    return key.default if key is not None else None


def child_of(kind: Kind, word: str) -> Key | None:
    """What stands under one key of a mapping, or at one place of a list; None where anything may."""
    if word.isdecimal() and kind.items is not None:
        return Key(word, kind.items)
    for key in kind.keys:
        if word == key.name or word in key.aliases:
            return key
    return Key(word, kind.each) if kind.each is not None else None


def canonical(path: Sequence[str]) -> Path:
    """A path with every alias replaced by the key it stands for.

    Example:
        >>> canonical(("model", "api_base")), canonical(("provider",))
        (('model', 'base_url'), ('model', 'provider'))
    """
    if len(path) == 1 and path[0] in OF_THE_MODEL:
        return "model", OF_THE_MODEL[path[0]]
    found: list[str] = []
    kind: Kind | None = ROOT
    for word in path:
        key = child_of(kind, word) if kind is not None else None
        found.append(word if key is None else key.name)
        kind = None if key is None else key.kind
    return tuple(found)


def look(tree: Any, path: Sequence[str]) -> Any:
    """What stands at a path; None where nothing does.

    Example:
        >>> look({"a": [{"b": 1}]}, ("a", "0", "b"))
        1
    """
    for word in path:
        if isinstance(tree, Mapping):
            tree = tree.get(word)
        else:
            tree = tree[int(word)] if isinstance(tree, list) and word.isdecimal() and int(word) < len(tree) else None
    return tree


def spellings(kind: Kind) -> Iterable[str]:
    """Every key of a mapping that has a meaning, aliases included."""
    for key in kind.keys:
        yield key.name
        yield from key.aliases


def spelled(tree: Mapping[str, Any], path: Sequence[str]) -> Path:
    """Where a file has, or would have, what belongs at a path: under an alias, at the root, or in a bare text.

    Example:
        >>> spelled({"providers": {"acme": {"url": "x"}}}, ("providers", "acme", "base_url"))
        ('providers', 'acme', 'url')
        >>> spelled({"model": "m"}, ("model", "default")), spelled({"provider": "p"}, ("model", "provider"))
        (('model',), ('provider',))
    """
    found: list[str] = []
    node: Any = tree
    kind: Kind | None = ROOT
    for word in path:
        if isinstance(node, str) and kind is not None and kind.text_key == word:
            break
        key = child_of(kind, word) if kind is not None else None
        words = (word,) if key is None else (key.name, *key.aliases)
        found.append(next((name for name in words if look(node, (name,)) is not None), words[0]))
        node = look(node, found[-1:])
        kind = key.kind if key is not None else None
    if node is None and tuple(path[:-1]) == ("model",):
        return next(((old,) for old, new in OF_THE_MODEL.items() if new == path[-1] and tree.get(old)), tuple(found))
    return tuple(found)


def is_secret(path: Sequence[str]) -> bool:
    """Whether what stands at a path, or around it, must not be shown.

    Example:
        >>> is_secret(("model", "extra_headers", "X-Org")), is_secret(("plugins", "entries", "acme", "token"))
        (True, True)
    """
    known = (find_key(path[: end + 1]) for end in range(len(path)))
    if any(key is not None and key.kind.is_secret for key in known):
        return True
    return find_key(path) is None and bool(path) and bool(re.search(_HIDDEN_NAME, path[-1].lower()))


def is_reference(text: str) -> bool:
    """Whether a text is a ``${NAME}`` and nothing else, but for a ``Bearer`` before it.

    Example:
        >>> is_reference("${ACME_API_KEY}"), is_reference("sk-${X}")
        (True, False)
    """
    return bool(re.fullmatch(_REFERENCE_ALONE, text))


def split_key(text: str) -> Path:
    """The path that a dotted key means; a part with dots in it is written in quotes.

    Raises:
        ValueError: It is no dotted key.

    Example:
        >>> split_key('providers.acme.models."gpt-5.4".supports_vision')
        ('providers', 'acme', 'models', 'gpt-5.4', 'supports_vision')
    """
    parts: list[str] = []
    at, more = 0, True
    while more:
        found = re.compile(_SEGMENT).match(text, at)
        if found is None:
            message = f"{text!r} is no key: write it like model.default, a part with dots in quotes"
            raise ValueError(message)
        parts.append(found["plain"] or found["double"] or found["single"] or "")
        at, more = found.end(), bool(found["more"])
    return tuple(parts)


def join_key(path: Iterable[str]) -> str:
    """A path as a dotted key.

    Example:
        >>> join_key(("models", "gpt-5.4"))
        'models."gpt-5.4"'
    """
    return ".".join(_quoted(part) if not part or set(part) & set(".\"'") else part for part in path)


def _quoted(part: str) -> str:
    return f"'{part}'" if '"' in part else f'"{part}"'
