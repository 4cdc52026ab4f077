//! The assets of an archive, in order.

use std::cell::Cell;
use std::io;

use bytes::Bytes;

use crate::names::{Names, hex};
use crate::object::{self, Object};
use crate::origin::Origin;
pub(super) use crate::origin::code_text;
use hpimount_assets::view::{AssetContext, AssetKey, AssetRef};
use hpimount_containers::text::to_windows_1252;
use hpimount_containers::volume::AssetType;
use hpimount_record::Value;

/// Maximum total size of the assets that a report reads in bytes, counting repeated
/// reads. An archive of the games has about ten million; a hostile one may list the
/// same bytes a million times.
const MAX_BYTES: u64 = 256 << 20;

/// An archive that a report reads.
pub(super) struct Archive<'a> {
    pub(super) context: &'a dyn AssetContext,
    /// Bytes that may still be read.
    left: Cell<u64>,
}

/// An asset of an archive.
pub(super) struct Member {
    pub(super) file: AssetRef,
    pub(super) asset: AssetType,
}

impl Member {
    /// Returns the parameters for the parsers.
    pub(super) fn origin(&self) -> Origin {
        Origin::of_type(Some(self.asset))
    }

    /// Returns the four letters of the type without trailing spaces.
    pub(super) fn code(&self) -> String {
        code_text(self.asset.code)
    }
}

impl<'a> Archive<'a> {
    pub(super) fn new(context: &'a dyn AssetContext) -> Self {
        Self {
            context,
            left: Cell::new(MAX_BYTES),
        }
    }

    /// Returns the names for ids.
    pub(super) fn names(&self) -> Names<'a> {
        Names(self.context)
    }

    /// Returns the assets in archive order.
    pub(super) fn members(&self) -> impl Iterator<Item = Member> {
        let files = self.context.assets().into_iter();
        files.filter_map(|file| self.member(file))
    }

    /// Returns the assets whose type matches `wants`.
    pub(super) fn of_type(&self, wants: fn([u8; 4]) -> bool) -> impl Iterator<Item = Member> {
        self.members()
            .filter(move |member| wants(member.asset.code))
    }

    /// Returns an asset of this archive or of an adjacent one.
    pub(super) fn member(&self, file: AssetRef) -> Option<Member> {
        let asset = self.context.asset_of(file)?;
        Some(Member { file, asset })
    }

    /// Returns the asset with this id, of this archive or of an adjacent one; none for
    /// 0.
    pub(super) fn with_id(&self, id: u32) -> Option<Member> {
        self.member(self.context.find(AssetKey::Id(id)).filter(|_| id != 0)?)
    }

    /// Returns the name of an asset, possibly empty.
    pub(super) fn name(&self, member: &Member) -> String {
        self.context.name_of(member.file).unwrap_or_default()
    }

    /// Returns the first cells of the rows about an asset: its id, and its name.
    pub(super) fn key(&self, member: &Member) -> [Value; 2] {
        [hex(member.asset.id), self.name(member).into()]
    }

    /// Returns the same, and its type.
    pub(super) fn key_and_type(&self, member: &Member) -> [Value; 3] {
        let [id, name] = self.key(member);
        [id, name, member.code().into()]
    }

    /// Returns the bytes of an asset, or `None` if it cannot be read.
    pub(super) fn read(&self, member: &Member) -> io::Result<Option<Bytes>> {
        self.count(member.file)?;
        Ok(self.context.read(member.file))
    }

    /// Counts a file as read.
    pub(super) fn count(&self, file: AssetRef) -> io::Result<()> {
        let size = self.context.size_of(file).unwrap_or_default();
        let left = self.left.get().checked_sub(size);
        let left = left.ok_or_else(|| {
            io::Error::other(format!("the assets have more than {MAX_BYTES} bytes"))
        })?;
        self.left.set(left);
        Ok(())
    }

    /// Returns an object, or `None` if it cannot be read.
    pub(super) fn object(&self, member: &Member) -> io::Result<Option<Object>> {
        let facts = member.origin().facts;
        let bytes = self.read(member)?;
        let parsed = bytes.map(|bytes| object::parse(&bytes, &facts, member.asset.code));
        Ok(parsed.and_then(Result::ok))
    }
}

/// Returns the bytes of a name as stored in archives.
pub(super) fn stored(name: &str) -> Vec<u8> {
    to_windows_1252(name).into_owned()
}
