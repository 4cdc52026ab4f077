"""A tree shaped like the files of a game, and its measurements."""

import os
import random
import shutil
import tempfile

from .corpus import prepare_game
from .peers import EROFS, SQUASHFS, Peer
from .report import table
from .rows import EVERY_FILE, NEEDLE, Bench, Row, random_reads
from .tools import run

# Heading in the report.
HEADING = "## A tree shaped like a game"

ROWS = {
    "search": Row("`rg` for a word, cold", "s"),
    "tar": Row("`tar c .` into `sha256sum`, cold", "s"),
    "diff": Row("`diff -rq` with the files, cold", "s"),
    "heads": Row("first 4 KiB of every file, by four processes, cold", "s"),
    "random": Row("random 4 KiB reads, 4 jobs", "IOPS"),
    "copy": Row("`cp -r` out, cold", "s"),
    "case": Row("5,000 paths in another case, cold", "s"),
    "rss": Row("peak memory of the daemon, over all rows", "MiB"),
}

# Paths that are looked up in another case.
PATHS = 5000

# Number of large files for random reads.
LARGEST = 100


class GameBench(Bench):
    """Measurements of the tree of a game."""

    rows = ROWS

    def __init__(self, corpus, point):
        super().__init__(corpus, point)
        files = [path.relative_to(corpus) for path in corpus.rglob("*") if path.is_file()]
        files.sort(key=lambda path: (-(corpus / path).stat().st_size, path))
        self.largest = [str(path) for path in files[:LARGEST]]
        self.paths = random.Random(1).choices(files, k=PATHS)

    def steps(self):
        return [self.search, self.tar, self.diff, self.heads, self.random, self.copy, self.case], []

    def time(self, peer, row, command):
        """Records the time of a command in a cold mount."""
        with self.cold(peer) as mount:
            seconds, lines = mount.time(command)
            self.note(peer, row, seconds)
        return lines

    def search(self, peer):
        if shutil.which("rg"):
            lines = self.time(peer, "search", ["rg", "-uuu", "-F", "-j", str(os.cpu_count()), NEEDLE, "."])
            self.expect("rg", lines, self.hits)

    def tar(self, peer):
        self.time(peer, "tar", "tar cf - . | sha256sum")

    def diff(self, peer):
        self.expect("diff", self.time(peer, "diff", ["diff", "-rq", ".", self.corpus]), 0)

    def heads(self, peer):
        self.time(peer, "heads", f"{EVERY_FILE} head -q -c 4096 >/dev/null")

    def random(self, peer):
        if shutil.which("fio"):
            with self.cold(peer) as mount:
                self.note(peer, "random", random_reads(mount, self.largest, 4))

    def case(self, peer):
        if not peer.is_ours():
            return
        with self.cold(peer) as mount, tempfile.NamedTemporaryFile() as names:
            names.write(b"\0".join(str(path).swapcase().encode() for path in self.paths))
            names.flush()
            seconds, lines = mount.time(["xargs", "-0", "-a", names.name, "stat", "-c", "%s"])
            self.expect("stat", lines, PATHS)
            self.note(peer, "case", seconds)


def measure(setting):
    """The part of the report about the tree of a game."""
    game = prepare_game(setting.directory, setting.programs, setting.quick)
    hpimount = setting.hpimount()
    candidates = [
        Peer("squashfs", setting.directory / "game.squashfs", SQUASHFS),
        Peer("hpimount zlib", setting.directory / "game-zlib.hpi", hpimount),
        Peer("hpimount LZ77", setting.directory / "game-lz77.hpi", hpimount),
        Peer("hpimount stored", setting.directory / "game-stored.hpi", hpimount),
        Peer("erofs lz4hc", setting.directory / "game.erofs", EROFS),
    ]
    peers = [peer for peer in candidates if peer.is_possible()]
    if setting.only:
        peers = [peer for peer in peers if peer.name in setting.only]
    bench = GameBench(game, setting.point)
    bench.run(peers, setting.rounds)
    size = int(run(["du", "-sb", game]).stdout.split()[0]) / 2**20
    return f"""{HEADING}

{bench.files:,} files, {size:.0f} MiB, in the directories of Total Annihilation and of about the same sizes (`cargo run --example corpus -- game`).

{table(bench, peers)}"""
