"""How often the daemon's threads wait for each other.

A lock that is free is taken without a system call. So the futex(2) calls of the
daemon count the locks that were not free, twice at most, and the wake-ups of
its threads."""

import json
import shutil
import signal
import statistics
import subprocess
import time

from .peers import Mount, Peer
from .rows import EVERY_FILE, NEEDLE, random_reads
from .tools import forget, run, say

# Heading in the report.
HEADING = "## Waiting for locks"

CALLS = "syscalls:sys_enter_futex"

# Seconds until perf counts.
STARTS = 0.3


def measure(setting):
    """The part of the report about locks; empty if system calls cannot be counted."""
    if not can_count():
        return ""
    lines = ["| | requests | futex calls | futex calls per 1,000 requests |", "|---|--:|--:|--:|"]
    for method in ["zlib", "stored"]:
        peer = Peer(method, setting.directory / f"{method}.hpi", setting.hpimount())
        if not peer.is_possible():
            continue
        for title, work in WORK.items():
            say(f"locks: {method}: {title}")
            counted = [count(peer, setting.point, work) for _ in range(setting.rounds)]
            requests, calls = (statistics.median(each) for each in zip(*counted))
            lines.append(f"| {title}, {method} | {requests:,.0f} | {calls:,.0f} | {calls / requests * 1000:.0f} |")
    return (
        f"{HEADING}\n\nA thread takes a free lock without a system call. It makes futex calls for locks that are not free, and"
        " to wake other threads, such as the one that prefetches. Requests of all kinds, in cold mounts:\n\n"
        + "\n".join(lines)
        + "\n"
    )


def names(mount):
    run("for number in 1 2 3 4; do find . -size +0 >/dev/null & done; wait", cwd=mount.root)


def searches(mount):
    run(f"{EVERY_FILE} grep -F {NEEDLE}", cwd=mount.root, check=False)


def reads(mount):
    files = sorted(str(path.relative_to(mount.root)) for path in mount.root.rglob("*big[0-9][0-9].*"))
    random_reads(mount, files, 4, reads=32768)


WORK = {"four `find`": names, "four `grep -F`": searches, "random 4 KiB reads, 4 jobs": reads}


def count(peer, point, work):
    """Requests to the daemon, and its futex calls."""
    with Mount(peer, point) as mount:
        forget(peer.archive)
        command = ["perf", "stat", "-x,", "-e", CALLS, "-p", str(mount.daemon)]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as perf:
            time.sleep(STARTS)
            before = requests(mount)
            work(mount)
            answered = requests(mount) - before
            perf.send_signal(signal.SIGINT)
            counted = perf.stderr.read()
        return answered, int(counted.split(",")[0])


def requests(mount):
    stats = json.loads((mount.point / ".hpimount" / "stats.json").read_text())
    return sum(stats[kind] for kind in ["lookups", "getattrs", "readdirs", "reads"])


def can_count():
    return bool(shutil.which("perf") and run(["perf", "stat", "-e", CALLS, "true"], check=False))
