"""``hermes llm``: one question from the shell."""

import base64
import json
import threading

import pytest

from hermes_core.testing import FakeProvider

PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)
COLOUR = {"type": "object", "properties": {"colour": {"type": "string"}}, "required": ["colour"]}


class Silent(FakeProvider):
    """A provider that does not answer until it is released."""

    def __init__(self):
        super().__init__()
        self.released = threading.Event()

    def next_response(self, request):
        """Wait."""
        self.released.wait(30)
        return super().next_response(request)


@pytest.fixture
def schema(tmp_path):
    """A file with a JSON schema."""
    path = tmp_path / "schema.json"
    path.write_text(json.dumps(COLOUR))
    return path


def body(provider):
    """The body of the last request."""
    return provider.requests[-1].body


def test_the_answer_is_printed(hermes, provider):
    """The model's answer is all that stands on standard output."""
    assert hermes("llm", "ping") == (0, "pong\n", "")


@pytest.mark.parametrize(
    ("words", "stdin", "prompt"),
    [
        pytest.param(["what", "is", "this"], "", "what is this", id="words are joined"),
        pytest.param([], " piped in \n", "piped in", id="a pipe alone is the prompt"),
        pytest.param(["explain:"], "line 1\nline 2\n", "explain:\n\nline 1\nline 2", id="a pipe follows the words"),
    ],
)
def test_the_prompt_comes_from_words_and_pipe(hermes, provider, words, stdin, prompt):
    """Arguments and standard input make one user message."""
    assert hermes("llm", *words, stdin=stdin).code == 0
    assert [{"role": "user", "content": prompt}] == body(provider)["messages"]


def test_words_on_both_sides_of_an_option_are_the_prompt(hermes, provider):
    """An option is understood wherever it stands among the words."""
    assert hermes("llm", "what", "--max-tokens", "5", "is this").code == 0
    assert body(provider)["messages"][-1]["content"] == "what is this"


def test_options_shape_the_request(hermes, provider):
    """System message, limit and temperature reach the provider."""
    options = ["--system", "Be brief.", "--max-tokens", "5", "--temperature", "0"]
    assert hermes("llm", "ping", *options).code == 0
    assert body(provider)["messages"][0] == {"role": "system", "content": "Be brief."}
    assert (body(provider)["max_tokens"], body(provider)["temperature"]) == (5, 0)


def test_the_audit_names_the_command_and_the_purpose(hermes, provider, home):
    """A call is one line in agent.log, with the caller and the purpose that was given."""
    hermes("llm", "ping", "--purpose", "a test")
    (line,) = (home.path / "logs" / "agent.log").read_text().splitlines()
    assert 'plugin=hermes-cli provider=custom model=fake-model purpose="a test" tokens=6' in line
    assert "ping" not in line


def test_the_answer_for_programs_is_one_object(hermes, provider):
    """``--json`` prints text, attribution, usage and audit."""
    found = hermes("llm", "ping", "--json").json
    assert (
        found["text"],
        found["provider"],
        found["model"],
        found["usage"]["total_tokens"],
    ) == ("pong", "custom", "fake-model", 6)
    assert found["audit"]["plugin_id"] == "hermes-cli"


def test_a_schema_gives_json(hermes, provider, schema):
    """With ``--schema``, the provider is asked for that shape, and what is printed is the JSON alone."""
    provider.answer('Sure:\n```json\n{"colour": "red"}\n```')
    done = hermes("llm", "which colour?", "--schema", schema)
    assert (done.code, done.json) == (0, {"colour": "red"})
    assert body(provider)["response_format"]["json_schema"]["schema"] == COLOUR


def test_a_schema_sends_the_prompt_once(hermes, provider, schema):
    """The words of the prompt are paid for once."""
    provider.answer('{"colour": "red"}')
    hermes("llm", "unmistakable words", "--schema", schema)
    assert json.dumps(body(provider)).count("unmistakable words") == 1


def test_an_answer_that_breaks_the_schema_is_an_error(hermes, provider, schema):
    """JSON of the wrong shape is refused: one line that says what is wrong, and code 1."""
    provider.answer('{"colour": 5}')
    done = hermes("llm", "which colour?", "--schema", schema)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error: complete_structured: the answer did not match the schema: ")


def test_an_answer_without_json_is_an_error_when_json_was_asked_for(hermes, provider, schema):
    """A script that asks for JSON is not given prose with code 0."""
    done = hermes("llm", "which colour?", "--schema", schema)
    assert done.code == 1
    assert "not JSON" in done.err


def test_an_image_is_sent_along(hermes, provider, home, tmp_path):
    """``--image`` puts the picture beside the prompt, as a data URL of its own type."""
    home.config({"model": {**provider.config["model"], "supports_vision": True}})
    (tmp_path / "dot.png").write_bytes(PNG)
    assert hermes("llm", "what is this?", "--image", tmp_path / "dot.png") == (0, "pong\n", "")
    text, picture = body(provider)["messages"][-1]["content"]
    assert "what is this?" in text["text"]
    assert f"data:image/png;base64,{base64.b64encode(PNG).decode()}" == picture["image_url"]["url"]


@pytest.mark.parametrize(
    ("words", "error"),
    [
        pytest.param([], "no prompt", id="no prompt"),
        pytest.param(["  "], "no prompt", id="a blank prompt"),
        pytest.param(["hi", "--max-tokens", "0"], "max_tokens must be a whole number of tokens, 1 or more, got 0",
                     id="a limit of nothing"),
        pytest.param(["hi", "--max-tokens", "-3"], "max_tokens must be a whole number of tokens, 1 or more, got -3",
                     id="a limit below nothing"),
        pytest.param(["hi", "--temperature", "9"], "temperature must be a number from 0 to 2, got 9.0",
                     id="a temperature off the scale"),
        pytest.param(["hi", "--temperature", "nan"], "temperature must be a number from 0 to 2, got nan",
                     id="a temperature that is no number"),
        pytest.param(["hi", "--image", "nowhere.png"], "cannot read nowhere.png: No such file or directory",
                     id="an image that is not there"),
        pytest.param(["hi", "--schema", "nowhere.json"], "cannot read nowhere.json: No such file or directory",
                     id="a schema that is not there"),
    ],
)  # fmt: skip
def test_a_bad_value_is_refused_before_anything_is_sent(hermes, provider, words, error):
    """A value that cannot be used is one line and a hint, code 1, and the provider is not asked."""
    done = hermes("llm", *words)
    first, second = done.err.splitlines()
    assert (done.code, done.out) == (1, "")
    assert first.startswith("error: ")
    assert first.endswith(error)
    assert second.startswith("hint: ")
    assert provider.requests == []


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("{", id="no JSON"),
        pytest.param("null", id="null"),
        pytest.param('"text"', id="a string"),
        pytest.param('{"type": "colour"}', id="a type that does not exist"),
    ],
)
def test_a_schema_that_is_none_is_refused(hermes, provider, schema, text):
    """A file that holds no JSON schema is an error before anything is sent."""
    schema.write_text(text)
    done = hermes("llm", "hi", "--schema", schema)
    assert (done.code, done.out, provider.requests) == (1, "", [])
    assert done.err.startswith("error: ")


@pytest.mark.parametrize("status", [400, 401, 403, 404, 408, 422, 429, 500, 503])
def test_a_refusal_of_the_provider_is_an_error_with_a_hint(hermes, provider, home, status):
    """Whatever the provider answers, the user sees what it said and what to do next, and no traceback."""
    home.config({**provider.config, "auxiliary": {"transient_retries": 0}})
    provider.queue_response({"error": {"message": "the reason"}}, status=status)
    done = hermes("llm", "ping")
    assert (done.code, done.out) == (1, "")
    error, hint = done.err.splitlines()
    assert error.startswith("error: custom ")
    assert str(status) in error
    assert "the reason" in error
    assert hint.startswith("hint: ")


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param("<html>", id="a page"),
        pytest.param({"unexpected": 1}, id="another shape"),
        pytest.param([], id="a list"),
        pytest.param("", id="nothing"),
    ],
)
def test_an_answer_that_is_none_is_an_error(hermes, provider, answer):
    """An answer of 200 that holds no message is one line, code 1."""
    for _ in range(8):
        provider.queue_response(answer)
    done = hermes("llm", "ping")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error: ")


def test_a_provider_that_is_not_there_is_an_error(hermes, home, provider):
    """An address where nobody listens is one line, code 1."""
    model = {**provider.config["model"], "base_url": "http://127.0.0.1:9/v1"}
    home.config({"model": model, "auxiliary": {"transient_retries": 0}})
    done = hermes("llm", "ping")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error: ")


def test_a_provider_that_does_not_answer_is_an_error_of_its_own(hermes, home):
    """A time limit that passes is shown as what it is, and not as trouble with the output."""
    with Silent() as server:
        home.config({**server.config, "auxiliary": {"plugin": {"timeout": 0.2}}})
        done = hermes("llm", "ping")
        server.released.set()
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error: no answer within 0.2 s")


def test_an_unknown_provider_is_refused_with_the_nearest(hermes, home):
    """A misspelled model.provider is an error that names the closest."""
    home.config({"model": {"provider": "openroter"}})
    done = hermes("llm", "ping")
    assert done.code == 1
    assert done.err.startswith("error: unknown provider 'openroter'; did you mean 'openrouter'?\nhint: ")


def test_a_missing_key_names_its_variable(hermes, home):
    """Without a key, the error names the variable that would hold it."""
    home.config({"model": {"provider": "openai", "default": "some-model"}})
    done = hermes("llm", "ping")
    assert done.code == 1
    assert "OPENAI_API_KEY" in done.err
