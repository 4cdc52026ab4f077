"""Cost of converting assets through a mount."""

import re
import resource
import statistics
import tempfile
import time
from pathlib import Path

from .corpus import make, write
from .peers import Mount, Peer
from .tools import forget, run, say

# Heading in the report.
HEADING = "## Converted trees"

# Number of entries of the IMG archive.
IMG_ENTRIES = 16_000

# Number of pictures that a file manager shows initially.
SCREEN = 40


class Bench:
    """Converts the assets of the example, through mounts and without one."""

    def __init__(self, directory, programs, point, quick):
        self.example = programs / "examples" / "converted"
        self.program = programs / "hpimount"
        self.point = point
        self.quick = ["--quick"] * quick
        self.assets = directory / "conversions"
        make(self.assets, lambda out: [self.example, "make", out, *self.quick])
        self.plain = directory / "conversions-plain"
        write(self.plain, lambda out: self.write_plain("game", "--converted", ".", out))
        self.plain_img = directory / "conversions-plain-img"
        write(self.plain_img, lambda out: self.write_plain("gta3.img", "", "converted", out))

    def write_plain(self, source, options, root, out):
        """Writes as many files of the same sizes as a converted tree has, all zeros."""
        with self.mount(source, options) as mount:
            root = mount.root / root
            for path in filter(Path.is_file, root.rglob("*")):
                copy = out / path.relative_to(root)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(bytes(path.stat().st_size))

    def mount(self, source, options=""):
        """A new mount of generated files that are in the page cache."""
        source = self.assets / source
        forget(source)
        command = f"{self.program} {options} {{archive}} {{point}}"
        return Mount(Peer("hpimount", source, command), self.point)

    def copy(self, source, root, options=""):
        """Seconds to copy a directory of a mount, and the daemon's processor time."""
        with self.mount(source, options) as mount, tempfile.TemporaryDirectory(dir="/dev/shm") as target:
            seconds, _ = mount.time(["cp", "-r", root, target])
            return seconds, mount.cpu()

    def alone(self, *arguments):
        """Processor time of the conversions in one process, and the number of files and bytes that they produced."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        printed = run([self.example, *arguments]).stdout.decode()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return seconds, *map(int, re.findall(r"\d+", printed))

    def screen(self):
        """Seconds until all previews of a folder are listed with their sizes, and the first are read."""
        with self.mount("models", "--converted") as mount:
            begun = time.perf_counter()
            listed = mount.output(["ls", "-l"]).decode().split("\n")
            previews = sorted(line.split()[-1] for line in listed if line.endswith(".png"))
            for name in previews[:SCREEN]:
                (mount.root / name).read_bytes()
            return time.perf_counter() - begun

    def table(self):
        """Seconds until the table of all units is read."""
        with self.mount("mod", "--converted") as mount:
            begun = time.perf_counter()
            rows = (mount.root / "tables" / "units.tsv").read_bytes().count(b"\n")
            return time.perf_counter() - begun, rows - 1


def measure(setting):
    """The part of the report about converted trees."""
    bench = Bench(setting.directory, setting.programs, setting.point, setting.quick)
    game, game_alone, plain, level, layers, level_alone, img, plain_img, img_alone, screen, table = ([] for _ in range(11))
    for number in range(setting.rounds):
        say(f"round {number + 1} of {setting.rounds}: converted")
        game.append(bench.copy("game", ".", "--converted")[1])
        seconds, files, size = bench.alone("render", bench.assets)
        game_alone.append(seconds)
        plain.append(bench.copy(bench.plain, ".", "--no-meta")[1])
        level.append(bench.copy("level.HIP", "converted")[0])
        layers.append(bench.copy("level.HIP", "layers")[0])
        seconds, level_files, level_size = bench.alone("render-level", *bench.quick)
        level_alone.append(seconds)
        img.append(bench.copy("gta3.img", "converted")[0])
        plain_img.append(bench.copy(bench.plain_img, ".", "--no-meta")[0])
        seconds, img_files, img_size = bench.alone("render-img", *bench.quick)
        img_alone.append(seconds)
        screen.append(bench.screen())
        seconds, rows = bench.table()
        table.append(seconds)
    game, game_alone, plain, level, layers, level_alone, img, plain_img, img_alone, screen, table = map(
        statistics.median, (game, game_alone, plain, level, layers, level_alone, img, plain_img, img_alone, screen, table)
    )
    return f"""{HEADING}

`cp -r` of the converted tree of a game with 170 sprites, 150 pictures and 280 models ({files} files, {size / 2**20:.1f} MiB):

| | s of processor time |
|---|--:|
| the daemon | {game:.2f} ({game / game_alone:.2f}x the conversions, {game / (game_alone + plain):.2f}x the two together) |
| the same conversions in one process, without a mount | {game_alone:.2f} |
| the daemon, for as many plain files of the same sizes in a folder | {plain:.2f} |

A preview is both beside a directory and in it, but the daemon renders it once. It has to convert the files and to answer the requests, so it cannot take less than the last two rows together.

`cp -r` of directories of a HIP archive with 200 textures, 300 sounds and 100 models ({level_files} converted files, {level_size / 2**20:.1f} MiB):

| | s |
|---|--:|
| `converted` | {level:.2f} ({level / (layers + level_alone):.2f}x the two together) |
| `layers` | {layers:.2f} |
| processor time of the same conversions in one process, without a mount | {level_alone:.2f} |

`cp -r` of `converted` of an IMG archive with {IMG_ENTRIES // (100 if setting.quick else 1):,} entries, half of them models and half dictionaries ({img_files} converted files, {img_size / 2**20:.1f} MiB):

| | s |
|---|--:|
| `converted` | {img:.2f} ({img / (img_alone + plain_img):.2f}x the two together) |
| as many plain files of the same sizes in a folder | {plain_img:.2f} |
| processor time of the same conversions in one process, without a mount | {img_alone:.2f} |

Each preview and each GLB is in two places. `cp` reaches the second ones when more than the default `cachesize=` has been converted; the daemon has kept them in its temporary file.

Time until they are available after a new mount:

| | ms |
|---|--:|
| `ls -l` of a folder of 300 models with their previews, and the first {SCREEN} previews | {1000 * screen:.0f} |
| `tables/units.tsv` of {rows:,} units | {1000 * table:.0f} |
"""
