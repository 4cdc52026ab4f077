"""Scaling with the number of files, their size and so on."""

import dataclasses
import os
import random
import statistics
import time
from collections.abc import Callable

from .corpus import make, mksquashfs
from .peers import SQUASHFS, Mount, Peer
from .rows import random_reads
from .tools import Unmeasured, forget, read_all, say

# Number of lookups for the width of a directory.
LOOKUPS = 500

# Number of chains of directories for the depth of a path.
CHAINS = 100

# Maximum nesting of directories in an archive.
MAX_DEPTH = 64

# Total size of all files for the size of a file, in bytes.
VOLUME = 64 << 20


@dataclasses.dataclass(frozen=True)
class Shape:
    """An archive of `corpus shape`, by its arguments."""

    files: int
    width: int
    depth: int = 1
    size: int = 0

    def small(self):
        """The small variant for a smoke test."""
        return dataclasses.replace(self, files=min(self.files, 100), size=min(self.size, 64 << 10))

    def name(self):
        return f"{self.files}x{self.size}-{self.width}-{self.depth}"

    def arguments(self):
        return [f"--{field}={value}" for field, value in dataclasses.asdict(self).items()]


@dataclasses.dataclass(frozen=True)
class Metric:
    """A column of a curve's table."""

    title: str
    unit: str


MOUNT = Metric("mount", "ms")
LIST = Metric("`ls -lR`", "s")
FIND = Metric("`find`", "s")
MEMORY = Metric("peak memory", "MiB")
ENTRY = Metric("listing an entry", "µs")
LOOKUP = Metric("finding a name", "µs")
STEP = Metric("a directory of a path", "µs")
RATE = Metric("read", "MB/s")
RANDOM = Metric("random 4 KiB", "IOPS")

# Size of the files for readers and cores.
READ = Shape(files=128, width=8, size=1 << 20)


@dataclasses.dataclass
class Curve:
    """Measurements along one quantity."""

    title: str
    # The unit of the points.
    what: str
    points: list[int]
    shape: Callable[[int], Shape]
    # Measures one point in a cold mount; returns its metrics with their values.
    measure: Callable[[Mount, int], dict[Metric, float]]
    # Interpretation of the figures.
    law: str
    methods: tuple[str, ...] = ("zlib",)
    # Highest point at which squashfs is measured as well.
    squashfs_up_to: float = float("inf")
    # Whether a point is a number of bytes.
    bytes: bool = False
    # Number of cores to use at a point.
    processors: Callable[[int], int | None] = lambda point: None

    def label(self, point):
        if not self.bytes:
            return f"{point:,}"
        return f"{point >> 20} MiB" if point >> 20 else f"{point >> 10} KiB"


def walk(mount, _):
    seconds, _ = mount.time(["ls", "-lR"])
    forget(mount.peer.archive)
    found, _ = mount.time(["find", ".", "-type", "f"])
    return {MOUNT: mount.seconds * 1000, LIST: seconds, FIND: found, MEMORY: mount.peak_memory()}


def wide(mount, width):
    directory = mount.root / "dir00000"
    numbers = random.Random(width).choices(range(width), k=LOOKUPS)
    paths = [f"{directory}/file{number:06}.txt" for number in numbers]
    begun = time.perf_counter()
    for path in paths:
        os.stat(path)
    looked_up = time.perf_counter() - begun
    forget(mount.peer.archive)
    begun = time.perf_counter()
    listed = sum(bool(entry.stat().st_mode) for entry in os.scandir(directory))
    seconds = time.perf_counter() - begun
    if listed != width:
        raise Unmeasured(f"{listed} of {width} entries are listed")
    return {LOOKUP: looked_up / len(set(paths)) * 1e6, ENTRY: seconds / width * 1e6}


def deep(mount, depth):
    inner = "inner/" * (depth - 1)
    paths = [f"{mount.root}/dir{chain:05}/{inner}file000000.txt" for chain in range(CHAINS)]
    begun = time.perf_counter()
    for path in paths:
        os.stat(path)
    return {STEP: (time.perf_counter() - begun) / (CHAINS * (depth + 1)) * 1e6}


def sized(mount, _):
    # In batches, so that process startup is not what is measured.
    return {RATE: read_by(mount, 1, batch=1000)}


def shared(mount, readers):
    rate = read_by(mount, readers, batch=1)
    forget(mount.peer.archive)
    return {RATE: rate, RANDOM: read_at_random(mount, readers)}


def limited(mount, _):
    return shared(mount, 4)


def read_by(mount, readers, batch):
    """MB/s at which `readers` processes together read all files, each process
    `batch` files."""
    files = f"find . -type f -print0 | xargs -0 -P {readers} -n {batch} cat | wc -c"
    begun = time.perf_counter()
    bytes_read = int(mount.output(files))
    return bytes_read / (time.perf_counter() - begun) / 1e6


def read_at_random(mount, readers):
    files = sorted(str(path.relative_to(mount.root)) for path in mount.root.rglob("file*"))
    return random_reads(mount, files, readers)


CURVES = [
    Curve(
        "Number of files",
        "files",
        [1_000, 10_000, 100_000, 1_000_000],
        lambda files: Shape(files, width=100),
        walk,
        "At most proportional. The list of files is read once, when mounting, and kept in about 120 bytes per file; the programs that walk the tree take the rest of the time.",
        squashfs_up_to=100_000,
    ),
    Curve(
        "Width of a directory",
        "files in it",
        [100, 1_000, 10_000, 100_000],
        lambda width: Shape(width, width),
        wide,
        "A name is found by binary search, which takes little time compared with the request itself: flat, and so is listing an entry.",
    ),
    Curve(
        "Depth of a path",
        "directories",
        [1, 4, 16, MAX_DEPTH],
        lambda depth: Shape(CHAINS, 1, depth),
        deep,
        "Flat: each directory of a path is one request at any depth. The cost of the first request is shared by fewer directories in short paths.",
    ),
    Curve(
        "Size of a file",
        "bytes",
        [4 << 10, 64 << 10, 1 << 20, 8 << 20, 64 << 20],
        lambda size: Shape(VOLUME // size, width=64, size=size),
        sized,
        "Below the 64 KiB of a chunk, each file takes its own requests; above it there is no trend.",
        methods=("zlib", "lz77"),
        bytes=True,
    ),
    Curve(
        "Number of readers",
        "readers",
        [1, 2, 4, 8, 16, 32, 64],
        lambda _: READ,
        shared,
        "Files read whole: flat from slightly more readers than cores on; further readers wait for each other without reducing the total. Random reads are fastest with as many readers as cores; with 64 readers half of that rate remains, and less than half for squashfs.",
    ),
    Curve(
        "Cores",
        "cores",
        [1 << power for power in range((os.cpu_count() or 1).bit_length())],
        lambda _: READ,
        limited,
        "Readers and mount share the cores; with another core both run at the same time. The kernel's squashfs may be built to decode on one core only.",
        processors=lambda cores: cores,
    ),
]


class Measured:
    """A curve and the values of its points."""

    def __init__(self, curve, quick):
        self.curve = curve
        self.points = curve.points[:1] if quick else curve.points
        self.values = {}

    def note(self, point, peer, values):
        for metric, value in values.items():
            if value is not None:
                self.values.setdefault((point, peer.name, metric), []).append(value)

    def columns(self):
        """Pairs of a peer's name and a metric, peers of a metric together."""
        pairs = dict.fromkeys((name, metric) for _, name, metric in self.values)
        metrics = list(dict.fromkeys(metric for _, metric in pairs))
        return sorted(pairs, key=lambda pair: metrics.index(pair[1]))

    def median(self, point, name, metric):
        values = self.values.get((point, name, metric))
        return statistics.median(values) if values else None


def measure(setting):
    """All curves, in several rounds; with `quick`, one point of each."""
    setting.directory.mkdir(parents=True, exist_ok=True)
    curves = [Measured(curve, setting.quick) for curve in CURVES]
    for number in range(setting.rounds):
        for measured in curves:
            for place in measured.points:
                shape = measured.curve.shape(place)
                shape = shape.small() if setting.quick else shape
                for peer in peers_at(measured.curve, place, shape, setting.directory, setting.programs, setting.point):
                    say(f"round {number + 1} of {setting.rounds}: {measured.curve.title} {place}: {peer.name}")
                    measured.note(place, peer, measure_point(measured.curve, place, peer, setting.point))
    return curves


def measure_point(curve, place, peer, point):
    """One point of a curve, in a new mount and on the given cores."""
    every = os.sched_getaffinity(0)
    some = curve.processors(place)
    # The daemon and the readers inherit this.
    os.sched_setaffinity(0, sorted(every)[:some])
    try:
        read_all(peer.archive)
        with Mount(peer, point) as mount:
            forget(peer.archive)
            return curve.measure(mount, place)
    finally:
        os.sched_setaffinity(0, every)


def peers_at(curve, place, shape, directory, programs, point):
    """squashfs and hpimount with archives of the shape at a point."""
    mounts = []
    for method in curve.methods:
        archive = directory / f"{shape.name()}-{method}.hpi"
        command = [programs / "examples" / "corpus", "shape"]
        make(archive, lambda out: [*command, out, *shape.arguments(), f"--method={method}"])
        title = {"zlib": "hpimount", "lz77": "hpimount LZ77"}[method]
        mounts.append(Peer(title, archive, f"{programs / 'hpimount'} {{archive}} {{point}}"))
    if place > curve.squashfs_up_to:
        return mounts
    squashfs = directory / f"{shape.name()}.squashfs"
    if not squashfs.exists():
        # From a mount of the same files, so that they need not be unpacked.
        with Mount(mounts[0], point) as mount:
            make(squashfs, lambda out: mksquashfs(mount.root, out))
    kernel = Peer("squashfs", squashfs, SQUASHFS)
    return [*mounts, kernel] if kernel.is_possible() else mounts
