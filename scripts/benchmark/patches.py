"""Changes of a disc as a patch: made from the ranges that both share, beside the
search of xdelta3."""

import os
import shutil
import subprocess
import time

from .changed import FILE, folder_of_changes, full_disc
from .containers import repeated
from .tools import read_all

# Heading in the report.
HEADING = "## Changes as a patch"

# Size of the disc in bytes.
DISC = 500 << 20


def measure(setting):
    """The part of the report about patches."""
    size = DISC // (50 if setting.quick else 1)
    # Noise, so that nothing is found twice.
    disc = full_disc(setting.directory, "noisy", size, lambda path: path.write_bytes(os.urandom(FILE)))
    folder = folder_of_changes(setting.directory, disc)
    result, patch, other = (setting.directory / name for name in ["patched.gcm", "patched.xdelta", "searched.xdelta"])
    apply = [setting.programs / "hpi", "apply", "--quiet", "--force", folder, disc]
    subprocess.run([*apply, result], check=True)
    commands = [("`hpi apply DIR DISC OUT.xdelta`", [*apply, patch], patch)]
    if shutil.which("xdelta3"):
        search = ["xdelta3", "-e", "-f", "-s", disc, result, other]
        commands.append(("`xdelta3 -e`, of the finished result", search, other))
    differing = different_bytes(disc, result)
    lines = []
    for title, command, out in commands:
        ratio = repeated(setting.rounds, title, lambda: duration(disc, command))
        size = out.stat().st_size
        lines.append(f"| {title} | {ratio:.2f} | {size:,} | {size / differing:.3f} |")
    result.unlink()
    changes = len(os.listdir(folder / "files"))
    title = f"A disc of {disc.stat().st_size >> 20} MiB of noise with {changes} changed files; {differing:,} bytes differ."
    head = "| | time relative to `cat DISC` | bytes of the patch | relative to the bytes that differ |\n|---|--:|--:|--:|"
    return f"{HEADING}\n\n{title}\n\n{head}\n" + "\n".join(lines) + "\n"


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
