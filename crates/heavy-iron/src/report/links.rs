//! `tables/links.tsv` and `tables/links_in.tsv`: the events that objects send
//! to each other.

use std::io;
use std::sync::Arc;

use crate::Game;
use crate::archive::{Archive, code_text};
use crate::names::{Names, hex};
use crate::object::view::{PARAMETERS, WORDS, parameters};
use crate::object::{Link, is_object};
use hpimount_assets::view::context::shared;
use hpimount_assets::view::report::{Reference, VisitReference};
use hpimount_assets::view::{AssetContext, AssetRef, Shared, TableSink};
use hpimount_record::Value;

/// Maximum number of links sorted by target. All archives of a game together have half
/// of it.
const MAX_LINKS: usize = 1 << 18;

/// Sends `links.tsv`, in the order of the archive.
pub(super) fn outgoing(context: &dyn AssetContext, out: &mut dyn TableSink) -> io::Result<()> {
    let archive = Archive::new(context);
    let columns = [
        "source",
        "source_name",
        "source_type",
        "index",
        "event",
        "event_id",
        "target",
        "target_name",
        "target_type",
        "send",
        "send_id",
    ];
    out.columns(&[&columns[..], &PARAMETERS, &WORDS].concat())?;
    for member in archive.of_type(is_object) {
        let Some(object) = archive.object(&member)? else {
            continue;
        };
        if object.links.is_empty() {
            continue;
        }
        let source = archive.key_and_type(&member);
        let game = member.origin().facts.game;
        for (index, link) in object.links.iter().enumerate() {
            let [event, send] = link.event_names(game);
            let mut row = source.to_vec();
            row.extend([index.into(), event.into(), link.source_event.into()]);
            row.extend(target(link, archive.names()));
            row.extend([send.into(), link.target_event.into()]);
            row.extend(parameters(link, game, archive.names()));
            out.row(row)?;
        }
    }
    Ok(())
}

/// Visits the links of all objects.
pub(super) fn each(context: &dyn AssetContext, visit: VisitReference<'_>) -> io::Result<()> {
    let archive = Archive::new(context);
    for member in archive.of_type(is_object) {
        let object = archive.object(&member)?.unwrap_or_default();
        let game = member.origin().facts.game;
        for link in &object.links {
            let [event, _] = link.event_names(game);
            let target = archive.names().find_target(link.target);
            let id = (link.target != 0).then(|| format!("{:08X}", link.target));
            visit(Reference {
                from: [archive.name(&member), format!("{:08X}", member.asset.id)],
                field: event.unwrap_or_default().to_owned(),
                is_missing: id.is_some() && target.is_none(),
                to: [
                    target.map_or_else(String::new, |found| found.name),
                    id.unwrap_or_default(),
                ],
                resolved_in: None,
            })?;
        }
    }
    Ok(())
}

/// A link, and its object.
struct Incoming {
    source: AssetRef,
    game: Game,
    link: Link,
}

/// The links of an archive, sorted by target.
struct ByTarget {
    links: Vec<Incoming>,
    /// The reason why it is empty, if reading failed.
    failed: Option<String>,
}

impl Shared for ByTarget {
    fn memory(&self) -> usize {
        size_of::<Self>() + self.links.capacity() * size_of::<Incoming>()
    }
}

impl ByTarget {
    fn new(context: &dyn AssetContext) -> Self {
        match Self::read(&Archive::new(context)) {
            Ok(links) => Self {
                links,
                failed: None,
            },
            Err(error) => Self {
                links: Vec::new(),
                failed: Some(error.to_string()),
            },
        }
    }

    fn read(archive: &Archive<'_>) -> io::Result<Vec<Incoming>> {
        let mut links = Vec::new();
        for member in archive.of_type(is_object) {
            let object = archive.object(&member)?.unwrap_or_default();
            if links.len() + object.links.len() > MAX_LINKS {
                let text = format!("the objects have more than {MAX_LINKS} links");
                return Err(io::Error::other(text));
            }
            let sent = object.links.into_iter().filter(|link| link.target != 0);
            links.extend(sent.map(|link| Incoming {
                source: member.file,
                game: member.origin().facts.game,
                link,
            }));
        }
        // The sort is stable and keeps the archive order of the links to one target.
        links.sort_by_key(|incoming| incoming.link.target);
        Ok(links)
    }
}

/// Sends `links_in.tsv`, sorted by target id.
pub(super) fn incoming(context: &dyn AssetContext, out: &mut dyn TableSink) -> io::Result<()> {
    let columns = [
        "target",
        "target_name",
        "target_type",
        "send",
        "send_id",
        "source",
        "source_name",
        "source_type",
        "event",
        "event_id",
    ];
    let archive = Archive::new(context);
    let by_target = by_target(context)?;
    out.columns(&[&columns[..], &PARAMETERS, &WORDS].concat())?;
    for Incoming { source, game, link } in &by_target.links {
        let [event, send] = link.event_names(*game);
        let mut row = Vec::from(target(link, archive.names()));
        row.extend([send.into(), link.target_event.into()]);
        let source = archive.member(*source);
        let source = source.map(|source| archive.key_and_type(&source));
        row.extend(source.unwrap_or([const { Value::Null }; 3]));
        row.extend([event.into(), link.source_event.into()]);
        row.extend(parameters(link, *game, archive.names()));
        out.row(row)?;
    }
    Ok(())
}

/// Returns the links sorted by target, charged to the memory budget.
fn by_target(context: &dyn AssetContext) -> io::Result<Arc<ByTarget>> {
    let links = shared(context, "HIP links by target", ByTarget::new);
    let links = links.ok_or(io::ErrorKind::OutOfMemory)?;
    match &links.failed {
        Some(failed) => Err(io::Error::other(failed.clone())),
        None => Ok(links),
    }
}

/// Returns the cells of a target: id, name and type. They are empty for id 0.
fn target(link: &Link, names: Names<'_>) -> [Value; 3] {
    let found = names.find_target(link.target);
    let (name, code) = found.map(|found| (found.name, found.code)).unzip();
    let id = (link.target != 0).then(|| hex(link.target));
    [id.into(), name.into(), code.flatten().map(code_text).into()]
}
