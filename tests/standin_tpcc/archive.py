"""The stand-in's source archive: the same files make the same bytes, so that its sha256 can be pinned.

``python -m tests.standin_tpcc.archive FOLDER`` writes it into *FOLDER* and prints the sum.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import sys
import tarfile
from pathlib import Path

NAME = "standin-tpcc.tar.gz"
SOURCE = Path(__file__).parent / "source"


def pack() -> bytes:
    """The archive: sorted names, and no times, owners or permissions of this checkout."""
    archive = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=archive, mode="wb", filename="", mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.USTAR_FORMAT) as tar,
    ):
        for path in sorted(SOURCE.rglob("*")):
            if path.is_file():
                member = tarfile.TarInfo(f"standin-tpcc/{path.relative_to(SOURCE)}")
                member.size = path.stat().st_size
                with path.open("rb") as content:
                    tar.addfile(member, content)
    return archive.getvalue()


def write(folder: Path) -> str:
    """Write the archive into *folder*, which is made if it is missing; return its sha256."""
    content = pack()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / NAME).write_bytes(content)
    return hashlib.sha256(content).hexdigest()


if __name__ == "__main__":
    print(write(Path(sys.argv[1])))
