"""`python -m loopcheck` is the command line."""

from __future__ import annotations

import sys

from loopcheck.harness.cli import main

sys.exit(main())
