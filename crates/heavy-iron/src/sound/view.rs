//! SND, SNDS and SNDI: sounds, and the table with their headers.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use get_size2::GetSize;
use hpimount_record::Value;

use crate::Platform;
use crate::names::Names;
use crate::origin::Origin;
use crate::sound::import::{import, refusal};
use crate::sound::{self, Bank, BankEntry, BankSound, DspHeader, Entry, Header, Sound, SoundTable};
use crate::view::{self, stem};
use hpimount_assets::model::padded;
use hpimount_assets::model::wav::Wav;
use hpimount_assets::parse::{Incomplete, so_far};
use hpimount_assets::view::context::shared;
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile, Folder};
use hpimount_assets::view::import::Editable;
use hpimount_assets::view::page::Rows;
use hpimount_assets::view::{AssetContext, Measures, Opened, Shared, ViewFormat};
use hpimount_containers::io::{Error, Warnings};
use hpimount_containers::volume::AssetType;

/// Sounds.
pub const FORMAT: ViewFormat = ViewFormat {
    asset_types: &[*b"SND ", *b"SNDS"],
    converted: Conversion::By(converted),
    edits: &[Editable::WAV],
    import: Some(import),
    refuses: Some(refusal),
    ..ViewFormat::new("HIP sound", open)
};

/// The table of an archive's sounds.
pub const TABLE_FORMAT: ViewFormat = ViewFormat {
    asset_types: &[*b"SNDI"],
    left_out: &[Editable::new(
        "*.fsb",
        "is a bank (FSB3), which is not rebuilt",
    )],
    ..ViewFormat::new("HIP sound table", open_table)
};

/// Returns the conversions of a sound. The native file gets the header from the table.
/// The Xbox has no native file.
fn converted(asset: Option<AssetType>) -> Converted {
    const WAV: ConvertedFile = ConvertedFile::first("wav");
    const fn native(extension: &'static str) -> ConvertedFile {
        ConvertedFile {
            folder: Some("native"),
            ..ConvertedFile::first(extension)
        }
    }
    let files: &[ConvertedFile] = match asset.map(|asset| asset.platform) {
        Some(Platform::GameCube) => &const { [WAV, native("dsp")] },
        Some(Platform::PlayStation2) => &const { [WAV, native("vag")] },
        Some(Platform::Xbox | Platform::Unknown) | None => &const { [WAV] },
    };
    Converted::whole(files).within(Folder::Named("sounds"))
}

impl GetSize for Sound {
    fn get_heap_size(&self) -> usize {
        match &self.entry.header {
            Header::Bank(entry) => bank_sound_memory(&entry.sound) + entry.sound.data.len(),
            Header::Dsp(_) | Header::Xbox(_) | Header::Vag(_) => 0,
        }
    }
}

/// Without the bytes of the table.
impl GetSize for SoundTable {
    fn get_heap_size(&self) -> usize {
        // Entries share the sounds of the banks.
        let sounds = self.banks.iter().flat_map(|bank| &bank.sounds);
        let sounds = sounds.map(|sound| size_of::<BankSound>() + bank_sound_memory(sound));
        self.entries.capacity() * size_of::<Entry>()
            + self.banks.capacity() * size_of::<Bank>()
            + sounds.sum::<usize>()
    }
}

/// Returns the heap memory of a bank sound in bytes, without its data.
fn bank_sound_memory(sound: &BankSound) -> usize {
    sound.name.capacity() + sound.adpcm.capacity() * size_of::<DspHeader>()
}

/// The headers of all sounds of an archive.
pub(crate) struct Headers {
    tables: Vec<SoundTable>,
    /// The reasons why tables are incomplete.
    problems: Vec<String>,
    /// Bytes of the tables with banks; the sounds are slices of them.
    bytes: usize,
}

impl Headers {
    fn read(context: &dyn AssetContext) -> Self {
        let mut headers = Self {
            tables: Vec::new(),
            problems: Vec::new(),
            bytes: 0,
        };
        for file in context.find_type(*b"SNDI") {
            let Some(bytes) = context.read(file) else {
                continue;
            };
            let facts = Origin::of_type(context.asset_of(file)).facts;
            let table = sound::parse_table(&bytes, &facts).unwrap_or_else(|incomplete| {
                let Incomplete { error, model } = *incomplete;
                headers.problems.push(error.to_string());
                model
            });
            if !table.banks.is_empty() {
                headers.bytes += bytes.len();
            }
            headers.tables.push(table);
        }
        headers
    }

    /// Returns all headers, in the order of the tables.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.tables.iter().flat_map(|table| &table.entries)
    }

    /// Returns the header of a sound, without a slice of the table's bytes.
    fn find(&self, id: u32) -> Option<Entry> {
        let mut entry = self.tables.iter().find_map(|table| table.find(id))?.clone();
        if let Header::Bank(entry) = &mut entry.header {
            let mut sound = BankSound::clone(&entry.sound);
            sound.data = Bytes::copy_from_slice(&sound.data);
            entry.sound = Arc::new(sound);
        }
        Some(entry)
    }

    /// Returns the reason why there is no header for a sound.
    pub(super) fn problem(&self, id: u32) -> Error {
        let why = match (self.problems.as_slice(), self.tables.len()) {
            ([problem, ..], _) => format!("the archive's table of sounds is incomplete: {problem}"),
            (_, 0) => "the archive has no table of sounds (SNDI)".to_owned(),
            _ => format!("the archive's table of sounds (SNDI) has no entry for {id:08X}"),
        };
        Error::Unsupported(why)
    }
}

impl Shared for Headers {
    fn memory(&self) -> usize {
        let tables = self.tables.iter().map(SoundTable::get_heap_size);
        let problems = self.problems.iter().map(String::capacity);
        size_of::<Self>()
            + self.bytes
            + tables.sum::<usize>()
            + self.tables.capacity() * size_of::<SoundTable>()
            + problems.sum::<usize>()
    }
}

/// Returns the headers of the sounds of an archive.
pub(crate) fn headers(context: &dyn AssetContext) -> Option<Arc<Headers>> {
    shared(context, "HIP sound headers", Headers::read)
}

/// Returns the header of the context's asset.
fn header(context: &dyn AssetContext) -> Result<Entry, Error> {
    let id = Origin::of(context).id.unwrap_or_default();
    let Some(headers) = headers(context) else {
        return Err(Error::Unsupported(
            "the archive's table of sounds (SNDI) cannot be read".to_owned(),
        ));
    };
    headers
        .find(id)
        .ok_or_else(|| match archive_with(id, context) {
            Some(archive) => Error::Unsupported(format!(
                "its header is in another archive, in the table of sounds (SNDI) of {archive}"
            )),
            None => headers.problem(id),
        })
}

/// Returns the name of an adjacent archive with the header of a sound, where the games
/// do not look for it.
fn archive_with(id: u32, context: &dyn AssetContext) -> Option<String> {
    let tables = context.find_type_beside(*b"SNDI").into_iter();
    let mut having = tables.filter(|&file| {
        let facts = Origin::of_type(context.asset_of(file)).facts;
        let table = context
            .read(file)
            .map(|bytes| sound::parse_table(&bytes, &facts));
        let table = table.map(|parsed| parsed.unwrap_or_else(|incomplete| incomplete.model));
        table.is_some_and(|table| table.find(id).is_some())
    });
    having.next().map(|file| context.archive_of(file))
}

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Opened {
    let entry = match header(context) {
        Ok(entry) => entry,
        Err(error) => {
            let page = view::page(FORMAT.name, bytes, context, Warnings::default());
            return Ok(page.show((), Some(error)));
        }
    };
    let (mut sound, error) = so_far(sound::parse(bytes, &entry));
    let warnings = std::mem::take(&mut sound.warnings);
    let mut page = view::page(FORMAT.name, bytes, context, warnings);
    let loops = sound.loops;
    page.fact("codec", sound.codec.name())
        .fact("list", sound.entry.kind.name())
        .fact("channels", sound.channels)
        .fact("rate", sound.rate)
        .fact("stored_rate", sound.entry.header.rate())
        .fact("samples", sound.samples)
        .fact(
            "seconds",
            Value::Double(f64::from(sound.samples) / f64::from(sound.rate.max(1))),
        )
        .fact("loop_start", loops.map(|part| part.start))
        .fact("loop_end", loops.map(|part| part.end))
        .fact(
            "loop_end_clamped",
            loops.is_some_and(|part| part.is_clamped),
        )
        .measures(|sound: &Sound| Measures::sound(sound.samples, sound.rate.max(1)));
    let stem = stem(context, &["wav", "dsp", "vag"], "sound");
    if error.is_none() && sound.samples > 0 {
        let wav = Wav {
            channels: sound.channels,
            rate: sound.rate,
            samples: sound.samples,
            loops: loops.map(|part| (part.start, part.end)),
        };
        page.wav(format!("{stem}.wav"), wav, Sound::pcm);
    }
    let has_data = error.is_none() && !sound.data.is_empty();
    if let Some((header, extension)) = sound.native_header().filter(|_| has_data) {
        let size = header.len() + sound.data.len();
        page.file(format!("{stem}.{extension}"), |sound: &Sound, _, out| {
            if let Some((header, _)) = sound.native_header() {
                out.write_all(&header)?;
            }
            out.write_all(&sound.data)
        })
        .sized(size as u64);
    }
    Ok(page.show(sound, error))
}

fn open_table(bytes: &Bytes, context: &dyn AssetContext) -> Opened {
    let facts = Origin::of(context).facts;
    let (mut model, error) = so_far(sound::parse_table(bytes, &facts));
    let warnings = std::mem::take(&mut model.warnings);
    let mut page = view::page(TABLE_FORMAT.name, bytes, context, warnings);
    page.fact("sounds", model.entries.len())
        .table_in("table.tsv", |model, context| entries(model, Names(context)));
    let banks = &model.banks;
    if !banks.is_empty() {
        page.table_in("banks.tsv", |model, context| {
            in_banks(model, Names(context))
        });
    }
    for (number, bank) in banks.iter().enumerate() {
        let name = format!("bank{}.fsb", padded(number, banks.len(), 1));
        page.stored(name, bank.bytes.clone());
    }
    Ok(page.show(model, error))
}

/// Returns the bank sounds with their assets.
fn in_banks<'a>(model: &'a SoundTable, names: Names<'a>) -> Rows<'a> {
    let columns = [
        "bank",
        "sample",
        "name",
        "codec",
        "channels",
        "rate",
        "samples",
        "loop_start",
        "loop_end",
        "sound",
        "sound_name",
    ];
    let mut assets = HashMap::new();
    for entry in &model.entries {
        if let Header::Bank(BankEntry { bank, index, .. }) = entry.header {
            assets.entry((bank, index)).or_insert(entry.asset);
        }
    }
    let banks = model.banks.iter().enumerate();
    let sounds = banks.flat_map(|(bank, one)| {
        let sounds = one.sounds.iter().enumerate();
        sounds.map(move |(sample, sound)| ((bank, sample), sound))
    });
    let rows = sounds.map(move |(place, sound)| {
        let codec = sound.codec.map_or_else(|name| name, |codec| codec.name());
        let [id, name] = names.pair(assets.get(&place).copied().unwrap_or_default());
        [
            place.0.into(),
            place.1.into(),
            sound.name.clone().into(),
            codec.into(),
            sound.channels.into(),
            sound.rate.into(),
            sound.samples.into(),
            sound.loops.map(|[start, _]| start).into(),
            sound.loops.map(|[_, end]| end).into(),
            id,
            name,
        ]
    });
    Rows::new(columns, rows)
}

/// Returns the headers of a table.
fn entries<'a>(model: &'a SoundTable, names: Names<'a>) -> Rows<'a> {
    let rows = model.entries.iter().enumerate().map(move |(index, entry)| {
        let [id, name] = names.pair(entry.asset);
        let (list, rate) = (entry.kind.name(), entry.header.rate());
        [
            index.into(),
            list.into(),
            id,
            name,
            rate.into(),
            entry.offset.into(),
        ]
    });
    Rows::new(
        ["index", "list", "sound", "sound_name", "rate", "offset"],
        rows,
    )
}
