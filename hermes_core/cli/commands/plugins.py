"""``hermes plugins``: what is installed, and what of it is on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hermes_core.cli.output import add_json_flag, print_fields, print_json, print_line, print_rows
from hermes_core.cli.session import open_host
from hermes_core.config.edit import as_yaml, edit_config
from hermes_core.errors import HermesError
from hermes_core.plugins.activation import Activation, missing_env

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from hermes_core.host import Host
    from hermes_core.plugins.plugin import Plugin

COLUMNS = ("key", "state", "tier", "kind", "version", "source", "reason", "remedy")


def add_arguments(parser: ArgumentParser) -> None:
    """Arguments of the command."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="action")
    listing = actions.add_parser("list", help="every plugin there is; none is imported")
    add_json_flag(listing)
    for action, line in {
        "show": "one plugin, with its manifest; it is not imported",
        "enable": "let a plugin load",
        "disable": "keep a plugin from loading",
        "reload": "look at a plugin anew, load it, and say whether that works",
    }.items():
        one = actions.add_parser(action, help=line)
        one.add_argument("name", help="its key or name")
        add_json_flag(one)


def run(args: Namespace) -> int:
    """Do what was asked."""
    with open_host() as host:
        if args.action == "list":
            rows = [as_row(plugin, host) for plugin in host.plugins]
            if args.json:
                print_json(rows)
            else:
                print_rows(rows, COLUMNS)
            return 0
        plugin = host.reload(args.name) if args.action == "reload" else host.plugin(args.name)
        row = as_row(plugin, host)
        if plugin.state == "loaded":
            row["registered"] = host.context(plugin.key).registrations.names()
        if args.action in ("enable", "disable"):
            _switch(host, plugin, on=args.action == "enable")
    if args.action in ("enable", "disable"):
        with open_host() as host:
            row = as_row(host.plugin(plugin.key), host)
    if args.action == "show":
        said = plugin.manifest
        row |= {"requires_hermes": said.requires_hermes, "requires_plugins": dict(said.requires_plugins), **said.about}
    if args.json:
        print_json(row)
    elif args.action == "show":
        print_fields(row)
    else:
        print_line(f"{row['key']}: {row['state']}" + (f" ({row['reason']})" if row["reason"] else ""))
    return int(args.action == "reload" and row["state"] == "failed")


def as_row(plugin: Plugin, host: Host) -> dict[str, Any]:
    """A plugin as a list shows it."""
    fields = ("name", "key", "kind", "tier", "source", "version", "state", "reason", "remedy", "description")
    manifest = plugin.manifest
    return {field: getattr(plugin, field) for field in fields} | {
        "author": manifest.author,
        "declares": sorted(manifest.surfaces),
        "missing_env": missing_env(manifest, host.environment),
    }


def _switch(host: Host, plugin: Plugin, *, on: bool) -> None:
    """Write to config.yaml what turns the plugin on or off, and no more."""
    if on and plugin.kind == "exclusive":
        message = f"{plugin.key} is a memory provider: one is active, the one memory.provider names"
        raise HermesError(message, hint=plugin.remedy or f"hermes memory setup {plugin.name}")

    def change(tree: Any) -> None:
        lists = tree.setdefault("plugins", {})
        if not isinstance(lists, dict):
            lists = tree["plugins"] = {}
        _drop(lists, "disabled" if on else "enabled", plugin)
        if on and _loads_now(plugin, lists):
            return
        _add(lists, "enabled" if on else "disabled", plugin)

    edit_config(host.home / "config.yaml", change)


def _loads_now(plugin: Plugin, lists: Any) -> bool:
    without = Activation(enabled=frozenset(lists.get("enabled") or ()), disabled=frozenset(lists.get("disabled") or ()))
    return without.refusal(plugin) == ("", "")


def _drop(lists: Any, key: str, plugin: Plugin) -> None:
    found = lists.get(key)
    for word in plugin.ids if isinstance(found, list) else ():
        while word in found:
            found.remove(word)


def _add(lists: Any, key: str, plugin: Plugin) -> None:
    if not isinstance(lists.get(key), list):
        lists[key] = []
    if plugin.key not in lists[key]:
        lists[key].append(as_yaml(plugin.key))
