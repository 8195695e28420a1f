"""What the real model makes of requests: their form, never their content."""

import json

import httpx
import jsonschema
import pytest

pytestmark = pytest.mark.embedded

NOTES = {
    "prose": "Standup Monday. Ana will send the Q3 budget to finance by 2026-10-02. Bob to fix the login bug. "
    "Someone must order new chairs.",
    "list": "- Carla: draft the press release, due Friday\n- Dan: book the venue\n"
    "- review the contract with legal before 2026-11-15\n- pizza was good",
    "nothing": "We talked about the roadmap for a long time. No decisions were made.",
    "long": "Retro\n* Priya tunes the alert thresholds this sprint\n* Tom writes a runbook for the payment outage\n"
    "* add a dashboard for queue depth\n* Priya and Tom pair on the flaky test\n* Lee updates the on-call rota by "
    "2026-05-01\n* order the offsite hotel\n* renew the TLS certificates",
    "German": "Kickoff with ACME GmbH. Müller schickt das Angebot bis Dienstag. Frau Öz prüft den Vertrag. "
    "Jemand muss den Raum buchen.",
    "quotes": 'Q: can we ship on the 12th?\nMarta -> get QA sign-off by the 10th\nJ. -> tell support "no new tickets '
    'after 18:00"\nAlso, the customer asked for a quote of $12,500 for 3 seats; Nina answers today.',
}
INSTRUCTIONS = (
    "Extract concrete action items from these meeting notes. One task per actionable line. "
    "If no owner is named, leave 'owner' blank."
)
TASK = {
    "type": "object",
    "properties": {
        "owner": {"type": "string"},
        "action": {"type": "string"},
        "due": {"type": "string", "description": "ISO date or empty"},
    },
    "required": ["action"],
}
TASKS = {
    "type": "object",
    "properties": {"tasks": {"type": "array", "items": TASK}},
    "required": ["tasks"],
    "examples": [
        {
            "tasks": [
                {"owner": "Sam", "action": "call the printer", "due": "2026-03-05"},
                {"owner": "", "action": "order paper", "due": ""},
            ]
        }
    ],
}
ONE_JSON_VALUE = {"role": "system", "content": "Answer with one JSON value of the requested shape, no prose."}


def structured(instructions, text):
    """Messages of a structured call."""
    parts = [{"type": "text", "text": instructions}, {"type": "text", "text": text}]
    return [ONE_JSON_VALUE, {"role": "user", "content": parts}]


def wanted(schema):
    """The response format of a structured call."""
    return {"type": "json_schema", "json_schema": {"name": "x", "schema": schema, "strict": False}}


@pytest.mark.parametrize("limit", [512, 256])
@pytest.mark.parametrize("notes", NOTES.values(), ids=NOTES)
def test_task_extraction(ask, notes, limit):
    """Each of six meeting notes ends in JSON that matches the schema, within the limit."""
    answer = ask(structured(INSTRUCTIONS, notes), wanted(TASKS), limit)
    assert answer["choices"][0]["finish_reason"] == "stop"
    jsonschema.validate(json.loads(answer["choices"][0]["message"]["content"]), TASKS)


@pytest.mark.parametrize(
    "schema",
    [
        {
            "type": "object",
            "properties": {
                "urgency": {"type": "number", "minimum": 0, "maximum": 1},
                "category": {"enum": ["billing", "bug", "other"]},
            },
            "required": ["urgency", "category"],
        },
        {"type": "array", "items": {"type": "string"}},
        {"type": "object"},
        {"type": "object", "additionalProperties": {"type": "number"}},
        {
            "$defs": {"place": {"type": "object", "properties": {"city": {"type": "string"}}}},
            "type": "object",
            "properties": {
                "home": {"$ref": "#/$defs/place"},
                "others": {"type": "array", "items": {"$ref": "#/$defs/place"}},
                "age": {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}]},
            },
        },
    ],
    ids=["triage", "list", "free", "map", "refs"],
)
def test_schemas(ask, schema):
    """Schemas of many kinds end in JSON that matches them."""
    messages = structured("Describe this message as JSON.", "I was charged twice in Paris. I am 42. Fix it now!")
    answer = ask(messages, wanted(schema), 256)
    jsonschema.validate(json.loads(answer["choices"][0]["message"]["content"]), schema)


def test_json_mode(ask):
    """JSON mode ends in a JSON object."""
    answer = ask([ONE_JSON_VALUE, {"role": "user", "content": "Describe a cat."}], {"type": "json_object"}, 128)
    assert isinstance(json.loads(answer["choices"][0]["message"]["content"]), dict)


def test_chat(ask):
    """Free text comes with the model's name, its usage and no path of this machine."""
    answer = ask([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Say hello."}], max_tokens=16)
    assert answer["choices"][0]["message"]["content"]
    assert answer["model"] == "SmolLM2-135M-Instruct"
    assert answer["usage"]["completion_tokens"] <= 16
    assert ".gguf" not in json.dumps(answer)


def test_same_answer_twice(ask):
    """At temperature 0 the same request has the same answer."""
    said = [
        ask([{"role": "user", "content": "Name a colour."}], max_tokens=16)["choices"][0]["message"] for _ in range(2)
    ]
    assert said[0] == said[1]


def test_without_max_tokens(profile, host, model_home):
    """A request that names no limit ends at the server's own."""
    base_url, key = profile.open_endpoint(host(model_home))
    body = {"messages": [{"role": "user", "content": "Hi"}], "ignore_eos": True, "temperature": 0}
    answer = httpx.post(
        f"{base_url}/chat/completions", json=body, headers={"authorization": f"Bearer {key}"}, timeout=300
    ).json()
    assert answer["choices"][0]["finish_reason"] == "length"
    assert answer["usage"]["completion_tokens"] == 512


def test_prompt_that_is_too_long(ask):
    """A prompt beyond the context is refused with a 400, not cut."""
    with pytest.raises(httpx.HTTPStatusError, match="400"):
        ask([{"role": "user", "content": "word " * 5000}])


@pytest.mark.parametrize(
    ("path", "header", "body", "usage"),
    [
        ("messages", "x-api-key", {"max_tokens": 8, "messages": [{"role": "user", "content": "Hi"}]}, "output_tokens"),
        ("responses", "authorization", {"max_output_tokens": 8, "input": "Hi"}, "output_tokens"),
    ],
    ids=["anthropic_messages", "codex_responses"],
)
def test_other_wires(profile, host, model_home, path, header, body, usage):
    """The server speaks the Anthropic and the Responses API too, with real text and usage."""
    base_url, key = profile.open_endpoint(host(model_home))
    headers = {header: f"Bearer {key}" if header == "authorization" else key}
    answer = httpx.post(f"{base_url}/{path}", json={"model": "m", **body}, headers=headers, timeout=60)
    assert answer.status_code == 200
    assert 0 < answer.json()["usage"][usage] <= 8
