"""Bundled providers that find their address or their credential themselves."""

import json
import time
from pathlib import Path

import pytest

from hermes_core import EndpointHost, HermesError, MissingCredentialError
from hermes_core.testing import FakeProvider

PING = [{"role": "user", "content": "ping"}]
FAKE_GOOGLE = {
    "google/auth/__init__.py": """
        from datetime import UTC, datetime, timedelta
        class Credentials:
            def __init__(self, name, minutes=60):
                self.token, self.expiry, self.name, self.minutes, self.count = None, None, name, minutes, 0
            def refresh(self, request):
                self.count += 1
                self.token = f"token-{self.count}-of-{self.name}"
                self.expiry = datetime.now(UTC).replace(tzinfo=None) + timedelta(minutes=self.minutes)
        def default(scopes):
            return Credentials("default"), "own-project"
        def load_credentials_from_file(path, scopes):
            if "missing" in path:
                raise FileNotFoundError(path)
            return Credentials(path.strip("/"), minutes=1 if "short" in path else 60), None
        """,
    "google/auth/exceptions.py": "class GoogleAuthError(Exception): pass",
    "google/auth/transport/requests.py": "class Request: pass",
}


@pytest.fixture
def server():
    """A running provider."""
    with FakeProvider() as running:
        yield running


@pytest.fixture
def google(site):
    """Google's library, of a kind."""
    for name, text in FAKE_GOOGLE.items():
        site.write(name, text)


@pytest.fixture
def opened(load_host):
    """What a profile opens: ``opened("vertex", settings, VERTEX_REGION="…")``."""
    host = load_host()

    def ask(name, settings=None, base_url="", api_key="", **variables):
        profile = host.providers.get(name)
        asked = EndpointHost(
            home=Path("/nowhere"),
            settings=settings or {},
            allow_downloads=False,
            say=print,
            base_url=base_url or profile.base_url,
            api_key=api_key,
            variable=lambda word: variables.get(word, ""),
        )
        return profile.open_endpoint(asked)

    return ask


ROOT = "aiplatform.googleapis.com/v1beta1/projects"


@pytest.mark.parametrize(
    ("settings", "variables", "address"),
    [
        pytest.param({}, {}, f"https://{ROOT}/own-project/locations/global/endpoints/openapi", id="the credentials'"),
        pytest.param(
            {"project_id": "p-1", "region": "europe-west4"},
            {},
            f"https://europe-west4-{ROOT}/p-1/locations/europe-west4/endpoints/openapi",
            id="configured",
        ),
        pytest.param(
            {"project_id": "p-1", "region": "europe-west4"},
            {"VERTEX_PROJECT_ID": "p-2", "VERTEX_REGION": "us-east1"},
            f"https://us-east1-{ROOT}/p-2/locations/us-east1/endpoints/openapi",
            id="the environment beats the configuration",
        ),
    ],
)
def test_vertex_is_found_by_project_and_region(google, opened, settings, variables, address):
    """Vertex's address holds project and region, those of the environment first; the region is global else."""
    assert (address, "token-1-of-default") == opened("vertex", settings, **variables)


def test_vertex_takes_a_file_and_sends_no_path(google, opened):
    """A credentials file is read by Google's library, and its path is nowhere in what is sent."""
    variables = {"VERTEX_CREDENTIALS_PATH": "/a.json", "GOOGLE_APPLICATION_CREDENTIALS": "/b.json"}
    address, token = opened("vertex", {"project_id": "p"}, **variables)
    assert (token, "json" in address) == ("token-1-of-a.json", False)


@pytest.mark.parametrize(("path", "counts"), [("/long.json", (1, 1)), ("/short.json", (1, 2))])
def test_vertex_renews_a_token_that_ends_soon(google, opened, path, counts):
    """A token is kept as long as it lasts five minutes more, and renewed then."""
    asked = [opened("vertex", {"project_id": "p"}, VERTEX_CREDENTIALS_PATH=path)[1] for _ in range(2)]
    assert [f"token-{count}-of-{path[1:]}" for count in counts] == asked


def test_vertex_says_what_is_missing(google, opened):
    """Credentials that cannot be read, and a project that nobody names, are errors with a remedy."""
    with pytest.raises(MissingCredentialError, match="FileNotFoundError") as error:
        opened("vertex", VERTEX_CREDENTIALS_PATH="/missing.json")
    assert ("gcloud" in error.value.hint, "missing.json" in str(error.value)) == (True, False)
    with pytest.raises(HermesError, match="no project") as error:
        opened("vertex", VERTEX_CREDENTIALS_PATH="/a.json")
    assert "VERTEX_PROJECT_ID" in error.value.hint


def test_vertex_without_googles_library_says_so(run_python, home):
    """Without Google's library a call to Vertex fails with the command that installs it."""
    script = """
    import sys
    from hermes_core import Host, HermesError
    sys.modules["google"] = None
    with Host.load(sys.argv[1], {"model": {"provider": "vertex"}}) as host:
        try:
            host.llm("p").complete([{"role": "user", "content": "ping"}])
        except HermesError as error:
            print(type(error).__name__, error.hint)
    """
    done = run_python(script, home.path)
    assert done.stdout == "MissingCredentialError pip install google-auth requests\n", done.stderr


def test_vertex_is_called_with_the_token(google, load_host, server):
    """A call to Vertex carries the token, and what Gemini is to think in the place where this surface looks for it."""
    config = {
        "model": {"provider": "vertex", "base_url": server.base_url, "default": "google/gemini-3-flash"},
        "auxiliary": {"plugin": {"reasoning_effort": "high"}},
    }
    result = load_host(config=config).llm("p").complete(PING)
    (request,) = server.requests
    assert (result.provider, request.headers["authorization"]) == ("vertex", "Bearer token-1-of-default")
    assert request.body["extra_body"] == {
        "google": {"thinking_config": {"include_thoughts": True, "thinking_level": "high"}}
    }


@pytest.fixture
def qwen(tmp_path, monkeypatch):
    """Write the login that Qwen's own program keeps in the user's home."""
    monkeypatch.setenv("HOME", str(tmp_path / "user"))

    def write(**fields):
        path = tmp_path / "user" / ".qwen" / "oauth_creds.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"access_token": "t-qwen-1", "expiry_date": (time.time() + 900) * 1000, **fields}))

    return write


@pytest.mark.parametrize(
    ("resource", "address"),
    [
        pytest.param("portal.qwen.ai", "https://portal.qwen.ai/v1", id="the usual host"),
        pytest.param("https://dashscope.aliyuncs.com/x", "https://dashscope.aliyuncs.com/v1", id="another of Qwen's"),
        *(
            pytest.param(odd, "https://portal.qwen.ai/v1", id=f"{odd!r}")
            for odd in (None, 7, "", "evil.test", "portal.qwen.ai.evil.test", "qwen.ai@evil.test")
        ),
    ],
)
def test_a_qwen_login_goes_to_its_host_alone(qwen, opened, resource, address):
    """Qwen's token goes to the host that its login names, when that is one of Qwen's, else to the usual one."""
    qwen(resource_url=resource)
    assert (address, "t-qwen-1") == opened("qwen-oauth")


@pytest.mark.parametrize(
    ("fields", "words"),
    [({"expiry_date": 1000}, "has ended"), ({"access_token": None}, "has ended"), (None, "no login")],
    ids=["ended", "without a token", "no file"],
)
def test_a_qwen_login_that_is_no_good_says_so(qwen, load_host, server, fields, words):
    """A login that has ended, or is not there, is an error that says who renews it; nothing is sent."""
    if fields is not None:
        qwen(**fields)
    config = {"model": {"provider": "qwen-oauth", "base_url": server.base_url, "default": "qwen3-coder"}}
    with pytest.raises(MissingCredentialError, match=words) as error:
        load_host(config=config).llm("p").complete(PING)
    assert ("Qwen's own program" in error.value.hint, server.requests) == (True, [])


@pytest.mark.parametrize("key", ["", "k-of-the-user"])
def test_a_qwen_login_is_used_unless_there_is_a_key(qwen, home, load_host, server, key):
    """A call carries the token of Qwen's login, or QWEN_API_KEY where that is set."""
    qwen()
    home.write(".env", f"QWEN_API_KEY={key}\n")
    config = {"model": {"provider": "qwen-oauth", "base_url": server.base_url, "default": "qwen3-coder"}}
    load_host(config=config).llm("p").complete(PING)
    (request,) = server.requests
    assert request.headers["authorization"] == f"Bearer {key or 't-qwen-1'}"


class Studio(FakeProvider):
    """LM Studio, with a model that thinks, and one that does not say."""

    def next_response(self, request):
        """The list of its own API, or the usual answer."""
        reply = super().next_response(request)
        if request.path != "/api/v1/models":
            return reply
        options = {"allowed_options": ["off", "on", "high", "xhigh"], "default": "on"}
        rows = [{"key": "thinker", "capabilities": {"reasoning": options}}, {"key": "plain", "capabilities": {}}, 5]
        return reply._replace(body={"models": rows})


@pytest.mark.parametrize(
    ("model", "effort", "sent"),
    [
        ("thinker", "none", "none"),
        ("thinker", "high", "high"),
        ("thinker", "medium", "medium"),
        ("thinker", "max", "xhigh"),
        ("thinker", "ultra", "xhigh"),
        ("thinker", "low", None),
        ("thinker", None, None),
        ("plain", "high", None),
        ("other", "high", None),
    ],
)
@pytest.mark.parametrize("path", ["/v1", "/api/v1", "/api", "", "/v1/"])
def test_lm_studio_is_told_what_its_model_allows(load_host, model, effort, sent, path):
    """LM Studio gets an effort that its model lists and no other, at one address however it is written."""
    with Studio() as server:
        config = {
            "model": {"provider": "lmstudio", "base_url": server.base_url.removesuffix("/v1") + path, "default": model},
            "auxiliary": {"plugin": {"reasoning_effort": effort}},
        }
        load_host(config=config).llm("p").complete(PING)
        asked = server.requests[-1]
    assert (asked.path, asked.body.get("reasoning_effort")) == ("/v1/chat/completions", sent)
    assert "authorization" not in asked.headers


@pytest.mark.parametrize(("status", "asked"), [(404, 1), (0, 2)], ids=["an older one", "one that was not there"])
def test_an_lm_studio_that_does_not_say_is_asked_without_an_effort(load_host, server, status, asked):
    """Where the list of its own API is not to be had, calls go on; it is asked for again if nobody was there."""
    config = {
        "model": {"provider": "lmstudio", "base_url": server.base_url, "default": "m"},
        "auxiliary": {"plugin": {"reasoning_effort": "high"}},
    }
    llm = load_host(config=config).llm("p")
    for _ in range(asked):
        server.queue_response("", status=status)  # the list; the call gets the usual answer
        assert llm.complete(PING).text == "pong"
    llm.complete(PING)
    bodies = [request.body for request in server.requests if request.method == "POST"]
    assert ["reasoning_effort" in body for body in bodies] == [False] * (asked + 1)
    lists = [request for request in server.requests if request.method == "GET"]
    assert len(lists) == (1 if status else 3)


def test_lm_studio_is_asked_once_what_its_models_allow(load_host):
    """The list of LM Studio's own API is asked for once a process."""
    with Studio() as server:
        config = {"model": {"provider": "lmstudio", "base_url": server.base_url, "default": "plain"}}
        llm = load_host(config=config).llm("p")
        for _ in range(3):
            llm.complete(PING)
        assert [request.method for request in server.requests] == ["GET", "POST", "POST", "POST"]
