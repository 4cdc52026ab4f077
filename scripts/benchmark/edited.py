"""Archives and discs that are edited while they are mounted: how soon they have what was
saved, beside writing the changed ones."""

import os
import shutil
import statistics
import subprocess
import time

from .changed import DISC, FILE, sparse_disc
from .corpus import prepare
from .peers import Mount, Peer

# Heading in the report.
HEADING = "## Edited archives and discs"

# Number of saves, and of files that were changed before.
SAVES = 100
CHANGED = 250

# Size of a saved file in bytes.
SAVED = 100_000


def measure(setting):
    """The part of the report about mounts that are edited."""
    scale = 50 if setting.quick else 1
    disc = sparse_disc(setting.directory, DISC // scale)
    files = prepare(setting.directory, setting.programs, setting.quick)
    archive = setting.directory / "zlib.hpi"
    cases = [
        (f"disc of {disc.stat().st_size / 1e9:.2g} GB, files of {FILE >> 20} MiB", disc, "files", "disc.iso"),
        (f"HPI of {len(paths(files)):,} files", archive, "", f".hpimount/image/{archive.name}"),
    ]
    lines = [line(title, *edit(setting, source, below, image, scale)) for title, source, below, image in cases]
    head = (
        f"{SAVES // scale} saves with {CHANGED // scale} edited files; times in ms, median and 95 %. `hpi apply` of the same folder is relative to "
        "the time from closing a file to the first bytes of the new archive or disc.\n\n"
        "| | closing a saved file | from closing it to the new bytes | `hpi apply` |\n|---|--:|--:|--:|\n"
    )
    return f"{HEADING}\n\n{head}" + "\n".join(lines) + "\n"


def line(title, saves, images, written):
    """A row of the table."""
    return f"| {title} | {figures(saves)} | {figures(images)} | {written / statistics.median(images):.0f} |"


def paths(root):
    """The paths of the files in a tree, sorted."""
    return sorted(os.path.relpath(os.path.join(parent, name), root) for parent, _, names in os.walk(root) for name in names)


def edit(setting, source, below, image, scale):
    """The times of saving files of a source below a directory of it, and from then on until
    the image has them, and the time of writing the image with all of them; in seconds."""
    folder = setting.directory / "edits"
    shutil.rmtree(folder, ignore_errors=True)
    with Mount(Peer("hpimount", source, setting.hpimount(f"--edit {folder}")), setting.point) as mounted:
        root = mounted.root / below
        names = paths(root)[: 4 * CHANGED]
        names = [name for name in names if not name.startswith(".hpimount")][:: max(1, len(names) // CHANGED)]
        for name in names[: CHANGED // scale]:
            (root / name).write_bytes(bytes(SAVED))
        saves, images = zip(*(save(root / names[number % len(names)], mounted.root / image) for number in range(SAVES // scale)))
    result = setting.directory / f"edited{source.suffix}"
    begun = time.perf_counter()
    subprocess.run([setting.programs / "hpi", "apply", "--quiet", "--force", folder, source, result], check=True)
    written = time.perf_counter() - begun
    result.unlink()
    return saves, images, written


def save(path, image):
    """The times of saving a file, and of reading the image after that, in seconds."""
    file = open(path, "wb", buffering=0)
    file.write(os.urandom(SAVED))
    begun = time.perf_counter()
    file.close()
    closed = time.perf_counter()
    with open(image, "rb", buffering=0) as source:
        source.read(2048)
    return closed - begun, time.perf_counter() - closed


def figures(seconds):
    """The median and the 95th percentile in milliseconds."""
    ordered = sorted(seconds)
    last = ordered[min(len(ordered) - 1, len(ordered) * 95 // 100)]
    return f"{statistics.median(seconds) * 1000:.1f}, {last * 1000:.1f}"
