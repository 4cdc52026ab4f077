//! The archives beside the one that contains an asset: references of the asset
//! are also resolved there (SEMANTICS, Names from other archives).

use crate::content::OpenVolume;
use crate::mount::Result;
use crate::mount::tree::MountTree;
use crate::mount::tree::subtree::{Node, Subtree};
use crate::namespace::companion::Shows;
use crate::namespace::numbers::Origin;
use crate::namespace::tree::{Index, InodeKind, ROOT};
use hpimount_containers::hip;
use hpimount_containers::text::{has_extension, stem};

/// Maximum number of archives of a folder that are entered to resolve
/// references.
const MAX_ENTERED: usize = 16;

/// Stem of the names of archives that every level needs.
const BOOT: &str = "boot";

/// Relation of an archive to another one, nearest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// It has the same name except for the extension.
    Stem,
    /// It has the same name followed by something, such as a language.
    Localized,
    /// Every level needs it.
    Boot,
    /// It is another source of the mount.
    Source,
}

impl Rank {
    /// Returns the relation of the archive `other` to the archive `own`, by
    /// their names.
    fn of(own: &str, other: &str) -> Self {
        let (own, other) = (stem(own), stem(other));
        let (own, other) = (own.to_ascii_lowercase(), other.to_ascii_lowercase());
        let tail = other.strip_prefix(&*own);
        match tail {
            Some("") => Self::Stem,
            Some(tail) if tail.starts_with('_') => Self::Localized,
            _ if other
                .strip_prefix(BOOT)
                .is_some_and(|tail| tail.is_empty() || tail.starts_with('_')) =>
            {
                Self::Boot
            }
            _ => Self::Source,
        }
    }
}

/// Returns the names that archives related to the archive `own` most likely have: its
/// own name with another extension, and the name of the archive that every level needs.
pub(crate) fn likely(own: &str) -> Vec<String> {
    if !is_archive(own) {
        return Vec::new();
    }
    let (own_stem, own_extension) = own.rsplit_once('.').unwrap_or((own, ""));
    let is_upper = own_extension.chars().all(char::is_uppercase);
    let mut names = Vec::new();
    for extension in hip::FORMAT.extensions {
        let extension = match is_upper {
            true => extension.to_uppercase(),
            false => (*extension).to_owned(),
        };
        let both = [own_stem, BOOT].map(|stem| format!("{stem}.{extension}"));
        names.extend(
            both.into_iter()
                .filter(|name| !name.eq_ignore_ascii_case(own)),
        );
    }
    names.dedup_by(|one, other| one.eq_ignore_ascii_case(other));
    names
}

fn is_archive(name: &str) -> bool {
    let mut extensions = hip::FORMAT.extensions.iter();
    extensions.any(|known| has_extension(name.as_bytes(), known))
}

/// Returns the roots of the archives beside the one that contains `own`, in
/// search order.
///
/// # Errors
/// Returns an error if one of them cannot be entered because of a temporary
/// fault.
pub(crate) fn archives<'a>(mount: &'a MountTree, own: &Node<'a>) -> Result<Vec<Node<'a>>> {
    let mut found = Vec::new();
    let Some(volume) = archive_of(own.subtree()) else {
        return Ok(found);
    };
    if let Origin::Directory(directory) = own.subtree().range.origin {
        let directory = mount.node(directory)?;
        if let Some(InodeKind::Companion {
            of,
            shows: Shows::Inside,
        }) = directory.kind()
        {
            enter_siblings(mount, &directory.other(of), &mut found)?;
        }
    }
    let own_name = volume.name.as_str();
    let others = mount.grafts.permanent();
    let is_other = |other: &&Subtree| {
        other.range.first != own.subtree().range.first
            && other.range.origin != Origin::Control
            && archive_of(other).is_some()
    };
    let mut sources: Vec<&Subtree> = others.filter(is_other).collect();
    // Stable: sources of one rank stay in their order.
    sources.sort_by_key(|other| Rank::of(own_name, &other.volumes[0].name));
    found.extend(
        sources
            .into_iter()
            .map(|other| Node::permanent(other, ROOT)),
    );
    Ok(found)
}

/// Returns the root of the folder, disc or other container around the archive
/// that contains `own`; `None` for an archive that is a source of the mount.
///
/// # Errors
/// Returns an error if a directory around it cannot be built again.
pub(crate) fn folder_around<'a>(mount: &'a MountTree, own: &Node<'a>) -> Result<Option<Node<'a>>> {
    let Origin::Directory(companion) = own.subtree().range.origin else {
        return Ok(None);
    };
    let mut folder = mount.node(companion)?.other(ROOT);
    while let Origin::Directory(entry) = folder.subtree().range.origin {
        let entry = mount.node(entry)?;
        if !matches!(entry.kind(), Some(InodeKind::Deferred { .. })) {
            break;
        }
        folder = entry.other(ROOT);
    }
    Ok(Some(folder))
}

/// Enters the archives that are related to the archive `own`: those beside
/// it, and those in the parent directory that every level needs.
fn enter_siblings<'a>(
    mount: &'a MountTree,
    own: &Node<'a>,
    found: &mut Vec<Node<'a>>,
) -> Result<()> {
    let own_name = own.tree().name(own.index).to_owned();
    let Some(inode) = own.tree().inode(own.index) else {
        return Ok(());
    };
    let directory = own.other(inode.parent);
    let mut chosen = Vec::new();
    for (name, index) in directory.tree().entries(directory.index, 0) {
        let rank = Rank::of(&own_name, name);
        if index != own.index && is_archive(name) && rank != Rank::Source {
            chosen.push((rank, directory.other(index)));
        }
    }
    if let Some(above) = directory_above(mount, &directory)? {
        for (name, index) in above.tree().entries(above.index, 0) {
            if is_archive(name) && Rank::of(&own_name, name) == Rank::Boot {
                chosen.push((Rank::Boot, above.other(index)));
            }
        }
    }
    // Stable: those beside it come before those above.
    chosen.sort_by_key(|(rank, _)| *rank);
    for (_, file) in chosen.into_iter().take(MAX_ENTERED) {
        if let Some(companion) = companion(&file) {
            found.push(mount.enter(companion)?);
        }
    }
    found.retain(|node| archive_of(node.subtree()).is_some());
    Ok(())
}

/// Returns the parent of a directory; `None` for the root of the mount or
/// of an archive.
fn directory_above<'a>(mount: &'a MountTree, directory: &Node<'a>) -> Result<Option<Node<'a>>> {
    let parent = |node: &Node<'a>| -> Option<Index> { Some(node.tree().inode(node.index)?.parent) };
    if directory.index != ROOT {
        return Ok(parent(directory).map(|index| directory.other(index)));
    }
    let Origin::Directory(outer) = directory.subtree().range.origin else {
        return Ok(None);
    };
    let outer = mount.node(outer)?;
    let is_directory = matches!(outer.kind(), Some(InodeKind::Deferred { .. }));
    Ok(parent(&outer)
        .filter(|_| is_directory)
        .map(|index| outer.other(index)))
}

/// Returns the archive that a subtree shows, if it records the ids of assets.
fn archive_of(subtree: &Subtree) -> Option<&OpenVolume> {
    let volume = subtree.volumes.first()?;
    volume.volume.assets().is_some().then_some(volume)
}

/// Returns the companion directory of an archive.
pub(crate) fn companion<'a>(file: &Node<'a>) -> Option<Node<'a>> {
    let tree = file.tree();
    let name = Shows::Inside.name_beside(tree.name(file.index));
    let directory = tree.inode(file.index)?.parent;
    let (_, index) = tree.find(directory, &name, false)?;
    let is_it = matches!(
        tree.inode(index)?.kind,
        InodeKind::Companion { of, shows: Shows::Inside } if of == file.index
    );
    is_it.then(|| file.other(index))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archives_belong_together_by_their_names() {
        let rank = |other| Rank::of("bb01.HIP", other);
        assert_eq!(rank("BB01.hop"), Rank::Stem);
        assert_eq!(rank("bb01_us.HIP"), Rank::Localized);
        assert_eq!(rank("boot.HIP"), Rank::Boot);
        assert_eq!(rank("BOOT_DE.HIP"), Rank::Boot);
        for other in ["bb011.HIP", "bb02.HIP", "boots.HIP", "b.HIP"] {
            assert_eq!(rank(other), Rank::Source, "{other}");
        }
        assert_eq!(Rank::of("boot.HIP", "boot.HOP"), Rank::Stem);
    }
}
