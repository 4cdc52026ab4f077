"""A disc that is edited while it is mounted: how soon the disc has what was saved,
beside writing the changed disc."""

import os
import shutil
import statistics
import subprocess
import time

from .changed import DISC, FILE, sparse_disc
from .peers import Mount, Peer

# Heading in the report.
HEADING = "## Edited discs"

# Number of saves, and of files that were changed before.
SAVES = 100
CHANGED = 250

# Size of a saved file in bytes.
SAVED = 100_000


def measure(directory, programs, point, quick):
    """The part of the report about mounts that are edited."""
    scale = 50 if quick else 1
    disc = sparse_disc(directory, DISC // scale)
    folder = directory / "edits"
    shutil.rmtree(folder, ignore_errors=True)
    command = f"{programs / 'hpimount'} --edit {folder} {{archive}} {{point}}"
    with Mount(Peer("hpimount", disc, command), point) as mounted:
        names = sorted(os.listdir(mounted.root / "files"))
        for name in names[: CHANGED // scale]:
            (mounted.root / "files" / name).write_bytes(bytes(SAVED))
        saves, discs = zip(*(save(mounted.root, names[number % len(names)]) for number in range(SAVES // scale)))
    result = directory / "edited.gcm"
    begun = time.perf_counter()
    subprocess.run([programs / "hpi", "apply", "--quiet", "--force", folder, disc, result], check=True)
    written = time.perf_counter() - begun
    result.unlink()
    edits = len(os.listdir(folder / "files"))
    lines = [
        f"| closing a saved file, ms: median, 95 % | {figures(saves)} |",
        f"| from closing it to the first bytes of the new `disc.iso`, ms: median, 95 % | {figures(discs)} |",
        f"| `hpi apply` of the same folder, relative to that | {written / statistics.median(discs):.0f} |",
    ]
    title = f"A disc of {disc.stat().st_size / 1e9:.2g} GB with files of {FILE >> 20} MiB, of which {edits} are edited; {len(saves)} saves."
    return f"{HEADING}\n\n{title}\n\n| | |\n|---|--:|\n" + "\n".join(lines) + "\n"


def save(root, name):
    """The times of saving a file, and of reading the disc after that, in seconds."""
    file = open(root / "files" / name, "wb", buffering=0)
    file.write(os.urandom(SAVED))
    begun = time.perf_counter()
    file.close()
    closed = time.perf_counter()
    with open(root / "disc.iso", "rb", buffering=0) as disc:
        disc.read(2048)
    return closed - begun, time.perf_counter() - closed


def figures(seconds):
    """The median and the 95th percentile in milliseconds."""
    ordered = sorted(seconds)
    last = ordered[min(len(ordered) - 1, len(ordered) * 95 // 100)]
    return f"{statistics.median(seconds) * 1000:.1f}, {last * 1000:.1f}"
