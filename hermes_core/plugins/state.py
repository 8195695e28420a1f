"""What a plugin keeps between runs."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from hermes_core.config.environment import stamp
from hermes_core.errors import PluginContractError, PluginError
from hermes_core.plugins.entries import json_copy

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_core.config.environment import Stamp

MAX_BYTES = 10 * 2**20
LOCK_SECONDS = 15.0


def data_folder(home: Path, plugin_id: str) -> Path:
    """Where a plugin's own files lie, ``<home>/plugin-data/<id>``; it is not made.

    Example:
        >>> from pathlib import Path
        >>> data_folder(Path("/h"), "commands/tldr").as_posix(), data_folder(Path("/h"), "../x").as_posix()
        ('/h/plugin-data/commands/tldr', '/h/plugin-data/%2E%2E/x')
    """
    parts = [quote(part, safe="") for part in plugin_id.split("/")]  # an installed package's id may be anything
    safe = [part if part.strip(".") else part.replace(".", "%2E") or "%" for part in parts]
    return home.joinpath("plugin-data", *safe)


class PluginState:
    """JSON values by key, in one file of the plugin's own; several processes may use it at once.

    Args:
        path: The file; ``<home>/plugin-data/<id>/state.json``.
        plugin_id: Whose it is.

    Example:
        >>> def register(ctx):
        ...     ctx.state.set("runs", ctx.state.get("runs", 0) + 1)
    """

    def __init__(self, path: Path, plugin_id: str) -> None:
        self._path = path
        self._plugin_id = plugin_id
        self._read_last: tuple[Stamp, dict[str, Any]] = (None, {})

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a key, a copy; ``default`` when there is none.

        Raises:
            PluginError: The file cannot be read.
        """
        held = self._read()
        return deepcopy(held[key]) if key in held else default

    def set(self, key: str, value: Any) -> None:
        """Keep a JSON value; it is on disk when this returns, and a crash leaves the old file or the new one.

        Raises:
            PluginContractError: JSON cannot hold the value, or all values together are larger than 10 MiB.
            PluginError: The file cannot be read, so it is left as it is; or it cannot be written.
        """
        if not isinstance(key, str):
            message = f"plugin {self._plugin_id!r}: a key of its state must be text, got {type(key).__name__}"
            raise PluginContractError(message, plugin=self._plugin_id)
        plain = json_copy(value, key, self._plugin_id)
        from filelock import FileLock, Timeout

        from hermes_core.config.files import replace_file

        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(f"{self._path}.lock", timeout=LOCK_SECONDS):
                text = json.dumps({**self._read(), key: plain}, ensure_ascii=False)
                whole = text.encode("utf-8", "surrogatepass")  # as json.loads reads it
                if len(whole) > MAX_BYTES:
                    raise self._too_large(key, len(whole))
                replace_file(self._path, whole)
        except Timeout as error:
            raise self._failed("write", f"another program has held its lock for {LOCK_SECONDS:g} s") from error
        except OSError as error:
            raise self._failed("write", error.strerror or type(error).__name__) from error

    def _read(self) -> dict[str, Any]:
        now = stamp(self._path)
        if now is not None and now == self._read_last[0]:
            return self._read_last[1]
        try:
            held = json.loads(self._path.read_bytes())
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise self._failed("read", error.strerror or type(error).__name__) from error
        except (ValueError, RecursionError) as error:
            raise self._failed("read", "it is not JSON") from error
        if not isinstance(held, dict):
            raise self._failed("read", f"it must hold an object, not a {type(held).__name__}")
        self._read_last = now, held
        return held

    def _failed(self, verb: str, reason: str) -> PluginError:
        message = f"plugin {self._plugin_id!r}: cannot {verb} its state in {self._path}: {reason}"
        hint = "mend the file, or move it away; nothing in it was changed"
        return PluginError(message, plugin=self._plugin_id, hint=hint)

    def _too_large(self, key: str, size: int) -> PluginContractError:
        message = (
            f"plugin {self._plugin_id!r}: with this value of {key!r} its state would be {size / 2**20:.1f} MiB; "
            f"{self._path} may hold {MAX_BYTES // 2**20} MiB"
        )
        return PluginContractError(message, plugin=self._plugin_id, hint="keep what is large in files beside it")
