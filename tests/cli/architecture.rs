//! CONTRIBUTING.md lists every module of the crates and of the mount, from the highest
//! layer to the lowest. A module uses only lower ones. Neither files nor the folders of the
//! mount depend on each other in cycles.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The folders of the crates, each with a map.
pub(super) const CRATES: [&str; 11] = [
    "src",
    "crates/total-annihilation/src",
    "crates/heavy-iron/src",
    "crates/neversoft/src",
    "crates/crash/src",
    "crates/gta/src",
    "crates/renderware/src",
    "crates/assets/src",
    "crates/record/src",
    "crates/patches/src",
    "crates/containers/src",
];

/// The modules with a map of their own: the folder of the crate, and the path in it.
fn maps() -> impl Iterator<Item = (&'static str, &'static str)> {
    let crates = CRATES.iter().map(|folder| (*folder, ""));
    crates.chain([("src", "mount")])
}

/// Returns the folder of a module in a crate.
fn folder_of(folder: &str, module: &str) -> String {
    format!("{folder}/{}", module.replace("::", "/"))
        .trim_end_matches('/')
        .to_owned()
}

/// The root of the repository.
pub(super) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the row of each module in the map of a folder.
fn rows(folder: &str) -> BTreeMap<String, usize> {
    let page = include_str!("../../CONTRIBUTING.md");
    let heading = format!("| `{folder}/`");
    let lines = page.lines().skip_while(|line| !line.starts_with(&heading));
    let table = lines.skip(2).take_while(|line| line.starts_with('|'));
    let mut rows = BTreeMap::new();
    for (row, line) in table.enumerate() {
        let cell = line.split('|').nth(1).unwrap();
        for name in cell.split('`').skip(1).step_by(2) {
            rows.insert(module_name(name), row);
        }
    }
    rows
}

/// Returns the name of the module in a file or folder.
fn module_name(file: &str) -> String {
    let name = file.trim_end_matches('/');
    name.trim_end_matches(".rs").to_owned()
}

/// Returns the names in a folder.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// A path that a module imports.
struct Import {
    path: String,
    /// True if other modules can use it through this one.
    is_public: bool,
}

/// The modules of a crate.
#[derive(Default)]
struct Modules {
    /// The files, by path without `crate::`, except for the root of the crate.
    files: BTreeMap<String, PathBuf>,
    /// Their code, without comments, tests and imports.
    code: BTreeMap<String, String>,
    /// The imported items, by name.
    imports: BTreeMap<String, BTreeMap<String, Import>>,
}

impl Modules {
    /// Reads the modules in a folder of the repository.
    fn read(folder: &str) -> Self {
        let mut modules = Self::default();
        modules.add(&root().join(folder), "");
        for (module, file) in &modules.files {
            let (imports, code) = imports(&code(&fs::read_to_string(file).unwrap()));
            modules.imports.insert(module.clone(), imports);
            modules.code.insert(module.clone(), code);
        }
        modules
    }

    /// Adds the modules of a folder, which belong to the module `around`.
    fn add(&mut self, folder: &Path, around: &str) {
        for path in entries(folder) {
            let name = module_name(path.file_name().unwrap().to_str().unwrap());
            let module = match &*name {
                "bin" | "lib" | "main" | "tests" => continue,
                "mod" => around.to_owned(),
                _ => format!("{around}::{name}").trim_matches(':').to_owned(),
            };
            match path.is_dir() {
                true => self.add(&path, &module),
                false => drop(self.files.insert(module, path)),
            }
        }
    }

    /// Resolves a path in the module `from` to a module. Returns `None` if it leads out
    /// of the crate, to the module itself, or to something that was not imported.
    fn find(&self, from: &str, path: &str) -> Option<String> {
        let mut found = from.to_owned();
        let mut names = path.split("::").enumerate();
        while let Some((number, name)) = names.next() {
            let inner = format!("{found}::{name}").trim_matches(':').to_owned();
            let import = self.imports.get(&found).and_then(|all| all.get(name));
            match (name, import) {
                ("crate", _) => found = String::new(),
                ("self", _) => {}
                ("super", _) => found = parent(&found).to_owned(),
                _ if self.files.contains_key(&inner) => found = inner,
                (_, Some(import)) if !import.path.starts_with(name) => {
                    let rest = names.map(|(_, name)| format!("::{name}"));
                    let path = import.path.clone() + &rest.collect::<String>();
                    return self.find(&found, &path);
                }
                _ => return (number > 0).then_some(found),
            }
        }
        None
    }

    /// Returns the other modules that a module uses, except by method calls.
    /// Re-exporting parts of its own modules does not hide their use.
    fn used_by(&self, module: &str) -> BTreeSet<String> {
        let imports = self.imports[module].values();
        let imports =
            imports.filter(|import| !import.is_public || !import.path.starts_with("self::"));
        let imports = imports.map(|import| &*import.path);
        let is_end = |letter: char| !letter.is_alphanumeric() && letter != '_' && letter != ':';
        let words = self.code[module].split(is_end);
        let paths = imports.chain(words.filter(|word| word.contains("::")));
        let found = paths.filter_map(|path| self.find(module, path));
        found.filter(|other| other != module).collect()
    }

    /// Returns the file of a module, from the root of the repository.
    fn file(&self, module: &str) -> &str {
        let file = self.files[module].strip_prefix(root()).unwrap();
        file.to_str().unwrap()
    }
}

/// Returns the module around a module.
fn parent(module: &str) -> &str {
    module.rsplit_once("::").map_or("", |(parent, _)| parent)
}

/// Returns the name of the module directly in `around` that `module` is, or is in.
fn child<'m>(around: &str, module: &'m str) -> Option<&'m str> {
    let inner = match around {
        "" => module,
        _ => module.strip_prefix(around)?.strip_prefix("::")?,
    };
    inner.split("::").next()
}

/// Removes the modules that are on no circle: those that use no other one, or that no other
/// one uses.
fn leave_circles(uses: &mut BTreeMap<String, BTreeSet<String>>) {
    let mut count = 0;
    while count != uses.len() {
        count = uses.len();
        let left: BTreeSet<String> = uses.keys().cloned().collect();
        let used: BTreeSet<String> = uses.values().flatten().cloned().collect();
        uses.retain(|module, others| {
            others.retain(|other| left.contains(other));
            !others.is_empty() && used.contains(module)
        });
    }
}

/// Returns the code of a file without comments and tests.
fn code(text: &str) -> String {
    let lines = text.lines();
    let lines = lines.filter(|line| !line.trim_start().starts_with("//"));
    let code = lines.collect::<Vec<_>>().join("\n");
    let tests = code.find("\n#[cfg(test)]\nmod tests {");
    code[..tests.unwrap_or(code.len())].to_owned()
}

/// Returns the imports of code, by name, and the other code.
fn imports(code: &str) -> (BTreeMap<String, Import>, String) {
    let (mut imports, mut other, mut end) = (BTreeMap::new(), String::new(), 0);
    for (start, word) in code.match_indices("use ") {
        let before = code[..start].rsplit('\n').next().unwrap().trim();
        let tree = code[start + word.len()..].split(';').next().unwrap();
        let is_public = before.starts_with("pub");
        // Texts for users have the word too.
        let is_text = tree.contains(['"', '.', '(', '`']);
        if !is_text && (is_public || before.is_empty()) {
            let mut paths = Vec::new();
            flatten("", tree, &mut paths);
            let named = paths.into_iter();
            imports.extend(named.map(|(path, name)| (name, Import { path, is_public })));
            other += &code[end..start];
            end = start + word.len() + tree.len();
        }
    }
    (imports, other + &code[end..])
}

/// Adds the paths of a tree of imports, with their names.
fn flatten(around: &str, tree: &str, paths: &mut Vec<(String, String)>) {
    if let Some((start, list)) = tree.split_once('{') {
        let around = format!("{around}{}", start.trim());
        let list = list.trim_end().strip_suffix('}').unwrap();
        let mut depth = 0;
        let trees = list.split(|letter| {
            depth += i32::from(letter == '{') - i32::from(letter == '}');
            letter == ',' && depth == 0
        });
        trees.for_each(|tree| flatten(&around, tree, paths));
        return;
    }
    let path = format!("{around}{}", tree.trim());
    let (path, new_name) = path.split_once(" as ").unwrap_or((&path, ""));
    let path = path.trim_end_matches("::self").trim_end_matches("::*");
    let name = path.rsplit("::").next().unwrap();
    let name = if new_name.is_empty() { name } else { new_name };
    paths.push((path.to_owned(), name.to_owned()));
}

#[test]
fn the_maps_name_every_module() {
    for folder in maps().map(|(folder, module)| folder_of(folder, module)) {
        let found = entries(&root().join(&folder));
        let found = found.iter().map(|path| path.file_name().unwrap());
        let found = found.map(|name| module_name(name.to_str().unwrap()));
        let found: BTreeSet<String> = found
            .filter(|name| name != "lib" && name != "mod")
            .collect();
        let named: BTreeSet<String> = rows(&folder).into_keys().collect();
        assert_eq!(found, named, "{folder}");
    }
}

#[test]
fn a_module_uses_only_modules_of_lower_rows() {
    let mut compared = 0;
    let mut wrong = BTreeSet::new();
    for (folder, around) in maps() {
        let rows = rows(&folder_of(folder, around));
        let row = |module: &str| rows.get(child(around, module)?);
        let modules = Modules::read(folder);
        for module in modules.files.keys() {
            let Some(own) = row(module) else { continue };
            for other in modules.used_by(module) {
                compared += 1;
                if row(&other).is_some_and(|other| other < own) {
                    wrong.insert((modules.file(module).to_owned(), other));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(compared > 1000, "{compared}");
}

/// A file may also use items that the `mod.rs` around it defines.
#[test]
fn no_files_use_each_other_in_a_circle() {
    for folder in CRATES {
        let modules = Modules::read(folder);
        let counts = |module: &str, other: &str| {
            let is_around = module.starts_with(&format!("{other}::")) || other.is_empty();
            !is_around
        };
        let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for module in modules.files.keys() {
            let mut used = modules.used_by(module);
            used.retain(|other| counts(module, other));
            uses.insert(module.clone(), used);
        }
        leave_circles(&mut uses);
        assert!(uses.is_empty(), "{folder}: {uses:#?}");
    }
}

/// Files of two folders that use each other make a circle of folders, although no file is on
/// one.
#[test]
fn no_folders_use_each_other_in_a_circle() {
    for folder in CRATES {
        let modules = Modules::read(folder);
        let folders: BTreeSet<&str> = modules.files.keys().map(|module| parent(module)).collect();
        for around in folders {
            let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
            for module in modules.files.keys() {
                let Some(own) = child(around, module) else {
                    continue;
                };
                let used = modules.used_by(module).into_iter();
                let used = used.filter_map(|other| child(around, &other).map(str::to_owned));
                uses.entry(own.to_owned())
                    .or_default()
                    .extend(used.filter(|other| other != own));
            }
            leave_circles(&mut uses);
            assert!(uses.is_empty(), "{folder}, {around}: {uses:#?}");
        }
    }
}

/// The files that may ask for the system. Everything else is the same on all systems.
const OF_SYSTEMS: [&str; 8] = [
    "src/platform/",
    "src/app/daemon/",
    "src/fuse.rs",
    "src/fuse/",
    "src/edit/",
    "src/errno.rs",
    "crates/containers/src/io/sources.rs",
    "src/bin/alias/",
];

/// Returns whether code asks for the system, or uses something that not all systems
/// have.
fn asks_for_the_system(code: &str) -> bool {
    const NAMES: [&str; 7] = [
        "libc",
        "nix",
        "rustix",
        "signal_hook",
        "target_family",
        "target_os",
        "target_vendor",
    ];
    const PATHS: [&str; 6] = [
        "os::fd",
        "os::unix",
        "os::windows",
        "cfg(unix",
        "cfg(windows",
        "(not(unix",
    ];
    let is_end = |letter: char| !letter.is_alphanumeric() && letter != '_';
    code.split(is_end).any(|word| NAMES.contains(&word))
        || PATHS.iter().any(|path| code.contains(path))
}

/// Adds the files of a folder and of those in it that end in `.rs`.
pub(super) fn add_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for path in entries(folder) {
        match path.is_dir() {
            true => add_files(&path, files),
            false => files.push(path),
        }
    }
}

#[test]
fn few_files_ask_for_the_system() {
    let mut files = Vec::new();
    for folder in CRATES {
        add_files(&root().join(folder), &mut files);
    }
    let mut asking = BTreeSet::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let file = file.strip_prefix(root()).unwrap().to_str().unwrap();
        if file.ends_with("/tests.rs") || !asks_for_the_system(&code(&text)) {
            continue;
        }
        let place = OF_SYSTEMS.iter().find(|place| file.starts_with(**place));
        asking.insert(place.map_or(file.to_owned(), ToString::to_string));
    }
    let expected: BTreeSet<String> = OF_SYSTEMS.iter().map(ToString::to_string).collect();
    assert_eq!(asking, expected);
}
