"""Signatures for Bedrock: computed anew here, from Amazon's description, and credentials from every place."""

from __future__ import annotations

import hashlib
import hmac
import os
import re

import pytest

from hermes_core.config.redact import redact
from hermes_core.errors import MissingCredentialError
from hermes_core.llm.wire.sigv4 import VARIABLES, sign
from hermes_core.types.wire import HttpRequest

AWS = "https://bedrock-runtime.eu-west-1.amazonaws.com/model/amazon.nova-lite-v1%3A0/converse"
BODY = b'{"messages":[]}'
KEYS = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"}
AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(\w+)/(\d{8})/([\w-]+)/(\w+)/aws4_request, SignedHeaders=(\S+), Signature=(\w{64})"
)


@pytest.fixture(autouse=True)
def no_aws(monkeypatch, tmp_path):
    """No credential of this machine, and no question to its network."""
    for name in [*os.environ]:
        if name.startswith("AWS_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("HOME", str(tmp_path))


def request(url: str = AWS, **headers: str) -> HttpRequest:
    """A request as it is encoded."""
    usual = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "hermes-cli/0"}
    return HttpRequest(url=url, headers={**usual, **headers}, body=BODY)


def signature(sent: HttpRequest, secret: str) -> tuple[str, str]:
    """The signature a request has, and the one that it should have."""
    headers = {name.lower(): value for name, value in sent.headers.items()}
    headers["host"] = sent.url.split("/")[2]
    _, day, region, service, names, found = AUTHORIZATION.fullmatch(headers["authorization"]).groups()
    path = "/" + sent.url.split("/", 3)[3]
    lines = "".join(f"{name}:{headers[name]}\n" for name in names.split(";"))
    canonical = "\n".join(("POST", path.replace("%", "%25"), "", lines, names, hashlib.sha256(sent.body).hexdigest()))
    scope = f"{day}/{region}/{service}/aws4_request"
    hashed = hashlib.sha256(canonical.encode()).hexdigest()
    key = f"AWS4{secret}".encode()
    for part in (day, region, service, "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    to_sign = f"AWS4-HMAC-SHA256\n{headers['x-amz-date']}\n{scope}\n{hashed}"
    return found, hmac.new(key, to_sign.encode(), hashlib.sha256).hexdigest()


def credential(sent: HttpRequest) -> tuple[str, str]:
    """The key id and the region of a signed request."""
    found = AUTHORIZATION.fullmatch(sent.headers["Authorization"])
    return found[1], found[3]


def test_a_request_is_signed():
    """Date, host, type and body are signed with the secret key, which is not sent."""
    sent = sign(request(), KEYS)
    found, expected = signature(sent, KEYS["AWS_SECRET_ACCESS_KEY"])
    assert found == expected
    assert (sent.url, sent.body) == (AWS, BODY)
    assert KEYS["AWS_SECRET_ACCESS_KEY"] not in str(sent.headers)
    assert (sent.headers["User-Agent"], sent.headers["Accept"]) == ("hermes-cli/0", "application/json")


def test_a_session_has_a_token():
    """The token of a temporary credential is sent and signed."""
    sent = sign(request(), {**KEYS, "AWS_SESSION_TOKEN": "token-123456"})
    headers = {name.lower(): value for name, value in sent.headers.items()}
    assert headers["x-amz-security-token"] == "token-123456"
    assert "x-amz-security-token" in AUTHORIZATION.fullmatch(headers["authorization"])[5]
    assert len({*signature(sent, KEYS["AWS_SECRET_ACCESS_KEY"])}) == 1


@pytest.mark.parametrize(
    ("url", "variables", "region"),
    [
        pytest.param(AWS, {"AWS_REGION": "us-west-2"}, "eu-west-1", id="the-hosts-own"),
        pytest.param(
            "https://vpce-1.bedrock-runtime.ap-south-1.vpce.amazonaws.com/m", {}, "ap-south-1", id="a-private-endpoints"
        ),
        pytest.param("https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com/m", {}, "us-gov-west-1", id="fips"),
        pytest.param("http://127.0.0.1:1/m", {"AWS_REGION": "us-west-2"}, "us-west-2", id="the-variable"),
        pytest.param("http://127.0.0.1:1/m", {"AWS_DEFAULT_REGION": "us-west-2"}, "us-west-2", id="the-other-variable"),
        pytest.param("http://127.0.0.1:1/m", {}, "us-east-1", id="the-usual"),
    ],
)
def test_the_region_is_found(url, variables, region):
    """The host says the region, else a variable."""
    assert credential(sign(request(url), {**KEYS, **variables})) == ("AKIDEXAMPLE", region)


def test_a_profile_of_the_files_is_used(tmp_path):
    """Key and region come from the profile that is named; a change of the file counts at once."""
    folder = tmp_path / ".aws"
    folder.mkdir()
    keys, config = folder / "credentials", folder / "config"
    keys.write_text("[work]\naws_access_key_id = AKIDWORK\naws_secret_access_key = secret-of-work\n")
    config.write_text("[profile work]\nregion = sa-east-1\n")
    plain = request("http://127.0.0.1:1/m")
    assert credential(sign(plain, {"AWS_PROFILE": "work"})) == ("AKIDWORK", "sa-east-1")
    keys.write_text("[work]\naws_access_key_id = AKIDNEXT\naws_secret_access_key = another-secret-of-work\n")
    assert credential(sign(plain, {"AWS_PROFILE": "work"})) == ("AKIDNEXT", "sa-east-1")


def test_files_may_be_elsewhere(tmp_path):
    """The variables that name the files count, also those of the home alone."""
    keys = tmp_path / "keys.ini"
    keys.write_text("[default]\naws_access_key_id = AKIDFILE\naws_secret_access_key = secret-in-a-file\n")
    assert credential(sign(request(), {"AWS_SHARED_CREDENTIALS_FILE": str(keys)}))[0] == "AKIDFILE"


def test_the_process_own_variables_are_found(monkeypatch):
    """Botocore's own chain goes on where the given variables end."""
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    assert credential(sign(request(), {}))[0] == "AKIDEXAMPLE"


@pytest.mark.parametrize(
    ("url", "is_sent"),
    [
        pytest.param(AWS, True, id="amazon"),
        pytest.param("https://bedrock-runtime.cn-north-1.amazonaws.com.cn/m", True, id="amazon-in-china"),
        pytest.param("https://bedrock-runtime.eu-west-1.amazonaws.com.evil.test/m", False, id="a-name-that-looks-so"),
        pytest.param("https://proxy.test/m", False, id="a-proxy"),
        pytest.param("http://127.0.0.1:1/m", False, id="this-machine"),
    ],
)
def test_the_environments_token_goes_to_amazon_alone(url, is_sent):
    """A bearer token can be used by whoever gets it; elsewhere the request is signed."""
    sent = sign(request(url), {**KEYS, "AWS_BEARER_TOKEN_BEDROCK": "ABSK-123456"})
    assert sent.headers["Authorization"].startswith("Bearer ABSK-123456" if is_sent else "AWS4-HMAC-SHA256")
    assert ("ABSK" in str(sent.headers)) is is_sent


def test_a_request_with_a_key_is_left_alone():
    """What the operator gave as key, or as header, is not replaced."""
    given = request(authorization="Bearer mine")
    assert sign(given, {**KEYS, "AWS_BEARER_TOKEN_BEDROCK": "ABSK-123456"}) is given


def test_secrets_are_known_to_the_redactor():
    """Secret key and tokens are blanked in everything the host writes."""
    sign(request(), {**KEYS, "AWS_SESSION_TOKEN": "session-token-1"})
    sign(request(), {"AWS_BEARER_TOKEN_BEDROCK": "ABSK-bearer-1"})
    shown = redact(f"{KEYS['AWS_SECRET_ACCESS_KEY']} session-token-1 ABSK-bearer-1")
    assert shown == "[redacted] [redacted] [redacted]"


@pytest.mark.parametrize(
    ("variables", "said", "remedy"),
    [
        pytest.param({}, "no AWS credential was found", "AWS_BEARER_TOKEN_BEDROCK", id="nothing-anywhere"),
        pytest.param({"AWS_PROFILE": "missing"}, "missing", "AWS profile", id="a-profile-that-is-not-there"),
    ],
)
def test_a_missing_credential_names_the_remedy(variables, said, remedy):
    """Without a credential, the error says which variables or command would give one."""
    with pytest.raises(MissingCredentialError, match=said) as caught:
        sign(request(), variables)
    assert remedy in caught.value.hint


WITHOUT = """
import sys
sys.modules["botocore"] = None
from hermes_core.llm.wire.sigv4 import sign
from hermes_core.types.wire import HttpRequest
request = HttpRequest(url=sys.argv[1], headers={}, body=b"{}")
print(sign(request, {"AWS_BEARER_TOKEN_BEDROCK": "ABSK-123456"}).headers)
try:
    sign(request, {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"})
except Exception as error:
    print(type(error).__name__, error, error.hint)
"""


def test_without_botocore_the_error_names_the_command(script):
    """A token needs no package; a signature without it is refused with the pip command."""
    token, error = script(WITHOUT, AWS).splitlines()
    assert token == "{'Authorization': 'Bearer ABSK-123456'}"
    assert error.startswith("MissingCredentialError ")
    assert "'botocore', which is not installed" in error
    assert "pip install 'hermes-plugin-host[bedrock]'" in error


def test_every_variable_is_asked_for():
    """The host hands over just the variables that are listed."""
    assert {*KEYS, "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK", "AWS_PROFILE", "AWS_REGION"} < {*VARIABLES}
