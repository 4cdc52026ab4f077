"""The report: the table, the curves, and the environment."""

import gzip
import math
import os
import platform
import re
from pathlib import Path

from .peers import VENV, package_version
from .tools import LIMIT, run

# Heading of the curves.
CURVES = "## How the figures grow"


# Heading and rows of the table in the README.
SPEED = "## Speed"
SPEED_ROWS = ["mount", "ls cold", "grep cold", "cat cold", "random 4", "copy"]


def speed(bench, peers, readme):
    """The README with the most important rows of the table; programs are the lines."""
    rows = [bench.rows[key] for key in SPEED_ROWS]
    lines = ["| | " + " | ".join(f"{row.title}, {row.unit}" for row in rows) + " |", "|---|" + "--:|" * len(rows)]
    for peer in peers:
        cells = [
            f"> {LIMIT}" if (peer.name, key) in bench.beyond else cell(bench.median(peer, key), row.unit)
            for key, row in zip(SPEED_ROWS, rows)
        ]
        lines.append(f"| {peer.name}{' †' * peer.slow} | {' | '.join(cells)} |")
    size = sum(path.stat().st_size for path in bench.corpus.rglob("*") if path.is_file())
    section = (
        f"{SPEED}\n\n{bench.files:,} files, {size / 2**20:.0f} MiB in all, packed by each format, on {os.cpu_count()} cores"
        f" ({processor()}); lower is better, except for IOPS. † One round. [All benchmarks](docs/BENCHMARKS.md).\n\n" + "\n".join(lines)
    )
    return re.sub(rf"^{SPEED}\n.*?(?=^## )", lambda _: section + "\n\n", readme, flags=re.MULTILINE | re.DOTALL)


def processor():
    """The name of the processor."""
    found = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return found[1] if found else platform.machine()


def sections(text):
    """The sections of a report by heading, in order."""
    return {section.partition("\n")[0]: section.strip() for section in re.split(r"^(?=##? )", text, flags=re.MULTILINE) if section}


def updated(text, measured):
    """A report with the sections that were measured instead of older ones."""
    return "\n\n".join((sections(text) | sections(measured)).values()) + "\n"


def benchmarks(bench, peers, missing, rounds):
    """The first section, with the table."""
    return f"""# Benchmarks

Made by `scripts/bench --write`, whose first lines describe how. Medians, except for memory; in brackets the ratio to the kernel's squashfs on the same files. Lower is better, except for IOPS.

{facts(bench, peers, missing, rounds)}
{table(bench, peers)}"""


def growth(curves, rounds):
    """The section with the curves."""
    text = f"""{CURVES}

Made by `scripts/bench curves --write`: medians of {rounds} rounds, all cold, on archives of a given shape with meaningless contents (`cargo run --example corpus -- shape`) and squashfs of the same files. The last line of a table gives the exponent of a figure's growth from the second point to the last, as a power of the first column: 0 means no growth, 1 growth in proportion.
"""
    return text + "".join(map(curve, curves))


def table(bench, peers):
    reference = next((peer for peer in peers if peer.name == "squashfs"), None)
    titles = [peer.name + " †" * peer.slow for peer in peers]
    lines = ["| | " + " | ".join(titles) + " |", "|---|" + "--:|" * len(peers)]
    for key, row in bench.rows.items():
        base = reference and bench.median(reference, key)
        cells = [
            f"> {LIMIT}" if (peer.name, key) in bench.beyond else cell(bench.median(peer, key), row.unit, base)
            for peer in peers
        ]
        lines.append(f"| {row.title}, {row.unit} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def cell(value, unit, base=None):
    if value is None:
        return "-"
    digits = {"s": 3, "ms": 1, "µs": 1}.get(unit, 0)
    ratio = f" ({value / base:.2f})" if base else ""
    return f"{value:.{digits}f}{ratio}"


def curve(measured):
    """A table with a line for each point of a curve, and how it grew."""
    columns = measured.columns()
    titles = [f"{name}: {metric.title}, {metric.unit}" for name, metric in columns]
    lines = [f"| {measured.curve.what} | " + " | ".join(titles) + " |", "|--:|" + "--:|" * len(columns)]
    for point in measured.points:
        cells = [cell(measured.median(point, *column), column[1].unit) for column in columns]
        lines.append(f"| {measured.curve.label(point)} | " + " | ".join(cells) + " |")
    powers = [power(measured, column) for column in columns]
    lines.append("| *growth* | " + " | ".join(powers) + " |")
    return f"\n### {measured.curve.title}\n\n{measured.curve.law}\n\n" + "\n".join(lines) + "\n"


def power(measured, column):
    """The exponent with which a column grows with the first one."""
    values = [(point, measured.median(point, *column)) for point in measured.points]
    values = [(point, value) for point, value in values if value]
    values = values[1:] if len(values) > 2 else values
    if len(values) < 2:
        return "-"
    (first, low), (last, high) = values[0], values[-1]
    return f"{math.log(high / low) / math.log(last / first):.2f}"


def squashfs_has_one_decoder():
    """Whether the kernel is known to be built with one decoder for squashfs."""
    config = Path("/proc/config.gz")
    return config.exists() and b"\nCONFIG_SQUASHFS_COMPILE_DECOMP_SINGLE=y" in gzip.decompress(config.read_bytes())


def facts(bench, peers, missing, rounds):
    """The environment of the measurements."""
    versions = []
    for peer in peers:
        if peer.package and (version := package_version(peer.package)):
            versions.append(f"{peer.package} {version}")
    if (VENV / "bin" / "pip").exists():
        shown = run([VENV / "bin" / "pip", "show", "ratarmount"], check=False).stdout.decode()
        if found := re.search(r"^Version: (.*)", shown, re.MULTILINE):
            versions.append(f"ratarmount {found[1]}")
    lines = [
        f"* {os.cpu_count()} cores ({processor()}), "
        f"kernel {platform.release()}; rounds: {rounds}",
        f"* {', '.join(dict.fromkeys(versions))}",
        "* squashfs, zip and tar hold the files packed by gzip's method, squashfs in blocks of 64 KiB; "
        "the HPI archives with zlib and with LZ77 are enciphered; the 7z is one solid block of LZMA2",
    ]
    if squashfs_has_one_decoder():
        lines.append(
            "* this kernel's squashfs has one decoder for all readers; a kernel with one for each core is faster in the "
            "rows with several readers"
        )
    if any(peer.padded for peer in peers):
        lines.append("* files of an IMG are padded with zeros: `grep` searches them with `-a`, which is faster")
    if any(peer.slow for peer in peers):
        lines.append(f"* † one round, and not every row; nothing that takes longer than {LIMIT} s")
    if (VENV / "bin" / "ratarmount").exists():
        lines.append("* ratarmount keeps an index beside the archive, which exists already when its mount is measured")
    if missing:
        lines.append(f"* unavailable on this machine: {', '.join(missing)}")
    for name, note in bench.notes.items():
        lines.append(f"* {name}: stopped at {note}")
    return "\n".join(lines) + "\n"
