"""The JSON Schema of a line of `events.jsonl`, for programs that read it.

``python -m pipeline.engine.watching.events`` writes the published copy, docs/events.schema.json.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["EVENTS", "SCHEMA_FILE", "events_schema", "schema_text"]

SCHEMA_FILE = Path(__file__).resolve().parents[3] / "docs" / "events.schema.json"
"""In a checkout."""


class Event(NamedTuple):
    """What one kind of event tells, and the keys that it has besides those of all."""

    meaning: str
    keys: tuple[str, ...] = ()


EVENTS: dict[str, Event] = {
    "started": Event("A coordinator has begun; the text counts the attempts at this run."),
    "torn": Event("The ledger ended within a line, as after a crash; that line's work is done again."),
    "dropped": Event("A stored result is gone or damaged, and is computed again; the text says why.", ("label",)),
    "handed over": Event("The work takes longer in one process than was foretold, so workers are started."),
    "failed": Event(
        "A task has failed once; whether it is tried again is told by what follows.", ("label", "attempt", "traceback")
    ),
    "draining": Event("A stop was asked: nothing more is started, and running tasks may end."),
    "ended": Event("The coordinator has ended: the text has the state of the run.", ("exit_code",)),
}
"""By kind, in the order in which a run meets them."""

_KEYS: dict[str, dict[str, Any]] = {
    "label": {"type": "string", "description": "The task, in words."},
    "attempt": {"type": "integer", "minimum": 1, "description": "How often the task has been tried by then."},
    "traceback": {"type": "string", "description": "Where it failed and what it printed; empty where there is neither."},
    "exit_code": {"type": "integer", "description": "That of the coordinator; `pipeline explain CODE` says what it means."},
}


def events_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of one line of `events.jsonl`.

    Later versions may add kinds and keys; they change the meaning of none.
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "One line of events.jsonl, version 1",
        "description": "A line that is not JSON was torn by a crash or a full disk: leave it out.",
        "type": "object",
        "required": ["time", "event", "text"],
        "properties": {
            "time": {
                "type": "string",
                "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$",
                "description": "UTC, of the coordinator's machine.",
            },
            "event": {"type": "string", "description": "What happened: one of those below, or one of a later version."},
            "text": {"type": "string", "description": "The same for people."},
            **_KEYS,
        },
        "allOf": [
            {
                "if": {"properties": {"event": {"const": kind}}},
                "then": {"description": event.meaning, "required": list(event.keys)},
            }
            for kind, event in EVENTS.items()
        ],
    }


def schema_text() -> str:
    """Return the text of the file."""
    return json.dumps(events_schema(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8")
