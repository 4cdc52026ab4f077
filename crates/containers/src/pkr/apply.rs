//! Writing a PKR archive with changes. New data is where the old data was if it
//! fits, else at the end. A longer directory goes to the end in PKR3; in PKR2 it
//! has a fixed place, so that all data moves.

use super::{COUNTS, DIRECTORY, Directory, MAGIC_LENGTH, NAME, Pkr, RAW, SEPARATORS, Version};
use crate::changes::{Composed, Job, NewFile, Occupied, Patch, Weight, Written};
use crate::io::{Error, ReadAt, Result};
use crate::paths::until_nul;
use crate::text::{to_windows_1252, windows_1252};
use crate::volume::{FileId, NodeId};

/// Offset of the directory's offset in PKR3.
const DIRECTORY_OFFSET: u64 = 4;

/// Data is at multiples of this in archives of the games.
const ALIGNMENT: u64 = 4;

/// A directory with the records of its files.
struct Folder {
    name: Vec<u8>,
    node: NodeId,
    records: Vec<Vec<u8>>,
}

/// Writes the archive.
pub(super) fn apply(pkr: &Pkr, directory: Directory, job: &mut Job<'_>) -> Result<Written> {
    let (source, version) = (&pkr.source, pkr.version);
    let table_end = directory.files_at + directory.files.len() as u64;
    let members = (0..directory.files.len() / version.record()).map(|file| directory.file(file));
    let members = members.map(|file| file.map(|(_, member)| member.range()));
    let ranges: Vec<_> = members.collect::<Result<_>>()?;
    let table = directory.counts_at..table_end;
    let mut data = Data {
        version,
        patch: Patch::new(source.clone()),
        end: source.len(),
        occupied: Occupied::new(ranges.into_iter().chain([table.clone()])),
    };
    let mut folders = data.folders(job, &directory)?;
    data.add(job, &mut folders)?;
    let files: usize = folders.iter().map(|folder| folder.records.len()).sum();
    let length = COUNTS + (folders.len() * DIRECTORY + files * version.record()) as u64;
    let old_length = table.end - table.start;
    let growth = length.saturating_sub(old_length);
    if version == Version::Two {
        let mut spliced = Composed::default();
        spliced.append(source, 0..MAGIC_LENGTH);
        let mut bytes = encode(&directory, &folders, table.start, growth)?;
        bytes.resize(bytes.len().max(old_length as usize), 0);
        spliced.append_bytes(bytes);
        let patched: std::sync::Arc<dyn ReadAt> = std::sync::Arc::new(data.patch.finish());
        spliced.append(&patched, table.end..patched.len());
        return Ok(Written::alone(spliced));
    }
    let at = match growth {
        0 => table.start,
        _ => data.end.next_multiple_of(ALIGNMENT),
    };
    let mut bytes = encode(&directory, &folders, at, 0)?;
    if growth == 0 {
        bytes.resize(old_length as usize, 0);
    } else {
        let offset = u32::try_from(at).map_err(|_| too_large())?;
        data.patch
            .put(DIRECTORY_OFFSET, offset.to_le_bytes().to_vec());
    }
    data.patch.put(at, bytes);
    Ok(Written::alone(data.patch.finish()))
}

/// The data of the archive.
struct Data {
    version: Version,
    patch: Patch,
    /// The end of all data.
    end: u64,
    occupied: Occupied,
}

impl Data {
    /// Returns the directories of the original with the records of the files that
    /// remain, and places new contents.
    fn folders(&mut self, job: &mut Job<'_>, directory: &Directory) -> Result<Vec<Folder>> {
        let mut folders = Vec::new();
        let mut number = 0;
        let names = directory.directories.chunks_exact(DIRECTORY);
        for (bytes, (node, files)) in names.zip(&directory.declared) {
            let mut folder = Folder {
                name: until_nul(&bytes[..NAME]).to_vec(),
                node: *node,
                records: Vec::new(),
            };
            for file in files.clone() {
                let id = FileId(number);
                number += 1;
                if job.tree.is_file_deleted(id) {
                    continue;
                }
                let length = self.version.record();
                let mut record = directory.files[file * length..][..length].to_vec();
                if let Some((node, new)) = job.replaced(id) {
                    let own = directory.file(file)?.1.range();
                    let offset = self.place(job, node, &new, Some(own));
                    self.set(&mut record, offset, &new)?;
                }
                folder.records.push(record);
            }
            if !job.tree.is_deleted(*node) || !folder.records.is_empty() {
                folders.push(folder);
            }
        }
        Ok(folders)
    }

    /// Adds the files that the original does not have.
    fn add(&mut self, job: &mut Job<'_>, folders: &mut Vec<Folder>) -> Result<()> {
        for (node, new) in job.added_files() {
            let name = job.tree.node(node).name.to_owned();
            let (Some(field), parent) = (name_field(&name), job.tree.parent(node)) else {
                job.refuse(
                    node,
                    "no name for a PKR archive (Windows-1252, at most 31 bytes)",
                );
                continue;
            };
            let at = match folders.iter().position(|folder| folder.node == parent) {
                Some(at) => at,
                None => {
                    let Some(folder) = new_folder(job, parent, folders) else {
                        job.refuse(node, "a file of a PKR archive is in a directory with a name of at most 31 bytes");
                        continue;
                    };
                    folders.push(folder);
                    folders.len() - 1
                }
            };
            let offset = self.place(job, node, &new, None);
            let mut record = field;
            record.resize(self.version.record(), 0);
            self.set(&mut record, offset, &new)?;
            folders[at].records.push(record);
        }
        Ok(())
    }

    /// Places data, and returns its offset.
    fn place(
        &mut self,
        job: &mut Job<'_>,
        node: NodeId,
        new: &NewFile,
        own: Option<std::ops::Range<u64>>,
    ) -> u64 {
        if let Some(own) = own.filter(|own| !own.is_empty() && !new.is_empty()) {
            let end = own.start + new.len();
            if end <= self.occupied.room(&own).min(self.end) {
                self.patch.put_file(own.start, new);
                self.occupied.remove(&own);
                self.occupied.add(own.start..end);
                return own.start;
            }
            let text = format!("moved from {:#x} to {:#x}", own.start, self.end);
            job.note(Weight::Information, node, text);
        }
        let start = self.end.next_multiple_of(ALIGNMENT);
        self.patch.put_file(start, new);
        self.end = start + new.len();
        self.occupied.add(start..self.end);
        start
    }

    /// Describes stored data in the record of a file.
    fn set(&self, record: &mut [u8], offset: u64, new: &NewFile) -> Result<()> {
        let offset = u32::try_from(offset).map_err(|_| too_large())?;
        let size = u32::try_from(new.len()).map_err(|_| too_large())?;
        let crc = match self.version {
            Version::Two => None,
            Version::Three => Some(new.crc32()?),
        };
        let numbers = crc.into_iter().chain([RAW, offset, size, size]);
        let numbers: Vec<u8> = numbers.flat_map(u32::to_le_bytes).collect();
        record[NAME..].copy_from_slice(&numbers);
        Ok(())
    }
}

/// Returns the record of a directory that the original does not have.
fn new_folder(job: &Job<'_>, node: NodeId, folders: &[Folder]) -> Option<Folder> {
    let bytes = folders.iter().flat_map(|folder| &folder.name);
    let separator = bytes.copied().find(|byte| SEPARATORS.contains(byte));
    let separator = char::from(separator.unwrap_or(b'\\'));
    let path = job.tree.path(node).replace('/', &separator.to_string());
    let name = name_field(&format!("{path}{separator}")).filter(|_| !path.is_empty())?;
    Some(Folder {
        name: until_nul(&name).to_vec(),
        node,
        records: Vec::new(),
    })
}

/// Returns the field with a name, if there is room for it and its NUL.
fn name_field(name: &str) -> Option<Vec<u8>> {
    let raw = to_windows_1252(name);
    let fits = raw.len() < NAME && !raw.contains(&0) && windows_1252(&raw) == name;
    fits.then(|| {
        let mut field = raw.into_owned();
        field.resize(NAME, 0);
        field
    })
}

/// Returns the directory for the offset `at`. All data moves by `shift`.
fn encode(old: &Directory, folders: &[Folder], at: u64, shift: u64) -> Result<Vec<u8>> {
    let version = old.version;
    let files: usize = folders.iter().map(|folder| folder.records.len()).sum();
    let counts = [old.unknown, folders.len() as u32, files as u32];
    let mut bytes = counts.map(u32::to_le_bytes).concat();
    let records = at + COUNTS + (folders.len() * DIRECTORY) as u64;
    let mut first = 0;
    for folder in folders {
        let start = bytes.len();
        bytes.extend_from_slice(&folder.name);
        bytes.resize(start + NAME, 0);
        let place = match version {
            Version::Three => first as u64,
            Version::Two => records + (first * version.record()) as u64,
        };
        let place = u32::try_from(place).map_err(|_| too_large())?;
        bytes.extend(
            [place, folder.records.len() as u32]
                .map(u32::to_le_bytes)
                .concat(),
        );
        first += folder.records.len();
    }
    let offset = version.record() - 3 * size_of::<u32>();
    for record in folders.iter().flat_map(|folder| &folder.records) {
        let start = bytes.len();
        bytes.extend_from_slice(record);
        let word = &mut bytes[start + offset..][..4];
        let old = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
        let new = u32::try_from(u64::from(old) + shift).map_err(|_| too_large())?;
        word.copy_from_slice(&new.to_le_bytes());
    }
    Ok(bytes)
}

fn too_large() -> Error {
    Error::Unsupported("would be larger than 4 GiB".to_owned())
}
