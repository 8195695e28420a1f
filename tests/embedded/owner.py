"""A program that owns a server, run by tests: ``owner.py PLUGIN HOME ACTION``; prints each URL that it got."""

import importlib.util
import os
import sys
import threading
import time
from pathlib import Path

import httpx

from hermes_core import EndpointHost


def open_endpoint():
    """Ask the plugin, loaded from its folder, for a server."""
    name = "embedded_plugin"
    if name not in sys.modules:
        folder = Path(sys.argv[1])
        spec = importlib.util.spec_from_file_location(
            name, folder / "__init__.py", submodule_search_locations=[str(folder)]
        )
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    profile = sys.modules[name].EmbeddedProfile("embedded")
    return profile.open_endpoint(EndpointHost(home=Path(sys.argv[2]), settings={}, allow_downloads=False, say=print))


def say(*words):
    """Tell the test."""
    print(*words, flush=True)  # noqa: T201


def generate(tokens=3000):
    """An answer that takes as many tokens as the context allows."""
    base_url, key = open_endpoint()
    body = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": tokens, "ignore_eos": True}
    headers = {"authorization": f"Bearer {key}"}
    return httpx.post(f"{base_url}/chat/completions", json=body, headers=headers, timeout=300).json()


def generate_meanwhile():
    """Have a generation going in another thread."""
    threading.Thread(target=generate, daemon=True).start()
    time.sleep(1)


def exit_during_generation():
    """Come to an end of its own."""
    say(open_endpoint()[0])
    generate_meanwhile()


def wait_during_generation():
    """Stay until killed."""
    say(open_endpoint()[0])
    generate_meanwhile()
    say("generating")
    time.sleep(600)


def survive_interrupt():
    """Catch Ctrl-C, and ask again."""
    say(open_endpoint()[0])
    try:
        say("generating")
        generate()
    except KeyboardInterrupt:
        say("interrupted")
    say(generate(5)["usage"]["completion_tokens"])


def fork():
    """The forked process calls too, and outlives this one."""
    say(open_endpoint()[0])
    if os.fork():
        os.wait()
    else:
        say(open_endpoint()[0], generate(5)["usage"]["completion_tokens"])
        os._exit(0)
    say(open_endpoint()[0], generate(5)["usage"]["completion_tokens"])


def fork_and_linger():
    """Two processes that stay."""
    say(open_endpoint()[0])
    if os.fork() == 0:
        say("forked", os.getpid())
    time.sleep(600)


if __name__ == "__main__":
    globals()[sys.argv[3]]()
