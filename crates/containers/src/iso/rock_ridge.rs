//! The fields of Rock Ridge (IEEE P1282): names, modes, links, times, and
//! directories that stand elsewhere than they are shown.

use super::record::{date, le32};
use super::susp::SystemUse;
use super::zisofs::Packing;
use crate::io::{Error, Result};
use crate::text::Charset;
use crate::time;

/// Type bits of a mode, as on Unix.
const TYPE: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;
const DIRECTORY: u32 = 0o040_000;
const LINK: u32 = 0o120_000;

/// Flags of a name or of a component of a link: it continues in the next one,
/// is `.`, is `..`, is the root.
const CONTINUES: u8 = 1;
const CURRENT: u8 = 2;
const PARENT: u8 = 4;
const ROOT: u8 = 8;

/// Bits of the times before a modification time, of that time, and of the long
/// form of all times.
const BEFORE_MODIFIED: u8 = 1;
const MODIFIED: u8 = 2;
const LONG: u8 = 0x80;

/// The attributes in the fields of a record.
#[derive(Default)]
pub(super) struct Attributes {
    /// The name, if it is another one than the record's.
    pub(super) name: Option<Vec<u8>>,
    mode: Option<u32>,
    /// The target of a symbolic link.
    link: Option<Link>,
    pub(super) modified: Option<i64>,
    /// The block of a directory that is shown here and stands elsewhere.
    pub(super) child: Option<u32>,
    /// True if the record is of a directory that is shown elsewhere.
    pub(super) is_relocated: bool,
    /// Packing of the data.
    pub(super) packing: Option<Packing>,
    /// True if the file has holes.
    pub(super) is_sparse: bool,
}

/// A target that is being put together.
#[derive(Default)]
struct Link {
    target: Vec<u8>,
    /// True if the next component continues the last one.
    continues: bool,
}

/// The kind of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Link,
    /// A device, a FIFO or a socket.
    Special,
}

impl Attributes {
    /// Returns what the fields in the system use area of a record say, up to the damage
    /// that is returned too.
    ///
    /// # Errors
    /// Returns an error if the source cannot be read.
    pub(super) fn read(fields: &mut SystemUse<'_>, area: &[u8]) -> Result<(Self, Option<Error>)> {
        let mut attributes = Self::default();
        match fields.fields(area, &mut |signature, data| attributes.add(signature, data)) {
            Err(error) if error.is_fault() => Err(error),
            read => Ok((attributes, read.err())),
        }
    }

    /// Adds a field.
    fn add(&mut self, signature: [u8; 2], data: &[u8]) {
        match &signature {
            b"NM" => self.add_name(data),
            b"PX" if data.len() >= 8 => self.mode = Some(le32(data, 0)),
            b"SL" => {
                if let Some((_, components)) = data.split_first() {
                    self.link.get_or_insert_default().add(components);
                }
            }
            b"TF" => self.modified = modified(data).or(self.modified),
            b"CL" if data.len() >= 8 => self.child = Some(le32(data, 0)),
            b"RE" => self.is_relocated = true,
            b"ZF" => self.packing = Some(Packing::parse(data)),
            b"Z2" => self.packing = Some(Packing::Unknown),
            b"SF" => self.is_sparse = true,
            _ => {}
        }
    }

    fn add_name(&mut self, data: &[u8]) {
        // The flags say whether another part follows, which its field shows too.
        match data.split_first() {
            Some((flags, part)) if flags & (CURRENT | PARENT) == 0 && !part.is_empty() => {
                self.name.get_or_insert_default().extend(part);
            }
            _ => {}
        }
    }

    /// Returns what the record of a file is.
    pub(super) fn kind(&self) -> Kind {
        match (self.mode.map(|mode| mode & TYPE), &self.link) {
            (None | Some(LINK), Some(_)) => Kind::Link,
            (None | Some(REGULAR | DIRECTORY | LINK | 0), _) => Kind::File,
            _ => Kind::Special,
        }
    }

    /// Returns the target of a link, in UTF-8.
    pub(super) fn target(&self) -> Vec<u8> {
        let target = self.link.as_ref().map_or(&[][..], |link| &link.target);
        Charset::Utf8.decode(target).into_owned().into_bytes()
    }

    /// Returns the permission bits.
    pub(super) fn permissions(&self) -> Option<u16> {
        self.mode.map(|mode| (mode & 0o777) as u16)
    }
}

impl Link {
    /// Adds components: flags, length, content.
    fn add(&mut self, mut components: &[u8]) {
        while let [flags, length, rest @ ..] = components {
            let (part, after) = rest.split_at(usize::from(*length).min(rest.len()));
            components = after;
            let part = match flags & (CURRENT | PARENT | ROOT) {
                ROOT => &b"/"[..],
                PARENT => b"..",
                CURRENT => b".",
                _ => part,
            };
            if part == b"/" {
                self.target.clear();
            } else if !self.continues && !self.target.is_empty() && self.target != b"/" {
                self.target.push(b'/');
            }
            self.target.extend(part);
            self.continues = flags & CONTINUES != 0;
        }
    }
}

/// Returns the modification time of a field of times.
fn modified(data: &[u8]) -> Option<i64> {
    let (flags, times) = data.split_first()?;
    if flags & MODIFIED == 0 {
        return None;
    }
    let length = if flags & LONG != 0 { 17 } else { 7 };
    let start = usize::from(flags & BEFORE_MODIFIED) * length;
    let time = times.get(start..start + length)?;
    match length {
        7 => date(time),
        _ => long_date(time),
    }
}

/// Returns the seconds since 1970 UTC of a date in digits: year, month, day,
/// hour, minute, second, hundredths; then the offset from UTC in quarters of an
/// hour. `None` if it is not valid.
fn long_date(date: &[u8]) -> Option<i64> {
    let number = |range: std::ops::Range<usize>| -> Option<u16> {
        str::from_utf8(date.get(range)?).ok()?.parse().ok()
    };
    let short = |start: usize| u8::try_from(number(start..start + 2)?).ok();
    let day = [number(0..4)?, number(4..6)?, number(6..8)?];
    let local = time::seconds(day, [short(8)?, short(10)?, short(12)?])?;
    Some(local - i64::from(*date.get(16)? as i8) * 15 * 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attributes(fields: &[(&[u8; 2], &[u8])]) -> Attributes {
        let mut attributes = Attributes::default();
        for (signature, data) in fields {
            attributes.add(**signature, data);
        }
        attributes
    }

    fn both(number: u32) -> Vec<u8> {
        [number.to_le_bytes(), number.to_be_bytes()].concat()
    }

    #[test]
    fn a_name_in_several_fields_is_put_together() {
        let found = attributes(&[(b"NM", b"\x01long "), (b"NM", b"\0name")]);
        assert_eq!(found.name.as_deref(), Some(&b"long name"[..]));
        assert_eq!(attributes(&[(b"NM", b"\x02")]).name, None);
        assert_eq!(attributes(&[(b"NM", b"")]).name, None);
    }

    #[test]
    fn the_target_of_a_link_has_its_components() {
        let target = |fields: &[(&[u8; 2], &[u8])]| {
            let found = attributes(fields);
            assert_eq!(found.kind(), Kind::Link);
            String::from_utf8(found.target()).unwrap()
        };
        assert_eq!(
            target(&[(b"SL", b"\0\x04\0\0\x01a\x02\0\0\x01b")]),
            "../a/./b"
        );
        assert_eq!(target(&[(b"SL", b"\0\x08\0\0\x03usr")]), "/usr");
        // A component in two parts, in two fields.
        let fields: [(&[u8; 2], &[u8]); 2] = [
            (b"SL", b"\x01\0\x01a\x01\x02bc"),
            (b"SL", b"\0\0\x01d\0\x01e"),
        ];
        assert_eq!(target(&fields), "a/bcd/e");
        // A component that is cut off.
        assert_eq!(target(&[(b"SL", b"\0\0\x09ab")]), "ab");
    }

    #[test]
    fn times_are_short_or_long_and_in_the_order_of_their_bits() {
        let short = [2_u8, 99, 9, 29, 12, 0, 0, 0];
        assert_eq!(attributes(&[(b"TF", &short)]).modified, Some(938_606_400));
        let second = [&[3_u8][..], &[0; 7], &short[1..]].concat();
        assert_eq!(attributes(&[(b"TF", &second)]).modified, Some(938_606_400));
        let long = [&[0x82_u8][..], b"1999092914000000", &[8]].concat();
        assert_eq!(attributes(&[(b"TF", &long)]).modified, Some(938_606_400));
        assert_eq!(attributes(&[(b"TF", &long[..9])]).modified, None);
        assert_eq!(attributes(&[(b"TF", b"\x01")]).modified, None);
    }

    #[test]
    fn devices_are_neither_files_nor_links() {
        let of_mode = |mode: u32| attributes(&[(b"PX", &both(mode))]);
        assert_eq!(of_mode(0o020_644).kind(), Kind::Special);
        assert_eq!(of_mode(0o010_644).kind(), Kind::Special);
        let file = of_mode(0o100_755);
        assert_eq!((file.kind(), file.permissions()), (Kind::File, Some(0o755)));
        assert_eq!(attributes(&[]).kind(), Kind::File);
    }

    #[test]
    fn directories_elsewhere_have_the_block_of_the_other_record() {
        let found = attributes(&[(b"CL", &both(77))]);
        assert_eq!((found.child, found.is_relocated), (Some(77), false));
        assert!(attributes(&[(b"RE", b"")]).is_relocated);
        assert_eq!(attributes(&[(b"CL", b"\x01")]).child, None);
    }
}
