"""The files and archives used for measuring."""

import os
import shutil
import subprocess
from pathlib import Path

from . import discs
from .tools import ROOT


def build(examples, quick):
    """Builds the program and these examples, and returns a directory with its names as packages have them, links;
    debug builds for a smoke test."""
    targets = ["--bin", "hpi"]
    for example in examples:
        targets += ["--example", example]
    subprocess.run(["cargo", "build", *([] if quick else ["--release"]), *targets], cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    links = target / ("debug" if quick else "release") / "installed"
    links.mkdir(exist_ok=True)
    for name, other in [("hpi", "hpi"), ("hpimount", "hpi"), ("hpipack", "hpi"), ("examples", "examples")]:
        (links / name).unlink(missing_ok=True)
        (links / name).symlink_to(f"../{other}")
    return links


def prepare(directory, programs, quick):
    """Creates the corpus and the missing archives."""
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
        make(directory / "corpus.7z", seven_zip, cwd=corpus)
        make(directory / "corpus.iso", lambda out: ["xorriso", "-as", "mkisofs", "-quiet", "-J", "-o", out, corpus])
        write(directory / "corpus.img", lambda out: discs.write_img(corpus, out))
        write(directory / "corpus.gcm", lambda out: discs.write_gcm(corpus, out))
        if shutil.which("zstd"):
            write(directory / "corpus.rvz", lambda out: discs.write_rvz(directory / "corpus.gcm", out))
        make(directory / "corpus.tar.gz", lambda out: ["tar", "-czf", out, "-C", corpus, "."])
        make(directory / "corpus.dwarfs", lambda out: ["mkdwarfs", "-S18", "-i", corpus, "-o", out])
    images(directory, "corpus")
    return corpus


def prepare_game(directory, programs, quick):
    """Creates a tree shaped like a game's, and its archives."""
    game = directory / "game"
    make(game, lambda out: [programs / "examples" / "corpus", "game", out] + ["--quick"] * quick)
    for method in ["zlib", "lz77", "stored"]:
        command = [programs / "hpipack", "--quiet", game]
        make(directory / f"game-{method}.hpi", lambda out: command + [out, f"--method={method}", "--key=0x7D"])
    images(directory, "game")
    return game


def prepare_one(directory, programs):
    """Creates an archive of one file."""
    archive = directory / "one.hpi"
    make(archive, lambda out: [programs / "examples" / "corpus", "shape", "--files=1", "--width=1", out])
    return archive


def images(directory, name):
    """Packs a directory for the file systems of the kernel."""
    make(directory / f"{name}.squashfs", lambda out: mksquashfs(directory / name, out))
    make(directory / f"{name}.erofs", lambda out: ["mkfs.erofs", "-d0", "-zlz4hc", "-C65536", out, directory / name])


def mksquashfs(source, out):
    """The command that packs a directory as squashfs."""
    return ["mksquashfs", source, out, "-b", "64K", "-comp", "gzip", "-no-progress", "-quiet"]


def seven_zip(out):
    """The command that packs the current directory as 7-Zip does without options: into one solid block."""
    return ["7z", "a", "-bso0", "-bsp0", out, "."]


def make(path, command, cwd=None):
    """Creates a missing file or directory with the command for its path."""
    # With the right extension, which some programs need.
    part = path.with_name("part-" + path.name)
    command = command(part)
    if path.exists() or not shutil.which(command[0]):
        return
    shutil.rmtree(part, ignore_errors=True)
    part.unlink(missing_ok=True)
    print(f"making {path}")
    subprocess.run(command, cwd=cwd, check=True)
    part.rename(path)


def write(path, writer):
    """Creates a missing file or directory with a function that takes its path."""
    if path.exists():
        return
    part = path.with_name("part-" + path.name)
    shutil.rmtree(part, ignore_errors=True)
    print(f"making {path}")
    writer(part)
    part.rename(path)
