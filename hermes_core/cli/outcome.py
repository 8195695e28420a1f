"""What a choice of provider and model has led to: what was written, and what answers now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hermes_core.cli.choice import obstacle
from hermes_core.cli.output import print_text
from hermes_core.cli.session import open_host
from hermes_core.config.redact import CONFIGURED
from hermes_core.errors import ProviderError
from hermes_core.llm.plan import Planner
from hermes_core.llm.trust import Overrides

if TYPE_CHECKING:
    from hermes_core.cli.choice import Choice, Written
    from hermes_core.host import Host


def current(host: Host) -> dict[str, Any]:
    """What a call would use now; what is in its way when it would use nothing."""
    planner, config = Planner.of(host), host.config()
    shown = {"provider": config.text("model", "provider"), "model": config.text("model", "default")}
    try:
        route = planner.route(config, Overrides())
    except ProviderError as error:
        return {
            **shown,
            "base_url": config.text("model", "base_url"),
            "key": "",
            "problem": str(error),
            "remedy": error.hint,
        }
    problem = obstacle(host, route.profile)
    return {
        "provider": route.provider,
        "model": route.model,
        "base_url": route.base_url,
        "key": f"{CONFIGURED} {route.credential.source}" if route.credential.value else "",
        "problem": "" if problem is None else str(problem),
        "remedy": "" if problem is None else problem.hint,
    }


def outcome(written: Written) -> dict[str, Any]:
    """What was written, and where, and what answers now."""
    with open_host() as after:
        now = current(after)
    wrote = {"config": str(written.config), "env": str(written.env or "")}
    return {**now, "set": written.keys, "removed": written.removed, "wrote": wrote}


def report(host: Host, choice: Choice, written: Written) -> None:
    """Tell the same to a person, and what is still missing."""
    now = outcome(written)
    print_text(f"wrote {written.config}:")
    for name, value in written.keys.items():
        print_text(f"  {name}: {value}")
    for name in written.removed:
        print_text(f"  {name} was taken out: it was for the former provider")
    if written.env is not None:
        print_text(f"wrote {written.env}:\n  {choice.variable}={CONFIGURED}")
    if now["problem"]:
        print_text(f"note: {now['problem']}\n      {now['remedy']}")
    elif now["provider"] != host.providers.resolve(choice.provider):
        print_text(f"note: {now['provider']} answers all the same, because something else says so")
