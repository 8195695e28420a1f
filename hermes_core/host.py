"""The composition root: one home's plugins, providers and model lane, wired together."""

from __future__ import annotations

import logging
import sys
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from hermes_core.config.environment import Environment
from hermes_core.config.paths import get_hermes_home
from hermes_core.config.redact import redact
from hermes_core.config.settings import Config, ConfigFile
from hermes_core.errors import PluginError, near
from hermes_core.memory.of_host import HostMemory
from hermes_core.plugins.activation import find_plugins
from hermes_core.plugins.debug import open_logs
from hermes_core.plugins.entries import entry_of
from hermes_core.plugins.index import Index
from hermes_core.plugins.manifest import CLI, Manifest
from hermes_core.plugins.plugin import Plugin, explain_absence
from hermes_core.plugins.registry import PluginRegistry

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    from hermes_core.auth.credentials import Credentials
    from hermes_core.llm.client import PluginLlm
    from hermes_core.llm.engine import LlmEngine
    from hermes_core.llm.hooks import LlmHooks
    from hermes_core.llm.transport import Transport
    from hermes_core.plugins.command_runner import CommandRunner
    from hermes_core.plugins.context import PluginContext
    from hermes_core.providers.catalog import ProviderCatalog
    from hermes_core.providers.profile import EndpointHost
    from hermes_core.types.agent import Agent, AgentResolver
    from hermes_core.types.contributions import CliCommand, Command
    from hermes_core.types.models import ModelList
    from hermes_core.types.wire import ApiMode

log = logging.getLogger(__name__)


class Host(HostMemory):
    """One home, ready for use. Make it with ``Host.load()``; close it, or use it in a ``with``.

    Several hosts live in one process without touching each other, or ``os.environ``.

    Attributes:
        home: The home it was loaded from.
        plugins: Every plugin there is, as rows; nothing was imported to list them.

    Example:
        >>> from hermes_core import Host
        >>> from hermes_core.testing import FakeProvider
        >>> with FakeProvider() as server, Host.load(config=server.config) as host:
        ...     host.llm("my-program").complete([{"role": "user", "content": "ping"}]).text
        'pong'
    """

    def __init__(
        self,
        home: Path,
        environment: Environment,
        config_file: ConfigFile,
        *,
        say: Callable[[str], None],
        allow_downloads: bool,
        agent_resolver: AgentResolver | None = None,
    ) -> None:
        self.home = home
        self.environment = environment
        self._config_file = config_file
        self._say_line = say
        self._said: set[str] = set()
        self._allow_downloads = allow_downloads
        self._agent_resolver = agent_resolver
        self._beside: dict[Path, Host] = {}
        self._closed = False
        open_logs(environment)
        self._index = Index.of(home)
        self._registry = PluginRegistry(self._found(), self, self._index)
        self._registry.recall_failures()

    @classmethod
    def load(
        cls,
        home: str | os.PathLike[str] | None = None,
        config: Mapping[str, Any] | None = None,
        *,
        export_env: bool = False,
        allow_downloads: bool = False,
        say: Callable[[str], None] | None = None,
        agent_resolver: AgentResolver | None = None,
    ) -> Self:
        """Load a home. Plugins are found; none is imported, and nothing is downloaded.

        Args:
            home: The Hermes home; ``HERMES_HOME``, else ``~/.hermes``, when None.
            config: Laid over the home's ``config.yaml``, never written.
            export_env: Set the variables of the home's ``.env`` in this process, but for those that a
                provider declares as its own, those that the configuration takes keys from, and those already set.
            allow_downloads: Let a provider fetch what it needs on first use.
            say: Shows one line to the operator; writes to standard error when None.
            agent_resolver: Says of an agent's id, for ``agent_id=``, which ``provider``, ``model`` and ``home``
                that agent uses, as a mapping; None for an agent it does not know.
        """
        path = get_hermes_home() if home is None else Path(home).expanduser()
        environment = Environment(path)
        host = cls(
            path,
            environment,
            ConfigFile(path, environment, config),
            say=say or _say_on_stderr,
            allow_downloads=allow_downloads,
            agent_resolver=agent_resolver,
        )
        if export_env and environment.sets_something:
            declared = [data.get("env_vars") for row in host.plugins for data in row.manifest.profiles]
            hidden = {name for names in declared if isinstance(names, list) for name in names}
            environment.export(hidden | host._config_file.key_variables())
        return host

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Host {str(self.home)!r}>"

    def config(self) -> Config:
        """The configuration as it is now; edits of the file count from the next call."""
        return self._config_file.current()

    @property
    def plugins(self) -> list[Plugin]:
        """Rows: ``.name .key .kind .tier .source .version .state .reason .remedy``."""
        return self._registry.plugins

    def plugin(self, name: str) -> Plugin:
        """The row with this key or name, or the only one whose folder below a category is called so.

        Raises:
            PluginError: There is none; names close ones.
        """
        row = self._registry.find(name)
        if row is None:
            nested = [row for row in self.plugins if row.key.endswith(f"/{name}")]
            row = nested[0] if len(nested) == 1 else None
        if row is None:
            message = f"no plugin {name!r}{near(name, (word for row in self.plugins for word in row.ids))}"
            raise PluginError(message, plugin=name, hint="run `hermes plugins list`")
        return row

    def reload(self, name: str) -> Plugin:
        """Unload a plugin, look at its folder or package anew, and load it if it may; its new row.

        What it registered is taken back first. A plugin that has come since is found, one that has
        gone is dropped, and the next one of its key has its place. When loading fails, the row says why,
        and nothing of the plugin stays.

        Raises:
            PluginError: There is no such plugin, or no longer; or it is this program itself.
        """
        from hermes_core.plugins.reload import swap

        new = swap(self._registry, name, self._found()) or self.plugin(name)
        self._index.forget("failures", new.identity)
        self._index.forget("profiles", new.identity)
        self._registry.load(new)
        self._index.save()
        return new

    def _found(self) -> list[Plugin]:
        """Every plugin there is now, as far as it may load."""
        return find_plugins(self.home, self.environment, self._config_file, self._index)

    @property
    def providers(self) -> ProviderCatalog:
        """The providers: ``get(name)``, iteration over rows, ``explain(name)``; those of the configuration too."""
        self.config()
        return self._catalog

    @cached_property
    def _catalog(self) -> ProviderCatalog:
        from hermes_core.providers.catalog import ProviderCatalog

        file = self._config_file
        return ProviderCatalog(self._registry, lambda: file.last.providers, file.source_of)

    @cached_property
    def credentials(self) -> Credentials:
        """The keys and logins of this home."""
        from hermes_core.auth.credentials import Credentials

        return Credentials(self.environment, self._token_transport.send)

    @cached_property
    def _token_transport(self) -> Transport:
        from hermes_core.llm.transport import Transport

        return Transport()

    @property
    def commands(self) -> dict[str, Command]:
        """Slash commands by name; plugins that may offer one are loaded.

        A higher tier replaces a lower one's command; within a tier the first keeps the name.
        """
        return self._commands.commands

    @cached_property
    def _commands(self) -> CommandRunner:
        from hermes_core.plugins.command_runner import CommandRunner
        from hermes_core.types.contributions import command_name

        def explain(name: str) -> None:
            explain_absence(self.plugins, name, f"/{name}", lambda manifest: map(command_name, manifest.commands))

        return CommandRunner(self._registry, self.config, self.context, explain)

    @property
    def cli_commands(self) -> dict[str, CliCommand]:
        """Command-line trees by name; plugins that may offer one are loaded."""
        self._registry.need(CLI)
        found: dict[str, CliCommand] = {}
        for row in sorted(self.plugins, key=lambda row: (-row.rank[0], row.rank[1])):
            if row.state == "loaded":
                for command in self._registry.context(row).registrations.cli_commands:
                    found.setdefault(command.name, command)
        return found

    def agent(self, agent_id: str) -> Agent:
        """What this program's resolver says of an agent; nothing without one, and the id is a label then.

        Raises:
            HermesError: The resolver raised, or returned what it may not.
        """
        from hermes_core.types.agent import read_agent

        return read_agent(agent_id, self._agent_resolver)

    def beside(self, home: str) -> Host:
        """The host of another home, loaded once and closed with this one; this one for its own home."""
        path = Path(home).expanduser()
        if path == self.home:
            return self
        with self._registry.lock:
            if path not in self._beside:
                self._beside[path] = Host.load(path, say=self._say_line, allow_downloads=self._allow_downloads)
            return self._beside[path]

    def llm(self, plugin_id: str) -> PluginLlm:
        """The model surface of a plugin, or of a program: any id will do, the trust gate goes by it."""
        from hermes_core.llm.client import PluginLlm

        return PluginLlm(plugin_id, self.engine)

    def context(self, plugin_id: str) -> PluginContext:
        """The context of an installed plugin, the ``ctx`` it is given itself.

        Raises:
            PluginError: There is no such plugin.
        """
        return self._registry.context(self.plugin(plugin_id))

    def contexts(self) -> list[PluginContext]:
        """The contexts of the loaded plugins."""
        return [self._registry.context(row) for row in self.plugins if row.state == "loaded"]

    @property
    def managed_config(self) -> Path | None:
        """The administrator's ``config.yaml``, when there is one: then no program writes the home's."""
        return self._config_file.managed

    def program_context(self) -> PluginContext:
        """The context by which this program itself offers something, above every plugin."""
        row = next((row for row in self.plugins if row.tier == "program"), None)
        if row is not None:
            return self._registry.context(row)
        manifest = Manifest(name="program", description="what this program offers itself")
        return self._registry.adopt(Plugin(key="program", tier="program", order=len(self.plugins), manifest=manifest))

    def run_command(self, name: str, raw_args: str = "") -> str:
        """Run a slash command to its end and return its text; works inside a running event loop too.

        An async handler is cut off after ``plugins.command_timeout`` seconds, 30 unless configured. One that
        blocks cannot be.

        Raises:
            HermesError: There is no such command.
            CommandError: Its handler raised; ``__cause__`` is what. A ``HermesError`` goes through as it is.
            CommandTimeoutError: Its async handler took too long.
        """
        return self._commands.run(name, raw_args)

    async def arun_command(self, name: str, raw_args: str = "") -> str:
        """As ``run_command``, without blocking the event loop."""
        return await self._commands.arun(name, raw_args)

    def close(self) -> None:
        """Unload the plugins and close connections; closing twice does nothing."""
        if self._closed:
            return
        self._closed = True
        for host in self._beside.values():
            host.close()
        self._close_memory()
        self._registry.unload_all()
        if "credentials" in vars(self):
            self.credentials.close()
            self._token_transport.close()
        if "engine" in vars(self):
            from hermes_core.llm import audit

            self.engine.close()
            audit.detach(self.home)

    @cached_property
    def engine(self) -> LlmEngine:
        """The model lane behind every ``ctx.llm`` of this host."""
        from hermes_core.llm import audit
        from hermes_core.llm.engine import LlmEngine

        size, backups = (self.config().value("logging", key) for key in ("max_size_mb", "backup_count"))
        audit.attach(self.home, max_bytes=size * 2**20, backups=backups)
        return LlmEngine(self)

    def say(self, line: str) -> None:
        """Show a line to the operator, once."""
        if line not in self._said:
            self._said.add(line)
            self._say_line(redact(line))

    def offered_more(self, context: PluginContext) -> None:
        """A plugin has registered something more."""
        self._registry.offered_more(context)

    def llm_settings(self, config: Config, plugin_id: str) -> tuple[str, Mapping[str, Any]]:
        """A plugin's ``llm`` section, found by its key, else by its bare name."""
        entries = config.section("plugins", "entries")
        row = self._registry.find(plugin_id) if entries and plugin_id not in entries else None
        known_as, _ = entry_of(config, plugin_id, *((row.key, row.name) if row else ()))
        return known_as, config.section("plugins", "entries", known_as, "llm")

    def llm_hooks(self) -> LlmHooks:
        """What plugins do around a model call; those that may do something are loaded."""
        from hermes_core.llm.hooks import ANSWER, DONE, PREPARE, LlmHooks

        return LlmHooks(*map(self._registry.listeners, (PREPARE, ANSWER, DONE)))

    def models(self, provider: str | None = None, *, refresh: bool = False) -> list[ModelList]:
        """The models of a provider, or of each that would answer now; every list says where it came from.

        Providers are asked at once, and at most once an hour unless ``refresh``. Blocks for up to ten seconds.

        Raises:
            UnknownProviderError: There is no such provider, and no address for it.

        Example:
            >>> [found.provider for found in Host.load("/nonexistent").models("embedded")]
            ['embedded']
        """
        from hermes_core.llm.model_lists import ModelLists

        lists = ModelLists(self)
        return [lists.get(provider, refresh=refresh)] if provider else lists.collect(lists.answering(), refresh=refresh)

    def wires(self) -> Mapping[str, ApiMode]:
        """Wire formats by name; a plugin's beats the host's own."""
        from hermes_core.llm.wire import Wires
        from hermes_core.types.wire import ApiMode

        offered = [mode for _, mode in self._registry.items("hermes_api_modes", lambda item: isinstance(item, ApiMode))]
        return Wires({mode.name: mode for mode in reversed(offered)})

    def endpoint_host(self, config: Config, provider: str) -> EndpointHost:
        """What a provider's profile may ask of this host."""
        from hermes_core.providers.profile import EndpointHost

        return EndpointHost(
            home=self.home, settings=config.section(provider), allow_downloads=self._allow_downloads, say=self.say
        )


def _say_on_stderr(line: str) -> None:
    print(line, file=sys.stderr)  # noqa: T201 - the operator's only channel in a program that gave none
