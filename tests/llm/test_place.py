"""Whom a request goes to, and by which proxy."""

from __future__ import annotations

import pytest

from hermes_core.llm.place import Place, place_of
from hermes_core.llm.tls import USUAL, Tls

HTTP, HTTPS = "http://api.acme.test/v1", "https://api.acme.test/v1"
PROXY = "http://proxy.test:3128"

VARIABLES = {
    "none": ({}, HTTP, None),
    "of-the-scheme": ({"HTTP_PROXY": PROXY}, HTTP, PROXY),
    "of-the-scheme-in-lower-case": ({"http_proxy": PROXY}, HTTP, PROXY),
    "of-another-scheme": ({"HTTP_PROXY": PROXY}, HTTPS, None),
    "of-tls": ({"HTTPS_PROXY": PROXY}, HTTPS, PROXY),
    "of-tls-in-lower-case": ({"https_proxy": PROXY}, HTTPS, PROXY),
    "of-all": ({"ALL_PROXY": PROXY}, HTTPS, PROXY),
    "of-all-in-lower-case": ({"all_proxy": PROXY}, HTTP, PROXY),
    "the-scheme-beats-all": ({"ALL_PROXY": "http://other.test", "HTTP_PROXY": PROXY}, HTTP, PROXY),
    "blank": ({"HTTP_PROXY": ""}, HTTP, None),
    "excepted": ({"HTTP_PROXY": PROXY, "NO_PROXY": "x.test,.acme.test"}, HTTP, None),
    "all-excepted": ({"HTTP_PROXY": PROXY, "no_proxy": "*"}, HTTP, None),
    "excepted-by-a-star": ({"HTTP_PROXY": PROXY, "NO_PROXY": "*.acme.test"}, HTTP, None),
    "excepted-with-its-port": ({"HTTP_PROXY": PROXY, "NO_PROXY": "Acme.test:80"}, HTTP, None),
    "excepted-at-another-port": ({"HTTP_PROXY": PROXY, "NO_PROXY": "acme.test:81"}, HTTP, PROXY),
    "excepted-net": ({"HTTP_PROXY": PROXY, "NO_PROXY": "x, 10.0.0.0/8"}, "http://10.1.2.3", None),
    "another-net-excepted": ({"HTTP_PROXY": PROXY, "NO_PROXY": "10.0.0.0/8"}, "http://11.1.2.3", PROXY),
    "excepted-net-of-ipv6": ({"HTTP_PROXY": PROXY, "NO_PROXY": "fd00::/8"}, "http://[fd00::1]", None),
    "excepted-ipv6": ({"HTTP_PROXY": PROXY, "NO_PROXY": "[fd00::1]:80"}, "http://[fd00::1]", None),
    "part-of-a-name-excepted": ({"HTTP_PROXY": PROXY, "NO_PROXY": "me.test,,"}, HTTP, PROXY),
    "another-excepted": ({"HTTP_PROXY": PROXY, "NO_PROXY": "other.test"}, HTTP, PROXY),
    "this-machine": ({"HTTP_PROXY": PROXY, "ALL_PROXY": PROXY}, "http://127.0.0.1:1/v1", None),
}


@pytest.mark.parametrize(("variables", "url", "proxy"), VARIABLES.values(), ids=VARIABLES)
def test_the_environment_names_the_proxy(monkeypatch, variables, url, proxy):
    """The variables that other programs know name the proxy and who is excepted; they are looked up at each call."""
    assert place_of(url).proxy is None
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert place_of(url).proxy == proxy


def test_a_place_is_host_port_and_trust():
    """What connections are kept apart by: the server, its port, and whom TLS trusts."""
    own = Tls(ca_file="/etc/own.pem")
    assert [place_of(url, own) for url in (HTTP, HTTPS, "HTTPS://API.acme.test:8443/x?y")] == [
        Place("api.acme.test", 80, None, None),
        Place("api.acme.test", 443, own, None),
        Place("api.acme.test", 8443, own, None),
    ]
    assert place_of(HTTPS).tls == USUAL


def test_a_place_does_not_show_its_proxys_login():
    """Its repr may stand in a traceback."""
    assert "pass-word-1" not in repr(Place("a.test", 80, None, "http://ann:pass-word-1@proxy.test"))
