"""A secret planted in each place a secret may come from, and all that a program is shown, searched for it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import quote, unquote
from uuid import uuid4

import pytest

from hermes_core.testing import FakeProvider
from hermes_core.testing.fake_provider import completion_body

PROGRAM = Path(__file__).with_name("leaks.py")
PUT_HERE = (
    "config.yaml",
    ".env",
    "plugins/model-providers/acme/plugin.yaml",
    "plugins/model-providers/acme/__init__.py",
)
NOSY = """
import os, pathlib
def register(ctx):
    files = [path.read_text() for path in pathlib.Path(ctx.home).rglob("*") if path.name in (".env", "config.yaml")]
    raise RuntimeError("my environment: %s; my files: %s" % (dict(os.environ), files))
"""


class EchoProvider(FakeProvider):
    """A server that repeats all it was sent: in errors of every kind, in headers, and as a model's answer."""

    def next_response(self, request):
        """What the conversation says is what happens."""
        case = str(request.body["messages"][-1]["content"])
        sent = {"path": request.path, **request.headers}
        shown = (
            f"{request.method} {request.path} {sent} {json.dumps(json.dumps(sent))} {quote(str(sent), safe='')} "
            f"{ {name.upper().encode(): value.encode() for name, value in sent.items()} } {str(sent).upper()}"
        )
        login = " ".join(sent.values())
        headers = {"x-request-id": login, "set-cookie": f"a={login}", "content-type": f"application/json; {login}"}
        if "200" in case:
            return 200, headers, completion_body(shown, model=login)
        if "schema" in case:
            return 200, headers, completion_body(json.dumps(sent))
        if "error" in case:
            return 200, headers, {"error": {"message": shown}}
        if "html" in case or "headers" in case:
            return 200, headers, f"<html>{shown}</html>" if "html" in case else ""
        status = next(status for status in (400, 401, 403) if str(status) in case)
        return status, headers, {"error": {"message": shown, "code": login}}


class Planted(NamedTuple):
    """Where a secret is put."""

    config: Mapping[str, object]
    env_file: str = ""
    environment: Mapping[str, str] = MappingProxyType({})
    manifest: Mapping[str, object] = MappingProxyType({})
    code: str = ""


def places(secret: str, base_url: str, port: str) -> dict[str, Planted]:
    """Every place a secret may come from."""
    acme = {"name": "acme", "kind": "model-provider"}
    profile = {"name": "acme", "auth_type": "none", "base_url": base_url}
    with_query = f"{base_url}?api_key={quote(secret, safe='')}"
    in_code = (
        "from hermes_core import ProviderProfile\n"
        "def register(ctx):\n"
        f"    ctx.register_provider(ProviderProfile('acme', auth_type='none', base_url={base_url!r}, "
        f"default_headers={{'X-Api-Key': {secret!r}}}))\n"
    )
    return {
        "environment": Planted({"key_env": "MY_KEY"}, environment={"MY_KEY": secret}),
        "env-file": Planted({"key_env": "MY_KEY"}, env_file=f"MY_KEY='{secret}'\n"),
        "config": Planted({"api_key": secret}),
        "reference": Planted({"api_key": "${MY_KEY}"}, environment={"MY_KEY": secret}),
        "header": Planted({"extra_headers": {"X-Api-Key": secret}}),
        "header-by-reference": Planted({"extra_headers": {"X-Me": "${MY_TOKEN}"}}, environment={"MY_TOKEN": secret}),
        "authorization": Planted({"default_headers": {"Authorization": f"Bearer {secret}"}}),
        "query": Planted({"base_url": with_query}),
        "query-by-reference": Planted({"base_url": "${WHERE}"}, environment={"WHERE": with_query}),
        "query-in-a-variable": Planted(
            {"provider": "acme", "base_url": ""},
            environment={"ACME_BASE_URL": with_query},
            manifest={**acme, "profile": {**profile, "env_vars": ["ACME_BASE_URL"]}},
        ),
        "proxy": Planted(
            {"base_url": "http://api.acme.test/v1"},
            environment={"http_proxy": f"http://ann:{quote(secret, safe='')}@127.0.0.1:{port}"},
        ),
        "login": Planted({"base_url": base_url.replace("://", f"://ann:{quote(secret, safe='')}@")}),
        "manifest": Planted(
            {"provider": "acme", "base_url": ""},
            manifest={**acme, "profile": {**profile, "default_headers": {"X-Api-Key": secret}}},
        ),
        "code": Planted({"provider": "acme", "base_url": ""}, manifest=acme, code=in_code),
    }


@pytest.mark.parametrize(
    ("place", "switch"), [*((place, "1") for place in places("", "http://x/v1", "")), ("config", "0")]
)
def test_a_planted_secret_is_in_no_file_text_or_error_r20_01_r20_10(home, place, switch):
    """Whatever goes wrong, a secret is where its owner put it and in the requests it belongs to, and nowhere else."""
    secret = f'{uuid4().hex}/{uuid4().hex}+"{uuid4().hex}'
    with EchoProvider() as server:
        port = server.base_url.rpartition(":")[2].partition("/")[0]
        planted = places(secret, server.base_url, port)[place]
        model = {**server.config["model"], **planted.config}
        home.config({"auxiliary": server.config["auxiliary"], "model": model, "plugins": {"enabled": ["acme", "nosy"]}})
        home.write(".env", planted.env_file)
        home.plugin("nosy", NOSY, name="nosy", provides_commands=["nosy"])
        if planted.manifest:
            home.plugin("model-providers/acme", planted.code or None, **planted.manifest)
        switches = {"HERMES_PLUGINS_DEBUG": switch, "HERMES_TRACE_HOOKS": switch}
        done = subprocess.run(
            [sys.executable, PROGRAM, home.path],
            env={**os.environ, **switches, **planted.environment},
            capture_output=True, timeout=60, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    login = b64encode(f"ann:{secret}".encode()).decode()  # as a proxy is sent it
    sent = unquote(
        " ".join(value for request in server.requests for value in (request.path, *request.headers.values()))
    )
    assert (secret in sent, login in sent) == (place not in ("login", "proxy"), place == "proxy")
    shown = {"standard output": done.stdout, "standard error": done.stderr}
    files = (path for path in home.path.rglob("*") if path.is_file() and path.suffix != ".pyc")  # that is the code
    shown |= {str(path.relative_to(home.path)): path.read_bytes() for path in files}
    parts = "|".join(part[:10] for part in re.findall(r"\w+", f"{secret} {login}"))
    found = {name: re.search(f"(?i).{{,99}}({parts})".encode(), text) for name, text in shown.items()}
    assert {name: match[0] for name, match in found.items() if match and name not in PUT_HERE} == {}
