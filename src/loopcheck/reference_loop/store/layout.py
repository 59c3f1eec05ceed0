"""How runs stand in the SQLite file, and how files of earlier formats get there.

Format 2: `runs` has one row a run (its state, its lease), `conversations` what was said in it,
which is long and changes less often than the rest, `calls` one row a call. In format 1, the
conversation was a column of `runs`. The format's number is SQLite's `user_version`;
`application_id` says that the file is ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

FORMAT: Final = 2
APPLICATION_ID: Final = 0x4C6F6F70  # "Loop"

_CONVERSATIONS: Final = """CREATE TABLE conversations (
        run_id TEXT PRIMARY KEY REFERENCES runs (run_id),
        conversation TEXT NOT NULL
    ) STRICT"""

# By the format of the file (0: there is nothing), what makes it one of this format.
STEPS: Final[Mapping[int, tuple[str, ...]]] = {
    0: (
        """CREATE TABLE runs (
            run_id TEXT PRIMARY KEY,
            checkpoint TEXT NOT NULL,
            state TEXT NOT NULL,
            owner TEXT,
            expires REAL NOT NULL
        ) STRICT""",
        _CONVERSATIONS,
        """CREATE TABLE calls (
            run_id TEXT NOT NULL REFERENCES runs (run_id),
            round INTEGER NOT NULL,
            position INTEGER NOT NULL,
            record TEXT NOT NULL,
            PRIMARY KEY (run_id, round, position)
        ) STRICT, WITHOUT ROWID""",
        f"PRAGMA application_id = {APPLICATION_ID}",
        f"PRAGMA user_version = {FORMAT}",
    ),
    1: (
        _CONVERSATIONS,
        "INSERT INTO conversations SELECT run_id, conversation FROM runs",
        "ALTER TABLE runs DROP COLUMN conversation",
        f"PRAGMA user_version = {FORMAT}",
    ),
}
