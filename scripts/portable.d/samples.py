"""The jobs for a folder of samples: every command, for all files in it."""

import json
import shutil

# Files of the samples that are no sources.
NO_SOURCES = {".json", ".md", ".txt", ".py"}
PATCHES = {".xdelta", ".bps", ".ups", ".ppf", ".ips"}

# One of so many samples is also converted, packed and compared with the next one, and so
# many are checked together.
SOME = 5
TOGETHER = 10

# Printed alone, if a file of such a size is in a sample.
LARGEST_PRINTED = 1 << 20


def sources(samples):
    """Returns the samples that are files of their own, relative to the folder around."""
    for path in sorted(samples.rglob("*")):
        inside_changes = any(part.endswith((".changes", ".expect")) for part in path.parts)
        if path.is_file() and not inside_changes and path.suffix not in NO_SOURCES | PATCHES:
            yield str(path.relative_to(samples.parent))


def read(path, is_some):
    """Returns the job that reads a sample in every way."""

    def job(job):
        listed = job.same("list", "--hash", "sha256", "--json", path, "/", "converted")
        entries = [json.loads(line) for line in listed.printed.splitlines()]
        files = [
            entry["path"]
            for entry in entries
            if entry["kind"] == "file" and 0 < (entry["size"] or 0) <= LARGEST_PRINTED
        ]
        if files:
            job.same("cat", path, files[len(files) // 2])
        job.same("thumbnail", path, "OUT/picture.png")
        if is_some:
            job.same("extract", "--windows-names", "--converted", path, "-C", "OUT")
        job.same("extract", "--windows-names", "--nested", path, "-C", "OUT")
        extracted = job.folder / "out"
        if is_some and len(list(extracted.iterdir())) > 1:
            extracted.rename(job.folder / "extracted")
            extension = ".hpi" if path.lower().endswith((".hpi", ".ufo")) else ".zip"
            job.same("pack", "-q", "--windows-names", "extracted", f"OUT/new{extension}")

    return job


def same(*arguments):
    return lambda job: job.same(*arguments)


def original_of(patch, cases):
    """Returns what a patch is for: by its name the original of a change, or any disc."""
    named = [case for case in cases if patch.name.startswith(case["name"] + ".")]
    return named[0]["original"] if named else "samples/writing/gc.iso"


def applying(case):
    """Returns the job that applies changes, or refuses them."""
    out = "OUT/new." + case["original"].rsplit(".", 1)[-1]

    def job(job):
        changes = case["changes"]
        paths = sorted((job.folder / changes).rglob("*"), reverse=True)
        if any(":" in path.name for path in paths):
            # As Windows can have them.
            shutil.copytree(job.folder / changes, job.folder / "changes", symlinks=True)
            for path in paths:
                path = job.folder / "changes" / path.relative_to(job.folder / changes)
                path.rename(path.with_name(path.name.replace(":", "%3A")))
            changes = "changes"
        job.same("apply", "-q", "--windows-names", changes, case["original"], out)

    return job


def jobs(samples):
    """Returns the jobs by their names."""
    found = list(sources(samples))
    jobs = {}
    for number, path in enumerate(found):
        jobs[path] = read(path, number % SOME == 0)
    for start in range(0, len(found), TOGETHER):
        together = found[start : start + TOGETHER]
        jobs[f"check {' '.join(together)}"] = same("check", "--json", *together)
    for one, other in list(zip(found, found[1:]))[::SOME]:
        jobs[f"diff {one} {other}"] = same("diff", "--json", one, other)
    cases = []
    for folder in ("writing", "editing"):
        cases += json.loads((samples / folder / "cases.json").read_text())
    # Others only say what can be edited.
    cases = [case for case in cases if "changes" in case]
    for case in cases:
        jobs[f"apply {case['changes']} {case['original']}"] = applying(case)
    for patch in sorted(samples.rglob("*")):
        if patch.is_file() and patch.suffix in PATCHES:
            path, original = str(patch.relative_to(samples.parent)), original_of(patch, cases)
            jobs[f"apply {path}"] = same("apply", "-q", path, original, "OUT/new.iso")
    return jobs
