"""hpi.exe under wine, and hpi of this system."""

import os
import subprocess
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

WINE = "/usr/lib/wine/wine64"
WINESERVER = "/usr/lib/wine/wineserver64"

# One of thousands of programs hangs when it starts; 20,000 files take minutes.
PATIENCE = 600
TRIES = 2


@dataclass
class Run:
    """What a program has done: its exit code, or that it hangs."""

    code: int | str
    printed: bytes
    told: bytes
    seconds: float


class Programs:
    """Both programs."""

    def __init__(self, exe, native, prefix):
        self.commands = {
            "windows": [WINE, str(Path(exe).resolve())],
            "here": [str(Path(native).resolve())],
        }
        self.environment = os.environ | {
            "WINEPREFIX": prefix,
            "WINEARCH": "win64",
            "WINEDEBUG": "-all",
            # No menus, and no installers of Mono and Gecko.
            "WINEDLLOVERRIDES": "mscoree,mshtml,winemenubuilder.exe=",
            "DISPLAY": "",
            # Of names in arguments.
            "LC_ALL": "C.UTF-8",
        }
        self.start_wine(prefix)

    def start_wine(self, prefix):
        """Starts the services of wine, which would keep the outputs of a program open."""
        quiet = {
            "env": self.environment,
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.DEVNULL,
            "stderr": subprocess.DEVNULL,
        }
        if not Path(prefix, "system.reg").exists():
            Path(prefix).mkdir(parents=True, exist_ok=True)
            subprocess.run([WINE, "wineboot", "--init"], check=True, **quiet)
            subprocess.run([WINESERVER, "-w"], **quiet)
        subprocess.run([WINESERVER, "-p60"], **quiet)
        subprocess.run([WINE, "cmd", "/c", "exit"], check=True, **quiet)

    def stop_wine(self):
        subprocess.run([WINESERVER, "-k"], env=self.environment)

    def wine(self, *words):
        """Runs a program of wine."""
        return subprocess.run([WINE, *words], env=self.environment, capture_output=True)

    @contextmanager
    def serving(self, arguments, folder):
        """Runs hpi.exe until the end of the block; gives its first line."""
        served = subprocess.Popen(
            self.commands["windows"] + arguments,
            cwd=folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        watch = threading.Timer(PATIENCE, served.kill)
        watch.start()
        try:
            yield served.stdout.readline().decode().strip()
        finally:
            watch.cancel()
            served.kill()
            # The program that opens the browser has it, too, and may never end.
            served.stdout.close()
            served.wait()

    def run(self, system, arguments, folder, zone="UTC"):
        """Runs a program in a folder, in a time zone."""
        begun = time.monotonic()
        for _ in range(TRIES):
            try:
                ran = subprocess.run(
                    self.commands[system] + arguments,
                    cwd=folder,
                    env=self.environment | {"TZ": zone},
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    timeout=PATIENCE,
                )
                seconds = time.monotonic() - begun
                return Run(ran.returncode, ran.stdout, ran.stderr, seconds)
            except subprocess.TimeoutExpired:
                pass
        return Run("hangs", b"", b"", time.monotonic() - begun)
