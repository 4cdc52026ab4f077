"""`hpi serve`, beside nginx with the same files unpacked, and beside a mount."""

import contextlib
import random
import resource
import shutil
import socket
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from .corpus import make, write
from .peers import Mount, Peer, package_version
from .remote import Server, process
from .tools import Unmeasured, read_all, run, say

# Heading in the report.
HEADING = "## Serving"

# The size of the large files in bytes, and of the part of the packed one that differs.
BIG = 64 << 20
PART = 4 << 20

# Connections at the same time, seconds for which they ask, and requests beside them.
CONNECTIONS = 1000
SECONDS = 5
REQUESTS = 20

OURS = "hpi serve"
NGINX = "nginx"
SENDFILE = "nginx, `sendfile on`"
COLD = "`cat` in a new mount"
NFS = "hpi serve --nfs"
LIMIT = "limit"

# The rows: title, unit, the columns that are compared, and what the ratio should be.
ROWS = {
    "stored": ("a stored file of 64 MiB by `curl`", "MiB/s", OURS, NGINX, "at least 0.9"),
    "sendfile": ("the same", "MiB/s", OURS, SENDFILE, ""),
    "packed": ("a file of 64 MiB packed by zlib, by `curl`", "s", OURS, COLD, "at most 1.2"),
    "nfs": ("the same by `nfs-cp`", "s", NFS, COLD, ""),
    "requests": (f"a small file over {CONNECTIONS:,} connections (`wrk`)", "requests/s", OURS, NGINX, ""),
    "memory": (f"memory while {CONNECTIONS:,} clients have stopped reading downloads", "MiB", OURS, LIMIT, "at most 1"),
    "latency": ("a small file meanwhile, median", "ms", OURS, LIMIT, "at most 1"),
}

# Figures that are compared with a fixed one.
LIMITS = {"memory": 100, "latency": 100}


def prepare(directory, programs):
    """Makes the files, and an archive for each way to pack them."""
    dice = random.Random(3)
    words = ["".join(dice.choices("abcdefghijklmnopqrstuvwxyz", k=dice.randint(2, 9))) for _ in range(2000)]

    def fill(out):
        for name in ["stored", "packed"]:
            (out / name).mkdir(parents=True)
        (out / "stored" / "stored.bin").write_bytes(dice.randbytes(BIG))
        (out / "stored" / "small.txt").write_bytes(dice.randbytes(200))
        part = " ".join(dice.choices(words, k=PART // 4)).encode()[:PART]
        (out / "packed" / "packed.bin").write_bytes(part * (BIG // PART))

    files = directory / "serve-files"
    write(files, fill)
    archives = []
    for name, method in [("stored", "stored"), ("packed", "zlib")]:
        archives.append(directory / f"serve-{name}.hpi")
        make(archives[-1], lambda out: [programs / "hpi", "pack", "--quiet", files / name, out, f"--method={method}"])
    return files, archives


class Bench:
    """Measurements of one round after the other."""

    def __init__(self, programs, archives, point):
        self.programs = programs
        self.archives = archives
        self.point = point
        self.values = {}

    def note(self, row, column, value):
        self.values.setdefault((row, column), []).append(value)

    @contextlib.contextmanager
    def served(self):
        """A new server: its process, its URL, and its port for NFS."""
        command = [self.programs / "hpi", "serve", "--token", "none", "--nfs", "0", "127.0.0.1:0", *self.archives]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
            try:
                url, _, nfs = (server.stdout.readline().strip() for _ in range(3))
                yield server, f"{url}files/", nfs.rpartition(" ")[2]
            finally:
                server.terminate()

    def download(self, url):
        """Seconds that curl takes."""
        begun = time.perf_counter()
        run(["curl", "--silent", "--fail", "--output", "/dev/null", url])
        return time.perf_counter() - begun

    def measure(self, nginx, sendfile):
        with self.served() as (_, url, _):
            rate = BIG / 2**20 / self.download(f"{url}stored.bin")
            self.note("stored", OURS, rate)
            self.note("sendfile", OURS, rate)
        for row, column, base in [("stored", NGINX, nginx), ("sendfile", SENDFILE, sendfile)]:
            self.note(row, column, BIG / 2**20 / self.download(f"{base}stored/stored.bin"))
        with self.served() as (_, url, _):
            self.note("packed", OURS, self.download(f"{url}packed.bin"))
        self.measure_mount()
        self.measure_nfs()
        with self.served() as (server, url, _):
            self.note("requests", OURS, requests_per_second(f"{url}small.txt"))
            self.note("requests", NGINX, requests_per_second(f"{nginx}stored/small.txt"))
        with self.served() as (server, url, _):
            self.measure_stopped(server, url)

    def measure_mount(self):
        command = f"{self.programs / 'hpimount'} {self.archives[0]} {{archive}} {{point}}"
        with Mount(Peer("hpimount", self.archives[1], command), self.point) as mount:
            seconds, _ = mount.time("cat packed.bin >/dev/null")
        self.note("packed", COLD, seconds)
        self.note("nfs", COLD, seconds)

    def measure_nfs(self):
        with self.served() as (_, _, port):
            url = f"nfs://127.0.0.1//packed.bin?version=3&nfsport={port}&mountport={port}"
            with tempfile.TemporaryDirectory(dir="/dev/shm") as scratch:
                begun = time.perf_counter()
                run(["nfs-cp", url, f"{scratch}/copy"])
                self.note("nfs", NFS, time.perf_counter() - begun)

    def measure_stopped(self, server, url):
        """Memory and latency beside clients that have stopped reading."""
        address, port = url.split("/")[2].split(":")
        clients = []
        try:
            for _ in range(CONNECTIONS):
                client = socket.create_connection((address, int(port)))
                clients.append(client)
                client.sendall(f"GET /files/stored.bin HTTP/1.1\r\nHost: {address}:{port}\r\n\r\n".encode())
            time.sleep(1)
            latencies = [request(address, int(port)) for _ in range(REQUESTS)]
            self.note("latency", OURS, statistics.median(latencies) * 1000)
            status = Path(f"/proc/{server.pid}/status").read_text().split("VmRSS:")[1]
            self.note("memory", OURS, int(status.split()[0]) / 1024)
            for row, limit in LIMITS.items():
                self.note(row, LIMIT, limit)
        finally:
            for client in clients:
                client.close()

    def ratio(self, row):
        """The median of the ratios within a round."""
        _, _, ours, other, _ = ROWS[row]
        pairs = zip(self.values[row, ours], self.values[row, other])
        return statistics.median(value / base for value, base in pairs)


def request(address, port):
    """Seconds until a small file has come over a new connection."""
    begun = time.perf_counter()
    with socket.create_connection((address, port)) as client:
        client.sendall(f"GET /files/small.txt HTTP/1.1\r\nHost: {address}:{port}\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        while piece := client.recv(1 << 16):
            answer += piece
    if not answer.startswith(b"HTTP/1.1 200"):
        raise Unmeasured(f"a small file: {answer[:80]}")
    return time.perf_counter() - begun


def requests_per_second(url):
    """The rate of requests that are answered well, over all connections."""
    shown = run(["wrk", "-t2", f"-c{CONNECTIONS}", f"-d{SECONDS}s", url]).stdout.decode()
    if "Non-2xx" in shown:
        raise Unmeasured(f"wrk: {shown}")
    return float(shown.split("Requests/sec:")[1].split()[0])


def measure(setting):
    """The part of the report about `hpi serve`."""
    missing = [name for name in ["nginx", "curl", "wrk", "nfs-cp"] if not shutil.which(name)]
    if missing:
        raise Unmeasured(f"serving is measured with {', '.join(missing)}; see --install")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(max(soft, 8192), hard), hard))
    setting.directory.mkdir(parents=True, exist_ok=True)
    files, archives = prepare(setting.directory, setting.programs)
    bench = Bench(setting.programs, archives, setting.point)
    with contextlib.ExitStack() as stack:
        urls = []
        for options in ["", "sendfile on;"]:
            scratch = stack.enter_context(tempfile.TemporaryDirectory(dir=setting.directory))
            nginx = Server(files, Path(scratch), options)
            stack.enter_context(process(nginx.command(), nginx.port))
            urls.append(f"http://127.0.0.1:{nginx.port}/")
        for number in range(setting.rounds):
            say(f"round {number + 1} of {setting.rounds}: serving")
            for read in [*archives, files]:
                read_all(read)
            bench.measure(*urls)
    return report(bench, setting.rounds)


def report(bench, rounds):
    lines = ["| | | | ratio | wanted |", "|---|--:|--:|--:|---|"]
    for row, (title, unit, ours, other, wanted) in ROWS.items():
        digits = {"s": 3, "ms": 1}.get(unit, 0)
        cells = [f"{column}: {statistics.median(bench.values[row, column]):,.{digits}f}" for column in [ours, other]]
        lines.append(f"| {title}, {unit} | {' | '.join(cells)} | {bench.ratio(row):.2f} | {wanted} |")
    table = "\n".join(lines)
    versions = ", ".join(f"{name} {package_version(name)}" for name in ["nginx-light", "wrk", "curl"] if package_version(name))
    return f"""{HEADING}

Made by `scripts/bench serve --write` with {versions}: servers of the archives, and nginx with the unpacked files, all on this machine. The archives and files are in the page cache, and each server is new, so that nothing is decoded. Medians of {rounds} rounds; the ratio is the median of those within a round.

{table}
"""
