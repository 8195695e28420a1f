"""Which models can be chosen: asked at once, kept for an hour, and never without an answer."""

import json
import os
import stat
import threading
import time

import pytest

from hermes_core import ProviderProfile
from hermes_core.errors import ProviderDisabledError, UnknownProviderError
from hermes_core.llm.model_lists import ModelLists
from hermes_core.providers.model_cache import FRESH_SECONDS, KEPT_SECONDS, ModelCache
from hermes_core.testing import FakeProvider

KEY = "k-acme-0123456789"


@pytest.fixture
def server():
    """A provider on this machine."""
    with FakeProvider() as running:
        running.models = ["b", "a"]
        yield running


@pytest.fixture
def acme(load_host, server, monkeypatch):
    """A host with one provider that has a key, and a clock that a test moves."""
    monkeypatch.setenv("ACME_API_KEY", KEY)

    class Acme:
        now = 1_000_000.0

        def __init__(self):
            self.host = load_host(config={"model": {"provider": "acme"}})
            self.profile = ProviderProfile(
                "acme", base_url=server.base_url, env_vars=("ACME_API_KEY", "ACME_BASE_URL"),
                fallback_models=("best", "A"),
            )  # fmt: skip
            self.host.program_context().register_provider(self.profile)

        def models(self, name="acme", *, refresh=False):
            return ModelLists(self.host, lambda: self.now).get(name, refresh=refresh)

    return Acme()


def test_a_list_is_asked_with_the_providers_key(acme, server):
    """The list comes live, with the key that a call would be sent with; what is recommended comes first, each once."""
    found = acme.models()
    assert (found.provider, found.source, found.age, found.reason) == ("acme", "live", 0.0, "")
    assert found.models == ("best", "A", "b")
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_a_list_is_asked_once_an_hour(acme, server):
    """Within the hour, the list that was kept will do, in another host too; then it is asked for again."""
    acme.models()
    acme.now += FRESH_SECONDS - 1
    kept = acme.models()
    acme.now += 1
    again = acme.models()
    assert [(found.source, found.age) for found in (kept, again)] == [("cache", FRESH_SECONDS - 1), ("live", 0.0)]
    assert (kept.models, len(server.requests)) == (again.models, 2)


def test_ones_own_server_is_asked_each_time(acme, server):
    """A server on this machine serves what was loaded a moment ago, so its list is not kept for an hour."""
    acme.profile.is_local = True
    assert [acme.models().source for _ in range(2)] == ["live", "live"]


def test_refresh_asks_anew(acme, server):
    """``refresh`` passes the kept list over."""
    acme.models()
    assert (acme.models(refresh=True).source, len(server.requests)) == ("live", 2)


def test_a_clock_that_was_set_back_keeps_nothing_for_ever(acme):
    """A list from the future is not fresh."""
    acme.models()
    acme.now -= 5000
    assert acme.models().source == "live"


@pytest.mark.parametrize("body", ["", "{}", {"data": []}], ids=["an error", "no list", "an empty list"])
def test_a_list_that_cannot_be_had_is_the_last_one(acme, server, body):
    """When asking fails, the list of earlier stands, and says how old it is and why."""
    acme.models()
    acme.now += 7200
    server.queue_response(body, status=200 if body else 500)
    found = acme.models()
    assert (found.source, found.age, found.models) == ("stale", 7200, ("best", "A", "b"))
    assert found.reason


def test_without_any_list_the_profiles_own_stands(acme, server):
    """When there never was one, the recommended models are the list."""
    server.queue_response("", status=503)
    found = acme.models()
    assert (found.source, found.models, found.age) == ("fallback", ("best", "A"), None)
    assert found.reason == "answered with HTTP 503"


def test_nothing_at_all_is_an_empty_list_with_a_reason(acme, server):
    """A provider that recommends nothing and gives nothing has none."""
    acme.profile.fallback_models = ()
    server.queue_response("", status=401)
    found = acme.models()
    assert (found.source, found.models, found.reason) == ("none", (), "answered with HTTP 401")


def test_without_a_key_nobody_is_asked(acme, server, monkeypatch):
    """A provider that needs a key is not asked without one; the reason names the variable, and no address variable."""
    monkeypatch.delenv("ACME_API_KEY")
    found = acme.models()
    assert (found.source, server.requests) == ("fallback", [])
    assert "ACME_API_KEY" in found.reason


def test_a_public_list_is_asked_without_a_key(acme, server, monkeypatch):
    """A list with an address of its own may be public, so it is asked for; when it is not, the missing key is why."""
    monkeypatch.delenv("ACME_API_KEY")
    acme.profile.models_url = f"{server.base_url}/public"
    server.queue_response("", status=401)
    assert "ACME_API_KEY" in acme.models().reason
    assert acme.models().source == "live"


def test_the_operators_address_headers_and_wire_are_used(load_host, server):
    """An entry's address, headers and wire format count for its list as for its calls."""
    entry = {
        "base_url": server.base_url, "api_key": KEY, "extra_headers": {"X-Team": "t"}, "api_mode": "anthropic_messages",
        "models": ["mine"],
    }  # fmt: skip
    (found,) = load_host(config={"providers": {"own": entry}}).models("own")
    (request,) = server.requests
    assert (found.provider, found.models, request.path) == ("custom:own", ("mine", "b", "a"), "/v1/models")
    assert [request.headers.get(name) for name in ("x-api-key", "x-team", "authorization")] == [KEY, "t", None]


def test_a_class_of_a_packages_own_is_asked_alike(load_host, server):
    """A profile whose class is a package's own is asked with what the operator configured for it, too."""

    class Foreign:
        name, base_url, auth_type = "acme", "https://api.acme.test/v1", "api_key"

        def build_api_kwargs_extras(self, **context):
            return {}, {}

    section = {"provider": "acme", "base_url": server.base_url, "api_key": KEY, "extra_headers": {"X-Team": "t"}}
    host = load_host(config={"model": section})
    host.program_context().register_provider(Foreign())
    assert host.models("acme")[0].models == ("b", "a")
    assert [server.requests[0].headers.get(name) for name in ("x-team", "authorization")] == ["t", f"Bearer {KEY}"]


def test_another_server_is_asked_for_its_own_list(load_host, server, monkeypatch):
    """With an address of the operator's, the profile's public list is another server's: it gets no key."""
    monkeypatch.setenv("ACME_API_KEY", KEY)
    monkeypatch.setenv("ACME_BASE_URL", server.base_url)
    host = load_host()
    with FakeProvider() as other:
        host.program_context().register_provider(
            ProviderProfile(
                "acme", base_url="https://acme.test/v1", models_url=f"{other.base_url}/public",
                env_vars=("ACME_API_KEY", "ACME_BASE_URL"),
            )
        )  # fmt: skip
        assert host.models("acme")[0].models == ("b", "a")
        assert ([request.path for request in server.requests], other.requests) == (["/v1/models"], [])


def test_an_unknown_provider_at_a_known_address_is_asked_too(load_host, server):
    """A name nobody offers, with an address, is asked there; what has no list is an empty one."""
    host = load_host(config={"model": {"provider": "mystery", "base_url": server.base_url}})
    assert host.models("mystery")[0].models == ("b", "a")
    server.queue_response("", status=404)
    server.queue_response("", status=404)
    broken = host.models("mystery", refresh=True)[0]
    assert (broken.source, broken.models) == ("stale", ("b", "a"))


def test_who_cannot_be_asked_is_an_error(load_host):
    """A name that leads nowhere, and one that is switched off, are errors as for a call."""
    host = load_host(config={"providers": {"openai": {"enabled": False}}})
    with pytest.raises(UnknownProviderError):
        host.models("mystery")
    with pytest.raises(ProviderDisabledError):
        host.models("openai")


class ByKey(ProviderProfile):
    def get_base_url(self, base_url, *, api_key="", **context):
        return f"{base_url}/{api_key[:6]}"


def test_a_key_leads_to_its_own_list(acme, server):
    """Where a provider's address depends on the key, its list is asked there."""
    acme.host.program_context().register_provider(
        ByKey("acme", base_url=server.base_url, env_vars=("ACME_API_KEY",), fallback_models=("best",))
    )
    acme.models()
    assert [request.path for request in server.requests] == [f"/v1/{KEY[:6]}/models"]


class Raising(ProviderProfile):
    def fetch_models(self, **_):
        raise SystemExit(f"no list with {os.environ['ACME_API_KEY']}")


class Odd(ProviderProfile):
    def fetch_models(self, **_):
        return ["x", None, 7, {"id": "y"}, "x", "\x1b[0m"]


class Wrong(ProviderProfile):
    def fetch_models(self, **_):
        return {"data": []}


@pytest.mark.parametrize(
    ("kind", "source", "models", "reason"),
    [(Raising, "fallback", ("best",), "fetch_models raised"), (Odd, "live", ("best", "x", "y"), ""),
     (Wrong, "fallback", ("best",), "fetch_models returned dict")],
)  # fmt: skip
def test_a_profiles_own_code_may_do_anything_r26_13(acme, kind, source, models, reason):
    """What a hook raises or returns costs no more than its list, and its reason names the hook."""
    acme.host.program_context().register_provider(
        kind("acme", base_url="http://127.0.0.1:1", env_vars=("ACME_API_KEY",), fallback_models=("best",))
    )
    found = acme.models()
    assert (found.source, found.models) == (source, models)
    assert reason in found.reason
    assert KEY not in found.reason


def test_only_who_would_answer_is_asked(acme, server, monkeypatch):
    """Without a name, those are asked that have a key, need none, or listen here; of two there, the first."""
    context = acme.host.program_context()
    for name, fields in {
        "keyless": {"base_url": "https://keyless.test/v1", "env_vars": ("KEYLESS_API_KEY",)},
        "up": {"base_url": server.base_url.replace("127.0.0.1", "localhost"), "is_local": True},
        "up-too": {"base_url": server.base_url, "is_local": True},
        "down": {"base_url": "http://127.0.0.1:1/v1", "is_local": True},
        "never": {"base_url": "https://never.test/v1", "auth_type": "none", "unavailable": "it is no more"},
        "open": {"auth_type": "none", "fallback_models": ("o",)},
    }.items():
        context.register_provider(ProviderProfile(name, **fields))
    found = {answer.provider: answer.source for answer in acme.host.models()}
    assert found == {"acme": "live", "open": "fallback", "up": "live", "embedded": "fallback"}


@pytest.mark.parametrize(
    ("model", "provider"),
    [
        ({"provider": "custom"}, "custom"),
        ({}, "custom"),
        ({"provider": "mystery"}, "mystery"),
        ({"provider": "mystery", "base_url": ""}, "mystery"),
    ],
    ids=["an endpoint", "an address alone", "an unknown name at an address", "an unknown name without one"],
)
def test_what_is_configured_is_always_among_them(load_host, server, model, provider):
    """The configured provider is a row, also when it is an address alone, or cannot be found at all."""
    found = {
        answer.provider: answer
        for answer in load_host(config={"model": {"base_url": server.base_url, **model}}).models()
    }
    assert found[provider].source == ("live" if model.get("base_url", True) else "none")
    assert "unknown provider" in found[provider].reason or found[provider].models == ("b", "a")


def test_an_entry_named_like_an_alias_lists_its_own_models_r06_07(load_host, server):
    """The list comes from where a call would go: an entry of the operator's beats a bundled provider's alias."""
    host = load_host(config={"providers": {"kimi": {"base_url": server.base_url}}})
    for word in ("kimi", "custom:kimi", "Kimi"):
        (found,) = host.models(word, refresh=True)
        assert (found.provider, found.models, found.base_url) == ("custom:kimi", ("b", "a"), server.base_url)


def test_all_are_asked_at_once(load_host, server):
    """Twenty slow providers take as long as one."""
    entries = {f"p-{number}": {"base_url": f"{server.base_url}/{number}"} for number in range(20)}
    for _ in entries:
        server.queue_response({"data": [{"id": "m"}]}, delay=0.5)
    begun = time.monotonic()
    found = load_host(config={"providers": entries}).models()
    assert [answer.models for answer in found if answer.provider.startswith("custom:")] == [("m",)] * 20
    assert time.monotonic() - begun < 5


class Hanging(ProviderProfile):
    released = threading.Event()

    def fetch_models(self, **_):
        self.released.wait(30)
        return ["late"]


def test_one_that_hangs_costs_the_others_nothing(acme):
    """A provider whose code hangs is a row like any other, after a while; the others come at once."""
    acme.host.program_context().register_provider(Hanging("slow", auth_type="none"))
    told = []
    begun = time.monotonic()
    lists = ModelLists(acme.host, seconds=0.2)
    found = lists.collect(["slow", "acme", "nobody"], told=told.append)
    Hanging.released.set()
    assert [(answer.provider, answer.source) for answer in found] == [
        ("slow", "none"),
        ("acme", "live"),
        ("nobody", "none"),
    ]
    assert "no answer" in found[0].reason
    assert "unknown provider" in found[2].reason
    assert {answer.provider for answer in told} == {"acme", "nobody"}
    assert time.monotonic() - begun < 5


def test_no_secret_is_kept(acme, server, home):
    """Neither the key, nor a login or parameter of the address, nor a header is in a file or its name."""
    secrets = [KEY, "pass-word-1", "q-secret-1", "h-secret-1"]
    cache = ModelCache(home.path)
    cache.write("acme", "https://ann:pass-word-1@acme.test/v1?key=q-secret-1", [KEY, "h-secret-1"], ["m"])
    acme.models()
    written = [path for path in (home.path / "cache").rglob("*") if path.is_file()]
    assert len([path for path in written if path.parent.name == "models"]) == 2
    for path in written:
        assert not [secret for secret in secrets if secret in f"{path}{path.read_text()}"]


def test_a_file_confirms_no_guess_at_a_key(home):
    """Of a key, sixteen bits are kept, the same for every endpoint: many keys share them."""
    cache = ModelCache(home.path)
    for number in range(3):
        cache.write("acme", f"https://acme.test/{number}", [KEY], ["m"])
    tags = {path.stem.partition("-")[2] for path in cache.folder.iterdir()}
    assert len(tags) == 1
    assert len(tags.pop()) == 4


def test_lists_of_different_keys_and_places_are_apart(home):
    """A list is for one provider, address and set of secrets; a trailing slash makes no other."""
    cache = ModelCache(home.path)
    places = [
        (name, address, [key])
        for name in ("a", "b")
        for address in ("https://x.test/v1", "https://y.test/v1", "https://x.test/v1?a=1")
        for key in ("k-1", "k-2")
    ]
    for number, place in enumerate(places):
        cache.write(*place, [f"m-{number}"])
    assert [cache.read(*place).models for place in places] == [(f"m-{number}",) for number in range(len(places))]
    assert cache.read("a", "https://x.test/v1/", ["k-1"]).models == ("m-0",)


def test_files_are_the_owners_alone(acme, home):
    """What is kept is readable by its owner alone."""
    acme.models()
    (path,) = (home.path / "cache" / "models").iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\xff", b"[]", b'{"at": 1}', b'{"models": [], "at": 1}', b'{"models": 5, "at": 1}',
     b'{"models": ["m"], "at": "x"}', b'{"models": ["m"], "at": null}', b"[" * 100_000],
)  # fmt: skip
def test_a_broken_file_is_no_list(acme, home, content):
    """A file that is no list is written anew."""
    acme.models()
    (path,) = (home.path / "cache" / "models").iterdir()
    path.write_bytes(content)
    assert acme.models().source == "live"
    assert json.loads(path.read_text())["models"] == ["b", "a"]


def test_old_lists_go(home):
    """Lists that nobody has renewed for a month are deleted, so the folder does not grow for ever."""
    cache = ModelCache(home.path)
    cache.write("a", "https://x.test", ["k"], ["m"])
    (old,) = cache.folder.iterdir()
    os.utime(old, (1, time.time() - KEPT_SECONDS - 1))
    cache.write("b", "https://x.test", ["k"], ["m"])
    assert [path for path in cache.folder.iterdir() if path == old] == []
    assert cache.read("b", "https://x.test", ["k"]).models == ("m",)


def test_a_home_that_cannot_be_written_keeps_nothing(as_nobody):
    """Where nothing can be written, lists are asked for each time, and nothing breaks."""
    done = as_nobody(
        """
        import sys
        from pathlib import Path
        from hermes_core.providers.model_cache import ModelCache
        cache = ModelCache(Path("/proc/nowhere"))
        cache.write("a", "https://x.test", ["k"], ["m"])
        print(cache.read("a", "https://x.test", ["k"]))
        """
    )
    assert (done.stdout, done.stderr) == ("None\n", "")


def test_processes_may_write_at_once(home, run_python):
    """Several processes that write one list leave a whole one."""
    script = """
    import sys
    from pathlib import Path
    from hermes_core.providers.model_cache import ModelCache
    cache = ModelCache(Path(sys.argv[1]))
    for number in range(50):
        cache.write("a", "https://x.test", ["k"], [f"m-{number}"] * 1000 + [sys.argv[2]])
        assert cache.read("a", "https://x.test", ["k"]) is not None
    """
    results = []
    threads = [
        threading.Thread(target=lambda name=name: results.append(run_python(script, home.path, name))) for name in "xyz"
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [result.stderr for result in results] == ["", "", ""]
    assert [path.suffix for path in (home.path / "cache" / "models").iterdir()] == [".json"]
