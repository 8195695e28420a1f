"""Every error this package raises on purpose.

::

    HermesError                      .hint: what to do next
    ├─ ConfigError                   .path, .line, .key
    ├─ PluginError                   .plugin, .source
    │  ├─ PluginLoadError            import or register failed
    │  ├─ PluginContractError        also TypeError and ValueError; unknown hook, bad argument, bad return
    │  ├─ CommandError               a slash command's handler raised
    │  │  └─ CommandTimeoutError     also TimeoutError; it awaited for too long
    │  ├─ PluginToolOverrideError    also PermissionError; the operator lets it replace no tool
    │  ├─ PluginLlmTrustError        also PermissionError; names the config key that would grant it
    │  └─ BudgetExceededError        also RuntimeError; the operator's limit for the plugin is used up
    ├─ UnscopedSecretError           also RuntimeError
    ├─ ProviderError                 .provider, .model, .retryable
    │  ├─ UnknownProviderError       no such name, and no base URL
    │  ├─ ProviderDisabledError      also ValueError; the operator switched it off
    │  ├─ UnknownAuthProfileError    also ValueError
    │  ├─ MissingModelError          also ValueError
    │  ├─ MissingCredentialError     also RuntimeError
    │  │  └─ ExhaustedCredentialsError  all of them wait; .retry_after in seconds
    │  ├─ OAuthError                 also RuntimeError; .code, .relogin_required, .retry_after
    │  ├─ VisionUnavailableError     also RuntimeError
    │  ├─ UnsupportedInputError      also ValueError; the wire format cannot carry it
    │  ├─ ProviderTransportError     no complete answer came
    │  │  └─ ProviderTimeoutError    also TimeoutError
    │  ├─ ProviderStatusError        also RuntimeError; .status_code, .body, .request_id
    │  │  ├─ InvalidRequestError     400, 404, 413, 422 and other 4xx
    │  │  ├─ AuthenticationError     401, 403
    │  │  ├─ RateLimitError          429; .retry_after in seconds, or None
    │  │  └─ ServerError             5xx and 408
    │  ├─ ProviderHookError          a profile's own hook raised
    │  └─ ResponseFormatError        also RuntimeError; 200, but no answer; .code
    ├─ StructuredOutputError         also ValueError; .result holds the whole answer
    ├─ MemoryProviderError
    ├─ MemoryFileError               a file of the built-in memory cannot be read or written; .path
    └─ MemoryWriteError              a change of the built-in memory was refused; .reason, .details

Decide on types and fields, never on message text. The command line prints ``error: …`` and
``hint: …`` and exits with 1.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hermes_core.llm.attempt import Attempt
    from hermes_core.types.llm import PluginLlmStructuredResult


class HermesError(Exception):
    """Base of all errors raised on purpose.

    Args:
        message: What is wrong, in lower case: the fact, the value in quotes, the place.
        hint: What to do next; shown on a line of its own by the command line.

    Example:
        >>> HermesError("no such plugin 'x'", hint="run `hermes plugins list`").hint
        'run `hermes plugins list`'
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class ConfigError(HermesError):
    """A file or key of the configuration cannot be used.

    ``path`` is the file, ``line`` the line in it from 1, ``key`` the dotted key inside it; each may be
    empty, or None.
    """

    def __init__(
        self, message: str, *, path: object = "", line: int | None = None, key: str = "", hint: str = ""
    ) -> None:
        super().__init__(message, hint=hint)
        self.path = str(path)
        self.line = line
        self.key = key


class PluginError(HermesError):
    """A plugin failed; ``plugin`` is its id, ``source`` its distribution and version, or its path."""

    def __init__(self, message: str, *, plugin: str = "", source: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.plugin = plugin
        self.source = source


class PluginLoadError(PluginError):
    """Importing a plugin, or calling its ``register``, failed. ``__cause__`` is the reason."""


class PluginContractError(PluginError, TypeError, ValueError):
    """A plugin used the host in a way that its interface does not allow: an unknown hook, a wrong argument.

    It is what Python raises for wrong arguments, so that plugins which catch that go on working.
    """


class CommandError(PluginError):
    """The handler of a slash command raised; ``__cause__`` is what it raised."""


class CommandTimeoutError(CommandError, TimeoutError):
    """The async handler of a slash command took longer than ``plugins.command_timeout``, and was cut off."""


class PluginToolOverrideError(PluginError, PermissionError):
    """A plugin asked to replace a tool, which its operator has not allowed it; the hint is the key that would."""


class PluginLlmTrustError(PluginError, PermissionError):
    """The trust gate refused an override.

    ``override`` is the refused argument, ``value`` what the plugin sent, ``config_key`` the dotted
    key in ``config.yaml`` that would grant it.
    """

    def __init__(self, message: str, *, plugin: str, override: str, value: object, config_key: str) -> None:
        super().__init__(message, plugin=plugin, hint=f"an operator may grant it: {config_key}")
        self.plugin_id = plugin
        self.override = override
        self.value = value
        self.config_key = config_key


class BudgetExceededError(PluginError, RuntimeError):
    """What the operator lets the plugin use is used up; nothing was sent."""


class UnscopedSecretError(HermesError, RuntimeError):
    """A secret was asked for outside any scope, in a process that serves several people."""


class ProviderError(HermesError):
    """A provider could not be chosen, reached or understood.

    ``retryable`` says whether the same request may succeed a little later; ``attempts`` are the requests
    that the call made, each with its ``provider``, ``model``, ``error`` and ``status``.
    """

    retryable = False

    def __init__(self, message: str, *, provider: str = "", model: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.provider = provider
        self.model = model
        self.attempts: Sequence[Attempt] = ()


class UnknownProviderError(ProviderError):
    """No provider of this name, and no base URL to fall back on."""


class ProviderDisabledError(ProviderError, ValueError):
    """The operator switched this provider off; the message names the key that did."""


class UnknownAuthProfileError(ProviderError, ValueError):
    """``profile=`` names no stored credential, or more than one."""


class MissingModelError(ProviderError, ValueError):
    """Neither the operator nor the plugin nor the profile names a model."""


class MissingCredentialError(ProviderError, RuntimeError):
    """No usable credential for the provider; the message names the variables that would hold one."""


class ExhaustedCredentialsError(MissingCredentialError):
    """Every credential of the provider waits until it may be used again; ``retry_after`` is in seconds."""

    retryable = True

    def __init__(self, message: str, *, retry_after: float, provider: str = "", hint: str = "") -> None:
        super().__init__(message, provider=provider, hint=hint)
        self.retry_after = retry_after


class OAuthError(ProviderError, RuntimeError):
    """A login or the refresh of one failed.

    ``code`` is the token endpoint's own word for it (RFC 6749, 5.2), or ``""``; ``relogin_required`` says that
    only a new login helps; ``retry_after`` is in seconds, or None.
    """

    def __init__(
        self,
        message: str,
        *,
        provider: str,
        code: str = "",
        relogin_required: bool = False,
        retryable: bool = False,
        retry_after: float | None = None,
        hint: str = "",
    ) -> None:
        super().__init__(message, provider=provider, hint=hint)
        self.code = code
        self.relogin_required = relogin_required
        self.retryable = retryable
        self.retry_after = retry_after


class VisionUnavailableError(ProviderError, RuntimeError):
    """The call holds an image, and no configured model takes one."""


class UnsupportedInputError(ProviderError, ValueError):
    """The call holds something that the provider's wire format cannot carry, such as an image nobody can fetch."""


class ProviderTransportError(ProviderError):
    """No complete answer came back."""

    retryable = True


class ProviderTimeoutError(ProviderTransportError, TimeoutError):
    """The call's one deadline passed."""


class ProviderStatusError(ProviderError, RuntimeError):
    """The provider answered with an error status.

    ``body`` is at most 500 characters of the answer, ``headers`` those that say when to come back.
    """

    def __init__(
        self,
        message: str,
        *,
        status_code: int,
        body: str = "",
        request_id: str = "",
        provider: str = "",
        model: str = "",
        hint: str = "",
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        super().__init__(message, provider=provider, model=model, hint=hint)
        self.headers = headers
        self.status_code = status_code
        self.body = body
        self.request_id = request_id
        self.retry_after: float | None = None


class InvalidRequestError(ProviderStatusError):
    """The provider refuses this request, and would refuse it again."""


class AuthenticationError(ProviderStatusError):
    """The provider refuses this credential."""


class RateLimitError(ProviderStatusError):
    """Too many requests; ``retry_after`` is in seconds, or None."""

    retryable = True


class ServerError(ProviderStatusError):
    """The provider is broken or overloaded."""

    retryable = True


class ProviderHookError(ProviderError):
    """A hook of the provider's own profile raised; ``__cause__`` is what it raised."""


class ResponseFormatError(ProviderError, RuntimeError):
    """The provider answered 200 with something that is no answer.

    ``code`` is what it calls its own error, if it sent one.
    """

    def __init__(self, message: str, *, code: str = "", provider: str = "", model: str = "", hint: str = "") -> None:
        super().__init__(message, provider=provider, model=model, hint=hint)
        self.code = code


class StructuredOutputError(HermesError, ValueError):
    """The answer is JSON, but does not match the schema.

    ``result`` is the whole result (text, usage, attribution, audit), its ``parsed`` the value that did
    not match; ``errors`` are the violations, one sentence each.
    """

    def __init__(self, message: str, *, result: PluginLlmStructuredResult, errors: Sequence[str]) -> None:
        super().__init__(message)
        self.result = result
        self.errors = tuple(errors)


class MemoryProviderError(HermesError):
    """A memory provider broke its contract."""


class MemoryFileError(HermesError):
    """A file of the built-in memory cannot be read or written; ``path`` is which. It was left as it is."""

    def __init__(self, message: str, *, path: object = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.path = str(path)


class MemoryWriteError(HermesError):
    """A change of the built-in memory was refused, and nothing was changed.

    ``reason`` is one of ``invalid``, ``no_match``, ``ambiguous``, ``full``, ``threat``, ``drift``, ``denied`` and
    ``off``; ``details`` are what the model is told beside the message.
    """

    def __init__(self, message: str, *, reason: str, hint: str = "", details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message, hint=hint)
        self.reason = reason
        self.details = dict(details or {})


def describe(error: BaseException) -> str:
    """An error in one line, even one whose own text cannot be made."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - the text of a foreign error may fail too
        text = "(its message cannot be shown)"
    if isinstance(error, HermesError):
        return text
    return f"{type(error).__name__}: {text}".rstrip(": ")


def near(word: str, known: Iterable[str]) -> str:
    """``"; did you mean 'x'?"`` when a known word is close, else ``""``."""
    from difflib import get_close_matches

    found = get_close_matches(word, [*known], n=1)
    return f"; did you mean {found[0]!r}?" if found else ""
