"""What planning has found out under one configuration, and need not look for again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_core.config.tasks import AuxiliaryTask, auxiliary_task
from hermes_core.llm.route import only_model

if TYPE_CHECKING:
    from hermes_core.config.settings import Config
    from hermes_core.providers.profile import ProviderProfile


class Known:
    """Holds what was found out last; another configuration begins anew."""

    def __init__(self) -> None:
        self._task: tuple[Config | None, AuxiliaryTask] = None, AuxiliaryTask("plugin")
        self._models: tuple[Config | None, dict[str, str]] = None, {}

    def plugin_task(self, config: Config) -> AuxiliaryTask:
        """What the configuration says of plugins' calls, read once."""
        if self._task[0] is not config:
            self._task = config, auxiliary_task(config, "plugin")
        return self._task[1]

    def only_model(self, config: Config, profile: ProviderProfile, address: str, key: str) -> str:
        """The one model of a server on this machine, where nobody names any; it is asked until it names one."""
        if self._models[0] is not config:
            self._models = config, {}
        models = self._models[1]
        models[address] = models.get(address) or only_model(profile, address, key)
        return models[address]
