"""What looks like a secret is blanked though nobody has read it; what is none stays as it is."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from uuid import UUID

import pytest

import hermes_core
from hermes_core.config.redact import REDACTED, redact
from hermes_core.config.secret_patterns import is_secret_name

ROOT = Path(hermes_core.__file__).parents[1]
RUN = "a1B2c3D4e5" * 6
UPPER = "A1B2C3D4E5F6G7H8"
JWT = f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.{RUN[:43]}"
PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{RUN}\n{RUN}==\n-----END RSA PRIVATE KEY-----"

KEYS = [
    *(f"sk-{word}{RUN[:48]}" for word in ("", "proj-", "ant-api03-", "or-v1-", "kimi-", "svcacct-a_b-")),
    *(f"{word}{RUN[:36]}" for word in ("ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "hf_", "gsk_", "xai-", "AIza")),
    *(f"{word}{RUN[:40]}" for word in ("pplx-", "fw_", "r8_", "nvapi-", "tvly-dev-", "npm_", "sk_live_", "hvs.")),
    *(f"{word}{UPPER}" for word in ("AKIA", "ASIA")), f"csk-{RUN[:40]}",
    f"xoxb-{RUN[:12]}-{RUN[:24]}", f"pypi-AgEIcHlwaS5vcmc{RUN}", f"SG.{RUN[:22]}.{RUN[:43]}", JWT, f"{JWT}.{RUN}.{RUN}",
]  # fmt: skip
AROUND = {
    "alone": "{}",
    "in a sentence": "the key {} is wrong",
    "in quotes": '{{"error": "{}"}}',
    "in a list": "['{}', 'x']",
    "in an address": "https://acme.test/v1/{}/models?x={}&y=1",
    "escaped": "\\n{}\\n",
    "in percents": "a%20{}%20b",
}


@pytest.mark.parametrize("around", AROUND.values(), ids=AROUND)
@pytest.mark.parametrize("key", KEYS, ids=lambda key: key[:12])
def test_a_key_is_known_by_its_beginning(key, around):
    """The keys of providers are blanked wherever they stand, and what stands around them is not."""
    assert redact(around.format(key, key)) == around.format(REDACTED, REDACTED)


CONTEXTS = {
    "bearer": ("Authorization: Bearer @", "abcd"),
    "bearer without a name": ("sent Bearer @ to it", "abcd1234efgh"),
    "bearer in an address": ("Bearer%20@&x=1", "abcd1234efgh"),
    "basic": ("authorization: Basic @", "dXNlcjpwYXNz"),
    "basic without a name": ("('Basic @')", "dXNlcjpwYXNzMQ=="),
    "header in capitals": ("X-API-KEY: @", "abcd1234"),
    "headers as a mapping": ("{'x-api-key': '@', 'accept': '*/*'}", "hunter two"),
    "headers as pairs": ("[('X-Api-Key', '@'), ('Accept', 'x')]", "abcd1234"),
    "headers as bytes": ("[(b'x-goog-api-key', b'@')]", "abcd1234"),
    "header of another language": ("HTTP_AUTHORIZATION => Bearer @", "abcd1234"),
    "cookie": ("cookie: @", "session=abcd; theme=dark"),
    "set-cookie": ("('set-cookie', '@')", "sid=abcd; Path=/"),
    "variable": ("OPENAI_API_KEY=@ python x.py", "hunter"),
    "numbered variable": ("OPENAI_API_KEY_2=@", "hunter"),
    "variables as a mapping": ("environ({'DB_PASSWORD': '@', 'LANG': 'C'})", "hun'ter".replace("'", "-")),
    "json": ('{"password": "@", "user": "ann"}', "hunter"),
    "json in json": ('"{\\"client_secret\\": \\"@\\", \\"a\\": 1}"', "hunter"),
    "yaml": ("  api_key: @", "abcd1234"),
    "keyword": ("Client(api_key='@', model='m')", "abcd1234"),
    "query": ("GET /v1?key=@&alt=sse", "abcd1234"),
    "query of an access token": ("https://acme.test/cb#access_token=@&state=x", "hunter"),
    "signature": ("https://acme.test/x?X-Amz-Signature=@", "deadbeef01"),
    "connection string": ("postgres://ann:@@db.test:5432/x?y", "p@ss:word"),
    "address with a password": ("https://ann:@@acme.test/v1", "hunter"),
    "address with a token": ("https://@@github.test/a.git", RUN[:40]),
    "parts of a connection": ("Server=x;Uid=ann;Password=@;Timeout=3", "hunter"),
    "storage": ("AccountName=x;AccountKey=@", f"{RUN}/+=="),
    "aws": ("aws_secret_access_key = @", f"{RUN[:20]}/{RUN[:19]}"),
    "private key": ("cannot read @: bad", PEM),
    "private key in json": ('{"private_key": "x", "k": "@"}', PEM.replace("\n", "\\n")),
    "private key cut short": ("cannot read @", PEM[:90]),
    "key its provider shows in part": ("Incorrect API key provided: @.", "sk-pr" + "*" * 20 + "wxyz"),
    "key cut in the middle": ("bad key @", "sk-proj-abc...wxyz"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "secret"), CONTEXTS.values(), ids=CONTEXTS)
def test_a_secret_is_known_by_what_stands_before_it(text, secret):
    """A value that a name or a word says is secret is blanked, and the name stays."""
    before, after = text.split("@", 1)
    assert redact(before + secret + after) == before + REDACTED + after


ORDINARY = {
    "words": "risk-assessment of task-based desk-research, ask-me-anything-2024-edition",
    "package": "scikit-learn sk-learn sk-dist",
    "hash": hashlib.sha256(b"x").hexdigest(),
    "short hash": "commit 1a2b3c4 (HEAD)",
    "uuid": str(UUID(int=2**127 + 12345)),
    "models": "openai/gpt-4o-mini anthropic/claude-3-5-haiku-20241022 meta-llama/Llama-3.1-8B hf.co/x/y-GGUF:Q4_K_M",
    "path": "/srv/bot/plugins/model-providers/acme/__init__.py, line 12",
    "image": "data:image/png;base64," + base64.b64encode(bytes(range(256)) * 20).decode(),
    "json in base64": "eyJhIjogMSwgImIiOiAyLCAiYyI6IDN9",
    "counts": "tokens=6 max_tokens=64 prompt_tokens: 12345678 cost_per_token=0.0000025 ms=12",
    "names": "key_env: OPENAI_API_KEY, none of OPENAI_API_KEY, ACME_TOKEN holds a usable key",
    "names as a list": "('OPENROUTER_API_KEY', 'OPENROUTER_BASE_URL')",
    "name set to a name": "api_key: OPENAI_API_KEY",
    "reference": "api_key: ${OPENAI_API_KEY} token=$TOKEN password=%s key=<your key> secret={secret}",
    "nothing": 'api_key=None, "token": null, password: "", secret=""',
    "sentence": "password: must be at least eight characters; token: required; secret: the one you chose",
    "sentence on bearers": "bearer authentication needs a Bearer token; basic understanding of Basic authentication",
    "schema": '{"token": {"type": "string"}, "api_key": "string", "password": {"minLength": 8}}',
    "code": "Client(api_key=self.settings.api_key, token=get_token())\npassword = getpass.getpass('Password: ')",
    "keys that open nothing": "key=plugins.entries.p.llm.allowed_models sort_key=created_at2 cache_key: abc123 KEY=1",
    "addresses": "http://localhost:8080/v1 https://ann@acme.test/x ssh://git@acme.test:22 a@b.test mailto:a@b.test",
    "query": "https://acme.test/v1?api-version=2024-10-21&page=2&state=abc123",
    "time": "2024-10-21 10:11:12,345 INFO agent.plugin_llm: x",
    "emphasis": "**bold** and ***both*** and a * b ** c *** d",
    "start of a key block": "a PEM file begins with -----BEGIN PRIVATE KEY-----",
    "cookies": "cookie: the chocolate kind; def seek(self, cookie, whence=0)",
    "shell": "PWD=/srv/bot OLDPWD=/tmp HOME=/srv",
}


@pytest.mark.parametrize("text", ORDINARY.values(), ids=ORDINARY)
def test_what_only_looks_alike_stays(text):
    """Ordinary text is not touched: hashes, ids, models, paths, images, counts, sentences, code, names of variables."""
    assert redact(text) == text


@pytest.mark.parametrize(
    "path", [*sorted(ROOT.glob("docs/*.md")), ROOT / "README.md", ROOT / "CHANGELOG.md"], ids=lambda path: path.name
)
def test_the_documentation_holds_nothing_that_looks_secret(path):
    """Whole pages of prose, code, configuration and tables come through unchanged."""
    text = path.read_text(encoding="utf-8")
    assert redact(text) == text


def test_every_bundled_profile_stays_readable():
    """No provider's name, address, model or variable looks like a secret."""
    text = json.dumps([path.read_text(encoding="utf-8") for path in ROOT.glob("builtin_plugins/**/plugin.yaml")])
    assert redact(text) == text


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *((name, True) for name in "api_key apiKey X-Api-Key ANTHROPIC_TOKEN DB_PASSWORD client_secret".split()),
        *((name, True) for name in "MY_KEY MY_KEY_2 Authorization Proxy-Authorization accountKey pass_phrase".split()),
        *((name, False) for name in "max_tokens key keys monkey TOKENIZER key_env SECRET_NAME sort_key".split()),
        *((name, False) for name in "PUBLIC_KEY eos_token password_hint author KEY".split()),
    ],
)  # fmt: skip
def test_a_name_says_whether_its_value_is_secret(name, expected):
    """Names of keys, tokens and passwords do; names of limits, of variables and of other keys do not."""
    assert is_secret_name(name) is expected
