"""Checks, which are grouped in jobs, and the journal of the jobs that are done."""

import hashlib
import json
import re
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# How long a check took.
SECONDS = re.compile(rb'"seconds":[0-9.e-]+,')

# How many jobs run at the same time.
WORKERS = 2


class Job:
    """Checks of one subject, in a folder of its own."""

    def __init__(self, programs, folder):
        self.programs, self.folder = programs, folder
        self.checks = []

    def run(self, system, *arguments, zone="UTC"):
        return self.programs.run(system, list(arguments), self.folder, zone)

    def expect(self, kind, name, is_right, details="", windows=0.0, here=0.0):
        self.checks.append(
            {
                "kind": kind,
                "name": name,
                "passed": bool(is_right),
                "details": "" if is_right else str(details),
                "windows": windows,
                "here": here,
            }
        )

    def same(self, *arguments):
        """Checks that both programs do the same; returns what the one here has printed.

        `OUT` in the arguments is a new folder, whose files are compared, too; that of the
        program here stays.
        """
        runs, results = {}, {}
        for system in ("windows", "here"):
            out = self.folder / "out"
            shutil.rmtree(out, ignore_errors=True)
            out.mkdir()
            # Relative, since the paths are in messages.
            words = [argument.replace("OUT", "out") for argument in arguments]
            run = runs[system] = self.run(system, *words)
            results[system] = run.code, self.comparable(run.printed), written(out)
        what = ("exit code", "output", "files")
        both = list(zip(what, results["windows"], results["here"]))
        differing = [name for name, one, other in both if one != other]
        details = f"differ: {', '.join(differing)}; exit codes {both[0][1:]}"
        for one, other in zip(*(result[1].splitlines() for result in results.values())):
            if one != other:
                details += f"\n  {one[:200]}\n  {other[:200]}"
                break
        for path in sorted(results["windows"][2].keys() ^ results["here"][2].keys())[:3]:
            details += f"\n  only one has {path}"
        seconds = {system: run.seconds for system, run in runs.items()}
        self.expect(arguments[0], " ".join(arguments), not differing, details, **seconds)
        return runs["here"]

    def comparable(self, printed):
        """Returns an output without the time it took and the full paths of the samples.

        Findings come in the order in which threads have them, so lines are sorted.
        """
        here = str(self.folder).encode()
        windows = b"Z:" + here.replace(b"/", b"\\\\")
        lines = []
        for line in SECONDS.sub(b"", printed).splitlines():
            if windows in line:
                line = line.replace(windows, here).replace(b"\\\\", b"/")
            lines.append(line)
        return b"\n".join(sorted(lines))


def written(folder):
    """Returns the files in a folder: paths, and bytes."""
    paths = sorted(folder.rglob("*"))
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in paths
    }


class Journal:
    """The jobs that were done with the same programs and passed, which are not done again."""

    def __init__(self, path, programs):
        self.path, self.lock = Path(path), threading.Lock()
        self.done = {}
        paths = [command[-1] for command in programs.commands.values()]
        sums = [hashlib.sha256(Path(path).read_bytes()).hexdigest() for path in paths]
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        if lines[:1] == [json.dumps(sums)]:
            for line in lines[1:]:
                # The last line may be incomplete.
                if line.endswith("}"):
                    entry = json.loads(line)
                    self.done[entry["job"]] = entry["checks"]
        else:
            self.path.write_text(json.dumps(sums) + "\n")

    def add(self, name, checks):
        with self.lock, self.path.open("a") as file:
            self.done[name] = checks
            file.write(json.dumps({"job": name, "checks": checks}) + "\n")

    def has_passed(self, name):
        return name in self.done and all(check["passed"] for check in self.done[name])


def perform(jobs, programs, samples, work, journal):
    """Performs jobs by their names, unless they have passed; returns all checks."""
    left = {name: job for name, job in jobs.items() if not journal.has_passed(name)}
    print(f"{len(jobs)} jobs, {len(jobs) - len(left)} done before", flush=True)

    def perform_one(name, number):
        folder = Path(work, str(number))
        folder.mkdir()
        # The paths of the samples are the same in both.
        (folder / "samples").symlink_to(samples)
        job = Job(programs, folder)
        try:
            jobs[name](job)
        except Exception as error:
            job.expect("error", name, False, repr(error))
        for check in job.checks:
            if not check["passed"]:
                print(f"FAILED: {check['name']}\n  {check['details']}", flush=True)
        journal.add(name, job.checks)
        shutil.rmtree(folder)

    with ThreadPoolExecutor(WORKERS) as pool:
        for number, name in enumerate(left):
            pool.submit(perform_one, name, number)
    return [check for name in jobs for check in journal.done[name]]


def print_table(checks):
    """Prints how many checks there were of each kind, and how long they took."""
    kinds = {}
    for check in checks:
        row = kinds.setdefault(check["kind"], [0, 0, 0.0, 0.0])
        row[0] += 1
        row[1] += not check["passed"]
        row[2] += check["windows"]
        row[3] += check["here"]
    print(f"\n{'command':12} {'checks':>7} {'failed':>7} {'windows s':>10} {'here s':>8}")
    for kind, (number, failed, windows, here) in sorted(kinds.items()):
        print(f"{kind:12} {number:7} {failed:7} {windows:10.1f} {here:8.1f}")
