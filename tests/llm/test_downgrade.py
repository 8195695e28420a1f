"""What a provider refuses is left out, once it has said so."""

import pytest

from hermes_core.errors import InvalidRequestError
from hermes_core.llm.downgrade import change_for, changed
from hermes_core.types.wire import WireRequest

SCHEMA = {"type": "json_schema", "json_schema": {"name": "n", "schema": {}, "strict": False}}
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}


def request_with(**fields):
    """A request."""
    return WireRequest(**{"base_url": "https://api.acme.test/v1", "model": "m", "messages": [], **fields})


def change(text, status=400, **fields):
    """What is changed about a request when a server says ``text``."""
    return change_for(InvalidRequestError(text, status_code=status, body=text), request_with(**fields))


STRICT = {
    "type": "json_schema",
    "json_schema": {
        "name": "n",
        "schema": {
            "type": "object",
            "properties": {
                "day": {"type": "string", "pattern": "^[0-9]+$"},
                "format": {"type": "string", "format": "date"},
            },
        },
    },
}


def test_a_schema_is_loosened_for_a_server_that_makes_a_grammar_of_it():
    """A schema that no grammar could be made of loses its patterns and formats, then goes; properties stay."""
    text = "Failed to initialize samplers: failed to parse grammar"
    first = change(text, response_format=STRICT)
    loose = changed(request_with(response_format=STRICT), [first]).response_format
    assert (first, change(text, response_format=loose)) == ("loose_schema", "json_object")
    assert loose["json_schema"]["schema"] == {
        "type": "object",
        "properties": {"day": {"type": "string"}, "format": {"type": "string"}},
    }


@pytest.mark.parametrize(
    "text",
    [
        "Unsupported parameter: 'temperature'",
        "unsupported_parameter: temperature is not supported with this model",
        "temperature does not work: Unknown parameter",
        "Unrecognized request argument supplied: temperature",
        "unrecognised parameter `temperature`",
        "`temperature` is deprecated for this model.",
        "This model doesn't support temperature",
        "This model does not support the “temperature” parameter",
        "temperature: Extra inputs are not permitted",
        "got an unexpected keyword argument 'temperature'",
        "Invalid parameter: temperature",
        "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) is.",
        "temperature is not allowed for reasoning models",
        "temperature is no longer accepted",
        '{"error": {"param": "temperature", "code": "unsupported_parameter"}}',
    ],
)
@pytest.mark.parametrize("status", [400, 422])
def test_a_temperature_is_left_out_r16_01_r16_02(text, status):
    """However a server words it, the temperature it does not take is left out."""
    request = request_with(temperature=0.2)
    assert change(text, status, temperature=0.2) == "temperature"
    assert changed(request, ["temperature"]).temperature is None


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        pytest.param("temperature is not supported", {}, id="none was sent"),
        pytest.param("temperature must be between 0 and 1", {"temperature": 1.5}, id="the value is wrong"),
        pytest.param("messages are not supported", {"temperature": 1.0}, id="another one is named"),
        pytest.param("max_tokens is too large: 5000 > 4096", {"max_tokens": 5000}, id="the limit is too high"),
        pytest.param("max_tokens: unsupported", {}, id="no limit was sent r16-04"),
        pytest.param("mytemperature is not supported", {"temperature": 1.0}, id="a longer word is named"),
    ],
)
def test_what_would_not_help_is_not_tried(text, fields):
    """A refusal that is about something else changes nothing."""
    assert change(text, **fields) == ""


@pytest.mark.parametrize("status", [401, 404, 413, 429, 500])
def test_only_a_refused_request_is_changed(status):
    """Another status is no word about a parameter."""
    assert change("Unsupported parameter: temperature", status, temperature=1.0) == ""


@pytest.mark.parametrize(
    ("text", "field", "expected"),
    [
        (
            "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
            "max_tokens",
            "max_completion_tokens",
        ),
        ("max_tokens is not supported", "max_tokens", "max_tokens"),
        ("Unknown field: max_completion_tokens", "max_completion_tokens", "max_tokens"),
        ("Unsupported parameter: max_completion_tokens", "max_tokens", "max_completion_tokens"),
    ],
)
def test_a_limit_changes_its_name_or_goes(text, field, expected):
    """The output limit is sent under its other name where the server asks for that, else left out."""
    assert change(text, max_tokens=9, max_tokens_field=field) == expected


def test_a_limit_is_renamed_and_dropped():
    """A changed limit keeps its value under the other name; a dropped one is none."""
    request = request_with(max_tokens=9)
    renamed, dropped = changed(request, ["max_completion_tokens"]), changed(request, ["max_tokens"])
    assert (renamed.max_tokens, renamed.max_tokens_field, dropped.max_tokens) == (9, "max_completion_tokens", None)


@pytest.mark.parametrize(
    "text",
    [
        "response_format.type must be json_schema or text",
        "'response_format' is not supported",
        "response_format: Extra inputs are not permitted",
        "json_schema is not available for this model",
    ],
)
def test_json_is_asked_for_less_strictly_r16_06_r16_07_r14_06(text):
    """A schema becomes any JSON, and any JSON becomes nothing at all: the prompt has to do."""
    first = change(text, response_format=SCHEMA)
    request = changed(request_with(response_format=SCHEMA), [first])
    second = change(text, response_format=request.response_format)
    assert (first, request.response_format, second) == ("json_object", {"type": "json_object"}, "response_format")
    assert changed(request, [second]).response_format is None


def test_an_extra_is_left_out_r16_08():
    """A field that the provider's profile added is left out when it is named; the others stay."""
    extra = {"reasoning_effort": "low", "r": 1}
    assert change("Unknown parameter: 'reasoning_effort'", extra=extra) == "extra:reasoning_effort"
    assert changed(request_with(extra=extra), ["extra:reasoning_effort"]).extra == {"r": 1}


@pytest.mark.parametrize("text", ["text is not set", "Input should be a valid string", "bad request", ""])
def test_a_tools_images_go_r16_10(text):
    """Whatever a 400 says about a request with a list in a tool's message, it is sent once as text."""
    messages = [
        {"role": "tool", "content": [{"type": "text", "text": "seen"}, IMAGE]},
        {"role": "user", "content": [IMAGE]},
    ]
    assert change(text, messages=messages) == "tool_text"
    after = changed(request_with(messages=messages), ["tool_text"])
    assert "seen" in after.messages[0]["content"]
    assert (after.messages[1], change(text, messages=after.messages)) == (messages[1], "")


def test_changes_add_up():
    """Several changes are made one after the other, and the request they began with is as it was."""
    request = request_with(temperature=1.0, max_tokens=9, response_format=SCHEMA, extra={"a": 1})
    after = changed(request, ["temperature", "max_tokens", "response_format", "extra:a"])
    assert (after.temperature, after.max_tokens, after.response_format, after.extra) == (None, None, None, {})
    assert request == request_with(temperature=1.0, max_tokens=9, response_format=SCHEMA, extra={"a": 1})
