"""The server's own process; a stand-alone script that imports nothing of ours.

It reads its settings as one JSON line from stdin, answers with one JSON line on stdout (``url`` and
``key``, or ``kind`` and ``error``), writes nothing else, and ends when stdin closes: with its owner, however that one
ends. It ends by ``os._exit`` because the library may hang or crash when it is taken down in good order.
"""

import importlib
import json
import os
import signal
import sys
import threading
from typing import Any


def _end_with_owner() -> None:
    while os.read(0, 4096):
        pass
    os._exit(0)


def _parameters(xllamacpp: Any, settings: dict[str, Any], key: str) -> Any:
    parameters = xllamacpp.CommonParams()
    parameters.model.path = settings["model"]
    parameters.model_alias = {settings["alias"]}  # or the answers name the file's path as their model
    parameters.verbosity = 0
    parameters.api_keys = [key]
    parameters.port = 0
    parameters.n_ctx = settings["n_ctx"]
    parameters.n_parallel = 1
    parameters.n_predict = settings["n_predict"]
    parameters.cpuparams.n_threads = settings["threads"]
    parameters.cpuparams_batch.n_threads = settings["threads"]
    parameters.ui = False
    parameters.endpoint_slots = False  # it shows other callers' prompts
    parameters.cache_ram_mib = 0
    parameters.fit_params = False  # it loads the model twice: 0.4 s
    return parameters


def main() -> None:
    """Serve until stdin closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answer = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    settings = json.loads(sys.stdin.buffer.readline())
    sys.path.append(settings["library"])
    threading.Thread(target=_end_with_owner, daemon=True).start()
    key = os.urandom(24).hex()
    # by default its threads spin while they wait for each other: on a busy machine, hardly an answer ends
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # noqa: TID251 - set for the library, in this process
    try:
        xllamacpp: Any = importlib.import_module("xllamacpp")
        server = xllamacpp.Server(_parameters(xllamacpp, settings, key))
        line = {"url": server.listening_address, "key": key}
    except Exception as error:  # noqa: BLE001 - whatever it is, the owner reports it
        line = {"kind": type(error).__name__, "error": str(error)}
    os.write(answer, json.dumps(line).encode() + b"\n")
    os.close(answer)
    os.dup2(nowhere, 2)
    threading.Event().wait()


if __name__ == "__main__":
    main()
