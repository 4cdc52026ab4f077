"""Extracting whole archives, beside unzip, 7z and bsdtar."""

import shutil
import statistics
import tempfile
import time

from .tools import read_all, run, say

# Heading in the report.
HEADING = "## Extracting"

# Commands of other programs that extract an archive into a directory.
OTHERS = {
    "unzip": lambda archive, out: ["unzip", "-q", archive, "-d", out],
    "7z x": lambda archive, out: ["7z", "x", "-bso0", "-bsp0", f"-o{out}", archive],
    "bsdtar x": lambda archive, out: ["bsdtar", "-x", "-f", archive, "-C", out],
}

# The archives, and the programs that read each.
ARCHIVES = {
    "corpus.zip": ["unzip", "7z x", "bsdtar x"],
    "corpus.7z": ["7z x", "bsdtar x"],
    "corpus.iso": ["7z x", "bsdtar x"],
    "corpus.tar.gz": ["bsdtar x"],
    "zlib.hpi": [],
    "lz77.hpi": [],
    "stored.hpi": [],
}


def measure(setting):
    """The part of the report about extracting, into memory."""
    own = {"hpi extract": lambda archive, out: [setting.programs / "hpi", "extract", "--quiet", archive, "-C", out]}
    head = f"| | hpi extract | {' | '.join(OTHERS)} | relative to the fastest |\n|---|--:|{'--:|' * len(OTHERS)}--:|"
    lines = [
        line(setting.directory / name, own | {other: OTHERS[other] for other in others if shutil.which(other.split()[0])}, setting.rounds)
        for name, others in ARCHIVES.items()
        if (setting.directory / name).exists()
    ]
    title = "The files of the first table, from an archive in memory into memory; seconds."
    return f"{HEADING}\n\n{title}\n\n{head}\n" + "\n".join(lines) + "\n"


def line(archive, commands, rounds):
    """The row of an archive: all programs in turn in each round."""
    read_all(archive)
    times = {name: [] for name in commands}
    for number in range(rounds):
        for name, command in commands.items():
            say(f"round {number + 1} of {rounds}: {name} {archive.name}")
            times[name].append(duration(lambda out: command(archive, out)))
    medians = {name: statistics.median(measured) for name, measured in times.items()}
    needed = medians.pop("hpi extract")
    others = [f"{medians[name]:.2f}" if name in medians else "-" for name in OTHERS]
    ratio = f"{needed / min(medians.values()):.2f}" if medians else "-"
    return f"| `{archive.name}` | {needed:.2f} | {' | '.join(others)} | {ratio} |"


def duration(command):
    """The time of a command that extracts into a new directory in memory."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as out:
        begun = time.perf_counter()
        run(command(out))
        return time.perf_counter() - begun
