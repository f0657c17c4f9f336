"""Root file systems and disks that machines start from, made once and kept in a cache.

An image's folder is named after what it is made from: a changed recipe makes a new one, and what no recipe
names any more is removed.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from . import mounts

CACHE = Path(os.environ.get("PERFLAB_LAB_CACHE") or Path.home() / ".cache/perflab/lab")


@dataclass(frozen=True)
class Image:
    """How an image is made: *build* fills an empty folder; *recipe* is all that its content depends on."""

    name: str
    recipe: str
    build: Callable[[Path], None]

    @property
    def path(self) -> Path:
        return CACHE / f"{self.name}-{hashlib.sha256(self.recipe.encode()).hexdigest()[:10]}"


def provide(image: Image) -> Path:
    """Return the image's folder, made now if it is missing; a killed build leaves nothing that counts."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # whoever else wants it waits for this build
        if not image.path.is_dir():
            _make(image)
    return image.path


def _make(image: Image) -> None:
    partial = image.path.with_suffix(".partial")
    # What a killed build left, and what an older recipe made.
    for old in (partial, *CACHE.glob(f"{image.name}-??????????")):
        mounts.remove(old)
    partial.mkdir(mode=0o755)
    print(f"making the image {image.name} (once) ...", flush=True)
    image.build(partial)
    partial.rename(image.path)
