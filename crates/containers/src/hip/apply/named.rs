//! The changes of assets by their names.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::super::kinds::Type;
use super::super::splice::NewAssets;
use super::super::{Hip, Item, Platform, asset_id, needs, write};
use super::kinds::Kinds;
use crate::changes::{Job, Kind, NewFile, are_equal};
use crate::io::{Result, read_vec};
use crate::text::{to_windows_1252, windows_1252};
use crate::volume::{FileId, NodeId};

/// The tree with the assets by layers; the other two have links to it.
const LAYERS: &str = "layers";

/// The directory of assets that no layer lists.
const UNLAYERED: &[u8] = b"unlayered";

/// Longest name that the games read, in bytes.
const MAX_NAME: usize = 255;

/// Longest `Settings.ini` that is read, in bytes.
const MAX_SETTINGS: u64 = 256 << 20;

/// The changes.
#[derive(Default)]
pub(super) struct Named {
    /// New contents of assets of the original.
    pub(super) replaced: NewAssets,
    /// Assets that are not in the original.
    pub(super) added: Vec<Added>,
    /// Their positions in `added`, by their ids.
    by_id: HashMap<u32, usize>,
    /// Assets that are deleted.
    pub(super) deleted: BTreeSet<u32>,
    /// Layers that assets are in no more.
    pub(super) left: BTreeSet<(Option<usize>, u32)>,
    /// The assets that leave a layer.
    leaving: BTreeSet<u32>,
    /// Layers that assets of the original are in now.
    pub(super) joined: BTreeMap<u32, Option<usize>>,
    /// `Settings.ini` in the original and now.
    pub(super) settings: Option<Box<SettingsChange>>,
}

/// `Settings.ini` in the original and now.
pub(super) struct SettingsChange {
    pub(super) before: write::Settings,
    pub(super) now: write::Settings,
    /// Its path in the folder of changes.
    pub(super) path: Box<str>,
}

/// An asset that is not in the original.
pub(super) struct Added {
    pub(super) node: NodeId,
    pub(super) id: u32,
    pub(super) file: NewFile,
    /// The layer that it was put in, and what its file's name says.
    pub(super) place: Option<Place>,
}

/// The layer of an added asset, `None` for no layer, and what its name says.
pub(super) struct Place {
    pub(super) layer: Option<usize>,
    pub(super) kind: Type,
    pub(super) name: Vec<u8>,
}

impl Named {
    /// Returns what the folder says. What cannot be is refused.
    ///
    /// # Errors
    /// Returns an error if the original or a file of the folder cannot be read.
    pub(super) fn collect(job: &mut Job<'_>, kinds: &mut Kinds<'_>) -> Result<Self> {
        let hip = kinds.hip();
        let mut named = Self::default();
        let assets = hip.contents.toc.assets.len() as u32;
        for number in 0..assets {
            if let Some(file) = job.tree.new_of(FileId(number)) {
                named.replaced.insert(number, file.clone());
            }
        }
        for item in [Item::Info, Item::Table] {
            if let Some(new) = job.tree.new_of(hip.file(item)).cloned() {
                job.report.refuse(new.path(), "is generated");
            }
        }
        if let Some(new) = job.tree.new_of(hip.file(Item::Settings)).cloned() {
            named.settings = read_settings(job, hip, &new)?.map(Box::new);
        }
        named.deleted(job, hip);
        for node in job.added() {
            named.added(job, kinds, node)?;
        }
        let both = named
            .deleted
            .iter()
            .filter(|&number| named.replaced.contains_key(number));
        for number in both {
            let id = hip.asset(*number).id;
            let path = named.replaced[number].path();
            job.report
                .refuse(path, format!("asset {id:08X} is deleted by another name"));
        }
        Ok(named)
    }

    /// Returns whether the tables must be written again.
    pub(super) fn is_restructured(&self) -> bool {
        !self.added.is_empty()
            || !self.deleted.is_empty()
            || !self.left.is_empty()
            || !self.joined.is_empty()
            || self.settings.is_some()
    }

    /// Returns the contents of the added assets, by their ids.
    pub(super) fn added_files(&self) -> HashMap<u32, &NewFile> {
        let added = self.added.iter();
        added.map(|added| (added.id, &added.file)).collect()
    }

    /// Finds the deleted assets. An asset in several layers leaves the
    /// layers where its name is deleted.
    fn deleted(&mut self, job: &mut Job<'_>, hip: &Hip) {
        let deleted: Vec<NodeId> = job.tree.deleted().map(|(node, _)| node).collect();
        let mut refused = HashSet::new();
        for node in deleted {
            let path = job.tree.path(node);
            let parts: Vec<&str> = path.split('/').collect();
            let top = parts[0];
            if refused.contains(top) {
                continue;
            }
            let number = asset_at(job, node, hip);
            match number {
                _ if parts.len() == 1 => {
                    job.refuse(node, "is generated");
                    refused.insert(top.to_owned());
                }
                None if !is_directory(job, node) => job.refuse(node, "is generated"),
                // The entries of the folder follow.
                None => {}
                Some(number) if top == LAYERS => {
                    let layer = layer_at(job, hip, job.tree.parent(node)).flatten();
                    self.left.insert((layer, number));
                }
                Some(number) => {
                    self.deleted.insert(number);
                }
            }
        }
        self.leaving = self.left.iter().map(|&(_, number)| number).collect();
        let mut staying = BTreeSet::new();
        for (layer, members) in hip.layout.layers.iter().enumerate() {
            let members = members.iter().copied();
            staying.extend(members.filter(|&member| !self.left.contains(&(Some(layer), member))));
        }
        self.deleted.extend(self.leaving.difference(&staying));
    }

    /// Notes an added file or directory.
    fn added(&mut self, job: &mut Job<'_>, kinds: &mut Kinds<'_>, node: NodeId) -> Result<()> {
        let hip = kinds.hip();
        let path = job.tree.path(node);
        let parts: Vec<&str> = path.split('/').collect();
        let Some(file) = job.tree.new_at(node).cloned() else {
            match parts[..] {
                ["types", folder] if Type::of_folder(folder).is_some() => {}
                ["types", _] => job.refuse(node, "is no type of assets"),
                [LAYERS, _] => {
                    let reason = "no layer of this name: add one to types/Settings.ini";
                    job.refuse(node, reason);
                }
                _ => job.refuse(node, "a HIP archive has no place for other directories"),
            }
            return Ok(());
        };
        let digits = match parts[..] {
            ["ids", name] => Some(name),
            ["types", _, name] => name.strip_prefix('[').and_then(|name| name.get(..8)),
            [LAYERS, _, name] => return self.added_to_layer(job, kinds, node, name, file),
            _ => None,
        };
        let is_hex = |digits: &&str| {
            digits.len() == 8 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
        };
        let id = digits
            .filter(is_hex)
            .and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let Some(id) = id else {
            let reason = "names no asset: call it types/FOLDER/[ID] NAME";
            job.refuse(node, reason);
            return Ok(());
        };
        let mut assets = hip.layout.with_id(id);
        match (assets.next(), assets.next()) {
            (None, _) => self.add(
                job,
                Added {
                    node,
                    id,
                    file,
                    place: None,
                },
            ),
            (Some(number), None) => self.replace(job, hip, number, file),
            (Some(_), Some(_)) => {
                let reason = format!("several assets have the id {id:08X}: change one in layers/");
                job.refuse(node, reason);
                Ok(())
            }
        }
    }

    /// Notes a file that was added to the folder of a layer.
    fn added_to_layer(
        &mut self,
        job: &mut Job<'_>,
        kinds: &mut Kinds<'_>,
        node: NodeId,
        name: &str,
        file: NewFile,
    ) -> Result<()> {
        let hip = kinds.hip();
        let Some(layer) = layer_at(job, hip, job.tree.parent(node)) else {
            // The folder was refused.
            return Ok(());
        };
        if let Some(number) = self.moved(job, hip, name) {
            return self.move_to(job, hip, number, layer, file);
        }
        let (kind, name) = match described(kinds, layer, name) {
            Ok(described) => described,
            Err(reason) => {
                job.refuse(node, reason);
                return Ok(());
            }
        };
        let (name, given) = match name {
            Name::Plain(name) => (name, None),
            Name::WithId(name, id) => (name, Some(id)),
        };
        let id = given.unwrap_or_else(|| asset_id(&name));
        if let Some(number) = hip.layout.find(id) {
            if !self.may_move(number) {
                let reason = format!(
                    "asset {id:08X} is in the archive already: delete it where it is to move it"
                );
                job.refuse(node, reason);
                return Ok(());
            }
            return self.move_to(job, hip, number, layer, file);
        }
        let place = Some(Place { layer, kind, name });
        self.add(
            job,
            Added {
                node,
                id,
                file,
                place,
            },
        )
    }

    /// Returns the asset whose file of this name was deleted in another layer. Its
    /// id may be another one than the hash of its name. `None` for several: then
    /// the id decides.
    fn moved(&self, job: &Job<'_>, hip: &Hip, name: &str) -> Option<u32> {
        let layers = job.tree.find(NodeId(0), LAYERS).ok()??;
        let folders = job.tree.children(layers);
        let files = folders.filter_map(|folder| job.tree.find(folder, name).ok()?);
        let deleted = files.filter(|&file| job.tree.is_deleted(file));
        let assets = deleted.filter_map(|file| asset_at(job, file, hip));
        let assets: BTreeSet<u32> = assets.filter(|&number| self.may_move(number)).collect();
        assets.first().copied().filter(|_| assets.len() == 1)
    }

    /// Returns whether an asset is in no layer any more.
    fn may_move(&self, number: u32) -> bool {
        self.deleted.contains(&number) && self.leaving.contains(&number)
    }

    /// Moves an asset to a layer, with the contents of its file there.
    fn move_to(
        &mut self,
        job: &mut Job<'_>,
        hip: &Hip,
        number: u32,
        layer: Option<usize>,
        file: NewFile,
    ) -> Result<()> {
        self.deleted.remove(&number);
        self.joined.insert(number, layer);
        self.replace(job, hip, number, file)
    }

    fn add(&mut self, job: &mut Job<'_>, added: Added) -> Result<()> {
        let known = match self.by_id.entry(added.id) {
            Entry::Occupied(known) => &mut self.added[*known.get()],
            Entry::Vacant(free) => {
                free.insert(self.added.len());
                self.added.push(added);
                return Ok(());
            }
        };
        if !are_equal(&known.file, &added.file)? {
            refuse_different(job, added.id, [&added.file, &known.file]);
        } else if known.place.is_none() {
            known.place = added.place;
        }
        Ok(())
    }

    /// Replaces an asset under another name than the archive's.
    fn replace(&mut self, job: &mut Job<'_>, hip: &Hip, number: u32, file: NewFile) -> Result<()> {
        let id = hip.asset(number).id;
        if let Some(other) = self.replaced.get(&number) {
            if !are_equal(other, &file)? {
                refuse_different(job, id, [&file, other]);
            }
        } else if !is_original(job, number, &file)? {
            self.replaced.insert(number, file);
        }
        Ok(())
    }
}

fn refuse_different(job: &mut Job<'_>, id: u32, rivals: [&NewFile; 2]) {
    let [new, other] = rivals.map(NewFile::path);
    let reason = format!("asset {id:08X} is changed differently by {other}");
    job.report.refuse_rivals(new, reason, rivals);
}

/// Returns whether a file has the bytes that an asset has already.
fn is_original(job: &Job<'_>, number: u32, file: &NewFile) -> Result<bool> {
    let node = job.tree.node_of(FileId(number));
    match node.map(|node| job.tree.node(node).kind) {
        Some(Kind::File(Some(entry))) => job.is_original(entry, file),
        _ => Ok(false),
    }
}

fn is_directory(job: &Job<'_>, node: NodeId) -> bool {
    matches!(job.tree.node(node).kind, Kind::Directory)
}

/// Returns the asset that a node is a name of.
fn asset_at(job: &Job<'_>, node: NodeId, hip: &Hip) -> Option<u32> {
    let node = job.tree.resolve(node);
    match job.tree.node(node).kind {
        Kind::File(Some(entry)) => match hip.item(entry.file) {
            Some(Item::Asset(number)) => Some(number),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the layer whose folder a node is; the inner `None` is the folder of
/// assets in no layer.
fn layer_at(job: &Job<'_>, hip: &Hip, folder: NodeId) -> Option<Option<usize>> {
    let raw = job.tree.node(folder).raw();
    if raw == UNLAYERED {
        return Some(None);
    }
    // It begins with the number.
    let digits = raw.split(|&byte| byte == b'-').next()?;
    let layer = std::str::from_utf8(digits).ok()?.parse().ok()?;
    let is_layer = layer < hip.contents.toc.layers.len() && hip.layer_folder(layer) == raw;
    is_layer.then_some(Some(layer))
}

/// The name of an asset, and its id if the name of its file has one.
enum Name {
    Plain(Vec<u8>),
    WithId(Vec<u8>, u32),
}

/// Returns what the name of a file in the folder of a layer says: the type by the
/// extension, and the name of the asset.
fn described(
    kinds: &mut Kinds<'_>,
    layer: Option<usize>,
    name: &str,
) -> std::result::Result<(Type, Name), String> {
    let platform = kinds.hip().platform.value;
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    let kind = kind_of(kinds, layer, extension, platform)?;
    // A mount adds the own extension to names without one, so that another one must be
    // part of the name.
    let is_own = kind
        .extensions(platform)
        .own
        .eq_ignore_ascii_case(extension);
    let has_extension = !is_own || kinds.have_extensions(kind);
    let (stem, id) = match stem
        .strip_suffix(']')
        .and_then(|stem| stem.rsplit_once('['))
    {
        Some((stem, digits)) if digits.len() == 8 => {
            (stem.trim_end(), u32::from_str_radix(digits, 16).ok())
        }
        _ => (stem, None),
    };
    let name = match has_extension {
        true => format!("{stem}.{extension}"),
        false => stem.to_owned(),
    };
    let bytes = to_windows_1252(&name).into_owned();
    if windows_1252(&bytes) != name || bytes.len() > MAX_NAME {
        return Err("no name for a HIP archive (Windows-1252, 255 bytes)".to_owned());
    }
    let name = match id {
        Some(id) => Name::WithId(bytes, id),
        None => Name::Plain(bytes),
    };
    Ok((kind, name))
}

/// Returns the type of a new file in a layer by its extension.
fn kind_of(
    known: &mut Kinds<'_>,
    layer: Option<usize>,
    extension: &str,
    platform: Platform,
) -> std::result::Result<Type, String> {
    let kinds = Type::of_extension(extension, platform);
    match kinds[..] {
        [kind] => return Ok(kind),
        [] => return Err("no type: add a line to types/Settings.ini".to_owned()),
        _ => {}
    }
    // Of several types with the extension the one that the layer has, or else the
    // archive.
    let mut here = kinds.clone();
    here.retain(|&kind| layer.is_some_and(|layer| known.is_in(layer, kind)));
    let mut all = kinds.clone();
    all.retain(|&kind| known.first(kind).is_some());
    match (&here[..], &all[..]) {
        ([kind], _) | (_, [kind]) => Ok(*kind),
        _ => {
            let names: Vec<String> = kinds.iter().map(|kind| kind.text()).collect();
            let names = names.join(" or ");
            Err(format!(
                "may be of type {names}: add a line to types/Settings.ini"
            ))
        }
    }
}

/// Parses a changed `Settings.ini`, and the one that the mount shows of the
/// original.
fn read_settings(job: &mut Job<'_>, hip: &Hip, new: &NewFile) -> Result<Option<SettingsChange>> {
    let path = new.path();
    if new.len() > MAX_SETTINGS {
        let reason = format!("is longer than {MAX_SETTINGS} bytes");
        job.report.refuse(path, reason);
        return Ok(None);
    }
    let before = super::super::settings::ini(hip);
    let now = read_vec(new, 0, new.len(), "Settings.ini")?;
    let parsed =
        write::parse(before.as_bytes()).and_then(|before| Ok((before, write::parse(&now)?)));
    match parsed {
        Ok((before, now)) => Ok(Some(SettingsChange {
            before,
            now,
            path: path.into(),
        })),
        Err(problem) => {
            job.report.refuse(path, problem.to_string());
            Ok(None)
        }
    }
}

/// Refuses an added asset that cannot be of its type.
pub(super) fn check(
    job: &mut Job<'_>,
    added: &Added,
    kind: Type,
    platform: Platform,
) -> Result<()> {
    if let Some(other) = needs::of_type(kind.code, platform, &added.file)? {
        let reason = super::refusal(&other);
        job.report.refuse(added.file.path(), reason);
    }
    Ok(())
}
