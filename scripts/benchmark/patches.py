"""Changes of a disc as a patch: made from the ranges that both share, beside the
search of xdelta3."""

import os
import shutil
import subprocess
import time

from . import discs
from .containers import repeated
from .corpus import write
from .tools import read_all

# Heading in the report.
HEADING = "## Changes as a patch"

# Size of the disc in bytes, of each of its files, and number of changed files.
DISC = 500 << 20
FILE = 4 << 20
CHANGES = 10

# Size in bytes of a changed file: every second one grows.
SIZES = [100_000, FILE + 100_000]


def measure(directory, programs, rounds, quick):
    """The part of the report about patches."""
    disc = noisy_disc(directory, DISC // (50 if quick else 1))
    folder = folder_of_changes(directory, disc)
    result, patch, other = (directory / name for name in ["patched.gcm", "patched.xdelta", "searched.xdelta"])
    hpipack = [programs / "hpipack", "--quiet", "--force", "--apply", folder, disc]
    subprocess.run([*hpipack, result], check=True)
    commands = [("`hpipack --apply DIR DISC OUT.xdelta`", [*hpipack, patch], patch)]
    if shutil.which("xdelta3"):
        search = ["xdelta3", "-e", "-f", "-s", disc, result, other]
        commands.append(("`xdelta3 -e`, of the finished result", search, other))
    differing = different_bytes(disc, result)
    lines = []
    for title, command, out in commands:
        ratio = repeated(rounds, title, lambda: duration(disc, command))
        size = out.stat().st_size
        lines.append(f"| {title} | {ratio:.2f} | {size:,} | {size / differing:.3f} |")
    result.unlink()
    changes = len(os.listdir(folder / "files"))
    title = f"A disc of {disc.stat().st_size >> 20} MiB of noise with {changes} changed files; {differing:,} bytes differ."
    head = "| | time relative to `cat DISC` | bytes of the patch | relative to the bytes that differ |\n|---|--:|--:|--:|"
    return f"{HEADING}\n\n{title}\n\n{head}\n" + "\n".join(lines) + "\n"


def noisy_disc(directory, size):
    """A GameCube disc full of files of noise."""
    disc = directory / "noisy.gcm"
    tree = directory / "noisy"

    def write_tree(out):
        out.mkdir()
        for number in range((size - discs.ALIGNMENT * 2) // FILE):
            (out / f"file{number:03}.bin").write_bytes(os.urandom(FILE))

    if not disc.exists():
        write(tree, write_tree)
    write(disc, lambda out: discs.write_gcm(tree, out))
    shutil.rmtree(tree, ignore_errors=True)
    return disc


def folder_of_changes(directory, disc):
    """A folder with changes of the first files of a disc."""
    folder = directory / "noisy changes"

    def write_changes(out):
        (out / "files").mkdir(parents=True)
        for number in range(min(CHANGES, disc.stat().st_size // FILE - 1)):
            (out / "files" / f"file{number:03}.bin").write_bytes(os.urandom(SIZES[number % 2]))

    write(folder, write_changes)
    return folder


def different_bytes(one, other):
    """The number of bytes of `other` that `one` does not have at the same place."""
    with subprocess.Popen(["cmp", "-l", one, other], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as compared:
        differing = sum(piece.count(b"\n") for piece in iter(lambda: compared.stdout.read(1 << 20), b""))
    return differing + max(0, other.stat().st_size - one.stat().st_size)


def duration(disc, command):
    """The time of a command, divided by that of reading the disc."""
    read_all(disc)
    begun = time.perf_counter()
    subprocess.run(command, check=True)
    needed = time.perf_counter() - begun
    begun = time.perf_counter()
    subprocess.run(["cat", disc], stdout=subprocess.DEVNULL, check=True)
    return needed / (time.perf_counter() - begun)
