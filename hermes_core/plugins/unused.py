"""What plugins know from other hosts, and this one has no use for: it keeps such a registration, or refuses it."""

from __future__ import annotations

AUXILIARY_TASKS = frozenset(
    "vision web_extract compression skills_hub approval mcp title_generation memory_query_rewrite moa_reference "
    "moa_aggregator tts_audio_tags triage_specifier kanban_decomposer profile_describer goal_judge curator monitor "
    "background_review plugin plugin_llm transient_retries".split()
)
"""What the host itself keeps in the ``auxiliary`` section of the configuration."""

AUXILIARY_DEFAULTS = {"provider": "auto", "model": "", "base_url": "", "api_key": "", "timeout": 60, "extra_body": {}}

PLATFORM_OPTIONS = frozenset(
    "allow_all_env allow_update_command allowed_users_env apply_yaml_config_fn cron_deliver_env_var emoji "
    "env_enablement_fn is_connected max_message_length pii_safe platform_hint setup_fn standalone_sender_fn".split()
)
"""What ``register_platform`` takes besides its named arguments."""

ABSENT = {
    "call_mcp": "runs no MCP servers",
    "platform_actions": "has no gateway",
    "subagent_lifecycle": "has no subagents",
    "register_approval_transport": "asks for no approvals",
    "register_platform_handler": "has no gateway",
    "register_context_reference": "has no context references",
}
"""What plugins may know from another host and this one refuses → why."""
