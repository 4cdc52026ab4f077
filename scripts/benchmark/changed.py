"""Discs with changes: how soon the mount answers; and the plain image of a
packed disc, read from end to end."""

import contextlib
import os
import shutil
import subprocess
import time

from . import discs
from .containers import repeated, write_text
from .corpus import make, write
from .peers import Mount, Peer
from .rows import mounting
from .tools import forget, read_all

# Heading in the report.
HEADING = "## Discs with changes, and plain discs"

# Size of the disc in bytes, which is that of a GameCube disc, and of its files.
DISC = 1_459_978_240
FILE = 4 << 20

# Number of changed files. Every second one is longer than the original.
CHANGES = 10

# Size in bytes of the packed disc, which is one large file.
PLAIN = 256 << 20


def measure(setting):
    """The part of the report about changed and plain discs."""
    scale = 50 if setting.quick else 1
    hpimount = setting.hpimount()
    disc = sparse_disc(setting.directory, DISC // scale)
    folder = folder_of_changes(setting.directory, disc)
    changes = len(os.listdir(folder / "files"))
    size = f"{DISC // scale / 1e9:.2g} GB"
    lines = []
    for title, command in [
        (f"mount of a disc of {size}, ms", hpimount),
        (f"the same with {changes} changed files, ms", setting.hpimount(f"--apply {folder}")),
    ]:
        peer = Peer("hpimount", disc, command)
        lines.append(f"| {title} | {repeated(setting.rounds, title, lambda: mounting(peer, setting.point)):.1f} |")
    for title, packed in packed_discs(setting.directory, PLAIN // scale):
        ratio = repeated(setting.rounds, f"plain disc of {title}", lambda: plain(Peer("hpimount", packed, hpimount), setting.point))
        lines.append(f"| `cat disc.iso` of {title}: time per byte relative to `cat` of the file in it | {ratio:.2f} |")
    return f"{HEADING}\n\n| | |\n|---|--:|\n" + "\n".join(lines) + "\n"


def sparse_disc(directory, size):
    """A GameCube disc full of files of zeros, which takes no room."""
    return full_disc(directory, "changed", size, lambda path: os.truncate(path, FILE))


def full_disc(directory, name, size, fill):
    """A GameCube disc full of files, which `fill` gives their contents."""
    disc = directory / f"{name}.gcm"
    tree = directory / name

    def write_tree(out):
        out.mkdir()
        for number in range((size - discs.ALIGNMENT * 2) // FILE):
            path = out / f"file{number:03}.bin"
            path.touch()
            fill(path)

    if not disc.exists():
        write(tree, write_tree)
    write(disc, lambda out: discs.write_gcm(tree, out))
    shutil.rmtree(tree, ignore_errors=True)
    return disc


def folder_of_changes(directory, disc):
    """A folder with changes of the first files of a disc."""
    folder = directory / f"changes-of-{disc.stem}"

    def write_changes(out):
        (out / "files").mkdir(parents=True)
        for number in range(min(CHANGES, disc.stat().st_size // FILE - 1)):
            size = 100_000 if number % 2 else FILE + 100_000
            (out / "files" / f"file{number:03}.bin").write_bytes(os.urandom(size))

    write(folder, write_changes)
    return folder


def packed_discs(directory, size):
    """Packed discs with one file of text: titles and paths."""
    found = []
    tree = directory / "plain"
    gcm, iso = directory / "plain.gcm", directory / "plain.iso"

    def write_tree(out):
        out.mkdir()
        write_text(out / "large.txt", size)

    write(tree, write_tree)
    if shutil.which("zstd"):
        rvz = directory / "plain.rvz"
        write(gcm, lambda out: discs.write_gcm(tree, out))
        write(rvz, lambda out: discs.write_rvz(gcm, out))
        found.append(("an RVZ (Zstandard)", rvz))
    make(iso, lambda out: ["xorriso", "-as", "mkisofs", "-quiet", "-o", out, tree])
    if iso.exists():
        cso = directory / "plain.cso"
        write(cso, lambda out: discs.write_cso(iso, out))
        found.append(("a CSO", cso))
        chd = directory / "plain.chd"
        make(chd, lambda out: ["chdman", "createraw", "-hs", "4096", "-us", "2048", "-i", iso, "-o", out])
        if chd.exists():
            found.append(("a CHD", chd))
    return found


def plain(peer, point):
    """The time of reading the plain disc, divided by that of reading the file in
    it, each per byte and in a new mount."""
    times = []
    for name in [None, "disc.iso"]:
        read_all(peer.archive)
        with Mount(peer, point) as mounted:
            path = mounted.root / name if name else next(path for path in mounted.root.rglob("*") if path.name.lower() == "large.txt")
            size = path.stat().st_size
            forget(peer.archive)
            begun = time.perf_counter()
            with contextlib.closing(open(path, "rb", buffering=0)) as file, open(os.devnull, "wb") as null:
                subprocess.run(["cat"], stdin=file, stdout=null, check=True)
            times.append((time.perf_counter() - begun) / size)
    return times[1] / times[0]
