"""The life and death of the server process."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from urllib.parse import urlsplit

import httpx
import pytest

from hermes_core import HermesError

pytestmark = pytest.mark.embedded
posix = pytest.mark.skipif(os.name != "posix", reason="POSIX signals and processes")


def answers(base_url):
    """Whether a server listens there."""
    with socket.socket() as probe:
        return probe.connect_ex((urlsplit(base_url).hostname, urlsplit(base_url).port)) == 0


def has_ended(base_url, seconds=5):
    """Whether nothing listens there within some seconds."""
    deadline = time.monotonic() + seconds
    while answers(base_url) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not answers(base_url)


@pytest.fixture
def pool(part):
    """The servers of this process, all killed after the test."""
    yield part("server").servers()
    for process in part("server").servers()._processes:
        process.kill()
        process.wait()


def test_one_server_for_all_threads(profile, host, model_home, pool):
    """Calls from many threads at once start one server."""
    found = []
    threads = [threading.Thread(target=lambda: found.append(profile.open_endpoint(host(model_home)))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(found), len({*found})) == (8, 1)


def test_one_server_for_all_hosts(profile, host, model_home, pool, load_plugin):
    """A host that imported the plugin anew shares the server."""
    other = load_plugin("hermes_plugins_embedded_of_another_host").EmbeddedProfile("embedded")
    assert other.open_endpoint(host(model_home)) == profile.open_endpoint(host(model_home))


def test_settings_of_its_own(profile, host, model_home, pool):
    """A host with other settings gets a server of its own."""
    assert profile.open_endpoint(host(model_home)) != profile.open_endpoint(host(model_home, n_ctx=512))


def test_own_model(profile, host, model_home, part, pool):
    """Any GGUF runs by its path, and goes by its file's name."""
    base_url, key = profile.open_endpoint(
        host(model_path=str(part("weights").location(model_home)), n_ctx=256, threads=1)
    )
    models = httpx.get(f"{base_url}/models", headers={"authorization": f"Bearer {key}"}).json()
    assert [model["id"] for model in models["data"]] == ["SmolLM2-135M-Instruct.Q4_1"]


def test_asking_again_is_fast(profile, host, model_home, pool):
    """While the server lives, asking for it costs microseconds."""
    asked = host(model_home)
    profile.open_endpoint(asked)
    started = time.perf_counter()
    for _ in range(200):
        profile.open_endpoint(asked)
    assert (time.perf_counter() - started) / 200 < 0.001


def test_key_is_required(profile, host, model_home, pool):
    """Without the key, the server answers nothing."""
    base_url, _ = profile.open_endpoint(host(model_home))
    assert httpx.get(f"{base_url}/models").status_code == 401


def test_restart(profile, host, model_home, pool):
    """A server that died is started again at the next call."""
    first, _ = profile.open_endpoint(host(model_home))
    pool._processes[0].kill()
    assert has_ended(first)
    second, _ = profile.open_endpoint(host(model_home))
    assert answers(second)


def test_death_in_the_middle_of_an_answer(ask, profile, host, model_home, pool):
    """When the server dies, that request fails and the next one is answered."""
    base_url, key = profile.open_endpoint(host(model_home))
    threading.Timer(0.5, pool._processes[0].kill).start()
    body = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 3000, "ignore_eos": True}
    with pytest.raises(httpx.TransportError):
        httpx.post(f"{base_url}/chat/completions", json=body, headers={"authorization": f"Bearer {key}"}, timeout=60)
    pool._processes[0].wait()  # its sockets close a moment before it is gone
    assert ask([{"role": "user", "content": "Hi"}], max_tokens=5)["choices"]


def test_caller_that_gives_up(ask, profile, host, model_home, pool):
    """A caller that stops waiting frees the server for the next one."""
    base_url, key = profile.open_endpoint(host(model_home))
    body = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 3000, "ignore_eos": True}
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{base_url}/chat/completions", json=body, headers={"authorization": f"Bearer {key}"}, timeout=1)
    started = time.monotonic()
    ask([{"role": "user", "content": "Hi"}], max_tokens=5)
    assert time.monotonic() - started < 10


def test_file_that_only_looks_like_a_model(profile, host, tmp_path, pool):
    """When the library cannot load a file, the error says which one."""
    (tmp_path / "bad.gguf").write_bytes(b"GGUF" + bytes(1000))
    with pytest.raises(HermesError, match=r"bad\.gguf' did not start: .+") as caught:
        profile.open_endpoint(host(model_path="bad.gguf"))
    assert caught.value.hint
    assert [process for process in pool._processes if process.poll() is None] == []


def test_library_that_cannot_be_loaded(profile, host, model_home, tmp_path, monkeypatch, pool):
    """When the package is there but cannot be imported, the error quotes why."""
    (tmp_path / "xllamacpp").mkdir()
    (tmp_path / "xllamacpp/__init__.py").write_text("raise ImportError('libgomp.so.1: cannot open')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(HermesError, match=r"libgomp\.so\.1: cannot open") as caught:
        profile.open_endpoint(host(model_home, n_ctx=300))
    assert "apt-get install libgomp1" in caught.value.hint


def test_child_says_one_line(part, model_home):
    """The child writes one line to stdout and nothing to stderr, and ends when stdin closes."""
    launch = {"model": str(part("weights").location(model_home)), "alias": "m", "n_ctx": 256, "n_predict": 9}
    launch |= {"threads": 1, "library": part("endpoint").library_folder()}
    child = subprocess.Popen(
        [sys.executable, "-P", part("server").__file__.replace("server.py", "child.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    child.stdin.write(json.dumps(launch) + "\n")
    child.stdin.flush()
    line = json.loads(child.stdout.readline())
    body = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 5}
    httpx.post(f"{line['url']}/v1/chat/completions", json=body, headers={"authorization": f"Bearer {line['key']}"})
    rest, errors = child.communicate(timeout=10)
    assert (sorted(line), rest, errors, child.returncode) == (["key", "url"], "", "", 0)


def test_exit_during_a_generation(owner):
    """A program that ends in the middle of an answer does so at once, and its server with it."""
    program = owner("exit_during_generation")
    out, errors = program.communicate(timeout=30)
    assert (program.returncode, errors) == (0, "")
    assert has_ended(out.strip(), 0.5)


def test_killed_owner(owner):
    """When the owner is killed in the middle of an answer, the server ends."""
    program = owner("wait_during_generation")
    base_url = program.stdout.readline().strip()
    program.stdout.readline()
    assert answers(base_url)
    program.kill()
    assert has_ended(base_url)


@posix
def test_interrupt(owner):
    """Ctrl-C during an answer ends the program, with no noise but its own traceback, and the server."""
    program = owner("wait_during_generation", start_new_session=True)
    base_url = program.stdout.readline().strip()
    program.stdout.readline()
    os.killpg(program.pid, signal.SIGINT)
    _, errors = program.communicate(timeout=10)
    assert errors.startswith("Traceback")
    assert errors.endswith("KeyboardInterrupt\n")
    assert has_ended(base_url)


@posix
def test_interrupt_that_is_caught(owner):
    """A program that survives Ctrl-C goes on with its server."""
    program = owner("survive_interrupt", start_new_session=True)
    program.stdout.readline()
    program.stdout.readline()
    time.sleep(1)
    os.killpg(program.pid, signal.SIGINT)
    out, errors = program.communicate(timeout=60)
    assert (out, errors, program.returncode) == ("interrupted\n5\n", "", 0)


@posix
def test_fork(owner):
    """A forked process starts a server of its own, and leaves its parent's alone."""
    program = owner("fork")
    out, errors = program.communicate(timeout=60)
    first, forked, again = out.splitlines()
    assert program.returncode == 0, errors
    assert forked.split()[0] != first
    assert (forked.split()[1], again) == ("5", f"{first} 5")
    assert has_ended(first, 0.5)
    assert has_ended(forked.split()[0])


@posix
def test_forked_process_outlives_its_parent(owner):
    """The server ends with the process that started it, though a forked copy lives on."""
    program = owner("fork_and_linger")
    base_url = program.stdout.readline().strip()
    forked = int(program.stdout.readline().split()[1])
    program.kill()
    try:
        assert has_ended(base_url)
        os.kill(forked, 0)
    finally:
        os.kill(forked, signal.SIGKILL)
