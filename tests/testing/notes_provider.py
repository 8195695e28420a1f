"""A small memory provider that keeps every rule: lines in a SQLite file."""

import json
import sqlite3
from pathlib import Path

from hermes_core import MemoryProvider

TOOL = {
    "name": "notes",
    "description": "Add a note, or find notes.",
    "parameters": {
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": ["add", "find"]},
            "text": {"type": "string"},
            "limit": {"type": "integer", "minimum": 1, "default": 5},
        },
        "required": ["action", "text"],
    },
}


class NotesProvider(MemoryProvider):
    """Keeps what it is told in ``notes.db``."""

    name = "notes"

    def __init__(self):
        self.path = None

    def is_available(self):
        return True

    def initialize(self, session_id, **kwargs):
        self.path = Path(kwargs["hermes_home"], "notes.db")
        self.run("CREATE TABLE IF NOT EXISTS notes (text TEXT)")

    def run(self, sql, *values):
        """Run one statement; a connection belongs to one thread, and to be called from several is usual here."""
        connection = sqlite3.connect(self.path, timeout=10)
        try:
            with connection:
                return connection.execute(sql, values).fetchall()
        finally:
            connection.close()

    def add(self, text):
        """Keep a text; half a surrogate is not one."""
        self.run("INSERT INTO notes VALUES (?)", text.encode("utf-8", "replace").decode())

    def find(self, query):
        """The newest notes that hold a word of the query."""
        words = [word.strip("?.!,") for word in query.encode("utf-8", "replace").decode().split()[:20]]
        rows = self.run("SELECT text FROM notes ORDER BY rowid DESC LIMIT 200") if words else []
        return [text for (text,) in rows if any(len(word) > 2 and word in text for word in words)][:5]

    def get_tool_schemas(self):
        return [TOOL]

    def handle_tool_call(self, tool_name, args, **kwargs):
        action, text = args.get("action"), args.get("text")
        if tool_name != "notes" or not isinstance(text, str) or not self.path:
            return json.dumps({"error": "give action and text"})
        if action == "add":
            self.add(text)
        return json.dumps({"found": self.find(text)})

    def system_prompt_block(self):
        return "Notes are kept for you."

    def prefetch(self, query, *, session_id=""):
        return "\n".join(f"- {text}" for text in self.find(query)) if self.path else ""

    def sync_turn(self, user_content, assistant_content, *, session_id="", messages=None):
        self.add(f"{user_content}\n{assistant_content}"[:2000])

    def on_memory_write(self, action, target, content, metadata=None):
        if action == "add":
            self.add(content)

    def get_config_schema(self):
        return [
            {
                "key": "api_key",
                "description": "Key",
                "secret": True,
                "env_var": "NOTES_API_KEY",
                "url": "https://x.test",
            },
            {"key": "mode", "description": "Mode", "default": "plain", "choices": ["plain", "rich"]},
            {"key": "colour", "description": "Colour", "default": "red", "when": {"mode": "rich"}},
        ]

    def save_config(self, values, hermes_home):
        Path(hermes_home, "notes.json").write_text(json.dumps(values))
