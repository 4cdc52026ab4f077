"""What the machine allows in the rows of the table: the request alone, and the
decoder alone."""

import contextlib
import os
import statistics
import time

from .locks import requests
from .peers import Mount, Peer
from .rows import RANDOM_READS, mounting
from .tools import forget

# Heading in the report.
HEADING = "## What the machine allows"

# The column of one solid block.
SOLID = "hpimount 7z"

# Names that are looked up to time a request.
NAMES = 20_000

# Size in bytes of what a chunk unpacks to, and of the 12 large files.
CHUNK = 64 << 10
BIG = 12 * (8 << 20)

LISTINGS = {"ls cold": ["ls", "-lR"], "find": ["find", ".", "-type", "f"]}


class Bounds:
    """The bounds of the rows of one column, packed like the column of stored files."""

    def __init__(self, bench, packed, stored, request, start):
        self.bench = bench
        self.packed = packed
        self.stored = stored
        # Seconds that a request takes, and milliseconds that a mount of one file takes.
        self.request = request
        self.start = start

    def rows(self):
        """The rows with their bounds, and what sets these."""
        found = [("mount", self.start, "a mount of one file")]
        for row, command in LISTINGS.items():
            count = self.count(command)
            found.append((row, count * self.request, f"{count:,} requests alone"))
        for row in ["grep cold", "grep four", "copy", "cat all"]:
            found.append((row, self.overlapped(row), "processor time of the row of stored files and of the decoders, on all cores"))
        for row in ["random 1", "random 4"]:
            found.append((row, self.random(row), "the row of stored files, and the decoder for each chunk once"))
        found.append(("check", self.median("decoders"), "the decoders alone"))
        return found

    def median(self, row, peer=None):
        return self.bench.median(peer or self.packed, row)

    def count(self, command):
        """The requests of a command in a cold mount."""
        with Mount(self.packed, self.bench.point) as mount:
            forget(self.packed.archive)
            before = requests(mount)
            mount.output(command)
            return requests(mount) - before

    def overlapped(self, row):
        """Seconds if no core was ever idle."""
        spent = self.median(f"{row} spent", self.stored) + self.median("decoders spent")
        return max(self.median(row, self.stored), self.median("decoders"), spent / os.cpu_count())

    def random(self, row):
        """Reads per second if each chunk was decoded once, on all cores; of a solid block all chunks."""
        decoding = self.median("decoders")
        if self.packed.name != SOLID:
            chunks = sum(path.stat().st_size for path in self.bench.corpus.rglob("*") if path.is_file()) / CHUNK
            decoding *= BIG / CHUNK / chunks
        return RANDOM_READS / (RANDOM_READS / self.median(row, self.stored) + decoding)


def measure(setting, bench, columns, one):
    """The part of the report about bounds; empty if not all columns were measured. `one` is an archive of one file."""
    by_name = {peer.name: peer for peer in columns}
    stored = by_name.get("hpimount stored")
    packed = [by_name[name] for name in ["hpimount zlib", "hpimount LZ77", SOLID] if name in by_name]
    if not stored or not packed:
        return ""
    request = statistics.median(seconds_of_a_request(stored, bench.point) for _ in range(setting.rounds))
    start = statistics.median(mounting(Peer("one", one, stored.mount), bench.point) for _ in range(setting.rounds))
    lines = ["| | " + " | ".join(f"{peer.name} | bound | ratio" for peer in packed) + " | set by |"]
    lines.append("|---|" + "--:|" * 3 * len(packed) + "---|")
    for parts in zip(*(Bounds(bench, peer, stored, request, start).rows() for peer in packed)):
        row = bench.rows[parts[0][0]]
        cells = [cell(bench.median(peer, part[0]), part[1], row.unit) for peer, part in zip(packed, parts)]
        lines.append(f"| {row.title}, {row.unit} | " + " | ".join(cells) + f" | {parts[0][2]} |")
    return (
        f"{HEADING}\n\nThe bound of a row is what the machine takes for the parts that no program can leave out. A request"
        f" that is answered from memory takes {request * 1e6:.1f} µs here (`stat` of a name that does not exist); where a"
        " program reads and the daemon decodes, the bound assumes that no core is ever idle.\n\n"
        + "\n".join(lines)
        + "\n"
    )


def cell(value, bound, unit):
    """A figure, its bound, and how far they are apart."""
    digits = {"s": 3, "ms": 1}.get(unit, 0)
    ratio = bound / value if unit == "IOPS" else value / bound
    return f"{value:.{digits}f} | {bound:.{digits}f} | {ratio:.2f}"


def seconds_of_a_request(peer, point):
    """The time of a request for which nothing is read."""
    with Mount(peer, point) as mount:
        begun = time.perf_counter()
        for number in range(NAMES):
            with contextlib.suppress(FileNotFoundError):
                os.stat(f"{mount.root}/absent{number}")
        return (time.perf_counter() - begun) / NAMES
