"""Every known key of ``config.yaml``, once: the checks, the JSON Schema and the documentation come from here."""

from __future__ import annotations

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
    list_of,
    one_of,
    section,
    whole,
)

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
    Key(
        "auth_mode",
        TEXT,
        "`entra_id`: a token of Microsoft Entra is sent in place of a key, where the provider takes one",
    ),
    Key("entra", section(Key("scope", TEXT, "what that token is for"), is_open=True)),
    Key("ollama_num_ctx", COUNT, "context of an Ollama server in tokens"),
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
    Key("allow_task_override", SWITCH, "may name a side task", default=False),
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
    Key("allow_platform_actions", SWITCH, "may act on the platforms of the gateway", default=False),
    Key("granted_capabilities", NAMES, "what else it may do, by name"),
    Key("settings", MAPPING, "its own settings"),
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
            Key("command_timeout", NUMBER, "seconds an async slash command may take; 0 for no limit", default=30),
            is_open=True,
        ),
        "which plugins load, and what they may do",
    ),
    Key(
        "memory",
        section(
            Key("provider", TEXT, "the one memory provider"),
            Key("also", NAMES, "memory providers that are asked to recall beside it, and told nothing"),
            Key("initialize_timeout", SECONDS, "for getting ready; then it is used once it is ready", default=30),
            Key("prefetch_timeout", SECONDS, "for recalling something, once a turn", default=8),
            Key("hook_timeout", SECONDS, "for hearing of anything else", default=5),
            Key("tool_timeout", SECONDS, "for one call of one of its tools", default=60),
            Key("session_end_timeout", SECONDS, "for the end of a session, or before a summary", default=10),
            Key("drain_timeout", SECONDS, "for storing what waits when the process ends", default=5),
            Key("shutdown_timeout", SECONDS, "for closing", default=5),
            Key("max_chars", COUNT, "how much of its text reaches the model at once, in characters", default=6000),
            Key("queue_size", COUNT, "how many turns may wait to be stored", default=1000),
            Key("memory_enabled", SWITCH, "whether the agent keeps notes in `MEMORY.md`", default=True),
            Key("user_profile_enabled", SWITCH, "whether it keeps facts about the user in `USER.md`", default=True),
            Key("memory_char_limit", COUNT, "how many characters `MEMORY.md` may hold", default=2200),
            Key("user_char_limit", COUNT, "how many characters `USER.md` may hold", default=1375),
            Key("write_approval", SWITCH, "whether what the agent writes waits for your approval", default=False),
            is_open=True,
        ),
        "what is remembered",
    ),
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
