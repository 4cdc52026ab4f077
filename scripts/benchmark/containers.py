"""Discs and packed archives: their rows of the table compared, random reads in
a large packed file, and mounts of many files."""

import random
import shutil
import statistics
import tempfile
import time

from . import discs
from .corpus import make, seven_zip, write
from .installers import write_installer
from .peers import Mount, Peer
from .rows import mounting, random_reads
from .tools import forget, read_all, run, say

# Heading in the report.
HEADING = "## Discs and packed archives"

# Total size of the large files of the corpus in bytes.
BIG = 12 * (8 << 20)

# Size of the large packed file in bytes, and number of random reads.
MEMBER = 700 << 20
READS = 512

# Files of 1 MiB in the solid 7z and in the installer.
SOLID_FILES = 240

# Entries of an IMG and files of a disc, as in the largest games.
ENTRIES = 16_000
FILES = 20_000

# Extensions of the files in these, mostly known ones.
EXTENSIONS = ["dff", "txd", "ifp", "bin", "dat"]

# Number of files in a directory of a disc.
WIDTH = 100


def measure(setting, bench):
    """The part of the report about containers; `bench` is that of the table."""
    hpimount = setting.hpimount()
    scale = 100 if setting.quick else 1
    lines = compared(bench)
    if shutil.which("zip") and shutil.which("fio"):
        member = packed_member(setting.directory, MEMBER // scale)
        rate = repeated(setting.rounds, "random reads", lambda: read_member(Peer("hpimount", member, hpimount), setting.point))
        lines.append(f"| random 4 KiB reads in a file of {MEMBER // scale >> 20} MiB, deflated in a zip, after a first pass, IOPS | {rate:.0f} |")
    if shutil.which("7z"):
        solid = solid_block(setting.directory, SOLID_FILES // scale)
        if solid.exists():
            ratio = repeated(setting.rounds, "copy of a solid 7z", lambda: copy_solid(Peer("hpimount", solid, hpimount), setting.point))
            rate = repeated(setting.rounds, "random reads of a solid 7z", lambda: read_solid(Peer("hpimount", solid, hpimount), setting.point))
            lines.append(f"| random 4 KiB reads in a solid 7z of {SOLID_FILES // scale} files of 1 MiB, after a first pass, IOPS | {rate:.0f} |")
            lines.append(f"| `cp -r` of a solid 7z of {SOLID_FILES // scale} files of 1 MiB: time relative to `7z x` | {ratio:.2f} |")
    if shutil.which("innoextract"):
        installer = Peer("hpimount", solid_installer(setting.directory, SOLID_FILES // scale), hpimount)
        ratio = repeated(setting.rounds, "copy of an installer", lambda: copy_solid(installer, setting.point))
        lines.append(f"| `cp -r` of a solid installer of {SOLID_FILES // scale} files of 1 MiB: time relative to `innoextract` | {ratio:.2f} |")
    for title, archive in many(setting.directory, ENTRIES // scale, FILES // scale):
        peer = Peer("hpimount", archive, hpimount)
        lines.append(f"| mount of {title}, ms | {repeated(setting.rounds, title, lambda: mounting(peer, setting.point)):.1f} |")
    return f"{HEADING}\n\n| | |\n|---|--:|\n" + "\n".join(lines) + "\n"


def compared(bench):
    """Rows that are derived from the main table."""

    def cold(name):
        values = bench.values.get((f"hpimount {name}", "cat cold")) or bench.values.get((name, "cat cold"))
        return values and statistics.median(values)

    lines = []
    what = "`cat` of 12 files of 8 MiB, cold"
    if cold("zip") and cold("squashfs"):
        lines.append(f"| {what}, from a zip: time relative to squashfs | {cold('zip') / cold('squashfs'):.2f} |")
    for disc in ["ISO", "IMG"]:
        if cold(disc) and cold("stored"):
            lines.append(f"| {what}, from an {disc}: speed relative to a stored HPI | {cold('stored') / cold(disc):.2f} |")
    if cold("RVZ"):
        lines.append(f"| {what}, from an RVZ (Zstandard), MB/s | {BIG / cold('RVZ') / 1e6:.0f} |")
    return lines


def repeated(rounds, title, measured):
    """The median of several measurements."""
    values = []
    for number in range(rounds):
        say(f"round {number + 1} of {rounds}: {title}")
        values.append(measured())
    return statistics.median(values)


def packed_member(directory, size):
    """A zip of one file of text."""
    archive = directory / "member.zip"
    text = directory / "member.txt"
    if not archive.exists():
        write(text, lambda out: write_text(out, size))
    make(archive, lambda out: ["zip", "-qj", out, text])
    text.unlink(missing_ok=True)
    return archive


def write_text(out, size):
    """Writes lines of words and numbers, which deflate to a third."""
    chosen = random.Random(1)
    words = [bytes(chosen.choices(b"abcdefghijklmnopqrstuvwxyz", k=chosen.randint(2, 9))) for _ in range(2000)]
    lines = [b" ".join(chosen.choices(words, k=8)) + b" %d\n" % chosen.getrandbits(40) for _ in range(50_000)]
    with open(out, "wb") as file:
        while file.tell() < size:
            file.write(b"".join(chosen.choices(lines, k=10_000)))
        file.truncate(size)


def read_member(peer, point):
    read_all(peer.archive)
    with Mount(peer, point) as mount:
        read_all(mount.root / "member.txt")
        forget(peer.archive)
        return random_reads(mount, ["member.txt"], 1, READS)


def read_solid(peer, point):
    read_all(peer.archive)
    with Mount(peer, point) as mount:
        read_all(mount.root)
        forget(peer.archive)
        files = sorted(path.name for path in mount.root.glob("text*.txt"))
        return random_reads(mount, files, 1, READS)


def solid_block(directory, count):
    """A 7z with files of text in one block, as 7-Zip packs it without options."""
    archive = directory / "solid.7z"
    tree = directory / "solid"
    if not archive.exists():
        write(tree, lambda out: write_texts(out, count))
    make(archive, seven_zip, cwd=tree if tree.exists() else None)
    shutil.rmtree(tree, ignore_errors=True)
    return archive


def solid_installer(directory, count):
    """An installer with files of text in one chunk."""
    installer, tree = directory / "setup.exe", directory / "installed"
    if not installer.exists():
        write(tree, lambda out: write_texts(out, count))
        write(installer, lambda out: write_installer(sorted(tree.iterdir()), out))
    shutil.rmtree(tree, ignore_errors=True)
    return installer


def write_texts(out, count):
    """Writes files of 1 MiB."""
    out.mkdir()
    whole = out / "whole"
    write_text(whole, count << 20)
    with open(whole, "rb") as text:
        for number in range(count):
            (out / f"text{number:03}.txt").write_bytes(text.read(1 << 20))
    whole.unlink()


def copy_solid(peer, point):
    """The time of `cp -r` out of a mount, divided by that of `7z x` or `innoextract`, both into memory."""
    read_all(peer.archive)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as target:
        begun = time.perf_counter()
        if peer.archive.suffix == ".exe":
            run(["innoextract", "--silent", "--output-dir", f"{target}/extracted", peer.archive])
        else:
            run(["7z", "x", "-bso0", "-bsp0", f"-o{target}/extracted", peer.archive])
        extracting = time.perf_counter() - begun
    with Mount(peer, point) as mount, tempfile.TemporaryDirectory(dir="/dev/shm") as target:
        return mount.time(["cp", "-r", ".", target])[0] / extracting


def many(directory, entries, files):
    """Containers of many files: labels and paths."""
    img = directory / "many.img"
    names = [f"model{number:05}.{EXTENSIONS[number % len(EXTENSIONS)]}" for number in range(entries)]
    write(img, lambda out: discs.write_img_file([(name, 40) for name in names], out))
    tree = directory / "many"
    write(tree, lambda out: write_tree(out, files))
    gcm, iso = directory / "many.gcm", directory / "many.iso"
    write(gcm, lambda out: discs.write_gcm(tree, out, 32))
    make(iso, lambda out: ["xorriso", "-as", "mkisofs", "-quiet", "-J", "-o", out, tree])
    found = [(f"an IMG of {entries:,} entries", img), (f"a GameCube disc of {files:,} files", gcm), (f"an ISO of {files:,} files", iso)]
    return [(title, archive) for title, archive in found if archive.exists()]


def write_tree(out, files):
    """Writes files of 40 bytes, WIDTH of them in each directory."""
    for number in range(files):
        directory = out / f"dir{number // WIDTH:03}"
        directory.mkdir(parents=True, exist_ok=True)
        (directory / f"file{number:05}.{EXTENSIONS[number % len(EXTENSIONS)]}").write_bytes(b"%-40d" % number)
