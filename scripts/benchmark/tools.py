"""Running commands, and filling or dropping the page cache."""

import contextlib
import dataclasses
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
WORK = Path(os.environ.get("HPIMOUNT_BENCH_DIR", "/tmp/hpimount-bench"))

# Longest time in seconds for one measurement of a slow program.
LIMIT = 30

# How often caches are dropped at most: once in a smoke test, whose figures are meaningless.
drops_left = float("inf")


@dataclasses.dataclass(frozen=True)
class Setting:
    """What all parts of the report have in common."""

    # Where files and archives are kept.
    directory: Path
    # A directory with the programs.
    programs: Path
    # Where archives are mounted.
    point: Path
    rounds: int
    # Whether it is a smoke test.
    quick: bool
    # The columns to measure; all if it is empty.
    only: list
    # Another hpimount to measure, if any.
    against: str
    # Whether the figures are written to the documents.
    write: bool

    def hpimount(self, options=""):
        """The command of a mount."""
        return f"{self.programs / 'hpimount'} {options} {{archive}} {{point}}"


class Unmeasured(Exception):
    """A program failed to do what should be measured."""


class TooSlow(Unmeasured):
    """A program exceeded the time limit."""


class Done:
    """The result of a command; true if it succeeded."""

    def __init__(self, status, stdout):
        self.status = status
        self.stdout = stdout

    def __bool__(self):
        return self.status == 0


def run(command, cwd=None, check=True, limit=LIMIT * 20):
    """Runs a command, or a shell command if it is a string, and collects its output.

    The output goes through a pipe, because GNU grep stops at the first match if
    its output is /dev/null."""
    shell = isinstance(command, str)
    # In a new session, so that children of a shell end with it.
    started = subprocess.Popen(
        command,
        cwd=cwd,
        shell=shell,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        stdout, stderr = started.communicate(timeout=limit)
    except subprocess.TimeoutExpired as expired:
        os.killpg(started.pid, signal.SIGKILL)
        started.communicate()
        raise TooSlow(f"more than {limit} s") from expired
    if check and started.returncode:
        raise Unmeasured(f"{command}: {stderr.decode(errors='replace').strip()}")
    return Done(started.returncode, stdout)


def alive(pid):
    """Whether a process is running and not a zombie."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def read_all(path):
    """Loads a file, or all files of a directory, into the page cache."""
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    for file in files:
        with open(file, "rb", buffering=0) as opened:
            while opened.read(1 << 20):
                pass


def forget(archive):
    """Drops the kernel's caches, except the archive and the tools."""
    global drops_left
    if not drops_left:
        return
    drops_left -= 1
    Path("/proc/sys/vm/drop_caches").write_text("3\n")
    read_all(archive)
    with tempfile.TemporaryDirectory(dir=WORK) as scratch:
        warm_up = (
            "echo x >a; mkdir b; ls -lR; grep -rF x; cat a >/dev/null; cp -r a b;"
            " find . -type f -print0 | xargs -0 -P 2 grep -F x; fio --version"
        )
        run(warm_up, cwd=scratch, check=False)


def say(text):
    """Shows progress on a terminal."""
    if sys.stderr.isatty():
        print(f"\r{text:78.78}", end="", file=sys.stderr, flush=True)
