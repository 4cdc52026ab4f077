"""Archives on a web server, compared with hpimount on top of rclone."""

import contextlib
import os
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from .corpus import make, write
from .peers import VENV, Mount, Peer, daemon_of
from .tools import Unmeasured, run, say

# Heading in the report.
HEADING = "## Sources on servers"

# The link: seconds for a round trip, and bytes per second.
ROUND_TRIP = 0.02
BYTES_PER_SECOND = 12_500_000

# The archive, the size of its large file in bytes, the number of places in that
# to read, and the number and size of its small files.
ARCHIVE = "collection.hpi"
BIG = 64 << 20
PLACES = 60
SMALL_FILES = 5000
SMALL = 8 << 10

# The rows, and the wanted maximum ratio to the other client's figure.
ROWS = {
    "mount": ("mount, until the first `stat` answers, s", 0.9),
    "random": (f"{PLACES} random reads of 4 KiB, s", 0.4),
    "random bytes": ("bytes received for them, MB", 0.25),
    "small": (f"mount and `cat` of {SMALL_FILES:,} files of 8 KiB, s", 0.7),
    "cat": ("mount and `cat` of a file of 64 MiB, s", 1.1),
    "peak": ("peak memory of all processes, over all rows, MiB", None),
}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextlib.contextmanager
def process(command, port):
    """A program that listens on a port."""
    started = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 10
        while True:
            with contextlib.suppress(ConnectionError):
                socket.create_connection(("127.0.0.1", port)).close()
                break
            if started.poll() is not None or time.monotonic() > end:
                raise Unmeasured(f"{command[0]} does not listen")
            time.sleep(0.01)
        yield
    finally:
        started.terminate()
        started.wait()


class Server:
    """nginx with the files of a directory."""

    def __init__(self, root, scratch, options=""):
        self.port = free_port()
        self.config = scratch / "nginx.conf"
        paths = " ".join(f"{kind}_temp_path {scratch}/{kind};" for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"])
        self.config.write_text(
            f"daemon off; master_process off; pid {scratch}/pid; error_log {scratch}/errors;\n"
            f"events {{ worker_connections 4096; }}\nhttp {{\n access_log off; {options} {paths}\n"
            f" server {{ listen 127.0.0.1:{self.port}; root {root}; autoindex on; }}\n}}\n"
        )

    def command(self):
        return ["nginx", "-e", str(self.config.parent / "errors"), "-c", str(self.config)]


class Ours:
    """A mount of a URL."""

    name = "hpimount"

    def __init__(self, programs):
        self.program = programs / "hpimount"

    @contextlib.contextmanager
    def mounted(self, url, point):
        peer = Peer(self.name, Path(ARCHIVE), f"{self.program} {url}{ARCHIVE} {point}")
        with Mount(peer, point) as mount:
            yield mount, [mount.daemon]


class Rclone:
    """A mount of a file in a mount of the server by rclone."""

    name = "rclone and hpimount"

    def __init__(self, programs, rclone):
        self.program = programs / "hpimount"
        self.rclone = rclone

    @contextlib.contextmanager
    def mounted(self, url, point):
        with tempfile.TemporaryDirectory(dir=point.parent) as scratch:
            below = Path(scratch) / "below"
            below.mkdir()
            command = [self.rclone, "mount", ":http:", below, "--http-url", url]
            command += ["--vfs-cache-mode", "full", "--cache-dir", Path(scratch) / "cache"]
            command += ["--config", "/dev/null", "--read-only", "--daemon"]
            run(list(map(str, command)))
            try:
                peer = Peer(self.name, below / ARCHIVE, f"{self.program} {{archive}} {{point}}")
                with Mount(peer, point) as mount:
                    yield mount, [mount.daemon, daemon_of(below)]
            finally:
                run(["umount", below])


class Bench:
    """Measurements over one line."""

    def __init__(self, url, came, point):
        self.url = url
        # The file with the number of bytes that have come over the line.
        self.came = came
        self.point = point
        self.values = {}
        self.places = random.Random(1).sample(range(0, BIG - 4096, 4096), PLACES)

    def note(self, client, row, value):
        self.values.setdefault((client.name, row), []).append(value)

    def median(self, client, row):
        values = self.values[client.name, row]
        return max(values) if row == "peak" else statistics.median(values)

    @contextlib.contextmanager
    def cold(self, client):
        """A mount of the archive before any of it was read, and the time when it began."""
        Path("/proc/sys/vm/drop_caches").write_text("3\n")
        begun = time.perf_counter()
        with client.mounted(self.url, self.point) as (mount, daemons):
            yield mount, begun
            self.note(client, "peak", sum(map(peak_memory, daemons)))

    def measure(self, client):
        with self.cold(client) as (mount, begun):
            self.note(client, "mount", time.perf_counter() - begun)
            came = int(self.came.read_text())
            begun = time.perf_counter()
            self.read_places(mount.root / "big.bin")
            self.note(client, "random", time.perf_counter() - begun)
            self.note(client, "random bytes", (int(self.came.read_text()) - came) / 1e6)
        with self.cold(client) as (mount, begun):
            mount.time("cat big.bin >/dev/null")
            self.note(client, "cat", time.perf_counter() - begun)
        with self.cold(client) as (mount, begun):
            mount.time("find small -type f -print0 | sort -z | xargs -0 cat >/dev/null")
            self.note(client, "small", time.perf_counter() - begun)

    def read_places(self, path):
        opened = os.open(path, os.O_RDONLY)
        try:
            os.posix_fadvise(opened, 0, 0, os.POSIX_FADV_RANDOM)
            for place in self.places:
                if len(os.pread(opened, 4096, place)) != 4096:
                    raise Unmeasured(f"{path} is too short")
        finally:
            os.close(opened)


def peak_memory(pid):
    """Peak memory of a process in MiB."""
    status = Path(f"/proc/{pid}/status").read_text().split("VmHWM:")[1]
    return int(status.split()[0]) / 1024


def prepare(directory, programs):
    """Makes the directory of the server, with the archive."""
    dice = random.Random(2)
    words = ["".join(dice.choices("abcdefghijklmnopqrstuvwxyz", k=dice.randint(2, 9))) for _ in range(2000)]

    def text():
        return " ".join(dice.choices(words, k=SMALL // 4)).encode()[:SMALL]

    def fill(out):
        out.mkdir()
        (out / "big.bin").write_bytes(dice.randbytes(BIG))
        for number in range(SMALL_FILES):
            parent = out / "small" / f"directory{number // 100:02}"
            parent.mkdir(parents=True, exist_ok=True)
            (parent / f"file{number:04}.txt").write_bytes(text())

    files, root = directory / "remote-files", directory / "remote"
    write(files, fill)
    root.mkdir(exist_ok=True)
    make(root / ARCHIVE, lambda out: [programs / "hpi", "pack", "--quiet", files, out, "--method=zlib"])
    return root


def measure(setting):
    """The part of the report about sources on servers."""
    rclone = shutil.which("rclone") or VENV / "bin" / "rclone"
    if not shutil.which("nginx") or not shutil.which(rclone):
        raise Unmeasured("sources on servers are measured with nginx and rclone; see --install")
    setting.directory.mkdir(parents=True, exist_ok=True)
    root = prepare(setting.directory, setting.programs)
    clients = [Ours(setting.programs), Rclone(setting.programs, rclone)]
    with tempfile.TemporaryDirectory(dir=setting.directory) as scratch:
        server = Server(root, Path(scratch))
        port, came = free_port(), Path(scratch) / "came"
        line = [sys.executable, Path(__file__).with_name("line.py"), port, server.port, ROUND_TRIP, BYTES_PER_SECOND]
        line.append(came)
        with process(server.command(), server.port), process(list(map(str, line)), port):
            bench = Bench(f"http://127.0.0.1:{port}/", came, setting.point)
            for number in range(setting.rounds):
                # Alternate, so that neither client always comes first.
                for client in clients if number % 2 == 0 else clients[::-1]:
                    say(f"round {number + 1} of {setting.rounds}: {client.name} over a line")
                    bench.measure(client)
    version = run([rclone, "version"]).stdout.decode().split("\n")[0]
    return report(bench, clients, version, setting.rounds)


def report(bench, clients, version, rounds):
    ours, other = clients
    lines = ["| | " + " | ".join(client.name for client in clients) + " | ratio | wanted |", "|---|--:|--:|--:|--:|"]
    for row, (title, bar) in ROWS.items():
        value, base = bench.median(ours, row), bench.median(other, row)
        wanted = f"{bar}" if bar else ""
        lines.append(f"| {title} | {value:.2f} | {base:.2f} | {value / base:.2f} | {wanted} |")
    table = "\n".join(lines)
    return f"""{HEADING}

Made by `scripts/bench remote --write`: one archive of 90 MB on nginx, behind a link of 100 Mbit/s with a round trip of 20 ms (`scripts/benchmark/line.py`). It is mounted by URL, and from a mount of {version} with `--vfs-cache-mode full`. The archive was packed by `hpi pack`: its directory, a file of 64 MiB that does not compress, then {SMALL_FILES:,} files of 8 KiB in {SMALL_FILES // 100} directories, 23 MB packed. These 23 MB take 1.9 s on the link, regardless of the client. Medians of {rounds} rounds, except for memory; nothing is cached before. rclone streams the rest of an archive as soon as a byte of it is read. So it has fetched the large file completely before the random reads are done, and it fetches parts of the large file while the small ones are read.

{table}
"""
