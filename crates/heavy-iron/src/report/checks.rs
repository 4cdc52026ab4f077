//! `checks.txt`: inconsistencies of an archive, one per line.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use super::references::{self, Reference};
use crate::archive::{Archive, Member, stored};
use crate::object::{is_bare, is_object};
use crate::sound::view::headers;
use crate::sound::{self, Entry};
use crate::table_view as view;
use crate::texture;
use hpimount_assets::view::{AssetContext, AssetKey};
use hpimount_containers::hip::Platform;
use hpimount_containers::hip::asset_id;
use hpimount_containers::io::Warnings;
use hpimount_containers::volume::AssetType;

/// Writes the findings in archive order, and their number.
pub(super) fn write(context: &dyn AssetContext, out: &mut dyn Write) -> io::Result<()> {
    let archive = Archive::new(context);
    let headers = headers(context);
    let entries = headers.iter().flat_map(|headers| headers.entries());
    let entries: HashMap<u32, &Entry> = entries.map(|entry| (entry.asset, entry)).collect();
    let mut checks = Checks {
        archive: &archive,
        entries: &entries,
        seen: HashSet::new(),
        assets: 0,
        found: 0,
        out,
    };
    for member in archive.members() {
        checks.asset(&member)?;
    }
    for (id, entry) in &sorted(&entries) {
        if !checks.seen.contains(id) {
            let (list, at) = (entry.kind.name(), entry.offset);
            checks.found += 1;
            let out = &mut *checks.out;
            writeln!(
                out,
                "{id:08X}: the entry at {at:#x} of SNDI ({list}) has no sound"
            )?;
        }
    }
    let Checks { assets, found, .. } = checks;
    writeln!(out, "{assets} assets, {found} findings")
}

/// Returns the entries sorted by their ids.
fn sorted<'a>(entries: &HashMap<u32, &'a Entry>) -> Vec<(u32, &'a Entry)> {
    let mut entries: Vec<_> = entries.iter().map(|(id, entry)| (*id, *entry)).collect();
    entries.sort_by_key(|(id, _)| *id);
    entries
}

/// The checks of an archive.
struct Checks<'a> {
    archive: &'a Archive<'a>,
    /// The headers of the sounds, by sound id.
    entries: &'a HashMap<u32, &'a Entry>,
    /// The ids of the assets so far.
    seen: HashSet<u32>,
    assets: u64,
    found: u64,
    out: &'a mut dyn Write,
}

impl Checks<'_> {
    fn report(&mut self, member: &Member, finding: &str) -> io::Result<()> {
        self.found += 1;
        let (code, id) = (member.code(), member.asset.id);
        let name = self.archive.name(member);
        let name = name.escape_debug();
        writeln!(self.out, "{code} {id:08X} {name}: {finding}")
    }

    fn warn(&mut self, member: &Member, warnings: &Warnings) -> io::Result<()> {
        let mut texts = warnings.texts().into_iter();
        texts.try_for_each(|text| self.report(member, &text))
    }

    fn asset(&mut self, member: &Member) -> io::Result<()> {
        self.assets += 1;
        self.id(member)?;
        let code = member.asset.code;
        match &code {
            _ if is_object(code) => self.object(member),
            b"SND " | b"SNDS" => self.sound(member),
            b"RWTX" | b"TEXS" => self.texture(member),
            _ if view::is_table(code) => self.table(member),
            _ if references::refers(code) => {
                let archive = self.archive;
                let bytes = archive.read(member)?.unwrap_or_default();
                references::of_names(archive, member, &bytes, &mut |reference| {
                    self.missing(member, reference)
                })
            }
            _ => Ok(()),
        }
    }

    /// Reports a missing reference.
    fn missing(&mut self, member: &Member, reference: Reference) -> io::Result<()> {
        if reference.found.is_some() {
            return Ok(());
        }
        let (field, id) = (reference.field, reference.id);
        let name = reference.name.map(|name| format!(" ({name})"));
        let name = name.unwrap_or_default();
        self.report(member, &format!("{field} {id:08X}{name} is missing"))
    }

    /// Checks that the id is the hash of the name and is not used by another asset.
    fn id(&mut self, member: &Member) -> io::Result<()> {
        let AssetType { id, code, .. } = member.asset;
        if !self.seen.insert(id) {
            self.report(member, "another asset has the same id")?;
        }
        let name = self.archive.name(member);
        let bytes = stored(&name);
        // Names of animations are stored without their extension.
        let animation = [&bytes[..], b".anm"].concat();
        let fits = asset_id(&bytes) == id || code == *b"ANIM" && asset_id(&animation) == id;
        if name.is_empty() || fits {
            return Ok(());
        }
        let hash = asset_id(&bytes);
        self.report(member, &format!("its name hashes to {hash:08X}"))
    }

    fn object(&mut self, member: &Member) -> io::Result<()> {
        let Some(object) = self.archive.object(member)? else {
            return Ok(());
        };
        if object.id != member.asset.id && !is_bare(member.asset.code) {
            let text = format!("its header has the id {:08X}", object.id);
            self.report(member, &text)?;
        }
        self.warn(member, &object.warnings)?;
        for (index, link) in object.links.iter().enumerate() {
            let ends = [
                ("target", link.target),
                ("parameter", link.parameter_asset),
                ("checked asset", link.check_asset),
            ];
            for (end, id) in ends {
                if id != 0 && self.archive.context.find(AssetKey::Id(id)).is_none() {
                    self.report(
                        member,
                        &format!("{end} {id:08X} of link {index} is missing"),
                    )?;
                }
            }
        }
        references::of_object(self.archive, &object, &mut |reference| {
            self.missing(member, reference)
        })
    }

    fn sound(&mut self, member: &Member) -> io::Result<()> {
        let Some(entry) = self.entries.get(&member.asset.id) else {
            let text = "has no entry in the archive's table of sounds (SNDI)";
            return self.report(member, text);
        };
        let Some(bytes) = self.archive.read(member)? else {
            return Ok(());
        };
        if let Ok(sound) = sound::parse(&bytes, entry) {
            if sound.loops.is_some_and(|part| part.is_clamped) {
                self.report(member, "its loop ends past the data, and is cut")?;
            }
            self.warn(member, &sound.warnings)?;
        }
        Ok(())
    }

    fn texture(&mut self, member: &Member) -> io::Result<()> {
        let Some(bytes) = self.archive.read(member)? else {
            return Ok(());
        };
        if bytes.is_empty() {
            return self.report(member, "is empty");
        }
        let Ok(textures) = texture::parse(&bytes) else {
            return Ok(());
        };
        let own = member.asset.platform;
        for texture in &textures.textures {
            let platform = texture.format.platform();
            if own != Platform::Unknown && own.name() != platform {
                let own = own.name();
                let text = format!("is a texture of {platform} in an archive of {own}");
                self.report(member, &text)?;
            }
        }
        self.warn(member, &textures.warnings)
    }

    fn table(&mut self, member: &Member) -> io::Result<()> {
        let Some(bytes) = self.archive.read(member)? else {
            return Ok(());
        };
        if bytes.is_empty() {
            return self.report(member, "is empty");
        }
        let facts = member.origin().facts;
        match view::parse(&bytes, &facts, member.asset.code) {
            Ok(mut sheets) => {
                let warnings = std::mem::take(view::warnings(&mut sheets));
                self.warn(member, &warnings)?;
                references::of_table(self.archive, &sheets, &mut |reference| {
                    self.missing(member, reference)
                })
            }
            Err(_) => Ok(()),
        }
    }
}
