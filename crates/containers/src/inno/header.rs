//! The header: what the installer is, and the entries in front of the files. Their
//! layouts are in section 3 of `docs/formats/inno.md`.

use encoding_rs::{Encoding, WINDOWS_1252};

use super::block::{self, Block};
use super::data::DataEntry;
use super::fields::Fields;
use super::file::FileEntry;
use super::version::{LENGTH, PREFIX, VARIANT, Version};
use crate::io::{Cursor, Endian, Error, ReadAt, Result, read_vec};

/// The compression of chunks, unless they are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compression {
    Stored,
    Zlib,
    Bzip2,
    Lzma,
    Lzma2,
}

impl Compression {
    /// Returns its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Stored => "none",
            Self::Zlib => "zlib",
            Self::Bzip2 => "bzip2",
            Self::Lzma => "LZMA",
            Self::Lzma2 => "LZMA2",
        }
    }
}

/// The two blocks of a header.
pub(super) struct Setup {
    pub(super) version: Version,
    /// Name, publisher and version of the product.
    pub(super) name: String,
    pub(super) publisher: String,
    pub(super) product_version: String,
    /// Name of the installer without its extension, as it was compiled.
    pub(super) base_name: String,
    pub(super) slices_per_disk: u32,
    pub(super) compression: Compression,
    pub(super) languages: Vec<String>,
    pub(super) components: Vec<String>,
    /// Destinations of empty directories.
    pub(super) directories: Vec<String>,
    pub(super) files: Vec<FileEntry>,
    pub(super) data: Vec<DataEntry>,
}

/// Use of encryption, from 6.5 on: of all blocks and files.
const ENCRYPTED_WHOLLY: u8 = 2;

/// Reads the header at `offset`. Strings that are not UTF-16 have the character set
/// `encoding`, or the one that the languages have.
///
/// # Errors
/// Returns an error if it is damaged, or has an unknown version.
pub(super) fn read(
    source: &dyn ReadAt,
    offset: u64,
    encoding: Option<&'static Encoding>,
) -> Result<Setup> {
    let text = read_vec(source, offset, LENGTH, "version")?;
    let Some(version) = Version::parse(&text) else {
        let prefix = String::from_utf8_lossy(PREFIX);
        let problem = format!("does not begin with \"{prefix}\"");
        return Err(Error::damaged(offset, "version", problem));
    };
    if !version.is_supported() {
        return Err(super::unsupported(version));
    }
    let mut first_error = None;
    for layout in version.candidates() {
        match read_as(layout, source, offset + LENGTH, encoding) {
            Err(error @ Error::Damaged { .. }) => first_error = first_error.or(Some(error)),
            read => return read,
        }
    }
    Err(first_error.unwrap_or(Error::UnknownFormat))
}

fn read_as(
    version: Version,
    source: &dyn ReadAt,
    mut offset: u64,
    encoding: Option<&'static Encoding>,
) -> Result<Setup> {
    if version.since(6, 5, 0) {
        offset = after_encryption(version, source, offset)?;
    }
    let Block { bytes, end } = block::read(source, offset, version)?;
    let mut fields = Fields::new(&bytes, version);
    let entries = read_entries(&mut fields, encoding);
    let (mut setup, data) = entries.map_err(|error| error.within("decoded header"))?;
    drop(bytes);
    let second = block::read(source, end, version)?;
    let mut fields = Fields::new(&second.bytes, version);
    let entries = fields.entries(data, "number of data entries", DataEntry::read);
    setup.data = entries.map_err(|error| error.within("decoded data entries"))?;
    Ok(setup)
}

/// Reads the block about the encryption at `offset`, and returns the offset after it.
fn after_encryption(version: Version, source: &dyn ReadAt, offset: u64) -> Result<u64> {
    // A checksum; then the use, a salt, iterations, a nonce and a test of the password.
    const COVERED: u64 = 1 + 16 + 4 + 24 + 4;
    let bytes = read_vec(source, offset, 4 + COVERED, "encryption")?;
    let mut fields = Cursor::new(&bytes, offset, Endian::Little);
    let sum = fields.u32("encryption checksum")?;
    super::check_crc(&bytes[4..], sum, offset, "encryption")?;
    match fields.u8("use of encryption")? {
        ENCRYPTED_WHOLLY => Err(super::encrypted(version)),
        _ => Ok(offset + 4 + COVERED),
    }
}

/// Numbers of entries, in their order.
struct Counts {
    languages: u32,
    messages: u32,
    permissions: u32,
    types: u32,
    components: u32,
    tasks: u32,
    directories: u32,
    signature_keys: u32,
    files: u32,
    data: u32,
}

impl Counts {
    fn read(fields: &mut Fields<'_>) -> Result<Self> {
        let has_keys = fields.version().since(6, 5, 0);
        let mut next = || fields.u32("number of entries");
        let counts = Self {
            languages: next()?,
            messages: next()?,
            permissions: next()?,
            types: next()?,
            components: next()?,
            tasks: next()?,
            directories: next()?,
            signature_keys: if has_keys { next()? } else { 0 },
            files: next()?,
            data: next()?,
        };
        // Icons, INI, registry, and those to be deleted and run.
        fields.skip(7 * 4, "number of entries")?;
        Ok(counts)
    }
}

/// The strings at the start of the header. The languages, which come later, determine
/// their character set.
struct Product<'a> {
    name: &'a [u8],
    publisher: &'a [u8],
    version: &'a [u8],
    base_name: &'a [u8],
}

impl<'a> Product<'a> {
    /// Reads all strings of the header.
    fn read(fields: &mut Fields<'a>) -> Result<Self> {
        let version = fields.version();
        let name = fields.bytes("name")?;
        fields.skip_strings(3, "name")?;
        let publisher = fields.bytes("publisher")?;
        let has_phone = version.since(5, 1, 13);
        fields.skip_strings(3 + usize::from(has_phone), "publisher")?;
        let product_version = fields.bytes("product version")?;
        fields.skip_strings(2, "default directory")?;
        let base_name = fields.bytes("base name")?;
        fields.skip_strings(strings_after_base_name(version), "header")?;
        Ok(Self {
            name,
            publisher,
            version: product_version,
            base_name,
        })
    }
}

/// Reads the first block up to the files, and returns the number of data entries as
/// well.
fn read_entries(
    fields: &mut Fields<'_>,
    encoding: Option<&'static Encoding>,
) -> Result<(Setup, u32)> {
    let version = fields.version();
    let product = Product::read(fields)?;
    if !version.is_unicode() {
        fields.skip(32, "lead bytes")?;
    }
    let counts = Counts::read(fields)?;
    if version.since_7_0_0_3() {
        fields.u32("version of the code")?;
    }
    fields.skip(fixed_before_slices(version), "header")?;
    let slices_per_disk = fields.u32("slices per disk")?;
    let compression = read_compression(fields)?;
    fields.skip(fixed_after_compression(version), "header")?;
    fields.flags(flags(version), "header flags")?;
    let languages = read_languages(fields, counts.languages, encoding)?;
    let components = read_components(fields, &counts)?;
    let directories = read_directories(fields, &counts)?;
    let files = fields.entries(counts.files, "number of files", |fields| {
        FileEntry::read(fields, counts.data)
    })?;
    let setup = Setup {
        version,
        name: fields.text(product.name),
        publisher: fields.text(product.publisher),
        product_version: fields.text(product.version),
        base_name: fields.text(product.base_name),
        slices_per_disk,
        compression,
        languages,
        components,
        directories,
        files,
        data: Vec::new(),
    };
    Ok((setup, counts.data))
}

/// Reads the messages, permissions, types and components, and returns the names of the
/// components.
fn read_components(fields: &mut Fields<'_>, counts: &Counts) -> Result<Vec<String>> {
    fields.entries(counts.messages, "number of messages", |fields| {
        fields.skip_strings(2, "message")?;
        fields.skip(4, "message")
    })?;
    fields.entries(counts.permissions, "number of permissions", |fields| {
        fields.skip_strings(1, "permission")
    })?;
    fields.entries(counts.types, "number of types", |fields| {
        fields.skip_strings(4, "type")?;
        fields.skip(20 + 1 + 1 + 8, "type")
    })?;
    fields.entries(counts.components, "number of components", |fields| {
        let name = fields.string("component")?;
        fields.skip_strings(4, "component")?;
        let level = length_of_level(fields.version());
        fields.skip(8 + level + 1 + 20 + 1 + 8, "component")?;
        Ok(name)
    })
}

/// Reads the tasks, directories and keys of signatures, and returns the destinations of
/// the directories.
fn read_directories(fields: &mut Fields<'_>, counts: &Counts) -> Result<Vec<String>> {
    fields.entries(counts.tasks, "number of tasks", |fields| {
        fields.skip_strings(6, "task")?;
        fields.skip(length_of_level(fields.version()) + 1 + 20 + 1, "task")
    })?;
    let directories = fields.entries(counts.directories, "number of directories", |fields| {
        let name = fields.string("directory")?;
        fields.skip_strings(6, "directory")?;
        fields.skip(4 + 20 + 2 + 1, "directory")?;
        Ok(name)
    })?;
    fields.entries(counts.signature_keys, "number of keys", |fields| {
        fields.skip_strings(3, "signature key")
    })?;
    Ok(directories)
}

/// Returns the length of the level of a component or task, in bytes.
fn length_of_level(version: Version) -> usize {
    if version.since(6, 7, 0) { 1 } else { 4 }
}

/// Adds the numbers whose conditions hold.
fn sum<const N: usize>(numbers: [(bool, usize); N]) -> usize {
    let numbers = numbers.into_iter().filter(|(holds, _)| *holds);
    numbers.map(|(_, number)| number).sum()
}

/// Returns the number of strings after the base name.
fn strings_after_base_name(version: Version) -> usize {
    let since = |major, minor, patch| version.since(major, minor, patch);
    // Four about uninstalling and the mutex, three about the user, and four about the
    // product; license, two texts, and code.
    15 + sum([
        (since(5, 2, 1) && !since(5, 3, 10), 1),
        (since(5, 3, 8), 1),
        (since(5, 3, 10), 1),
        (since(5, 5, 0), 1),
        (since(5, 5, 6), 1),
        (since(5, 6, 1), 2),
        (since(6, 3, 0), 2),
        (since(6, 4, 2), 1),
        (since(6, 5, 0), 1),
        (since(6, 7, 0), 5),
    ])
}

/// Returns the number of bytes between the counts and the number of slices.
fn fixed_before_slices(version: Version) -> usize {
    let since = |major, minor, patch| version.since(major, minor, patch);
    let has_colors = since(6, 5, 2) || version.is([6, 5, 0, VARIANT]);
    // Versions of Windows, and the needed space.
    20 + 8
        + sum([
            // Colors, and the style of the wizard.
            (!version.since_6_4_0_1(), 8),
            (!since(5, 5, 7), 4),
            (!since(5, 0, 4), 4),
            (since(6, 0, 0), 9),
            (since(5, 5, 7), 1),
            (has_colors, 8),
            (since(6, 6, 0), 8),
            (since(6, 6, 1), 1),
            (since(6, 7, 0), 10),
            // Checksum and salt of the password.
            (!since(5, 3, 9), 16 + 8),
            (since(5, 3, 9) && !since(6, 4, 0), 20 + 8),
            (since(6, 4, 0) && !since(6, 5, 0), 4 + 44),
        ])
}

fn read_compression(fields: &mut Fields<'_>) -> Result<Compression> {
    let version = fields.version();
    fields.choice(2, "log mode")?;
    fields.choice(2, "directory warning")?;
    fields.choice(3, "privileges")?;
    // 5.7 became 6.0.
    if version.since(5, 7, 0) {
        fields.choice(3, "overrides of privileges")?;
    }
    fields.choice(2, "language dialog")?;
    fields.choice(2, "language detection")?;
    let largest = if version.since(5, 3, 9) { 4 } else { 3 };
    Ok(match fields.choice(largest, "compression")? {
        0 => Compression::Stored,
        1 => Compression::Zlib,
        2 => Compression::Bzip2,
        3 => Compression::Lzma,
        _ => Compression::Lzma2,
    })
}

/// Returns the number of bytes between the compression and the flags.
fn fixed_after_compression(version: Version) -> usize {
    let since = |major, minor, patch| version.since(major, minor, patch);
    let has_byte = [[5, 3, 10, VARIANT], [5, 4, 2, VARIANT], [5, 5, 0, VARIANT]];
    sum([
        // Architectures.
        (since(5, 1, 0) && !since(6, 3, 0), 2),
        // The signed uninstaller, disabled pages, and the size to be shown.
        (since(5, 2, 1) && !since(5, 3, 10), 8),
        (since(5, 3, 3), 2),
        (since(5, 3, 6), 4),
        (since(5, 5, 0), 4),
        (has_byte.iter().any(|number| version.is(*number)), 1),
    ])
}

/// Returns the number of flags.
fn flags(version: Version) -> usize {
    let since = |major, minor, patch| version.since(major, minor, patch);
    if since(6, 7, 0) {
        return 64;
    }
    31 + sum([
        (!since(5, 3, 10), 1),
        (!since(5, 3, 3), 2),
        (!version.since_6_4_0_1(), 5),
        (!since(5, 6, 1), 1),
        (!since(5, 3, 8), 1),
        (!since(6, 5, 0), 1),
        (since(5, 0, 4) && !since(5, 6, 1), 1),
        (since(5, 1, 7) && !version.is_unicode(), 1),
        (since(5, 1, 13), 1),
        (since(5, 2, 1), 1),
        (since(5, 3, 8), 1),
        (since(5, 3, 9), 1),
        (since(5, 5, 0), 3),
        (since(5, 5, 7), 1),
        (since(6, 0, 0), 3),
        (since(6, 3, 0), 1),
        (since(6, 6, 0), 3),
    ])
}

/// Reads the languages, and returns their names. They determine the character set of
/// what follows.
fn read_languages(
    fields: &mut Fields<'_>,
    count: u32,
    encoding: Option<&'static Encoding>,
) -> Result<Vec<String>> {
    let version = fields.version();
    let has_variant = version.is([5, 5, 7, VARIANT]);
    let (strings, id) = match version.since(6, 6, 0) {
        true => (7, 2),
        false => (9 + usize::from(has_variant), 4),
    };
    let has_page = !version.is_unicode() || !version.since(5, 3, 0);
    let after = 4 * 4 + sum([(version.since(5, 2, 3), 1), (has_variant, 4)]);
    let languages = fields.entries(count, "number of languages", |fields| {
        let name = fields.bytes("language")?;
        fields.skip_strings(strings, "language")?;
        fields.skip(id, "language id")?;
        let page = if has_page {
            fields.u32("code page")?
        } else {
            0
        };
        fields.skip(after, "language")?;
        Ok((name, page))
    })?;
    let western = languages.iter().find(|(_, page)| matches!(page, 0 | 1252));
    let page = western.or_else(|| languages.first());
    let page = page.map_or(1252, |(_, page)| *page);
    fields.set_encoding(encoding.unwrap_or_else(|| of_code_page(page)));
    let names = languages.iter().map(|(name, _)| fields.text(name));
    Ok(names.collect())
}

/// Returns the character set of a code page of Windows; Windows-1252 if it is unknown.
fn of_code_page(page: u32) -> &'static Encoding {
    let label = match page {
        932 => "shift_jis".to_owned(),
        936 => "gbk".to_owned(),
        950 => "big5".to_owned(),
        _ => format!("windows-{page}"),
    };
    Encoding::for_label(label.as_bytes()).unwrap_or(WINDOWS_1252)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_flags_follows_from_the_version() {
        let of = |text: &str| {
            let text = format!("Inno Setup Setup Data ({text}");
            flags(Version::parse(text.as_bytes()).unwrap())
        };
        assert_eq!(of("5.5.7) (u)"), 47);
        assert_eq!(of("5.6.2) (u)"), 45);
        assert_eq!(of("6.1.0) (u)"), 48);
        assert_eq!(of("6.3.0)"), 49);
        assert_eq!(of("6.4.0.1)"), 44);
    }

    #[test]
    fn code_pages_are_character_sets_of_windows() {
        assert_eq!(of_code_page(1251), encoding_rs::WINDOWS_1251);
        assert_eq!(of_code_page(932), encoding_rs::SHIFT_JIS);
        assert_eq!(of_code_page(7), WINDOWS_1252);
    }
}
