"""A folder of many archives, read through the directories beside them, and the
same files unpacked."""

import shutil
import statistics
import time

from .corpus import make
from .peers import Mount, Peer
from .rows import NEEDLE
from .tools import Unmeasured, forget, run, say

# Number of archives, and of files in each.
ARCHIVES = 500
FILES = 1_400

# Number of files in a directory, and size of a file in bytes.
WIDTH = 70
SIZE = 256

FIND = "find . -type f -path '*.d/*' | wc -l"
GREP = f"grep -rF {NEEDLE} --include='*.txt' . | wc -l"


def measure(directory, programs, point, rounds, quick):
    """The part of the report about collections."""
    archives = 2 if quick else ARCHIVES
    packed, unpacked = prepare(directory, programs, point, archives)
    peers = {
        "hpimount": Peer("hpimount", packed, f"{programs / 'hpimount'} {{archive}} {{point}}"),
        "unpacked, on ext4 or what the machine has": Peer("unpacked", unpacked, "mount --bind {archive} {point}"),
    }
    values = {}
    for number in range(rounds):
        for title, peer in peers.items():
            say(f"round {number + 1} of {rounds}: collection: {title}")
            for row, value in walk(peer, point, archives * FILES).items():
                values.setdefault(row, {}).setdefault(title, []).append(value)
    lines = ["| | " + " | ".join(peers) + " |", "|---|" + "--:|" * len(peers)]
    for row, measured in values.items():
        cells = [f"{statistics.median(measured[title]):.2f}" if title in measured else "-" for title in peers]
        lines.append(f"| {row} | " + " | ".join(cells) + " |")
    return (
        f"### A folder of archives\n\n{archives} archives of {FILES:,} files of {SIZE} bytes, {archives * FILES:,} files in"
        " all, found and read through `X.d`. The folder is mounted with the default budget of 64 MiB; the"
        " archives, and in the second and third line the unpacked files, are in the page cache.\n\n"
        + "\n".join(lines)
        + "\n"
    )


def walk(peer, point, files):
    """Finds and reads all files twice; returns the seconds and the peak memory."""
    found = {}
    if peer.name == "unpacked":
        forget(peer.archive)
    with Mount(peer, point) as mount:
        if peer.name != "unpacked":
            forget(peer.archive)
        for row, command, expected in [
            ("`find` of all files, s", FIND, files),
            ("`grep -rF` of all files, s", GREP, 0),
            ("`grep -rF` again, s", GREP, 0),
        ]:
            seconds, lines = timed(mount, command)
            if lines != expected:
                raise Unmeasured(f"{command} found {lines} instead of {expected}")
            found[row] = seconds
    if mount.peak:
        found["peak memory, MiB"] = mount.peak
    return found


def timed(mount, command):
    begun = time.perf_counter()
    lines = int(mount.output(command))
    return time.perf_counter() - begun, lines


def prepare(directory, programs, point, archives):
    """Creates the archives and the unpacked files."""
    packed, unpacked = directory / f"collection-{archives}", directory / f"unpacked-{archives}"
    one = directory / "collection.hpi"
    shape = ["shape", f"--files={FILES}", f"--width={WIDTH}", f"--size={SIZE}"]
    make(one, lambda out: [programs / "examples" / "corpus", *shape, out])
    names = [f"pack{number:03}" for number in range(archives)]
    if not packed.exists():
        packed.mkdir()
        for name in names:
            shutil.copyfile(one, packed / f"{name}.hpi")
    if not unpacked.exists():
        unpacked.mkdir()
        with Mount(Peer("hpimount", one, f"{programs / 'hpimount'} {{archive}} {{point}}"), point) as mount:
            for name in names:
                run(["cp", "-r", mount.root, unpacked / f"{name}.d"])
    return packed, unpacked
