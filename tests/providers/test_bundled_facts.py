"""The facts of the bundled providers: where they are, which variables hold their keys, and who is chosen unasked."""

import pytest

from hermes_core.llm.plan import Planner
from hermes_core.llm.trust import Overrides
from hermes_core.providers.addresses import providers_at
from hermes_core.types.address import host_of, is_loopback

FACTS = """
nous               https://inference-api.nousresearch.com/v1  NOUS_API_KEY NOUS_INFERENCE_BASE_URL       nous-portal
novita             https://api.novita.ai/openai/v1            NOVITA_API_KEY NOVITA_BASE_URL             novitaai
nvidia             https://integrate.api.nvidia.com/v1        NVIDIA_API_KEY NVIDIA_BASE_URL             nvidia-nim
ollama-cloud       https://ollama.com/v1                      OLLAMA_API_KEY OLLAMA_BASE_URL             ollama_cloud
openai-codex       https://chatgpt.com/backend-api/codex      HERMES_CODEX_BASE_URL                      codex
opencode-zen       https://opencode.ai/zen/v1                 OPENCODE_ZEN_API_KEY OPENCODE_ZEN_BASE_URL zen
opencode-go        https://opencode.ai/zen/go/v1              OPENCODE_GO_API_KEY OPENCODE_GO_BASE_URL   go
openrouter         https://openrouter.ai/api/v1               OPENROUTER_API_KEY OPENROUTER_BASE_URL     or
qwen-oauth         https://portal.qwen.ai/v1                  QWEN_API_KEY HERMES_QWEN_BASE_URL          qwen-portal
stepfun            https://api.stepfun.ai/step_plan/v1        STEPFUN_API_KEY STEPFUN_BASE_URL           step
upstage            https://api.upstage.ai/v1                  UPSTAGE_API_KEY UPSTAGE_BASE_URL           solar
vertex             https://aiplatform.googleapis.com          -                                          vertex-ai
xai                https://api.x.ai/v1                        XAI_API_KEY XAI_BASE_URL                   grok
xai-oauth          https://api.x.ai/v1                        -                                          grok-oauth
xiaomi             https://api.xiaomimimo.com/v1              XIAOMI_API_KEY XIAOMI_BASE_URL             mimo
zai                https://api.z.ai/api/paas/v4               GLM_API_KEY ZAI_API_KEY Z_AI_API_KEY GLM_BASE_URL  zhipu
openai             https://api.openai.com/v1                  OPENAI_API_KEY OPENAI_BASE_URL             openai-api
lmstudio           http://127.0.0.1:1234/v1                   LM_API_KEY LM_BASE_URL                     lm-studio
tencent-tokenhub   https://tokenhub.tencentmaas.com/v1        TOKENHUB_API_KEY TOKENHUB_BASE_URL         tencentmaas
ollama-local       http://localhost:11434/v1                  OLLAMA_LOCAL_BASE_URL                      -
vllm-local         http://localhost:8000/v1                   VLLM_API_KEY VLLM_BASE_URL                 -
llamacpp-local     http://localhost:8080/v1                   LLAMACPP_API_KEY LLAMACPP_BASE_URL         llama-server
localai            http://localhost:8080/v1                   LOCALAI_API_KEY LOCALAI_BASE_URL           local-ai
sglang             http://localhost:30000/v1                  SGLANG_API_KEY SGLANG_BASE_URL             -
litellm            http://localhost:4000/v1                   LITELLM_API_KEY LITELLM_BASE_URL           litellm-proxy
groq               https://api.groq.com/openai/v1             GROQ_API_KEY                               groq-cloud
mistral            https://api.mistral.ai/v1                  MISTRAL_API_KEY                            mistralai
togetherai         https://api.together.xyz/v1                TOGETHER_API_KEY TOGETHERAI_API_KEY        together
cerebras           https://api.cerebras.ai/v1                 CEREBRAS_API_KEY                           -
perplexity         https://api.perplexity.ai                  PERPLEXITY_API_KEY                         pplx
cohere             https://api.cohere.ai/compatibility/v1     COHERE_API_KEY CO_API_KEY                  -
sambanova          https://api.sambanova.ai/v1                SAMBANOVA_API_KEY                          -
nebius             https://api.studio.nebius.com/v1           NEBIUS_API_KEY                             -
hyperbolic         https://api.hyperbolic.xyz/v1              HYPERBOLIC_API_KEY                         -
siliconflow        https://api.siliconflow.com/v1             SILICONFLOW_API_KEY                        -
baseten            https://inference.baseten.co/v1            BASETEN_API_KEY                            -
vercel-ai-gateway  https://ai-gateway.vercel.sh/v1            AI_GATEWAY_API_KEY                         ai-gateway
github-models-api  https://models.github.ai/inference         GITHUB_TOKEN                               -
"""
ROWS = [line.split() for line in FACTS.strip().splitlines()]


@pytest.fixture
def rows(load_host):
    """The bundled providers as a list shows them, by name; nothing is imported for it."""
    return {row.name: row for row in load_host().providers}


@pytest.mark.parametrize("facts", ROWS, ids=[facts[0] for facts in ROWS])
def test_it_is_where_it_is_and_keyed_as_it_is(rows, load_host, facts):
    """Name, an alias, the address, and the variables in the order in which they are looked up."""
    name, address, *variables, alias = facts
    row = rows[name]
    assert (row.base_url, [*row.env_vars]) == (address, [word for word in variables if word != "-"])
    assert load_host().providers.resolve(name if alias == "-" else alias) == name


def test_every_provider_is_shown_with_words_for_people(rows):
    """At least fifty are bundled, each with a name and a line for people, and an identity of its own."""
    bundled = [row for row in rows.values() if row.tier == "bundled"]
    assert len(bundled) >= 50
    assert [row.name for row in bundled if not (row.display_name and row.description)] == []
    shown = [row.display_name for row in bundled]
    assert sorted({*shown}) == sorted(shown)


def test_a_server_of_ones_own_is_on_this_machine(rows):
    """A local preset is at a loopback address, needs no key, and is never chosen unasked; no other is like that."""
    local = {row.name for row in rows.values() if row.is_local}
    assert local == {row.name for row in rows.values() if is_loopback(host_of(row.base_url))}
    assert {rows[name].auto_rank for name in local} == {None}


@pytest.mark.parametrize(
    "name",
    ["copilot", "copilot-acp", "lmstudio", "openai-codex", "github-models-api", "custom", "xai-oauth", "qwen-oauth"],
)
def test_some_are_never_chosen_unasked(rows, name):
    """A provider of an account, of a server that may not run, or of a token that is set for other things."""
    assert rows[name].auto_rank is None


def test_one_without_a_usual_model_is_chosen_last(rows, load_host):
    """A provider that would still have to be told a model comes after each that would not."""
    catalog = load_host().providers
    ranks = {True: [], False: []}
    for row in rows.values():
        if row.auto_rank is not None and row.auth_type == "api_key":
            profile = catalog.get(row.name)
            ranks[bool(profile.fallback_models or profile.default_aux_model)].append(row.auto_rank)
    ranks[True] = [rank for rank in ranks[True] if rank != rows["huggingface"].auto_rank]  # its token is a general one
    assert max(ranks[True]) < min(ranks[False])


OWNERS = {
    "https://open.bigmodel.cn/api/paas/v4": "zai",
    "https://api.z.ai/api/coding/paas/v4": "zai",
    "https://api.stepfun.com/step_plan/v1": "stepfun",
    "https://api.siliconflow.cn/v1": "siliconflow",
    "https://eu.xiaomimimo.com/v1": "xiaomi",
    "https://opencode.ai/zen/v1": "opencode-zen",
    "https://opencode.ai/zen/go/v1": "opencode-go",
    "https://api.x.ai/v1": "xai",
    "http://localhost:11434/v1": None,
    "https://api.z.ai.evil.test/v4": None,
}


@pytest.mark.parametrize(("address", "owner"), OWNERS.items(), ids=OWNERS)
def test_an_address_is_its_owners(rows, address, owner):
    """Other hosts of a provider are known as its own, a shared host goes by path and then by rank, and no local one."""
    assert next(iter(providers_at(rows.values(), address)), None) == owner


AGGREGATORS = {"nous", "novita", "openrouter", "litellm", "vercel-ai-gateway", "opencode-zen", "opencode-go"}


def test_aggregators_say_so(rows):
    """A provider that passes calls on to many vendors is marked."""
    assert {name for name in AGGREGATORS if rows[name].is_aggregator} == AGGREGATORS


WORDS = {"ollama": "http://localhost:11434/v1", "vllm": "http://localhost:8000/v1", "LlamaCPP": "http://localhost:8080/v1",
         "llama.cpp": "http://localhost:8080/v1", "llama-cpp": "http://localhost:8080/v1"}  # fmt: skip


@pytest.mark.parametrize(("word", "address"), WORDS.items(), ids=WORDS)
def test_a_word_for_a_local_server_leads_to_its_usual_address(load_host, word, address):
    """``ollama`` and its like mean an endpoint of one's own, at the usual address while none is configured."""
    host = load_host(config={"model": {"provider": word, "default": "m"}})
    route = Planner(host.providers, host.credentials, host.say).route(host.config(), Overrides())
    assert (route.provider, route.base_url, route.credential.value) == ("custom", address, "")
