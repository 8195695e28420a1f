"""The shapes a plugin may have, turned into registrations."""

from __future__ import annotations

import inspect
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from hermes_hookspecs.markers import PROJECT

from hermes_core.errors import PluginLoadError, describe
from hermes_core.plugins.context import is_memory_provider, is_profile
from hermes_core.plugins.debug import warn_once

if TYPE_CHECKING:
    from collections.abc import Callable

    from hermes_core.plugins.context import PluginContext

_MARK = f"{PROJECT}_impl"


def take_up(target: Any, context: PluginContext) -> None:
    """Register whatever ``target`` is: a module, an object, a class, or a callable.

    Hook implementations are taken as they are. A ``register`` is called with the context, or with
    nothing if it takes nothing; so is a bare callable, and what it returns is taken up in its turn. A
    profile or a memory provider registers itself. A module that registered something while it was
    being imported need not do more.

    Raises:
        PluginLoadError: It is none of these.
    """
    declares = bool(context.manifest.manifest.profiles)
    if not _take(target, context) and not declares:
        message = f"plugin {context.plugin_id!r} has no register() function and implements no hook"
        hint = "define register(ctx), or a function marked @hookimpl"
        raise PluginLoadError(message, plugin=context.plugin_id, hint=hint)
    if context.manifest.is_unchosen:
        context.registrations.keep_memory_alone()


def _take(target: Any, context: PluginContext) -> bool:
    ledger = context.registrations
    if isinstance(target, type):
        if is_memory_provider(target):
            ledger.memory[context.manifest.key.rpartition("/")[2]] = target
            return True
        return _take(target(), context)
    native = implements_hooks(target)
    if native:
        ledger.natives.append(target)
    register = getattr(target, "register", None)
    if callable(register):
        _register(register, context)
        if context.manifest.kind == "exclusive" and isinstance(target, ModuleType) and not (native or ledger.memory):
            _take_memory_class(target, context)
        return True
    if native:
        return True
    if is_profile(target):
        context.register_provider(target)
    elif is_memory_provider(target):
        context.register_memory_provider(target)
    elif callable(target):
        made = _call(target, context)
        if made is not None and (implements_hooks(made) or is_profile(made) or is_memory_provider(made)):
            _take(made, context)
    elif isinstance(target, ModuleType):
        _take_memory_class(target, context)
    return bool(ledger) or callable(target)


def implements_hooks(target: Any) -> bool:
    """Whether any of its members is marked ``@hookimpl``."""
    if isinstance(target, ModuleType):
        return any(hasattr(value, _MARK) for value in vars(target).values() if isinstance(value, FunctionType))
    return any(hasattr(inspect.getattr_static(target, name, None), _MARK) for name in dir(target))


def _register(register: Callable[..., Any], context: PluginContext) -> None:
    """Call it. A memory plugin keeps the provider that it registered before it failed, and nothing else."""
    ledger = context.registrations
    try:
        _call(register, context)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) or context.manifest.kind != "exclusive" or not ledger.memory:
            raise
        ledger.keep_memory_alone()
        where = context.plugin_id, context.manifest.source
        warn_once(
            "memory plugin kept without its hooks and tools plugin=%s source=%s error=%s", *where, describe(error)
        )


def _call(function: Callable[..., Any], context: PluginContext) -> Any:
    """Call it with the context if it takes an argument.

    Raises:
        PluginLoadError: It is to be awaited or iterated, and so has done nothing.
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return _done(function(context), context)
    positional = (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        inspect.Parameter.VAR_POSITIONAL,
    )
    takes_it = any(parameter.kind in positional for parameter in parameters)
    return _done(function(context) if takes_it else function(), context)


def _done(made: Any, context: PluginContext) -> Any:
    if not (inspect.isawaitable(made) or inspect.isasyncgen(made) or inspect.isgenerator(made)):
        return made
    if inspect.iscoroutine(made):
        made.close()  # else Python warns that nobody has awaited it
    message = f"plugin {context.plugin_id!r}: what registers it must be a plain function, neither async nor a generator"
    hint = "write `def register(ctx)`; ctx.spawn_task runs a coroutine in the background"
    raise PluginLoadError(message, plugin=context.plugin_id, hint=hint)


def _take_memory_class(module: ModuleType, context: PluginContext) -> None:
    """Fall back on the first complete memory provider class that is defined in the module, or below it."""
    for value in vars(module).values():
        is_own = isinstance(value, type) and f"{value.__module__}.".startswith(f"{module.__name__}.")
        if is_own and is_memory_provider(value) and not inspect.isabstract(value):
            context.registrations.memory.setdefault(context.manifest.key.rpartition("/")[2], value)
            return
