"""A folder of many archives, read through the directories beside them, and the
same files unpacked."""

import shutil
import statistics
import time

from .corpus import make, write
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


def measure(setting):
    """The part of the report about collections."""
    archives = 2 if setting.quick else ARCHIVES
    packed, unpacked = prepare(setting.directory, setting.programs, setting.point, archives)
    peer = Peer("hpimount", packed, setting.hpimount())
    titles = ["hpimount", "unpacked"]
    values = {}
    for number in range(setting.rounds):
        say(f"round {number + 1} of {setting.rounds}: a folder of archives")
        with Mount(peer, setting.point) as mount:
            forget(packed)
            found = walk(mount.root, archives * FILES)
            found["peak memory, MiB"] = mount.peak_memory()
        forget(unpacked)
        walked = {"hpimount": found, "unpacked": walk(unpacked, archives * FILES)}
        for title, rows in walked.items():
            for row, value in rows.items():
                values.setdefault(row, {}).setdefault(title, []).append(value)
    lines = ["| | " + " | ".join(titles) + " |", "|---|" + "--:|" * len(titles)]
    for row, measured in values.items():
        cells = [f"{statistics.median(measured[title]):.2f}" if title in measured else "-" for title in titles]
        lines.append(f"| {row} | " + " | ".join(cells) + " |")
    return (
        f"## A folder of archives\n\n{archives} archives of {FILES:,} files of {SIZE} bytes, {archives * FILES:,} files in"
        " all, found and read through `X.d`. The folder is mounted with the default budget of 64 MiB. The"
        " archives and the unpacked files have been read before; a kernel that reclaims idle pages may have"
        " dropped them again, first of all the unpacked files, which take 2.8 GB of the page cache.\n\n"
        + "\n".join(lines)
        + "\n"
    )


def walk(root, files):
    """Finds all files and reads them twice; returns the seconds."""
    found = {}
    for row, command, expected in [
        ("`find` of all files, s", FIND, files),
        ("`grep -rF` of all files, s", GREP, 0),
        ("`grep -rF` again, s", GREP, 0),
    ]:
        begun = time.perf_counter()
        lines = int(run(command, cwd=root).stdout)
        found[row] = time.perf_counter() - begun
        if lines != expected:
            raise Unmeasured(f"{command} found {lines} instead of {expected}")
    return found


def prepare(directory, programs, point, archives):
    """Creates the archives and the unpacked files."""
    packed, unpacked = directory / f"collection-{archives}", directory / f"unpacked-{archives}"
    one = directory / "collection.hpi"
    shape = ["shape", f"--files={FILES}", f"--width={WIDTH}", f"--size={SIZE}"]
    make(one, lambda out: [programs / "examples" / "corpus", *shape, out])
    names = [f"pack{number:03}" for number in range(archives)]
    write(packed, lambda out: copy(one, out, names))
    write(unpacked, lambda out: unpack(Peer("hpimount", one, f"{programs / 'hpimount'} {{archive}} {{point}}"), point, out, names))
    return packed, unpacked


def copy(archive, out, names):
    out.mkdir()
    for name in names:
        shutil.copyfile(archive, out / f"{name}.hpi")


def unpack(peer, point, out, names):
    out.mkdir()
    with Mount(peer, point) as mount:
        for name in names:
            run(["cp", "-r", mount.root, out / f"{name}.d"])
