"""What each mechanism of the prefetch gives: rows that it was made for, measured with and without it."""

import dataclasses

from . import corpus
from .game import GameBench
from .game import ROWS as GAME_ROWS
from .peers import Peer
from .report import ABLATION
from .rows import Bench, Row
from .tools import say

# The variable with the mechanism to switch off, of programs built with the feature `ablation`.
SWITCH = "HPIMOUNT_WITHOUT"

# How the files are packed.
METHODS = ["zlib", "lz77"]

# A mechanism stays if one of its rows takes this many times as long without it.
LEAST = 1.05

# The column of the whole program.
FULL = "full"


@dataclasses.dataclass
class Mechanism:
    """A mechanism that can be switched off."""

    title: str
    # How hpimount is started without it.
    command: str
    # The rows that it was made for.
    rows: list


def switched_off(title, name, rows):
    """A mechanism that the program calls by this name."""
    return Mechanism(title, f"env {SWITCH}={name} {{hpimount}}", rows)


MECHANISMS = [
    Mechanism(
        "the whole prefetch",
        "{hpimount} -o noprefetch",
        ["grep cold", "grep four", "cat cold", "random 1", "random 4", "copy", "cat all", "search", "heads", "heads one"],
    ),
    switched_off("pushing only heads", "Heads", ["heads", "heads one"]),
    switched_off("decoding only heads", "Stops", ["heads", "heads one"]),
    switched_off("the reverse order", "Reverse", ["search"]),
    switched_off("decoding a block in part first", "PartialDecode", ["random 1"]),
    switched_off("pushing the rest of a block", "BlockRests", ["random 1", "random 4"]),
    switched_off("decoding ahead across directories", "NextDirectories", ["grep cold", "grep four", "copy", "search"]),
    switched_off("decoding ahead in a file", "NextBlocks", ["cat cold", "grep cold"]),
]


class Corpus(Bench):
    """The rows of the main corpus, by the measurement that fills them."""

    def measurements(self):
        return {
            self.grep: ["grep cold"],
            self.four_greps: ["grep four"],
            self.cat: ["cat cold"],
            self.random: ["random 1", "random 4"],
            self.copy: ["copy"],
            self.check: ["cat all"],
        }


class Game(GameBench):
    """The rows of the tree of a game, by the measurement that fills them."""

    rows = {**GAME_ROWS, "heads one": Row("first 4 KiB of every file, by one process at a time, cold", "s")}

    def measurements(self):
        return {self.search: ["search"], self.heads: ["heads"], self.heads_one: ["heads one"]}

    def heads_one(self, peer):
        self.time(peer, "heads one", "find . -type f -print0 | xargs -0 -n 64 head -q -c 4096 >/dev/null")


def measure(directory, programs, point, rounds):
    """The part of the report about the mechanisms."""
    benches = [
        (Corpus(corpus.prepare(directory, programs, False), point), "{method}.hpi"),
        (Game(corpus.prepare_game(directory, programs, False), point), "game-{method}.hpi"),
    ]
    for number in range(rounds):
        for bench, archive in benches:
            for method in METHODS:
                one_round(bench, number, method, directory / archive.format(method=method), programs / "hpimount")
    return report(benches, rounds)


def one_round(bench, number, method, archive, hpimount):
    """Measures each row once, with the whole program and without each of its mechanisms in turn."""
    for step, rows in bench.measurements().items():
        without = [mechanism for mechanism in MECHANISMS if set(rows) & set(mechanism.rows)]
        peers = [Peer(f"{method} {FULL}", archive, f"{hpimount} {{archive}} {{point}}")]
        for mechanism in without:
            command = mechanism.command.format(hpimount=hpimount) + " {archive} {point}"
            peers.append(Peer(f"{method} {mechanism.title}", archive, command))
        # Rotate the order, so that none always comes first.
        turn = number % len(peers)
        for peer in peers[turn:] + peers[:turn]:
            say(f"round {number + 1}: {step.__name__}: {peer.name}")
            step(peer)


def report(benches, rounds):
    """The table: a line for each mechanism and row."""
    lines = ["| without | row | zlib | LZ77 |", "|---|---|--:|--:|"]
    useless = []
    for mechanism in MECHANISMS:
        factors = []
        for bench, _ in benches:
            for key in mechanism.rows:
                if key in bench.rows and any(key in rows for rows in bench.measurements().values()):
                    cells = []
                    for method in METHODS:
                        text, factor = cell(bench, method, mechanism, key)
                        cells.append(text)
                        factors.append(factor)
                    lines.append(f"| {mechanism.title} | {bench.rows[key].title} | {' | '.join(cells)} |")
        if max(factors) < LEAST:
            useless.append(mechanism.title)
    table = "\n".join(lines)
    verdict = f"These give less than {LEAST - 1:.0%} on each of their rows: {', '.join(useless)}." if useless else (
        f"Each mechanism gives at least {LEAST - 1:.0%} on one of its rows, so none was removed."
    )
    return f"""{ABLATION}

Made by `scripts/bench --ablation --write`: each mechanism is switched off, and the rows that it was made for are measured in turn with the whole program, {rounds} rounds. The first figure is the median of the whole program and the second one that without the mechanism, in seconds or IOPS; in brackets, how many times as long the row takes without it. A mechanism must give {LEAST - 1:.0%} on one of its rows to be worth its code. {verdict}

{table}
"""


def cell(bench, method, mechanism, key):
    """The text of a cell, and how many times as long the row takes without the mechanism."""
    full = Peer(f"{method} {FULL}", None, "")
    without = Peer(f"{method} {mechanism.title}", None, "")
    before, after = bench.median(full, key), bench.median(without, key)
    if before is None or after is None:
        return "-", 0
    is_rate = bench.rows[key].unit == "IOPS"
    digits = 0 if is_rate else 3
    factor = before / after if is_rate else after / before
    return f"{before:.{digits}f}, {after:.{digits}f} ({factor:.2f})", factor
