"""Compares hpi.exe under wine with hpi of this system, and tries its own rules on Windows.

Every command is run by both, with the same relative paths; outputs, exit codes and
written files must be the same. A journal keeps what has passed: the next run with the
same programs goes on behind it.
"""

import sys
import time
from pathlib import Path

import rules
import samples
from checks import Journal, perform, print_table
from programs import Programs


def main(exe, native, folder, work, root, *patterns):
    programs = Programs(exe, native, f"{root}/wine")
    jobs = rules.jobs() | samples.jobs(Path(folder))
    wanted = {
        name: job
        for name, job in jobs.items()
        if not patterns or any(pattern in name for pattern in patterns)
    }
    begun = time.monotonic()
    try:
        journal = Journal(f"{root}/journal", programs)
        checks = perform(wanted, programs, folder, work, journal)
    finally:
        programs.stop_wine()
    print_table(checks)
    failed = sum(not check["passed"] for check in checks)
    seconds = time.monotonic() - begun
    print(f"\n{len(checks) - failed} passed, {failed} failed, in {seconds:.0f} s")
    return 1 if failed or not checks else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
