"""The rows of the table and their measurements."""

import contextlib
import dataclasses
import json
import os
import shutil
import statistics
import tempfile
import time
from pathlib import Path

from .peers import Mount, children_cpu
from .tools import TooSlow, Unmeasured, forget, read_all, run, say

# The search term, which is in some texts of the corpus.
NEEDLE = "NEEDLE_zqxj"

# Number of random reads.
RANDOM_READS = 8192

# Runs a command on all files, 64 at a time, in four processes.
EVERY_FILE = "find . -type f -print0 | xargs -0 -P 4 -n 64"


@dataclasses.dataclass
class Row:
    """A row of the table."""

    title: str
    unit: str


ROWS = {
    "mount": Row("mount, until the first `stat` answers", "ms"),
    "ls cold": Row("`ls -lR` cold", "s"),
    "ls warm": Row("`ls -lR` warm", "s"),
    "find": Row("`find` cold", "s"),
    "grep cold": Row("`grep -rF` cold", "s"),
    "grep cpu": Row("CPU time of the daemon meanwhile", "s"),
    "grep ideal": Row("the same, if reading and decoding overlapped completely", "s"),
    "grep warm": Row("`grep -rF` warm", "s"),
    "grep four": Row("four `grep -F` at once, cold", "s"),
    "cat cold": Row("`cat` of 12 files of 8 MiB, cold", "s"),
    "cat warm": Row("`cat` of 12 files of 8 MiB, warm", "s"),
    "random 1": Row("random 4 KiB reads, 1 job", "IOPS"),
    "random 4": Row("random 4 KiB reads, 4 jobs", "IOPS"),
    "copy": Row("`cp -r` out, cold", "s"),
    "cat all": Row("`cat` of all files, cold", "s"),
    "check": Row("`hpi check` instead, the archive in memory", "s"),
    "decoders": Row("the same by the decoders and checksums alone, on all cores (`examples/decoders.rs`)", "s"),
    "rss": Row("peak memory of the daemon, over all rows", "MiB"),
}

# The row with which a step of slow programs begins.
FIRST_ROW = {"mount": "mount", "listing": "ls cold", "grep": "grep cold", "cat": "cat cold"}


class Bench:
    """Measurements of one corpus with all peers."""

    rows = ROWS

    def __init__(self, corpus, point):
        self.corpus = corpus
        self.point = point
        self.files = sum(path.is_file() for path in corpus.rglob("*"))
        self.hits = run(["grep", "-rFl", NEEDLE, corpus]).stdout.count(b"\n")
        self.values = {}
        self.notes = {}
        # Figures above the limit of slow programs.
        self.beyond = set()

    def note(self, peer, row, value):
        if value is not None:
            self.values.setdefault((peer.name, row), []).append(value)

    def timed(self, peer, mount, row, command):
        """Measures a command, and returns its output lines."""
        seconds, lines = mount.time(command)
        self.note(peer, row, seconds)
        self.note(peer, f"{row} spent", mount.spent)
        return lines

    @contextlib.contextmanager
    def cold(self, peer):
        with Mount(peer, self.point) as mount:
            forget(peer.archive)
            yield mount
        self.note(peer, "rss", mount.peak)

    def expect(self, what, found, wanted):
        if found != wanted:
            raise Unmeasured(f"{what} found {found} instead of {wanted}")

    def mount(self, peer):
        self.note(peer, "mount", mounting(peer, self.point))

    def listing(self, peer):
        with self.cold(peer) as mount:
            for row in ["ls cold", "ls warm"]:
                self.note(peer, row, mount.time(["ls", "-lR"])[0])
        with self.cold(peer) as mount:
            seconds, lines = mount.time(["find", ".", "-type", "f"])
            self.expect("find", lines, self.files)
            self.note(peer, "find", seconds)

    def grep(self, peer):
        with self.cold(peer) as mount:
            before = mount.cpu()
            for row in ["grep cold", "grep warm"]:
                lines = self.timed(peer, mount, row, ["grep", "-raF" if peer.padded else "-rF", NEEDLE])
                self.expect("grep", lines, self.hits)
                if row == "grep cold" and before is not None:
                    self.note(peer, "grep cpu", mount.cpu() - before)

    def four_greps(self, peer):
        with self.cold(peer) as mount:
            command = f"{EVERY_FILE} grep {'-aF' if peer.padded else '-F'} {NEEDLE}"
            lines = self.timed(peer, mount, "grep four", command)
            self.expect("four greps", lines, self.hits)

    def cat(self, peer):
        files = self.big_files(peer)
        with self.cold(peer) as mount:
            for row in ["cat cold", "cat warm"]:
                self.note(peer, row, mount.time(f"cat {' '.join(files)} >/dev/null")[0])

    def random(self, peer):
        if not shutil.which("fio"):
            return
        files = self.big_files(peer)
        for jobs in [1, 4]:
            with self.cold(peer) as mount:
                self.note(peer, f"random {jobs}", random_reads(mount, files, jobs))

    def copy(self, peer):
        with self.cold(peer) as mount, tempfile.TemporaryDirectory(dir="/dev/shm") as target:
            self.timed(peer, mount, "copy", ["cp", "-r", ".", target])

    def check(self, peer):
        with self.cold(peer) as mount:
            self.timed(peer, mount, "cat all", "find . -type f -print0 | xargs -0 cat >/dev/null")
        if peer.is_ours():
            read_all(peer.archive)
            begun = time.perf_counter()
            run([Path(peer.program()).with_name("hpi"), "check", "-q", peer.archive])
            self.note(peer, "check", time.perf_counter() - begun)
            decoders = Path(peer.program()).parent / "examples" / "decoders"
            if decoders.exists():
                before = children_cpu()
                self.note(peer, "decoders", float(run([decoders, peer.archive]).stdout))
                self.note(peer, "decoders spent", children_cpu() - before)

    def big_files(self, peer):
        """The large files, sorted by name."""
        with Mount(peer, self.point) as mount:
            found = mount.root.rglob("*big[0-9][0-9].*")
            return sorted(str(path.relative_to(mount.root)) for path in found)

    def steps(self):
        """The measurements of a round, and which of them apply to slow programs."""
        slow_steps = [self.mount, self.listing, self.grep, self.cat]
        return slow_steps[:3] + [self.four_greps, self.cat, self.random, self.copy, self.check], slow_steps

    def run(self, peers, rounds):
        steps, slow_steps = self.steps()
        for number in range(rounds):
            for step in steps:
                # Rotate the order, so that no program always comes first or after the same one.
                turn = number % len(peers)
                for peer in peers[turn:] + peers[:turn]:
                    if peer.name in self.notes or peer.slow and (number or step not in slow_steps):
                        continue
                    say(f"round {number + 1} of {rounds}: {step.__name__}: {peer.name}")
                    try:
                        step(peer)
                    except TooSlow:
                        if not peer.slow:
                            raise
                        self.beyond.add((peer.name, FIRST_ROW[step.__name__]))
                    except Unmeasured as problem:
                        # Do not measure a slow one further.
                        self.notes[peer.name] = f"{step.__name__}: {problem}"
                        if not peer.slow:
                            raise

    def note_ideal(self, stored, packed):
        """Notes the time that `grep` would take if the reader and the decoder shared the cores without waiting for each
        other: the archive with stored files gives the time of the reader, the daemon's CPU time that of decoding."""
        reader, served = self.median(stored, "grep cold"), self.median(stored, "grep cpu")
        for peer in packed:
            cpu = self.median(peer, "grep cpu")
            if None not in (reader, served, cpu):
                self.note(peer, "grep ideal", max(reader, (reader + cpu - served) / os.cpu_count()))

    def median(self, peer, row):
        values = self.values.get((peer.name, row))
        if not values:
            return None
        # Memory is the maximum over all rows.
        return max(values) if row == "rss" else statistics.median(values)


def mounting(peer, point):
    """Milliseconds of the second of two mounts; the first one loads the program into memory."""
    read_all(peer.archive)
    for _ in range(2):
        with Mount(peer, point) as mount:
            pass
    return mount.seconds * 1000


def random_reads(mount, files, jobs, reads=RANDOM_READS):
    """Reads of 4 KiB per second, measured with fio."""
    command = ["fio", "--name=random", "--rw=randread", "--bs=4k", "--ioengine=psync"]
    command += ["--readonly", "--allow_file_create=0", "--output-format=json"]
    command += [f"--numjobs={jobs}", f"--io_size={4 * reads // jobs}k", "--group_reporting"]
    command += [f"--filename={':'.join(files)}", "--file_service_type=random"]
    report = json.loads(run(command, cwd=mount.root).stdout)
    return report["jobs"][0]["read"]["iops"]
