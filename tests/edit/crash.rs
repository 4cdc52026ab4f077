//! A mount that is killed at any step of a change leaves a folder that can be applied.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use fixtures::hip::{Asset, Hip};
use fixtures::hpi::{File as Packed, V1, dir, file};
use fixtures::png_of;
use fixtures::ta::pcx::Pcx;
use hpimount_containers::hip::{Game, Platform, asset_id};
use hpimount_containers::hpi::chunk::Method;
use rustix::io::Errno;
use testkit::applied::hpi_apply;
use testkit::fuse_test;
use testkit::hpipack::stderr;
use testkit::mount::{eventually, has_programs};
use testkit::trial;

use crate::kit::{Editing, save};

/// The system calls that change the folder of edits and the files in it.
const CALLS: [&str; 8] = [
    "openat",
    "renameat2",
    "unlinkat",
    "mkdirat",
    "ftruncate",
    "pwrite64",
    "fsync",
    "utimensat",
];

const PICTURE: &str = "converted/bitmaps/logo.png";
const ASSET: &str = "bitmaps/logo.pcx";

fn archive() -> Vec<u8> {
    let stored = |bytes: &[u8]| Packed::new(bytes, Method::Stored);
    V1::new(vec![
        file(b"readme.txt", stored(b"read me\n")),
        dir(
            b"units",
            vec![
                file(b"tank.fbi", stored(b"Name=Tank;")),
                file(b"jeep.fbi", stored(b"Name=Jeep;")),
            ],
        ),
        dir(b"maps", vec![file(b"big.bin", stored(b"a map"))]),
        dir(b"bitmaps", vec![file(b"logo.pcx", stored(&picture(0)))]),
    ])
    .build()
    .bytes
}

/// Returns an asset with a picture of 4 x 3 pixels.
fn picture(first: u8) -> Vec<u8> {
    Pcx::indexed(4, 3, (first..first + 12).collect()).file()
}

/// A change of a program.
struct Step {
    what: &'static str,
    act: fn(&Path) -> io::Result<()>,
    /// True if a crash may leave the step half done: then its files may be the
    /// archive's.
    has_parts: bool,
}

/// A step that is done or not.
const fn whole(what: &'static str, act: fn(&Path) -> io::Result<()>) -> Step {
    Step {
        what,
        act,
        has_parts: false,
    }
}

/// A step that removes a name and puts a deletion mark or a file there.
const fn parts(what: &'static str, act: fn(&Path) -> io::Result<()>) -> Step {
    Step {
        what,
        act,
        has_parts: true,
    }
}

/// Changes of [`archive`].
const STEPS: [Step; 33] = [
    whole("save a file", |root| save(&root.join("readme.txt"), "new")),
    whole("add a file", |root| save(&root.join("list.txt"), "list")),
    parts("delete an edited file", |root| {
        fs::remove_file(root.join("readme.txt"))
    }),
    whole("delete a file", |root| {
        fs::remove_file(root.join("units/jeep.fbi"))
    }),
    parts("bring a deleted file back", |root| {
        save(&root.join("readme.txt"), "again")
    }),
    parts("rename a file", |root| {
        fs::rename(root.join("units/tank.fbi"), root.join("units/bull.fbi"))
    }),
    whole("rename an added file", |root| {
        fs::rename(root.join("list.txt"), root.join("names.txt"))
    }),
    whole("rename a file onto another", |root| {
        fs::rename(root.join("names.txt"), root.join("readme.txt"))
    }),
    whole("make a directory", |root| fs::create_dir(root.join("docs"))),
    whole("save a file in it", |root| {
        save(&root.join("docs/a.txt"), "a")
    }),
    whole("rename it", |root| {
        fs::rename(root.join("docs"), root.join("papers"))
    }),
    whole("empty it", |root| {
        fs::remove_file(root.join("papers/a.txt"))
    }),
    whole("remove it", |root| fs::remove_dir(root.join("papers"))),
    whole("empty another", |root| {
        fs::remove_file(root.join("maps/big.bin"))
    }),
    parts("remove that", |root| fs::remove_dir(root.join("maps"))),
    parts("make it again", |root| fs::create_dir(root.join("maps"))),
    whole("save a file in that", |root| {
        save(&root.join("maps/big.bin"), "another map")
    }),
    whole("sync a file", |root| {
        let mut file = File::create(root.join("synced.txt"))?;
        file.write_all(b"synced")?;
        file.sync_all()
    }),
    whole("set its time", |root| {
        let file = File::options().write(true).open(root.join("synced.txt"))?;
        file.set_modified(std::time::UNIX_EPOCH)
    }),
    whole("save a converted file", |root| {
        save(&root.join(PICTURE), png_of(4, 3, vec![[0; 4]; 12]))
    }),
    whole("save one of a wrong size", |root| {
        match save(&root.join(PICTURE), png_of(5, 3, vec![[0; 4]; 15])) {
            Err(error) if error.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => Ok(()),
            saved => saved.and(Err(io::Error::other("must be refused"))),
        }
    }),
    whole("save a good one", |root| {
        save(&root.join(PICTURE), png_of(4, 3, vec![[255; 4]; 12]))
    }),
    parts("save its asset", |root| save(&root.join(ASSET), picture(2))),
    parts("save the converted file again", |root| {
        save(&root.join(PICTURE), png_of(4, 3, vec![[0; 4]; 12]))
    }),
    whole("save another asset", |root| {
        save(&root.join("other.pcx"), picture(3))
    }),
    parts("rename it onto that", |root| {
        fs::rename(root.join("other.pcx"), root.join(ASSET))
    }),
    parts("save the converted file a third time", |root| {
        save(&root.join(PICTURE), png_of(4, 3, vec![[0; 4]; 12]))
    }),
    whole("take the edit back", |root| {
        fs::remove_file(root.join(PICTURE))
    }),
    whole("edit it once more", |root| {
        save(&root.join(PICTURE), png_of(4, 3, vec![[0; 4]; 12]))
    }),
    parts("delete its asset", |root| fs::remove_file(root.join(ASSET))),
    whole("leave a file of an editor", |root| {
        save(&root.join(".goutputstream-ABCDEF"), "half")
    }),
    parts("delete a file with a long history", |root| {
        fs::remove_file(root.join("readme.txt"))
    }),
    whole("save a last file", |root| {
        save(&root.join("last.txt"), "last")
    }),
];

/// Returns a HIP archive with texts.
fn texts() -> Vec<u8> {
    let mut hip = Hip::target(Game::Bfbb, Platform::GameCube);
    hip.layer(0)
        .add(Asset::new(b"TEXT", "greeting", b"\0\0\0\x05Hello\0\0\0"))
        .add(Asset::new(b"TEXT", "farewell", b"\0\0\0\x03Bye\0"));
    hip.build()
}

/// Files that list all others.
const TABLES: [&str; 3] = ["assets.tsv", "info.json", "types/Settings.ini"];

const GREETING: &str = "layers/00-DEFAULT/greeting.text";
const TEXT: &str = "converted/texts/greeting.txt";

/// Returns a name of the asset in `ids`.
fn id(name: &str) -> String {
    format!("ids/{:08X}", asset_id(name.as_bytes()))
}

/// Changes of [`texts`].
const HIP_STEPS: [Step; 9] = [
    whole("save an asset", |root| {
        save(&root.join(GREETING), b"\0\0\0\x02Hi\0\0")
    }),
    parts("save its text", |root| save(&root.join(TEXT), "Hey")),
    parts("save it by its id", |root| {
        save(&root.join(id("greeting")), b"\0\0\0\x02Ho\0\0")
    }),
    whole("write a file beside the ids", |root| {
        save(&root.join("ids/.goutputstream-ABCDEF"), b"\0\0\0\x02Ha\0\0")
    }),
    whole("rename it onto an id", |root| {
        let ids = root.join("ids");
        fs::rename(ids.join(".goutputstream-ABCDEF"), root.join(id("greeting")))
    }),
    whole("delete an asset by its id", |root| {
        fs::remove_file(root.join(id("farewell")))
    }),
    whole("add an asset", |root| {
        save(
            &root.join("layers/00-DEFAULT/new.text"),
            b"\0\0\0\x02No\0\0",
        )
    }),
    parts("rename an asset", |root| {
        let layer = root.join("layers/00-DEFAULT");
        fs::rename(layer.join("greeting.text"), layer.join("welcome.text"))
    }),
    whole("save the text of another", |root| {
        save(&root.join("converted/texts/new.txt"), "Yes")
    }),
];

/// An archive and changes of it.
struct Scenario {
    name: &'static str,
    archive: Vec<u8>,
    steps: &'static [Step],
}

/// The files of an archive, by their paths.
type Files = BTreeMap<String, Vec<u8>>;

/// The contents of a mount.
struct State {
    image: Vec<u8>,
    files: Files,
}

impl State {
    fn of(editing: &Editing) -> Self {
        let mut files = Files::new();
        let mut left = vec![String::new()];
        while let Some(directory) = left.pop() {
            for name in editing.names(&directory) {
                if directory.is_empty() && [".hpimount", "converted"].contains(&&*name) {
                    continue;
                }
                let path = format!("{directory}{name}");
                match editing.path(&path).is_dir() {
                    true => left.push(format!("{path}/")),
                    false => {
                        files.insert(path.clone(), editing.read(&path));
                    }
                }
            }
        }
        Self {
            image: editing.image(),
            files,
        }
    }

    /// Returns whether this is `before` with an empty file: between the truncation of a file
    /// and its first bytes, a process that another test starts may close a copy of the
    /// descriptor.
    fn is_truncated(&self, before: &State) -> bool {
        let others = self.others(&[before]);
        let is_empty = |path: &&str| self.files.get(*path).is_some_and(Vec::is_empty);
        !others.is_empty() && others.iter().all(is_empty)
    }

    /// Returns the files that differ from all states, except for tables of all files.
    fn others<'a>(&'a self, states: &[&'a State]) -> Vec<&'a str> {
        let paths = states.iter().flat_map(|state| state.files.keys());
        let others = paths.chain(self.files.keys()).filter(|path| {
            let file = self.files.get(*path);
            let is_table = TABLES.contains(&path.as_str());
            !is_table && states.iter().all(|state| state.files.get(*path) != file)
        });
        others.map(String::as_str).collect()
    }
}

/// Kills the mount when a thread of it makes a system call the `count`th time.
fn kill_at(editing: &Editing, call: &str, count: usize) -> Child {
    let pid = editing.mount().pid();
    let inject = format!("inject={call}:signal=KILL:when={count}");
    let tracer = Command::new("strace")
        .args(["-f", "-o", "/dev/null", "-e", &format!("trace={call}")])
        .args(["-e", &inject, "-p", &pid.to_string()])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    eventually("all threads are traced", || {
        let tasks = fs::read_dir(format!("/proc/{pid}/task")).unwrap();
        tasks.into_iter().all(|task| {
            let status = fs::read_to_string(task.unwrap().path().join("status"));
            !status.unwrap_or_default().contains("TracerPid:\t0\n")
        })
    });
    tracer
}

/// A mount that was used until it ended.
struct Ended {
    /// Number of steps that were done.
    done: usize,
    is_killed: bool,
}

/// Makes all steps in a mount, unless it is killed at the `count`th `call`, and
/// unmounts it.
fn use_until_killed(editing: &Editing, steps: &[Step], call: &str, count: usize) -> Ended {
    let mut tracer = kill_at(editing, call, count);
    let done = {
        // It leads to the mount even after it was detached.
        let root = File::open(editing.mount().path()).unwrap();
        let root = PathBuf::from(format!("/proc/self/fd/{}", root.as_raw_fd()));
        let failed = steps.iter().position(|step| {
            let result = (step.act)(&root);
            if let Err(error) = &result {
                let is_gone = [Errno::NOTCONN, Errno::CONNABORTED, Errno::IO];
                let is_gone = is_gone.map(|errno| Some(errno.raw_os_error()));
                assert!(
                    is_gone.contains(&error.raw_os_error()),
                    "{call} {count}, {}: {error}",
                    step.what
                );
            }
            result.is_err()
        });
        failed.unwrap_or(steps.len())
    };
    let mount = editing.mount();
    eventually("the mount ends", || {
        let flags = rustix::mount::UnmountFlags::empty();
        // A guard unmounts it when it was killed.
        let _ = rustix::mount::unmount(mount.path(), flags);
        mount.daemon().has_ended()
    });
    tracer.wait().unwrap();
    Ended {
        done,
        is_killed: mount.daemon().wait().is_none(),
    }
}

impl Scenario {
    fn mount(&self) -> Editing {
        Editing::new(self.name, &self.archive)
    }

    /// Returns the contents before the first step and after each.
    fn states(&self) -> Vec<State> {
        let editing = self.mount();
        let mut states = vec![State::of(&editing)];
        for step in self.steps {
            (step.act)(editing.mount().path()).unwrap();
            editing.assert_applied();
            states.push(State::of(&editing));
        }
        states
    }

    /// Kills mounts at each system call.
    fn try_all(&self) {
        let states = self.states();
        let (mut killed, mut wrong) = (0, Vec::new());
        for call in CALLS {
            for count in (1..).step_by(trial::step(9)) {
                let mut editing = self.mount();
                let ended = use_until_killed(&editing, self.steps, call, count);
                let Ended { done, is_killed } = ended;
                if !is_killed {
                    assert_eq!(done, self.steps.len());
                    break;
                }
                killed += 1;
                let step = self.steps.get(done);
                if let Err(error) = check(&mut editing, &states[done..], &states[0], step) {
                    let what = step.map_or("end", |step| step.what);
                    wrong.push(format!("{call} {count}, {what}: {error}"));
                }
            }
        }
        assert!(wrong.is_empty(), "of {killed}: {wrong:#?}");
        trial::record("killed at a system call", killed, "state before or after");
    }
}

#[fuse_test]
fn a_mount_killed_at_any_system_call_leaves_the_state_before_or_after_a_step() {
    let scenario = Scenario {
        name: "a.hpi",
        archive: archive(),
        steps: &STEPS,
    };
    if has_programs(&["strace"]) {
        scenario.try_all();
    }
}

#[fuse_test]
fn assets_with_several_names_survive_kills() {
    let scenario = Scenario {
        name: "a.HIP",
        archive: texts(),
        steps: &HIP_STEPS,
    };
    if has_programs(&["strace"]) {
        scenario.try_all();
    }
}

/// Checks the state that a mount left when it was killed in a step: one of the first
/// two of `states`, or anything between them if the step has parts.
fn check(
    editing: &mut Editing,
    states: &[State],
    original: &State,
    step: Option<&Step>,
) -> Result<(), String> {
    let out = editing.mount().fixture.dir().join("killed");
    let ran = hpi_apply(&[], &editing.folder, &editing.source, &out);
    if !ran.status.success() {
        return Err(stderr(&ran));
    }
    let left = editing.edits();
    editing.mount_again();
    let now = State::of(editing);
    if now.image != fs::read(out).unwrap() {
        return Err(format!("{left:?} is shown otherwise"));
    }
    let before = &states[0];
    let after = states.get(1).unwrap_or(before);
    let has_parts = step.is_some_and(|step| step.has_parts);
    let others = match has_parts {
        true => now.others(&[before, after, original]),
        false => vec!["all"],
    };
    let is_whole = [before, after].iter().any(|state| state.image == now.image);
    if !is_whole && !others.is_empty() && !now.is_truncated(before) {
        return Err(format!("{left:?} has other files: {others:?}"));
    }
    let edits = editing.edits();
    match edits.iter().any(|path| path.starts_with(".hpimount-")) {
        true => Err(format!("unfinished files are left: {edits:?}")),
        false => Ok(()),
    }
}
