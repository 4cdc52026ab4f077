"""Compares hpi.exe under wine with hpi of this system, and its own rules on Windows.

Every command is run by both, with the same relative paths; outputs, exit codes and
written files must be the same.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

WINE = "/usr/lib/wine/wine64"
WINESERVER = "/usr/lib/wine/wineserver64"

# One of thousands of programs hangs when it starts; 20,000 files take minutes.
PATIENCE = 600
TRIES = 2

# How long a check took.
SECONDS = re.compile(rb'"seconds":[0-9.e-]+,')

# Changes with a name that has a colon, which the folder of samples cannot have there.
NO_CASES = {"xbox_bad_name"}

# Files of the samples that are no sources.

NO_SOURCES = {".json", ".md", ".txt", ".py", ".xdelta", ".bps", ".ups", ".ppf", ".ips"}


class Programs:
    """Both programs, and a folder for each to work in."""

    def __init__(self, exe, native, samples, work, prefix):
        self.commands = {"windows": [WINE, exe], "here": [str(Path(native).resolve())]}
        self.samples, self.work = Path(samples), Path(work)
        self.environment = os.environ | {
            "WINEPREFIX": prefix,
            "WINEARCH": "win64",
            "WINEDEBUG": "-all",
            # No menus, and no installers of Mono and Gecko.
            "WINEDLLOVERRIDES": "mscoree,mshtml,winemenubuilder.exe=",
            "DISPLAY": "",
            "TZ": "UTC",
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

    def run(self, system, arguments, folder):
        """Runs a program in a folder; returns the exit code and both outputs."""
        for attempt in range(TRIES):
            try:
                ran = subprocess.run(
                    self.commands[system] + arguments,
                    cwd=folder,
                    env=self.environment,
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    timeout=PATIENCE,
                )
                return ran.returncode, ran.stdout, ran.stderr
            except subprocess.TimeoutExpired:
                if attempt + 1 == TRIES:
                    return "hangs", b"", b""

    def windows(self, *arguments, folder=None):
        return self.run("windows", list(arguments), folder or self.work)


class Checks:
    """The checks and how many have failed."""

    def __init__(self, programs, patterns):
        self.programs, self.patterns = programs, patterns
        self.passed, self.failed = 0, []

    def expect(self, name, is_right, details=""):
        if is_right:
            self.passed += 1
        else:
            self.failed.append(name)
            print(f"FAILED: {name}\n  {details}", flush=True)

    def is_wanted(self, path):
        return not self.patterns or any(pattern in str(path) for pattern in self.patterns)

    def same(self, *arguments, outputs=()):
        """Checks that both programs do the same; `outputs` are written in their folders."""
        programs, results = self.programs, {}
        for system in programs.commands:
            out = programs.work / "out"
            shutil.rmtree(out, ignore_errors=True)
            out.mkdir()
            # Relative, since the paths are in messages.
            here = [argument.replace("OUT", "out") for argument in arguments]
            code, printed, _ = programs.run(system, here, programs.work)
            results[system] = code, comparable(printed, programs.work), written(out)
        name = " ".join(arguments)
        differing = [
            what
            for what, one, other in zip(
                ("exit code", "output", "files"), results["windows"], results["here"]
            )
            if one != other
        ]
        codes = [result[0] for result in results.values()]
        details = f"differ: {', '.join(differing)}; exit codes {codes}"
        outputs = [result[1].splitlines() for result in results.values()]
        for one, other in zip(*outputs):
            if one != other:
                details += f"\n  {one[:200]}\n  {other[:200]}"
                break
        self.expect(name, not differing, details)


def comparable(printed, work):
    """Returns an output without the time it took and the full paths of the samples.

    Findings come in the order in which threads have them, so lines are sorted.
    """
    windows = b"Z:" + str(work).replace("/", "\\\\").encode()
    lines = []
    for line in SECONDS.sub(b"", printed).splitlines():
        if windows in line:
            line = line.replace(windows, str(work).encode()).replace(b"\\\\", b"/")
        lines.append(line)
    return b"\n".join(sorted(lines))


def written(folder):
    """Returns the files in a folder: paths, bytes and times."""
    found = {}
    for path in sorted(folder.rglob("*")):
        shown = str(path.relative_to(folder))
        found[shown] = path.read_bytes() if path.is_file() else None
    return found


def sources(samples):
    """Returns the samples that are files of their own, relative to the folder."""
    for path in sorted(samples.rglob("*")):
        inside_changes = any(part.endswith((".changes", ".expect")) for part in path.parts)
        if path.is_file() and not inside_changes and path.suffix not in NO_SOURCES:
            yield path.relative_to(samples.parent)


def compare_reading(checks):
    """Every sample is listed with checksums; one of ten is also checked and extracted."""
    found = [path for path in sources(checks.programs.samples) if checks.is_wanted(path)]
    for number, path in enumerate(map(str, found)):
        checks.same("list", "--hash", "sha256", "--json", path)
        if number % 10 == 0:
            checks.same("list", "--json", path, "converted")
            checks.same("check", "--json", path)
            checks.same("extract", "--windows-names", "--nested", path, "-C", "OUT")
    for one, other in zip(found[::20], found[1::20]):
        checks.same("diff", "--json", str(one), str(other))


def compare_writing(checks):
    """Every change is applied as here, or refused."""
    cases = json.loads((checks.programs.samples / "writing/cases.json").read_text())
    for case in cases:
        if not checks.is_wanted(case["changes"]) or case["name"] in NO_CASES:
            continue
        extension = Path(case["original"]).suffix
        out = "OUT/new" + extension
        checks.same("apply", "-q", case["changes"], case["original"], out)


def check_rules(checks):
    """What is different on Windows."""
    programs, work = checks.programs, checks.programs.work
    mod = work / "mod"
    (mod / "Sub Folder").mkdir(parents=True)
    (mod / "a.txt").write_bytes(b"hello\r\n\xff")
    (mod / "Sub Folder/b.txt").write_text("b")
    run = programs.windows

    code, _, _ = run("pack", "-q", "mod", "m.hpi")
    checks.expect("packs a folder", code == 0 and (work / "m.hpi").exists(), code)
    native = programs.run("here", ["pack", "-q", "mod", "n.hpi"], work)[0]
    same = native == 0 and (work / "m.hpi").read_bytes() == (work / "n.hpi").read_bytes()
    checks.expect("packs the same bytes", same)
    code, _, told = run("pack", "-q", "mod", "m.hpi")
    checks.expect("does not replace what exists", code == 20, (code, told))
    code, _, told = run("pack", "-q", "-f", "mod", "m.hpi")
    checks.expect("replaces it with --force", code == 0, (code, told))
    left = [path.name for path in work.glob(".hpi*")]
    checks.expect("leaves no temporary files", not left, left)

    code, printed, told = run("cat", "m.hpi", "a.txt")
    checks.expect("prints bytes unchanged", printed == b"hello\r\n\xff", (code, printed, told))
    code, _, told = run("cat", "m.hpi", "a.txt", "--output", "a.out")
    is_same = (work / "a.out").exists() and (work / "a.out").read_bytes() == b"hello\r\n\xff"
    checks.expect("writes bytes to a file", code == 0 and is_same, (code, told))
    code, printed, told = run("cat", "m.hpi", "Sub Folder\\b.txt")
    checks.expect("takes backslashes in paths", (code, printed) == (0, b"b"), (code, told))

    code, printed, _ = run("check", "*.hpi")
    checks.expect("expands wildcards", b"checked 2 sources" in printed, printed)
    code, _, told = run("list", "nowhere*.hpi")
    checks.expect("says that nothing is there", code == 10, (code, told))
    code, _, told = run("list", "missing.hpi")
    checks.expect("says that a file is missing", code == 10, (code, told))

    code, _, told = run("mount", "m.hpi", "mod")
    checks.expect("says what there is instead of a mount", code == 21, (code, told))
    code, printed, told = run("apply", "-q", "-f", "mod", "m.hpi", "m.hpi")
    checks.expect("replaces its own source", code == 0, (code, told))

    deep = work / "/".join(["long name of a folder"] * 16)
    deep.mkdir(parents=True)
    (deep / "\u00e9\u4e00.txt").write_text("deep")
    (deep / "CON").write_text("con")
    code, printed, told = run("list", "--json", "long name of a folder")
    names = [json.loads(line)["path"] for line in printed.splitlines()]
    is_found = any(name.endswith("\u00e9\u4e00.txt") for name in names)
    checks.expect("lists long paths", code == 0 and is_found, (code, told))
    checks.expect("lists names of devices", any(name.endswith("/CON") for name in names), names)

    zipped = str(programs.samples / "editing/gta.zip")
    lists = {}
    for zone in ("UTC", "Europe/Berlin"):
        programs.environment["TZ"] = zone
        lists[zone] = [programs.run(system, ["list", zipped], work) for system in ("windows", "here")]
        checks.expect(f"knows {zone}", lists[zone][0][:2] == lists[zone][1][:2], lists[zone])
    programs.environment["TZ"] = "UTC"
    checks.expect("has local times", lists["UTC"][0] != lists["Europe/Berlin"][0])

    key = r"HKCU\Software\Classes\hpi.archive\shell\open\command"
    ask = lambda: programs.wine("reg", "query", key).returncode
    codes = run("register")[0], ask(), run("unregister")[0], ask()
    checks.expect("registers and takes it back", codes == (0, 0, 0, 1), codes)


def main(exe, native, samples, work, prefix, *patterns):
    programs = Programs(exe, native, samples, work, prefix)
    checks = Checks(programs, patterns)
    # With the paths of the samples in both.
    Path(work, "samples").symlink_to(samples)
    begun = time.monotonic()
    try:
        check_rules(checks)
        compare_writing(checks)
        compare_reading(checks)
    finally:
        programs.stop_wine()
    seconds = time.monotonic() - begun
    print(f"{checks.passed} passed, {len(checks.failed)} failed, in {seconds:.0f} s")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
