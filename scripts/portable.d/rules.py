"""What is different on Windows."""

import json
import urllib.request


def pack_and_print(job):
    mod, work = job.folder / "mod", job.folder
    (mod / "Sub Folder").mkdir(parents=True)
    (mod / "a.txt").write_bytes(b"hello\r\n\xff")
    (mod / "Sub Folder/b.txt").write_text("b")

    def expect(name, run, is_right):
        job.expect("rules", name, is_right, run)

    def windows(*arguments):
        return job.run("windows", *arguments)

    run = windows("pack", "-q", "mod", "m.hpi")
    expect("packs a folder", run, run.code == 0)
    run = job.run("here", "pack", "-q", "mod", "n.hpi")
    is_same = (work / "m.hpi").read_bytes() == (work / "n.hpi").read_bytes()
    expect("packs the same bytes", run, is_same)
    run = windows("pack", "-q", "mod", "m.hpi")
    expect("does not replace what exists", run, run.code == 20)
    run = windows("pack", "-q", "-f", "mod", "m.hpi")
    expect("replaces it with --force", run, run.code == 0)
    left = [path.name for path in work.glob(".hpi*")]
    expect("leaves no temporary files", left, not left)

    run = windows("cat", "m.hpi", "a.txt")
    expect("prints bytes unchanged", run, run.printed == b"hello\r\n\xff")
    run = windows("cat", "m.hpi", "a.txt", "--output", "a.out")
    is_same = run.code == 0 and (work / "a.out").read_bytes() == b"hello\r\n\xff"
    expect("writes bytes to a file", run, is_same)
    run = windows("cat", "m.hpi", "Sub Folder\\b.txt")
    expect("takes backslashes in paths", run, (run.code, run.printed) == (0, b"b"))

    run = windows("check", "*.hpi")
    expect("expands wildcards", run, b"checked 2 sources" in run.printed)
    run = windows("list", "nowhere*.hpi")
    expect("says that nothing is there", run, run.code == 10)
    run = windows("list", "missing.hpi")
    expect("says that a file is missing", run, run.code == 10)
    run = windows("mount", "m.hpi", "mod")
    expect("says what there is instead of a mount", run, run.code == 21)
    run = windows("apply", "-q", "-f", "mod", "m.hpi", "m.hpi")
    expect("replaces its own source", run, run.code == 0)


def paths(job):
    deep = job.folder / "/".join(["long name of a folder"] * 16)
    deep.mkdir(parents=True)
    (deep / "\u00e9\u4e00.txt").write_text("deep")
    (deep / "CON").write_text("con")
    run = job.run("windows", "list", "--json", "long name of a folder")
    names = [json.loads(line)["path"] for line in run.printed.splitlines()]
    is_found = any(name.endswith("\u00e9\u4e00.txt") for name in names)
    job.expect("rules", "lists long paths", run.code == 0 and is_found, run)
    is_found = any(name.endswith("/CON") for name in names)
    job.expect("rules", "lists names of devices", is_found, names)
    run = job.run("windows", "extract", "long name of a folder", "-C", "copy")
    is_there = (job.folder / "copy" / "/".join(deep.parts[-15:]) / "%43ON").exists()
    job.expect("rules", "extracts long paths", run.code == 0 and is_there, run)


def names(job):
    """Names that Windows cannot have, there and back."""
    folder = job.folder / "strange"
    (folder / "dir.").mkdir(parents=True)
    for name in ("a:b", "a%3Ab", "con.txt", "q?", "dir./end "):
        (folder / name).write_text(name)
    for archive in ("a.hpi", "a.zip"):
        job.run("here", "pack", "-q", "strange", archive)
        run = job.run("windows", "extract", archive, "-C", archive + ".out")
        found = sorted(path.name for path in (job.folder / (archive + ".out")).rglob("*"))
        expected = ["%63on.txt", "a%253Ab", "a%3Ab", "dir%2E", "end%20", "q%3F"]
        job.expect("rules", f"{archive}: escapes names", found == expected, (run, found))
        run = job.run("windows", "pack", "-q", archive + ".out", "again-" + archive)
        again = job.folder / ("again-" + archive)
        is_same = again.exists() and again.read_bytes() == (job.folder / archive).read_bytes()
        job.expect("rules", f"{archive}: is the same again", is_same, run)


def zones(job):
    zipped, lists = "samples/editing/gta.zip", {}
    for zone in ("UTC", "Europe/Berlin"):
        both = [job.run(system, "list", zipped, zone=zone) for system in ("windows", "here")]
        lists[zone] = [(run.code, run.printed) for run in both]
        job.expect("rules", f"knows {zone}", lists[zone][0] == lists[zone][1], lists[zone])
    job.expect("rules", "has local times", lists["UTC"] != lists["Europe/Berlin"])


def registering(job):
    key = r"HKCU\Software\Classes\hpi.archive\shell\open\command"

    def ask():
        return job.programs.wine("reg", "query", key).returncode

    codes = job.run("windows", "register").code, ask(), job.run("windows", "unregister").code, ask()
    job.expect("rules", "registers and takes it back", codes == (0, 0, 0, 1), codes)


def dropping(job):
    """A file or folder that is dropped on the program is served."""
    (job.folder / "mod").mkdir()
    (job.folder / "mod/a.txt").write_bytes(b"dropped")
    job.run("here", "pack", "-q", "mod", "m.hpi")
    for dropped in ("m.hpi", "mod"):
        full = "Z:" + str(job.folder / dropped).replace("/", "\\")
        with job.programs.serving([full], job.folder) as page:
            root = page.replace("/?token=", "/t/")
            shown = get(root + "/")
            job.expect("rules", f"serves the explorer for {dropped}", b"<script" in shown, shown)
            shown = get(root + "/files/a.txt")
            job.expect("rules", f"serves a dropped {dropped}", shown == b"dropped", shown)


def get(url):
    with urllib.request.urlopen(url, timeout=60) as answer:
        return answer.read()


def in_use(job):
    """A file that another program has open stays as it is."""
    (job.folder / "mod").mkdir()
    (job.folder / "mod/a.txt").write_bytes(b"old")
    job.run("here", "pack", "-q", "mod", "m.hpi")
    old = (job.folder / "m.hpi").read_bytes()
    (job.folder / "mod/a.txt").write_bytes(b"new")
    with job.programs.serving(["serve", ":0", "m.hpi"], job.folder):
        run = job.run("windows", "pack", "-q", "-f", "mod", "m.hpi")
    job.expect("rules", "says that a file is in use", run.code == 20 and b"in use" in run.told, run)
    is_old = (job.folder / "m.hpi").read_bytes() == old
    job.expect("rules", "leaves a file that is in use", is_old, run)


def jobs():
    """Returns the jobs by their names."""
    rules = (pack_and_print, paths, names, zones, registering, dropping, in_use)
    return {f"rules: {rule.__name__}": rule for rule in rules}
