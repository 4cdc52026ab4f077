//! The tree of an archive: `layers/` with the files, and `types/`, `ids/`,
//! `info.json` and `assets.tsv` about them.

use std::collections::HashMap;

use crate::io::Result;
use crate::volume::{Entry, Name, NodeId, Sink};

use super::{Hip, Item, names};

/// Declares everything in the archive to the sink.
pub(super) fn announce(hip: &Hip, sink: &mut dyn Sink) -> Result<()> {
    let root = sink.root();
    let nodes = layers(hip, sink, root)?;
    types(hip, sink, root, &nodes)?;
    ids(hip, sink, root, &nodes)?;
    generated(hip, sink, root, b"info.json", Item::Info)?;
    generated(hip, sink, root, b"assets.tsv", Item::Table)
}

/// Declares `layers/`, and returns the nodes of the assets.
fn layers(hip: &Hip, sink: &mut dyn Sink, root: NodeId) -> Result<Vec<NodeId>> {
    let layers = sink.dir(root, Name::windows_1252(b"layers"), None)?;
    let mut nodes = vec![None; hip.contents.toc.assets.len()];
    for (number, members) in hip.layout.layers.iter().enumerate() {
        let folder = sink.dir(layers, Name::windows_1252(&hip.layer_folder(number)), None)?;
        fill(hip, sink, folder, members, &mut nodes)?;
    }
    let unlayered = &hip.layout.unlayered;
    if !unlayered.is_empty() {
        let folder = sink.dir(layers, Name::windows_1252(b"unlayered"), None)?;
        fill(hip, sink, folder, unlayered, &mut nodes)?;
    }
    // Every asset is in a layer or unlayered, so all of them have a node.
    Ok(nodes.into_iter().flatten().collect())
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
    for (&number, name) in members.iter().zip(&names) {
        let node = &mut nodes[number as usize];
        if let Some(file) = *node {
            sink.link(folder, Name::windows_1252(name), file)?;
        } else {
            let entry = Entry {
                file: hip.file(Item::Asset(number)),
                size: Some(hip.shown_size(number)),
                modified: hip.modified(),
                asset: Some(hip.type_of(number)),
            };
            *node = Some(sink.file(folder, Name::windows_1252(name), entry)?);
        }
    }
    Ok(())
}

/// Declares `types/`, as extracted by HipHopTool.
fn types(hip: &Hip, sink: &mut dyn Sink, root: NodeId, nodes: &[NodeId]) -> Result<()> {
    let types = sink.dir(root, Name::windows_1252(b"types"), None)?;
    let mut folders = HashMap::new();
    for (asset, &node) in hip.contents.toc.assets.iter().zip(nodes) {
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
        sink.symlink(folder, Name::windows_1252(&name), node)?;
    }
    generated(hip, sink, types, b"Settings.ini", Item::Settings)
}

/// Declares `ids/`. Of assets with the same id, the one that layers refer to
/// gets the plain id as its name.
fn ids(hip: &Hip, sink: &mut dyn Sink, root: NodeId, nodes: &[NodeId]) -> Result<()> {
    let ids = sink.dir(root, Name::windows_1252(b"ids"), None)?;
    let repeated: HashMap<u32, u32> = hip.layout.repeated.iter().copied().collect();
    for ((number, asset), &node) in (0..).zip(&hip.contents.toc.assets).zip(nodes) {
        let name = match repeated.get(&number) {
            Some(before) => format!("{:08X} ({before})", asset.id),
            None => format!("{:08X}", asset.id),
        };
        sink.symlink(ids, Name::windows_1252(name.as_bytes()), node)?;
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
