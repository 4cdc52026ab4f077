"""mapped_reads.py PAIRS SEED ROUNDS: compares random parts of files, which are
mapped into memory, with the same parts of their originals.

A line of PAIRS has the paths of a file and of its original, with a tab between
them. Prints the milliseconds that each file took.
"""
import mmap
import os
import random
import sys
import time

pairs, seed, rounds = sys.argv[1:]
pairs = [line.split("\t") for line in open(pairs).read().splitlines()]
random.seed(int(seed))
for _ in range(int(rounds)):
    copy, original = random.choice(pairs)
    begun = time.monotonic()
    with open(copy, "rb") as file:
        with mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
            start = random.randrange(len(mapped))
            part = mapped[start:start + random.randrange(1, 1 << 17)]
        # Otherwise the kernel would soon have cached them all.
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    print(round((time.monotonic() - begun) * 1000))
    with open(original, "rb") as file:
        file.seek(start)
        if file.read(len(part)) != part:
            sys.exit(f"{copy}: wrong bytes from {start} to {start + len(part)}")
