"""Two copies of a folder of archives, compared without a mount and as mounts; and
a database of an archive of many files."""

import statistics
import time

from .collection import copy
from .corpus import make, write
from .peers import Mount, Peer
from .tools import forget, run, say

# Number of archives in each copy, of files in each archive, and of files in a
# directory, and the size of a file in bytes.
ARCHIVES = 248
FILES = 200
WIDTH = 50
SIZE = 16384

# Files of the archive that is written into a database.
INDEXED = 1_000_000

READ = "find . -type f -path '*.d/*' -print0 | xargs -0 cat | wc -c"


def measure(setting):
    """The part of the report about comparisons."""
    archives = 2 if setting.quick else ARCHIVES
    copies = prepare(setting.directory, setting.programs, archives)
    indexed = 1_000 if setting.quick else INDEXED
    listed = prepare_indexed(setting.directory, setting.programs, indexed)
    mount = Peer("hpimount", copies[0].parent, setting.hpimount())
    only = Peer("hpimount", copies[0], setting.hpimount())
    measured = {}
    for number in range(setting.rounds):
        say(f"round {number + 1} of {setting.rounds}: a comparison")

        def cold(title, command, directory=None):
            for path in [*copies, listed]:
                forget(path)
            measured.setdefault(title, []).append(timed(command, directory))

        cold("`hpi diff` of the two folders", [setting.programs / "hpi", "diff", *copies])
        with Mount(mount, setting.point) as mounted:
            names = [path.name for path in copies]
            cold("`diff -rq` of the two folders in a mount", ["diff", "-rq", *names], mounted.root)
        with Mount(only, setting.point) as mounted:
            cold("reading all files of one of them in a mount", READ, mounted.root)
        database = setting.directory / "index.sqlite"
        database.unlink(missing_ok=True)
        cold(f"`hpi index` of an archive of {indexed:,} files", [setting.programs / "hpi", "index", database, listed])
    lines = ["| | s |", "|---|--:|"]
    lines += [f"| {title} | {statistics.median(seconds):.2f} |" for title, seconds in measured.items()]
    return (
        f"## A comparison\n\nTwo copies of {archives} archives with {FILES} files of {SIZE // 1024} KiB each, "
        "on a cold cache. The copies are equal, so that all bytes have to be compared: `hpi diff` compares the packed "
        "bytes of the archives, `diff` the archives and their contents.\n\n" + "\n".join(lines) + "\n"
    )


def timed(command, directory):
    """The seconds that a command takes, which must find no differences."""
    begun = time.perf_counter()
    run(command, cwd=directory)
    return time.perf_counter() - begun


def prepare(directory, programs, archives):
    """Creates the two copies."""
    one = directory / "compared.hpi"
    shape = ["shape", f"--files={FILES}", f"--width={WIDTH}", f"--size={SIZE}"]
    make(one, lambda out: [programs / "examples" / "corpus", *shape, out])
    names = [f"pack{number:03}" for number in range(archives)]
    both = directory / f"compared-{archives}"
    both.mkdir(exist_ok=True)
    copies = [both / "old", both / "new"]
    for path in copies:
        write(path, lambda out: copy(one, out, names))
    return copies


def prepare_indexed(directory, programs, files):
    """Creates the archive of many files."""
    archive = directory / f"indexed-{files}.hpi"
    make(archive, lambda out: [programs / "examples" / "corpus", "shape", f"--files={files}", "--width=1000", out])
    return archive
