"""Credentials for Amazon Bedrock, and the signatures made with them, by botocore."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from hermes_core.config.environment import Stamp, stamp
from hermes_core.config.redact import redact, register_secret
from hermes_core.errors import MissingCredentialError
from hermes_core.llm.wire.writing import bearer
from hermes_core.types.address import host_of, is_within
from hermes_core.types.wire import merged_headers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hermes_core.types.wire import HttpRequest

BEARER = "AWS_BEARER_TOKEN_BEDROCK"
KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
PROFILE = "AWS_PROFILE"
REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
FILES = {"AWS_SHARED_CREDENTIALS_FILE": "~/.aws/credentials", "AWS_CONFIG_FILE": "~/.aws/config"}
VARIABLES = (BEARER, *KEYS, PROFILE, *REGIONS, *FILES)
"""The variables that decide; botocore's own chain knows more places."""

SERVICE = "bedrock"
BEARER_HOSTS = ("amazonaws.com", "amazonaws.com.cn", "api.aws")
"""Where the token of the environment may go."""

DEFAULT_REGION = "us-east-1"

_REGION_OF_HOST = re.compile(r"(?:^|\.)bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\.")


def sign(request: HttpRequest, variables: Mapping[str, str]) -> HttpRequest:
    """The request with a bearer token where there is one, else with a signature.

    Args:
        request: As encoded; one that has an ``Authorization`` is left alone.
        variables: Those of ``VARIABLES`` that are set.

    Raises:
        MissingCredentialError: botocore is not installed, or finds no credential.
    """
    if any(name.lower() == "authorization" for name in request.headers):
        return request
    host, token = host_of(request.url), variables.get(BEARER, "")
    if token and any(is_within(host, known) for known in BEARER_HOSTS):
        register_secret(token)
        return request._replace(headers=merged_headers(request.headers, bearer(token)))
    try:
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest
        from botocore.exceptions import BotoCoreError, ClientError
    except ImportError:
        hint = f"pip install 'hermes-plugin-host[bedrock]', or set {BEARER}"
        message = "requests to Amazon Bedrock are signed with the package 'botocore', which is not installed"
        raise MissingCredentialError(message, hint=hint) from None
    try:
        found, region = _credentials(variables)
    except (BotoCoreError, ClientError) as error:
        message = f"no AWS credential can be used: {redact(str(error))}"
        raise MissingCredentialError(message, hint="correct the AWS profile, or log in again") from None
    for secret in (found.secret_key, found.token):
        register_secret(secret or "")
    signed = AWSRequest("POST", request.url, {"Content-Type": "application/json"}, request.body)
    in_host = _REGION_OF_HOST.search(host)
    SigV4Auth(found, SERVICE, in_host[1] if in_host else region).add_auth(signed)
    return request._replace(headers=merged_headers(request.headers, dict(signed.headers.items())))


def _credentials(variables: Mapping[str, str]) -> tuple[Any, str]:
    """Frozen credentials, and the region to use where the address does not say."""
    from botocore.credentials import Credentials

    files = tuple(variables.get(name) or os.path.expanduser(usual) for name, usual in FILES.items())
    session = _session(variables.get(PROFILE), files, tuple(map(stamp, files)))
    key, secret, token = (variables.get(name) for name in KEYS)
    found = Credentials(key, secret, token) if key and secret else session.get_credentials()
    if found is None:
        message = "no AWS credential was found"
        raise MissingCredentialError(message, hint=f"set {BEARER}, or {KEYS[0]} and {KEYS[1]}, or run `aws configure`")
    region = next((variables[name] for name in REGIONS if variables.get(name)), None)
    return found.get_frozen_credentials(), region or session.get_config_variable("region") or DEFAULT_REGION


@lru_cache(8)
def _session(profile: str | None, files: tuple[str, ...], _stamps: tuple[Stamp, ...]) -> Any:
    """A session of botocore, which remembers the credentials it found; a new one when a file has changed."""
    from botocore.session import Session

    session = Session(profile=profile)
    for name, path in zip(("credentials_file", "config_file"), files, strict=True):
        session.set_config_variable(name, path)
    return session
