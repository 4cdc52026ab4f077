//! `tables/refs.tsv`: the references between assets, and which are missing.

use std::io;

use bytes::Bytes;

use crate::archive::{Archive, Member, code_text, stored};
use crate::model::textures::texture_ids;
use crate::names::hex;
use crate::object::{Object, is_object};
use crate::table_view::{self as view, Sheets};
use crate::{model, text};
use hpimount_assets::view::report::{self, VisitReference};
use hpimount_assets::view::{AssetContext, AssetKey, AssetRef, TableSink};
use hpimount_containers::hip::asset_id;
use hpimount_containers::io::Endian;

/// A reference of an asset.
pub(super) struct Reference {
    /// The referring field, or the kind of the referenced asset.
    pub(super) field: &'static str,
    /// The id, or the first of the possible ids for the name.
    pub(super) id: u32,
    /// The name, for a reference by name.
    pub(super) name: Option<String>,
    /// The asset.
    pub(super) found: Option<AssetRef>,
}

/// The kind of use of an asset by a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The field uses it.
    Use,
    /// The table has properties of the asset, whether it is used or not.
    Listed,
    /// Undecoded bytes contain its id.
    Bytes,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Use => "use",
            Self::Listed => "listed",
            Self::Bytes => "bytes",
        }
    }

    /// Returns the kind of a reference in a field of an asset of type `code`.
    fn of(code: [u8; 4], field: &str) -> Self {
        match &code {
            _ if field == REST => Self::Bytes,
            b"COLL" | b"LODT" | b"PIPT" | b"SHDW" if field == "model" => Self::Listed,
            _ => Self::Use,
        }
    }
}

/// The field of references in undecoded bytes.
const REST: &str = "rest";

/// Fields with ids that do not belong to assets.
const NOT_ASSETS: [&str; 3] = ["variable", "pickup", "npc_type"];

/// A function that is called with each reference.
type Visit<'v> = &'v mut dyn FnMut(Reference) -> io::Result<()>;

/// Calls `visit` with every reference of an asset, except for link targets. Fails if
/// too many bytes have been read.
fn each(archive: &Archive<'_>, member: &Member, visit: Visit<'_>) -> io::Result<()> {
    let code = member.asset.code;
    if is_object(code) {
        let Some(object) = archive.object(member)? else {
            return Ok(());
        };
        of_object(archive, &object, visit)?;
        return of_rest(archive, member, &object.rest, visit);
    }
    let Some(bytes) = archive.read(member)? else {
        return Ok(());
    };
    if view::is_table(code) {
        return match view::parse(&bytes, &member.origin().facts, code) {
            Ok(sheets) => {
                of_table(archive, &sheets, visit)?;
                match &sheets {
                    Sheets::Shrapnel(shrapnel) => of_rest(archive, member, &shrapnel.rest, visit),
                    _ => Ok(()),
                }
            }
            Err(_) => Ok(()),
        };
    }
    of_names(archive, member, &bytes, visit)
}

/// Like [`each`], for an object.
pub(super) fn of_object(
    archive: &Archive<'_>,
    object: &Object,
    visit: Visit<'_>,
) -> io::Result<()> {
    let mut references = object.references();
    references.try_for_each(|(field, id)| see(archive, field, id, visit))
}

/// Like [`each`], for a table.
pub(super) fn of_table(archive: &Archive<'_>, sheets: &Sheets, visit: Visit<'_>) -> io::Result<()> {
    let mut result = Ok(());
    view::references(sheets, &mut |field, id| {
        if result.is_ok() {
            result = see(archive, field, id, visit);
        }
    });
    result
}

/// Visits the ids of available assets in undecoded bytes. Other numbers rarely look
/// like an id, which is a hash.
fn of_rest(
    archive: &Archive<'_>,
    member: &Member,
    rest: &[u8],
    visit: Visit<'_>,
) -> io::Result<()> {
    for &word in rest.as_chunks().0 {
        let id = match member.origin().facts.endian {
            Endian::Big => u32::from_be_bytes(word),
            Endian::Little => u32::from_le_bytes(word),
        };
        let found = archive.context.find(AssetKey::Id(id));
        if id != 0 && found.is_some() {
            visit(Reference {
                field: REST,
                id,
                name: None,
                found,
            })?;
        }
    }
    Ok(())
}

/// Visits the reference of a field with this id, if it refers to an asset.
fn see(archive: &Archive<'_>, field: &'static str, id: u32, visit: Visit<'_>) -> io::Result<()> {
    if NOT_ASSETS.contains(&field) {
        return Ok(());
    }
    visit(Reference {
        field,
        id,
        name: None,
        found: archive.context.find(AssetKey::Id(id)),
    })
}

/// Like [`each`], for a model or a text, which refers to others by name.
pub(super) fn of_names(
    archive: &Archive<'_>,
    member: &Member,
    bytes: &Bytes,
    visit: Visit<'_>,
) -> io::Result<()> {
    let find = |id| archive.context.find(AssetKey::Id(id));
    match &member.asset.code {
        b"MODL" | b"JSP " | b"BSP " => {
            let Ok(model) = model::parse(bytes) else {
                return Ok(());
            };
            for name in model.texture_names() {
                let ids = texture_ids(name);
                visit(Reference {
                    field: "texture",
                    id: ids[0],
                    name: Some(name.to_owned()),
                    found: ids.into_iter().find_map(find),
                })?;
            }
            Ok(())
        }
        b"TEXT" => {
            let facts = member.origin().facts;
            let text = text::parse(bytes, &facts).unwrap_or_default();
            for (kind, name) in text.tags().filter_map(|tag| tag.reference()) {
                let id = asset_id(&stored(name));
                visit(Reference {
                    field: match kind {
                        text::Reference::Sound => "sound",
                        text::Reference::Text => "text",
                        text::Reference::Texture => "texture",
                    },
                    id,
                    name: Some(name.to_owned()),
                    found: find(id),
                })?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Returns whether assets of a type may refer to others.
pub(super) fn refers(code: [u8; 4]) -> bool {
    let others = [*b"MODL", *b"JSP ", *b"BSP ", *b"TEXT"];
    is_object(code) || view::is_table(code) || others.contains(&code)
}

/// Sends the table in archive order.
pub(super) fn write(context: &dyn AssetContext, out: &mut dyn TableSink) -> io::Result<()> {
    let archive = Archive::new(context);
    let columns = [
        "id",
        "name",
        "type",
        "field",
        "kind",
        "target",
        "target_name",
        "target_type",
        "archive",
        "state",
    ];
    out.columns(&columns)?;
    each_of_all(&archive, &mut |member, reference| {
        let Ends {
            names: [from, to],
            ids: [from_id, to_id],
            to_type,
            resolved_in,
        } = Ends::new(&archive, member, reference);
        out.row(vec![
            hex(from_id),
            from.into(),
            member.code().into(),
            reference.field.into(),
            Kind::of(member.asset.code, reference.field).name().into(),
            hex(to_id),
            to.into(),
            to_type.into(),
            resolved_in.into(),
            reference.found.is_none().then_some("missing").into(),
        ])
    })
}

/// Visits the references of all assets.
pub(super) fn of_archive(context: &dyn AssetContext, visit: VisitReference<'_>) -> io::Result<()> {
    let archive = Archive::new(context);
    each_of_all(&archive, &mut |member, reference| {
        let Ends {
            names: [from, to],
            ids,
            resolved_in,
            ..
        } = Ends::new(&archive, member, reference);
        let [from_id, to_id] = ids.map(|id| format!("{id:08X}"));
        visit(report::Reference {
            from: [from, from_id],
            field: reference.field.to_owned(),
            to: [to, to_id],
            resolved_in,
            is_missing: reference.found.is_none(),
        })
    })
}

/// Calls `visit` with every asset with references, and each of its references.
fn each_of_all(
    archive: &Archive<'_>,
    visit: &mut dyn FnMut(&Member, &Reference) -> io::Result<()>,
) -> io::Result<()> {
    for member in archive.of_type(refers) {
        each(archive, &member, &mut |reference| {
            visit(&member, &reference)
        })?;
    }
    Ok(())
}

/// The names and ids of both ends of a reference.
struct Ends {
    names: [String; 2],
    ids: [u32; 2],
    to_type: Option<String>,
    resolved_in: Option<String>,
}

impl Ends {
    fn new(archive: &Archive<'_>, member: &Member, reference: &Reference) -> Self {
        let target = reference.found.and_then(|file| archive.member(file));
        let id = target.as_ref().map_or(reference.id, |one| one.asset.id);
        let name = target.as_ref().map(|one| archive.name(one));
        let name = name.or_else(|| reference.name.clone()).unwrap_or_default();
        let asset = archive.context.asset_name(id);
        Self {
            names: [archive.name(member), name],
            ids: [member.asset.id, id],
            to_type: target.map(|one| code_text(one.asset.code)),
            resolved_in: asset.and_then(|asset| asset.archive),
        }
    }
}
