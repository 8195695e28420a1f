"""The providers that come with the host: their data, and the hooks of those that have any."""

from pathlib import Path

import pytest
import yaml

from hermes_core import OMIT_TEMPERATURE

NAMES = ("openrouter", "openai", "kimi-coding", "xiaomi", "custom")


@pytest.fixture
def profile_of(load_host):
    """A bundled profile by name."""
    return load_host().providers.get


@pytest.mark.parametrize("name", NAMES)
def test_it_is_there_without_being_imported(load_host, name):
    """A bundled provider is listed from its manifest, with text for people."""
    (row,) = [row for row in load_host().providers if row.name == name]
    assert (row.tier, bool(row.display_name), bool(row.description)) == ("bundled", True, True)


@pytest.mark.parametrize(
    ("name", "aliases", "base_url", "keys", "first_model"),
    [
        (
            "openrouter",
            {"or"},
            "https://openrouter.ai/api/v1",
            ("OPENROUTER_API_KEY", "OPENROUTER_BASE_URL"),
            "anthropic/claude-sonnet-4.6",
        ),
        (
            "openai",
            {"openai-api", "gpt"},
            "https://api.openai.com/v1",
            ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
            "gpt-5.4",
        ),
        (
            "kimi-coding",
            {"kimi", "moonshot", "kimi-for-coding"},
            "https://api.moonshot.ai/v1",
            ("KIMI_API_KEY", "KIMI_CODING_API_KEY", "KIMI_BASE_URL"),
            None,
        ),
        (
            "xiaomi",
            {"mimo", "xiaomi-mimo"},
            "https://api.xiaomimimo.com/v1",
            ("XIAOMI_API_KEY", "XIAOMI_BASE_URL"),
            "mimo-v2.5",
        ),
        ("custom", {"ollama", "local", "vllm", "llamacpp", "llama.cpp", "llama-cpp"}, "", ("CUSTOM_BASE_URL",), None),
    ],
)
def test_its_data_is_right(profile_of, name, aliases, base_url, keys, first_model):
    """Name, aliases, address, variables and the first model are the provider's."""
    profile = profile_of(name)
    models = profile.fallback_models[:1]
    assert (name, aliases, base_url, keys, (first_model,) if first_model else ()) == (
        profile.name,
        {*profile.aliases},
        profile.base_url,
        profile.env_vars,
        models,
    )


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        ("kimi-coding", "fixed_temperature", OMIT_TEMPERATURE),
        ("kimi-coding", "default_max_tokens", 32000),
        ("kimi-coding", "default_aux_model", "kimi-k2-turbo-preview"),
        ("kimi-coding", "supports_vision_user_messages", False),
        ("xiaomi", "supports_vision", True),
        ("xiaomi", "supports_vision_tool_messages", False),
        ("xiaomi", "supports_health_check", False),
        ("custom", "default_max_tokens", 65536),
        ("custom", "auto_rank", None),
        ("openai", "max_tokens_field", "max_completion_tokens"),
        ("openrouter", "models_url", "https://openrouter.ai/api/v1/models"),
        ("openrouter", "default_aux_model", "google/gemini-3-flash-preview"),
        ("openrouter", "fixed_temperature", None),
    ],
)
def test_what_sets_it_apart_is_data(profile_of, name, field, value):
    """A provider's limits and switches are fields of its profile."""
    assert value == getattr(profile_of(name), field)


def test_the_automatic_choice_is_ranked(load_host):
    """OpenRouter comes before OpenAI, and both before the others, in the automatic choice."""
    ranks = {row.name: row.auto_rank for row in load_host().providers}
    assert ranks["openrouter"] < ranks["openai"] < min(ranks["xiaomi"], ranks["kimi-coding"])


def test_every_manifest_says_who_it_is():
    """Every bundled manifest has a name, a version and a description."""
    import hermes_builtin_plugins

    root = Path(hermes_builtin_plugins.__path__[0])
    manifests = [yaml.safe_load(path.read_text()) for path in root.glob("*/*/plugin.yaml")]
    wanted = ("name", "version", "description")
    assert [data for data in manifests if not all(isinstance(data.get(key), str) for key in wanted)] == []


def test_every_word_leads_somewhere_and_only_there(load_host):
    """No bundled name or alias is claimed twice."""
    rows = [row for row in load_host().providers if row.tier == "bundled"]
    words = [word for row in rows for word in (row.name, *row.aliases)]
    assert sorted({*words}) == sorted(words)


NOTHING = ({}, {})
THINKING = ({"thinking": {"type": "enabled"}}, {})


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        pytest.param(None, THINKING, id="no config"),
        pytest.param("high", THINKING, id="no mapping"),
        pytest.param({}, THINKING, id="an empty one"),
        pytest.param({"enabled": False}, ({"thinking": {"type": "disabled"}}, {}), id="off"),
        pytest.param(
            {"enabled": False, "effort": "high"}, ({"thinking": {"type": "disabled"}}, {}), id="off, with effort"
        ),
        pytest.param({"enabled": True}, THINKING, id="on"),
        pytest.param({"enabled": True, "effort": "low"}, ({}, {"reasoning_effort": "low"}), id="low"),
        pytest.param({"effort": "medium"}, ({}, {"reasoning_effort": "medium"}), id="medium"),
        pytest.param({"enabled": True, "effort": "high"}, ({}, {"reasoning_effort": "high"}), id="high"),
        pytest.param({"enabled": True, "effort": "xhigh"}, THINKING, id="an effort it does not know"),
        pytest.param({"enabled": True, "effort": None}, THINKING, id="no effort"),
    ],
)
def test_kimi_takes_a_switch_or_an_effort(profile_of, config, expected):
    """Kimi is sent a thinking switch or a reasoning effort, never both."""
    assert profile_of("kimi").build_api_kwargs_extras(reasoning_config=config, model="kimi-k2", newer=1) == expected


DEFAULT = ({"reasoning": {"enabled": True, "effort": "medium"}}, {})
HIGH = {"enabled": True, "effort": "high"}


@pytest.mark.parametrize(
    ("model", "config", "supports", "expected"),
    [
        pytest.param("openai/gpt-5.4", HIGH, False, NOTHING, id="a model that does not reason"),
        pytest.param("openai/gpt-5.4", None, True, DEFAULT, id="no config"),
        pytest.param("openai/gpt-5.4", HIGH, True, ({"reasoning": HIGH}, {}), id="a config is copied"),
        pytest.param(
            "openai/gpt-5.4", {"enabled": False}, True, ({"reasoning": {"enabled": False}}, {}), id="switched off"
        ),
        pytest.param("anthropic/claude-sonnet-4.6", None, True, NOTHING, id="Claude always reasons: nothing to say"),
        pytest.param("anthropic/claude-sonnet-4.6", HIGH, True, ({}, {"verbosity": "high"}), id="Claude: verbosity"),
        pytest.param("some/CLAUDE-opus-5", HIGH, True, ({}, {"verbosity": "high"}), id="Claude under another vendor"),
        pytest.param("anthropic/next", HIGH, True, ({}, {"verbosity": "high"}), id="any Anthropic model"),
        pytest.param(
            "anthropic/claude-sonnet-4.6", {"enabled": False, "effort": "high"}, True, NOTHING, id="Claude off"
        ),
        pytest.param("anthropic/claude-sonnet-4.6", {"effort": "none"}, True, NOTHING, id="Claude, effort none"),
        pytest.param("anthropic/claude-sonnet-4.6", {"enabled": True}, True, NOTHING, id="Claude without effort"),
        *[
            pytest.param(f"anthropic/claude-{old}", HIGH, True, ({"reasoning": HIGH}, {}), id=f"an older Claude, {old}")
            for old in (
                *("3.5-sonnet", "3-7-sonnet", "opus-4-0", "opus-4.0", "opus-4-1", "opus-4.1", "opus-4-20250514"),
                *("opus-4-5", "opus-4.5", "sonnet-4-0", "sonnet-4.0", "sonnet-4-20250514", "sonnet-4-5", "sonnet-4.5"),
                *("haiku-4-5", "haiku-4.5"),
            )
        ],
    ],
)
def test_openrouter_says_how_to_reason(profile_of, model, config, supports, expected):
    """OpenRouter is sent the reasoning config, but for Claudes that always reason: those get a verbosity alone."""
    extras = profile_of("openrouter").build_api_kwargs_extras(
        reasoning_config=config, supports_reasoning=supports, model=model, newer=1
    )
    assert extras == expected


def test_openrouter_copies_the_config(profile_of):
    """What OpenRouter's hook returns is a copy: changing it leaves the caller's config alone."""
    config = {"enabled": True}
    extra, _ = profile_of("or").build_api_kwargs_extras(reasoning_config=config, supports_reasoning=True, model="m")
    assert extra["reasoning"] is not config


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        pytest.param({}, {}, id="nothing"),
        pytest.param({"session_id": "s-1"}, {"session_id": "s-1"}, id="a session"),
        pytest.param({"provider_preferences": {"order": ["a"]}}, {"provider": {"order": ["a"]}}, id="preferences"),
        pytest.param({"provider_preferences": {}}, {}, id="empty preferences"),
        *[
            pytest.param(
                {"model": "openrouter/pareto-code", "openrouter_min_coding_score": score},
                {"plugins": [{"id": "pareto-router", "min_coding_score": float(score)}]},
                id=f"a score of {score!r}",
            )
            for score in (0, "0.65", 1)
        ],
        *[
            pytest.param({"model": "openrouter/pareto-code", "openrouter_min_coding_score": score}, {}, id=f"{score!r}")
            for score in (None, "", "high", -0.1, 1.1, "nan", True, [1])
        ],
        pytest.param({"model": "other", "openrouter_min_coding_score": 0.5}, {}, id="a score for another model"),
    ],
)
def test_openrouter_says_how_to_route(profile_of, context, expected):
    """OpenRouter is sent the session, the preferences and the score that apply, and always asks for the price."""
    assert {"usage": {"include": True}, **expected} == profile_of("or").build_extra_body(**context, newer=1)


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        pytest.param({}, NOTHING, id="nothing"),
        pytest.param({"ollama_num_ctx": 8192}, ({"options": {"num_ctx": 8192}}, {}), id="a context size"),
        pytest.param({"ollama_num_ctx": 0}, NOTHING, id="no context size"),
        pytest.param(
            {"reasoning_config": {"effort": "none"}}, ({"think": False}, {"reasoning_effort": "none"}), id="none"
        ),
        pytest.param(
            {"reasoning_config": {"enabled": False, "effort": "high"}},
            ({"think": False}, {"reasoning_effort": "none"}),
            id="switched off",
        ),
        pytest.param(
            {"reasoning_config": {"enabled": True, "effort": "HIGH"}}, ({}, {"reasoning_effort": "high"}), id="on"
        ),
        pytest.param({"reasoning_config": {"enabled": True}}, NOTHING, id="on without effort"),
        pytest.param({"reasoning_config": {}}, NOTHING, id="an empty config"),
        pytest.param(
            {"reasoning_config": {"effort": "none"}, "ollama_num_ctx": 1},
            ({"options": {"num_ctx": 1}, "think": False}, {"reasoning_effort": "none"}),
            id="both",
        ),
    ],
)
def test_custom_speaks_ollama(profile_of, context, expected):
    """A custom endpoint is sent a context size, and thinking off when it is switched off; never thinking on."""
    assert profile_of("custom").build_api_kwargs_extras(model="m", newer=1, **context) == expected
