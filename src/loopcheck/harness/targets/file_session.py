"""A session of the OpenAI Agents SDK in a file."""

from __future__ import annotations

import json
from pathlib import Path

from agents import TResponseInputItem
from agents.memory import SessionABC, SessionSettings


class FileSession(SessionABC):
    """The items of one conversation. The SDK's own SQLite session does the same, and waits for
    the disk after each write."""

    session_settings: SessionSettings | None = None

    def __init__(self, session_id: str, file: Path) -> None:
        self.session_id = session_id
        self._file = file

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The items, or the latest of them, oldest first."""
        items = self._kept()
        return items if limit is None else items[max(0, len(items) - limit) :]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Keeps further items."""
        self._keep([*self._kept(), *items])

    async def pop_item(self) -> TResponseInputItem | None:
        """Takes the latest item back."""
        items = self._kept()
        if not items:
            return None
        self._keep(items[:-1])
        return items[-1]

    async def clear_session(self) -> None:
        """Forgets all items."""
        self._keep([])

    def _kept(self) -> list[TResponseInputItem]:
        if not self._file.exists():
            return []
        kept: list[TResponseInputItem] = json.loads(self._file.read_text(encoding="utf-8"))
        return kept

    def _keep(self, items: list[TResponseInputItem]) -> None:
        self._file.write_text(json.dumps(items), encoding="utf-8")
