"""What an implementation of a hook may be."""

from __future__ import annotations

from inspect import isasyncgenfunction, iscoroutinefunction
from typing import TYPE_CHECKING, Any

from hermes_hookspecs import OfferSpecs

from hermes_core.errors import PluginContractError, near

if TYPE_CHECKING:
    from pluggy import PluginManager

    from hermes_core.plugins.plugin import Plugin


def check_contract(pm: PluginManager, plugin: Plugin, target: object) -> None:
    """Refuse an object with a hook implementation that the host's own loop would skip or misread.

    Raises:
        PluginContractError: It has one; names the hook and what is wrong.
    """
    for name in dir(target):
        options = pm.parse_hookimpl_opts(target, name)
        if options is None:
            continue
        hook = options.get("specname") or name
        problem = ""
        if options["wrapper"] or options["hookwrapper"]:
            problem = "is a wrapper, which this host does not call"
        elif options["tryfirst"] and options["trylast"]:
            problem = "is both tryfirst and trylast"
        elif hook in vars(OfferSpecs) and is_async(getattr(target, name)):
            problem = "is async, and an offer is collected without an event loop"
        elif not hasattr(pm.hook, hook) and not options["optionalhook"]:
            problem = f"is no hook of this host{near(hook, vars(pm.hook))}"
        if problem:
            message = f"plugin {plugin.key!r}: {hook} {problem}"
            raise PluginContractError(message, plugin=plugin.key, source=plugin.source, hint="see docs/hooks.md")


def is_async(function: Any) -> bool:
    """Whether calling it gives something to await."""
    return iscoroutinefunction(function) or isasyncgenfunction(function)
