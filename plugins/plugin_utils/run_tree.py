# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What the action plug-ins know of a run's tree on the controller."""

from __future__ import annotations

import json
from pathlib import Path

# A point with one of these has run to its end; one that was interrupted, or is not there, is to be run.
FINISHED = ("ok", "failed", "timeout")


def is_finished(folder: Path) -> bool:
    """Whether the point in *folder* was run to its end and fetched.

    A record that cannot be understood (the controller lost power while it was written) counts as none.

    :raises OSError: when its point.json is there but cannot be read.
    """
    try:
        return json.loads((folder / "point.json").read_bytes())["status"] in FINISHED
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return False
