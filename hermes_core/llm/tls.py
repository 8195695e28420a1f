"""Whose certificates are trusted, by one route."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple

from hermes_core.config.environment import stamp
from hermes_core.errors import ProviderTransportError

if TYPE_CHECKING:
    import ssl

    from hermes_core.config.environment import Stamp

CA_VARIABLES = ("HERMES_CA_BUNDLE", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
"""Variables that name a file of certificates to trust; the first that is set counts."""


class Tls(NamedTuple):
    """Whom to trust.

    Attributes:
        ca_file: File with the certificates to trust; ``""`` for those that ``SSL_CERT_FILE`` or ``SSL_CERT_DIR``
            name, else certifi's, as httpx does.
        verify: Whether a certificate must be trusted at all.
    """

    ca_file: str = ""
    verify: bool = True


USUAL = Tls()

_lock = threading.Lock()
_contexts: dict[Tls, tuple[Stamp, ssl.SSLContext]] = {}


def tls_context(tls: Tls = USUAL) -> ssl.SSLContext:
    """The one context of the process for ``tls``, until its file changes; reading the certificates takes 20 ms.

    Raises:
        ProviderTransportError: There are no certificates in the file.
    """
    with _lock:
        now = stamp(tls.ca_file) if tls.ca_file else None
        read, context = _contexts.get(tls, (None, None))
        if context is None or read != now:
            context = _new_context(tls)
            _contexts[tls] = now, context
        return context


def _new_context(tls: Tls) -> ssl.SSLContext:
    import ssl

    try:
        context = ssl.create_default_context(cafile=tls.ca_file or _usual_file())
    except OSError as error:
        hint = f"correct ssl_ca_cert of the provider in config.yaml, or the first set of {', '.join(CA_VARIABLES)}"
        bad = ProviderTransportError(f"no certificates can be read from {tls.ca_file!r}: {error}", hint=hint)
        bad.retryable = False
        raise bad from error
    if not tls.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["http/1.1"])
    return context


def _usual_file() -> str | None:
    """Certifi's file; None when the environment names another, or a folder."""
    import ssl

    import certifi

    paths = ssl.get_default_verify_paths()
    named = paths.cafile != paths.openssl_cafile or paths.capath != paths.openssl_capath
    return None if named and (paths.cafile or paths.capath) else certifi.where()
