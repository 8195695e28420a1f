"""A wire format: how a request body is written, and an answer's body read."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hermes_core.types.call import Completion


def merged_headers(*layers: Mapping[str, str]) -> dict[str, str]:
    """Headers of all layers; of one name in several cases, the last one counts.

    Example:
        >>> merged_headers({"Accept": "a/b"}, {"accept": "c/d"})
        {'accept': 'c/d'}
    """
    merged: dict[str, tuple[str, str]] = {}
    for layer in layers:
        merged.update({name.lower(): (name, value) for name, value in layer.items()})
    return dict(merged.values())


def _without_query(url: str) -> str:
    """A URL as it may be shown: its query may hold a key."""
    return url.partition("?")[0]


class HttpRequest(NamedTuple):
    """A POST to a provider.

    ``headers`` may hold a credential, so they are left out of the repr.
    """

    url: str
    headers: Mapping[str, str]
    body: bytes

    def __repr__(self) -> str:
        return f"HttpRequest(url={_without_query(self.url)!r})"


class HttpResponse(NamedTuple):
    """What came back: the status, lower-case headers, and the whole body."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def __repr__(self) -> str:
        return f"HttpResponse(status={self.status})"


class WireRequest(NamedTuple):
    """What a wire format encodes; provider quirks are already applied.

    Attributes:
        base_url: Root of the API, without a trailing slash.
        model: The model id to ask.
        messages: In OpenAI shape.
        api_key: The credential, or ``""`` for none.
        headers: More headers to send.
        response_format: As OpenAI's field of that name, or None.
        temperature: None sends none.
        max_tokens: None sends none.
        max_tokens_field: Name of the output limit, for wires that have more than one.
        reasoning: How much to think, ``{"enabled": bool, "effort": str}``, or None for the model's own way.
        extra: Top-level fields merged over the encoded body.
    """

    base_url: str
    model: str
    messages: list[dict[str, Any]]
    api_key: str = ""
    headers: Mapping[str, str] = MappingProxyType({})
    response_format: Mapping[str, Any] | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    max_tokens_field: str = "max_tokens"
    reasoning: Mapping[str, Any] | None = None
    extra: Mapping[str, Any] = MappingProxyType({})

    def __repr__(self) -> str:
        return f"WireRequest(base_url={_without_query(self.base_url)!r}, model={self.model!r})"


@dataclass(frozen=True, kw_only=True)
class ApiMode:
    """A wire format, as a pair of pure functions.

    The other fields are what a few formats need of the host besides; most leave them alone.

    Attributes:
        name: What a profile's ``api_mode`` names.
        encode: Writes a request; raises ``UnsupportedInputError`` for what the format cannot carry.
        decode: Reads the JSON body of a successful answer, or the list of its events when it came as an
            event stream; raises ``ResponseFormatError`` when it is none.
        inlines_images: Whether images must be in the request: the host then fetches those given by a
            URL, and ``encode`` gets ``data:`` URLs alone.
        sign: Completes an encoded request with what only the whole of it decides, such as a signature.
            Given the request and the variables it asked for; may block.
        sign_variables: Names of the variables that ``sign`` is given, as the home's ``.env`` or else the
            process has them; those that are not set, and keys of other providers, are left out.

    Example:
        >>> from hermes_core.types.call import Completion
        >>> echo = ApiMode(
        ...     name="echo",
        ...     encode=lambda request: HttpRequest(url=request.base_url, headers={}, body=b"{}"),
        ...     decode=lambda body: Completion(text=str(body["text"])),
        ... )
        >>> echo.decode({"text": "hi"}).text
        'hi'
    """

    name: str
    encode: Callable[[WireRequest], HttpRequest]
    decode: Callable[[Any], Completion]
    inlines_images: bool = False
    sign: Callable[[HttpRequest, Mapping[str, str]], HttpRequest] | None = None
    sign_variables: tuple[str, ...] = ()
