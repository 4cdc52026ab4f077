//! Writing a HIP archive with changes: assets are replaced. An asset has a name in
//! `layers/`, in `types/` and in `ids/`, and any of them will do.

use super::splice::{NewAssets, splice};
use super::{Offsets, needs};
use crate::changes::{Job, Kind, NewFile, Written};
use crate::io::Result;
use crate::volume::{FileId, NodeId};

/// Writes the archive.
pub(super) fn apply(job: &mut Job<'_>) -> Result<Written> {
    let source = job.input.source.clone();
    let offsets = Offsets::read(&source)?;
    let mut new = NewAssets::new();
    for number in 0..offsets.assets.len() as u32 {
        if let Some(file) = job.tree.new_of(FileId(number)) {
            new.insert(number, file.clone());
        }
    }
    let deleted: Vec<NodeId> = job.tree.deleted().map(|(node, _)| node).collect();
    for node in deleted {
        job.refuse(
            node,
            "assets cannot be deleted: pack a changed copy of types/ with hpipack",
        );
    }
    let added: Vec<(NodeId, NewFile)> = job
        .tree
        .added_files()
        .map(|(node, new)| (node, new.clone()))
        .collect();
    for (node, file) in added {
        add(job, &offsets, node, file, &mut new)?;
    }
    for (&number, file) in &new {
        if let Some(other) = needs::of_asset(&*source, &offsets, number, file)? {
            let reason = format!("{} (files in `converted` are converted)", other.problem);
            job.report.refuse(&*file.path, reason);
        }
    }
    Ok(Written::alone(splice(&source, &offsets, &new)?))
}

/// Adds the contents of an asset that is named by its id.
fn add(
    job: &mut Job<'_>,
    offsets: &Offsets,
    node: NodeId,
    file: NewFile,
    new: &mut NewAssets,
) -> Result<()> {
    let path = job.tree.path(node);
    let parts: Vec<&str> = path.split('/').collect();
    let digits = match parts[..] {
        ["ids", name] => Some(name),
        ["types", _, name] => name.strip_prefix('[').and_then(|name| name.get(..8)),
        _ => None,
    };
    let id = digits.filter(|digits| digits.len() == 8);
    let Some(id) = id.and_then(|digits| u32::from_str_radix(digits, 16).ok()) else {
        let reason = "assets cannot be added: pack a changed copy of types/ with hpipack";
        job.refuse(node, reason);
        return Ok(());
    };
    let assets = (0..).zip(&offsets.assets);
    let mut found = assets.filter(|(_, asset)| asset.id == id);
    let Some((number, _)) = found.next() else {
        job.refuse(node, format!("no asset {id:08X}"));
        return Ok(());
    };
    if found.next().is_some() {
        job.refuse(
            node,
            format!("several assets have the id {id:08X}: change one in layers/"),
        );
    } else if let Some(other) = new.get(&number) {
        if !is_equal(other, &file)? {
            let reason = format!("asset {id:08X} is changed differently by {}", other.path);
            job.refuse(node, reason);
        }
    } else if !is_original(job, number, &file)? {
        new.insert(number, file);
    }
    Ok(())
}

fn is_equal(one: &NewFile, other: &NewFile) -> Result<bool> {
    crate::changes::are_equal(&*one.bytes, &*other.bytes)
}

/// Returns whether a file has the bytes that an asset has already.
fn is_original(job: &Job<'_>, number: u32, file: &NewFile) -> Result<bool> {
    let node = job.tree.node_of(FileId(number));
    match node.map(|node| job.tree.node(node).kind) {
        Some(Kind::File(Some(entry))) => job.is_original(entry, file),
        _ => Ok(false),
    }
}
