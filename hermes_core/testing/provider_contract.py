"""What every provider profile has to keep, as a suite that its author runs."""

from __future__ import annotations

import copy
import json
import pickle
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from hermes_core.config.redact import redact
from hermes_core.llm.effort import EFFORTS
from hermes_core.providers.profile import OMIT_TEMPERATURE, ProviderProfile
from hermes_core.testing.fake_provider import FakeProvider
from hermes_core.types.address import host_of, is_loopback

if TYPE_CHECKING:
    from hermes_core.testing.fake_provider import ReceivedRequest
    from hermes_core.types.llm import PluginLlmCompleteResult

KEY = "k-of-the-contract-suite"
ANSWER = '{"answer": "pong"}'
SCHEMA = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
PNG = "data:image/png;base64,iVBORw0KGgo="
TEXT: list[dict[str, Any]] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "ping"}]
IMAGE: list[dict[str, Any]] = [
    {
        "role": "user",
        "content": [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": PNG}}],
    }
]
TOOLS: list[dict[str, Any]] = [
    *TEXT,
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "call_1", "content": "a tree"},
    {"role": "user", "content": "So?"},
]
CONFIGS: tuple[Mapping[str, Any] | None, ...] = (
    None,
    {"enabled": False, "effort": "none"},
    {"enabled": True, "effort": ""},
    *({"enabled": True, "effort": effort} for effort in EFFORTS),
)
"""What the operator may want of reasoning."""

_WORD = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*")
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_KEY_HEADERS = ("authorization", "proxy-authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie")
_OWN_PATHS = ("/chat/completions", "/messages", "/responses", "/models")


class ProviderContract:
    """Tests of one profile. Subclass it in a test file, and say which profile it is about.

    Nothing but the fake provider on this machine is asked, unless a hook of the profile asks somebody itself.
    pytest finds the methods by their names; ``class TestAcme(ProviderContract, unittest.TestCase)`` works too.

    Attributes:
        profile: The profile. A property, or a fixture that sets it, will do.
        models: Models to ask for; those that the profile names when it is empty.

    Example:
        >>> from hermes_core import ProviderProfile
        >>> class TestAcme(ProviderContract):
        ...     profile = ProviderProfile("acme", base_url="https://api.acme.test/v1", fallback_models=("acme-1",))
        >>> TestAcme().test_base_url_is_a_safe_address()
    """

    profile: ProviderProfile
    models: tuple[str, ...] = ()

    def test_names_are_well_formed(self) -> None:
        """Name and aliases are lower-case words, each said once."""
        words = [self.profile.name, *self.profile.aliases]
        for word in words:
            _hold(isinstance(word, str) and _WORD.fullmatch(word), f"{word!r} must be a word such as 'my-provider.2'")
        _hold(len({*words}) == len(words), f"a name is said twice: {words}")

    def test_base_url_is_a_safe_address(self) -> None:
        """``base_url`` is https, or on this machine, and ends where the path of a request begins."""
        for field in ("base_url", "models_url"):
            url = getattr(self.profile, field)
            if not url or (field == "base_url" and self.profile.unavailable):
                continue
            parts = urlsplit(url)
            _hold(_is_safe(url), f"{field} must be https, or on this machine: {url!r}")
            _hold("@" not in parts.netloc and not parts.fragment, f"{field} holds a user or a fragment")
            _hold(url == url.strip() and not url.endswith("/"), f"{field} must not end in a slash or blank: {url!r}")
        ending = urlsplit(self.profile.base_url).path
        _hold(not ending.endswith(_OWN_PATHS), f"base_url must end before the path of a request: {ending!r}")

    def test_hostname_agrees_with_base_url(self) -> None:
        """``get_hostname()`` is a bare host: that of ``base_url``, unless it is overridden."""
        host = self.profile.get_hostname()
        _hold(isinstance(host, str), "get_hostname() must return text")
        _hold(not re.search(r"[/:@\s]", host) and host == host.lower(), f"get_hostname() must be a host, got {host!r}")
        if self.profile.base_url and type(self.profile).get_hostname is ProviderProfile.get_hostname:
            found = urlsplit(self.profile.base_url).hostname
            _hold(host == found, f"hostname {host!r} is not that of base_url, {found!r}")

    def test_env_vars_are_names_of_variables(self) -> None:
        """Each of ``env_vars`` is the name of a variable, said once."""
        names = self.profile.env_vars
        for number, name in enumerate(names):  # a key that was pasted there is not shown
            _hold(isinstance(name, str) and _VARIABLE.fullmatch(name), f"env_vars[{number}] is no name of a variable")
        _hold(len({*names}) == len(names), f"a variable is named twice: {names}")

    def test_models_are_names(self) -> None:
        """``fallback_models`` are ids, each once; limits are whole numbers above zero."""
        models = [*self.profile.fallback_models]
        _hold(all(isinstance(model, str) and model.strip() == model != "" for model in models), f"no model: {models}")
        _hold(len({*models}) == len(models), f"a model is named twice: {models}")
        for model in ("", *self._models()):
            limit = self.profile.get_max_tokens(model)
            _hold(limit is None or (type(limit) is int and limit > 0), f"get_max_tokens({model!r}) gave {limit!r}")

    def test_headers_can_be_sent_and_hold_no_secret(self) -> None:
        """``default_headers`` are text that HTTP can carry, and none of them is a credential."""
        for name, value in self.profile.default_headers.items():
            _hold(isinstance(name, str) and _HEADER.fullmatch(name), f"{name!r} is no name of a header")
            _hold(isinstance(value, str), f"the header {name} must be text")
            _hold(name.lower() not in _KEY_HEADERS, f"the header {name} is a credential's: name its variable instead")
            _hold(value.isprintable() and _is_latin(value), f"the header {name} holds what HTTP cannot carry")
            _hold(redact(value) == value, f"the header {name} looks like it held a secret")

    def test_temperature_has_three_states(self) -> None:
        """``fixed_temperature`` is None, ``OMIT_TEMPERATURE`` or a number, and what is sent agrees."""
        fixed = self.profile.fixed_temperature
        is_number = isinstance(fixed, int | float) and not isinstance(fixed, bool) and 0 <= fixed <= 2
        _hold(fixed is None or fixed is OMIT_TEMPERATURE or is_number, f"fixed_temperature is {fixed!r}")
        allowed = {0.7, None} if fixed is None else {None} if fixed is OMIT_TEMPERATURE else {fixed, None}
        for body in (request.body for request in self._asked(temperature=0.7)):
            sent = _find(body, "temperature")
            _hold(sent in allowed, f"a temperature of {sent!r} is sent, though fixed_temperature is {fixed!r}")

    def test_vision_flags_agree(self) -> None:
        """A provider whose models take images takes them from users; a tool's images go where they are refused."""
        flags = [name for name in vars(self.profile) if name.startswith("supports_")]
        _hold(all(isinstance(getattr(self.profile, name), bool) for name in flags), f"{flags} must be true or false")
        takes, from_users = self.profile.supports_vision, self.profile.supports_vision_user_messages
        _hold(from_users or not takes, "supports_vision is true, and supports_vision_user_messages is false")
        model = self.profile.default_vision_model()
        _hold(model is None or (isinstance(model, str) and model), f"default_vision_model() gave {model!r}")

    def test_hooks_tolerate_what_they_do_not_know(self) -> None:
        """Hooks take unknown keywords, None for any known one, and every reasoning config."""
        for context in self._contexts():
            body, extras = _hooks(self.profile, context)
            _hold(isinstance(body, Mapping | None), f"build_extra_body gave {type(body).__name__}")
            _hold(isinstance(extras, tuple) and len(extras) <= 2, f"build_api_kwargs_extras gave {extras!r}")
            _hold(all(isinstance(part, Mapping | None) for part in extras), f"it gave {extras!r}: two mappings")
        for messages in ([], copy.deepcopy(TEXT), copy.deepcopy(TOOLS)):
            prepared = self.profile.prepare_messages(messages)
            _hold(isinstance(prepared, list | None), f"prepare_messages gave {type(prepared).__name__}")

    def test_hooks_of_address_and_effort_give_what_they_may(self) -> None:
        """Wire format and address are text, an effort is a mapping or None, and a list's odd items do no harm."""
        url, picked = self.profile.base_url, self.profile.pick_models([{"id": "a"}, {"id": None}, 5, None])
        _hold(
            isinstance(picked, list) and all(isinstance(item, str) for item in picked), f"pick_models gave {picked!r}"
        )
        for model in self._models():
            mode = self.profile.get_api_mode(model, url)
            _hold(isinstance(mode, str), f"get_api_mode gave {mode!r}")
            if url and not self.profile.unavailable:
                found = self.profile.get_base_url(url, model=model, api_mode=mode, api_key=KEY, from_a_newer_host=1)
                _hold(isinstance(found, str) and _is_safe(found), f"get_base_url gave {found!r}")
            for config in filter(None, CONFIGS):
                given = dict(config)
                effort = self.profile.get_reasoning(model, given)
                _hold(isinstance(effort, Mapping | None), f"get_reasoning gave {effort!r}")
                _hold(given == config, "get_reasoning changed what it was given: return a new mapping")

    def test_hooks_leave_alone_what_they_are_given(self) -> None:
        """No hook changes its arguments, and what one returned may be changed without any effect on the next call."""
        for context in self._contexts():
            before = copy.deepcopy(context)
            first = _hooks(self.profile, context)
            _hold(context == before, f"a hook changed its arguments: {before} became {context}")
            kept = copy.deepcopy(first)
            _spoil(first)
            _hold(_hooks(self.profile, before) == kept, "what a hook returned is still its own: return a copy")
        for messages in (TEXT, IMAGE, TOOLS):
            given = copy.deepcopy(messages)
            self.profile.prepare_messages(given)
            _hold(given == messages, "prepare_messages changed the messages it was given: return new ones")

    def test_bodies_are_json(self) -> None:
        """Whatever is wanted of reasoning, a request can be written as JSON."""
        for context in self._contexts():
            body, extras = _hooks(self.profile, context)
            json.dumps([body, extras], allow_nan=False)

    def test_profile_can_be_copied(self) -> None:
        """A copy, shallow, deep or pickled, says what the profile says."""
        told = _told(self.profile)
        for copied in (copy.copy(self.profile), copy.deepcopy(self.profile)):
            _hold(_told(copied) == told, "a copy says something else")
        if _is_importable(type(self.profile)):
            pickled = pickle.loads(pickle.dumps(self.profile))  # noqa: S301 - what was written the line before
            _hold(_told(pickled) == told, "a pickled copy says something else")

    def test_fetch_models_gives_ids_or_none(self) -> None:
        """``fetch_models`` gives text or None, and never raises, whatever the server says."""
        with FakeProvider() as server:
            asked = self._at(server)
            for body, status in (({"data": [{"id": "a"}, {"id": None}, 5]}, 200), ([{"id": "b"}], 200),
                                 ("<html>", 200), ({"data": 7}, 200), ("", 500), ({"error": "no"}, 401)):  # fmt: skip
                server.queue_response(body, status=status)
                found = asked.fetch_models(api_key=KEY, base_url=server.base_url, timeout=5.0)
                fits = found is None or (isinstance(found, list) and all(isinstance(item, str) for item in found))
                _hold(fits, f"fetch_models gave {found!r} for {body!r}")
        gone = asked.fetch_models(api_key=None, base_url=server.base_url, timeout=1.0)
        _hold(gone is None or isinstance(gone, list), f"fetch_models gave {gone!r} where nobody answers")

    def test_a_call_goes_there_and_back(self) -> None:
        """A call through a host is answered, is this provider's, and the key is in no body."""
        if self.profile.unavailable:
            return
        with FakeProvider() as server:
            server.answer(ANSWER)
            for wanted in (None, SCHEMA):
                result = self._call(server, wanted=wanted)
                _hold(result.provider == self.profile.name, f"the answer is said to be {result.provider!r}'s")
                _hold(result.text == ANSWER, f"the answer is {result.text!r}")
        _hold(bool(server.requests), "nothing was asked")
        for request in server.requests:
            path = request.path.partition("?")[0]
            _hold("//" not in path, f"the path of the request is {path!r}")
            _hold(KEY not in json.dumps(request.body) + request.path, "the key is outside the headers")

    def _models(self) -> tuple[str, ...]:
        named = (*self.profile.fallback_models, self.profile.default_aux_model)
        return self.models or tuple(dict.fromkeys(filter(None, named))) or ("some-model",)

    def _contexts(self) -> Iterator[dict[str, Any]]:
        """What hooks may be called with."""
        yield {}
        names = ("model", "base_url", "api_mode", "session_id", "response_format", "max_tokens", "messages")
        yield {**dict.fromkeys(names[1:]), "model": "", "reasoning_config": None, "supports_reasoning": False}
        for config in CONFIGS:
            for model in self._models():
                yield {
                    "model": model,
                    "base_url": self.profile.base_url,
                    "api_mode": self.profile.api_mode,
                    "session_id": "s-1",
                    "reasoning_config": copy.deepcopy(config),
                    "supports_reasoning": config is not None,
                    "messages": copy.deepcopy(TOOLS),
                    "response_format": None,
                    "max_tokens": 64,
                    "from_a_newer_host": object,
                }

    def _asked(self, **arguments: Any) -> list[ReceivedRequest]:
        """The requests of one call."""
        if self.profile.unavailable:
            return []
        with FakeProvider() as server:
            self._call(server, **arguments)
            return server.requests

    def _call(
        self, server: FakeProvider, *, wanted: Mapping[str, Any] | None = None, **arguments: Any
    ) -> PluginLlmCompleteResult:
        """Call the profile through a host of its own, at the server's address."""
        from hermes_core.host import Host

        profile = self._at(server)
        section = {"provider": profile.name, "base_url": server.base_url, "default": self._models()[0], "api_key": KEY}
        config = {"model": section, "auxiliary": {"transient_retries": 0}}
        with tempfile.TemporaryDirectory() as folder, Host.load(Path(folder), config) as host:
            host.program_context().register_provider(profile)
            llm = host.llm("contract")
            if wanted is None:
                return llm.complete(copy.deepcopy(TEXT), **arguments)
            blocks = [{"type": "text", "text": "ping"}]
            return llm.complete_structured(instructions="Answer.", input=blocks, json_schema=wanted, **arguments)

    def _at(self, server: FakeProvider) -> ProviderProfile:
        """The profile as it is at the server's address; an endpoint of its own is not opened."""
        kind = type(self.profile)
        profile = copy.copy(self.profile)
        if kind.open_endpoint is not ProviderProfile.open_endpoint:
            profile.__class__ = type(kind.__name__, (kind,), {"open_endpoint": ProviderProfile.open_endpoint})
        if profile.models_url:
            profile.models_url = f"{server.base_url}/models"
        return profile


def _hold(holds: object, otherwise: str) -> None:
    """Fail with a message of its own; pytest explains no assertion outside test files."""
    if not holds:
        raise AssertionError(otherwise)


def _is_safe(url: str) -> bool:
    """Whether a key may go to an address."""
    parts = urlsplit(url)
    return bool(parts.hostname) and (parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host_of(url))))


def _hooks(profile: ProviderProfile, context: Mapping[str, Any]) -> tuple[Any, Any]:
    return profile.build_extra_body(**context), profile.build_api_kwargs_extras(**context)


def _told(profile: ProviderProfile) -> dict[str, Any]:
    return {name: value for name, value in vars(profile).items() if name[0] != "_"}


def _spoil(value: Any) -> None:
    """Change everything inside a value that can be changed."""
    if isinstance(value, dict):
        for item in value.values():
            _spoil(item)
        value["spoiled"] = True
    elif isinstance(value, list | tuple):
        for item in value:
            _spoil(item)
        if isinstance(value, list):
            value.append("spoiled")


def _find(body: Any, name: str) -> Any:
    """The first field of a name, at any depth of the request's own settings."""
    if not isinstance(body, Mapping):
        return None
    deeper = (body.get(part) for part in ("generationConfig", "inferenceConfig"))
    return body[name] if name in body else next((part[name] for part in deeper if part and name in part), None)


def _is_latin(value: str) -> bool:
    try:
        value.encode("latin-1")
    except UnicodeEncodeError:
        return False
    return True


def _is_importable(kind: type) -> bool:
    """Whether pickle can find a class again: it is no local one."""
    import sys

    return getattr(sys.modules.get(kind.__module__), kind.__qualname__, None) is kind
