"""/paste-to-tasks: meeting notes as a list of tasks."""

from typing import Any

from hermes_core import PluginContext

TASKS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "tasks": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "owner": {"type": "string"},
                    "action": {"type": "string"},
                    "due": {"type": "string", "description": "ISO date or empty"},
                },
                "required": ["action"],
            },
        }
    },
    "required": ["tasks"],
    "examples": [
        {
            "tasks": [
                {"owner": "Sam", "action": "call the printer", "due": "2026-03-05"},
                {"owner": "", "action": "order paper", "due": ""},
            ]
        }
    ],
}


def register(ctx: PluginContext) -> None:
    ctx.register_command(
        "paste-to-tasks",
        handler=lambda raw: extract(ctx, raw),
        description="Turn freeform meeting notes into structured tasks.",
        args_hint="<text>",
    )


def extract(ctx: PluginContext, raw_args: str) -> str:
    """One line a task, or what the model said when that is no list of tasks."""
    if not raw_args.strip():
        return "Usage: /paste-to-tasks <meeting notes>"
    result = ctx.llm.complete_structured(
        instructions=(
            "Extract concrete action items from these meeting notes. "
            "One task per actionable line. If no owner is named, leave 'owner' blank."
        ),
        input=[{"type": "text", "text": raw_args}],
        json_schema=TASKS,
        schema_name="meeting.tasks",
        purpose="paste-to-tasks",
        temperature=0.0,
        max_tokens=512,
    )
    if result.parsed is None:
        return f"Couldn't parse a response. Raw output:\n{result.text}"
    lines = [f"- [{task.get('owner') or '?'}] {task['action']}" for task in result.parsed["tasks"]]
    return "\n".join(lines) or "(no tasks found)"
