//! The tree of an archive: `layers/` with the files, and `types/`, `ids/`,
//! `info.json` and `assets.tsv` about them.

use std::collections::HashMap;

use crate::io::Result;
use crate::volume::{Entry, FileId, Name, NodeId, Sink, no_such_file};

use super::{Hip, Item, names};

/// The directories that only have links to the assets: their names, and their
/// numbers where the sink lists them later. Few readers enter them, and they have
/// twice as many entries as there are assets.
const TYPES: (&str, FileId) = ("types", FileId(0));
const IDS: (&str, FileId) = ("ids", FileId(1));

/// Declares everything in the archive to the sink.
pub(super) fn announce(hip: &Hip, sink: &mut dyn Sink) -> Result<()> {
    let root = sink.root();
    sink.expect(hip.contents.toc.assets.len());
    layers(hip, sink, root)?;
    for (name, directory) in [TYPES, IDS] {
        let name = Name::utf_8(name);
        if sink.lists_later() {
            sink.deferred_dir(root, name, directory, None)?;
        } else {
            let parent = sink.dir(root, name, None)?;
            links(hip, sink, parent, directory)?;
        }
    }
    generated(hip, sink, root, b"info.json", Item::Info)?;
    generated(hip, sink, root, b"assets.tsv", Item::Table)
}

/// Declares the entries of a directory of links.
pub(super) fn links(
    hip: &Hip,
    sink: &mut dyn Sink,
    parent: NodeId,
    directory: FileId,
) -> Result<()> {
    sink.expect(hip.contents.toc.assets.len());
    match directory {
        directory if directory == TYPES.1 => types(hip, sink, parent),
        directory if directory == IDS.1 => ids(hip, sink, parent),
        _ => Err(no_such_file(directory)),
    }
}

/// Declares `layers/`.
fn layers(hip: &Hip, sink: &mut dyn Sink, root: NodeId) -> Result<()> {
    let layers = sink.dir(root, Name::utf_8("layers"), None)?;
    let mut nodes = vec![None; hip.contents.toc.assets.len()];
    for (number, members) in hip.layout.layers.iter().enumerate() {
        let folder = sink.dir(layers, Name::windows_1252(&hip.layer_folder(number)), None)?;
        fill(hip, sink, folder, members, &mut nodes)?;
    }
    let unlayered = &hip.layout.unlayered;
    if !unlayered.is_empty() {
        let folder = sink.dir(layers, Name::utf_8("unlayered"), None)?;
        fill(hip, sink, folder, unlayered, &mut nodes)?;
    }
    Ok(())
}

/// Adds files to the folder of a layer. An asset with a file in another folder
/// gets another link to that file.
fn fill(
    hip: &Hip,
    sink: &mut dyn Sink,
    folder: NodeId,
    members: &[u32],
    nodes: &mut [Option<NodeId>],
) -> Result<()> {
    let names = names::files(&hip.contents.toc, members, hip.platform.value);
    for (&number, name) in members.iter().zip(names.iter()) {
        let name = Name::windows_1252(name);
        let node = &mut nodes[number as usize];
        match *node {
            Some(file) => sink.link(folder, name, file)?,
            None => *node = Some(sink.file(folder, name, entry(hip, number))?),
        }
    }
    Ok(())
}

/// Returns the file of an asset.
fn entry(hip: &Hip, number: u32) -> Entry {
    Entry {
        file: hip.file(Item::Asset(number)),
        size: Some(hip.shown_size(number)),
        modified: hip.modified(),
        asset: Some(hip.type_of(number)),
    }
}

/// Declares the entries of `types/`, as extracted by HipHopTool.
fn types(hip: &Hip, sink: &mut dyn Sink, types: NodeId) -> Result<()> {
    let mut folders = HashMap::new();
    for (number, asset) in (0..).zip(&hip.contents.toc.assets) {
        let folder = match folders.get(&asset.kind.folder()) {
            Some(&folder) => folder,
            None => {
                let name = asset.kind.folder();
                let folder = sink.dir(types, Name::windows_1252(name.as_bytes()), None)?;
                folders.insert(name, folder);
                folder
            }
        };
        let name = names::hiphoptool_file(asset, hip.contents.toc.name(asset));
        sink.symlink(folder, Name::windows_1252(&name), entry(hip, number))?;
    }
    generated(hip, sink, types, b"Settings.ini", Item::Settings)
}

/// Declares the entries of `ids/`. Of assets with the same id, the one that layers
/// refer to gets the plain id as its name.
fn ids(hip: &Hip, sink: &mut dyn Sink, ids: NodeId) -> Result<()> {
    let repeated: HashMap<u32, u32> = hip.layout.repeated.iter().copied().collect();
    for (number, asset) in (0..).zip(&hip.contents.toc.assets) {
        let name = match repeated.get(&number) {
            Some(before) => format!("{:08X} ({before})", asset.id),
            None => format!("{:08X}", asset.id),
        };
        sink.symlink(ids, Name::utf_8(&name), entry(hip, number))?;
    }
    Ok(())
}

fn generated(
    hip: &Hip,
    sink: &mut dyn Sink,
    folder: NodeId,
    name: &[u8],
    item: Item,
) -> Result<()> {
    let entry = Entry {
        file: hip.file(item),
        size: None,
        modified: hip.modified(),
        asset: None,
    };
    sink.file(folder, Name::windows_1252(name), entry)
        .map(|_| ())
}

impl Hip {
    /// Returns the name of the folder of layer `number`.
    pub(super) fn layer_folder(&self, number: usize) -> Vec<u8> {
        let hipb = self.contents.hipb.as_ref();
        let given = hipb.and_then(|hipb| hipb.layer_names.get(&(number as u32)));
        let given = given.map(Vec::as_slice);
        names::layer_folder(number, &self.layer_type(number), given)
    }

    /// Returns the name of the type of layer `number`.
    pub(super) fn layer_type(&self, number: usize) -> String {
        names::layer_type(self.game.value, self.contents.toc.layers[number].kind)
    }
}
