"""The files and archives that are measured."""

import os
import shutil
import subprocess
from pathlib import Path

from .tools import ROOT


def build():
    """Builds the programs and says where they are."""
    subprocess.run(["cargo", "build", "--release", "--bins", "--example", "corpus"], cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return target / "release"


def prepare(directory, programs, quick):
    """Makes the corpus and the archives that are not there yet."""
    directory.mkdir(parents=True, exist_ok=True)
    corpus = directory / "corpus"
    example = programs / "examples" / "corpus"
    hpipack = [programs / "hpipack", "--quiet", corpus]
    make(corpus, lambda out: [example, "files", out] + ["--quick"] * quick)
    make(directory / "zlib.hpi", lambda out: hpipack + [out, "--method=zlib", "--key=0x7D"])
    if not quick:
        make(directory / "lz77.hpi", lambda out: hpipack + [out, "--method=lz77", "--key=0x7D"])
        make(directory / "stored.hpi", lambda out: hpipack + [out, "--method=stored"])
        make(directory / "corpus.hip", lambda out: [example, "hip", corpus, out])
        make(directory / "corpus.zip", lambda out: ["zip", "-qr", out, "."], cwd=corpus)
        make(directory / "corpus.tar.gz", lambda out: ["tar", "-czf", out, "-C", corpus, "."])
        if shutil.which("erofsfuse"):
            make(directory / "corpus.erofs", lambda out: ["mkfs.erofs", "-zlz4hc", "-C65536", out, corpus])
    make(directory / "corpus.squashfs", lambda out: mksquashfs(corpus, out))
    return corpus


def mksquashfs(source, out):
    """The command that packs a directory as squashfs."""
    return ["mksquashfs", source, out, "-b", "64K", "-comp", "gzip", "-no-progress", "-quiet"]


def make(path, command, cwd=None):
    """Makes a file or directory that is not there, by a command that takes its name."""
    # With the right ending: some programs look at it.
    part = path.with_name("part-" + path.name)
    command = command(part)
    if path.exists() or not shutil.which(command[0]):
        return
    shutil.rmtree(part, ignore_errors=True)
    part.unlink(missing_ok=True)
    print(f"making {path}")
    subprocess.run(command, cwd=cwd, check=True)
    part.rename(path)
