//! SND, SNDS and SNDI: sounds, and the table with their headers.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

use bytes::Bytes;

use crate::Platform;
use crate::info::Info;
use crate::names::Names;
use crate::origin::Origin;
use crate::sound::import::import;
use crate::sound::{self, Bank, BankEntry, BankSound, Entry, Header, Sound, SoundTable};
use crate::view::{Kind, Shown, stem};
use hpimount_assets::model::wav::{self, Wav};
use hpimount_assets::model::{not_shown, padded};
use hpimount_assets::parse::Incomplete;
use hpimount_assets::view::context::shared;
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile, Folder};
use hpimount_assets::view::listed::{InContext, Listed, Render};
use hpimount_assets::view::{AssetContext, Failure, Shared, Table, View, ViewFormat};
use hpimount_containers::io::Error;
use hpimount_containers::volume::AssetType;

/// Sounds.
pub const FORMAT: ViewFormat = ViewFormat {
    asset_types: &[*b"SND ", *b"SNDS"],
    converted: Conversion::By(converted),
    import: Some(import),
    ..ViewFormat::new("HIP sound", open)
};

/// The table of an archive's sounds.
pub const TABLE_FORMAT: ViewFormat = ViewFormat {
    asset_types: &[*b"SNDI"],
    ..ViewFormat::new("HIP sound table", open_table)
};

/// Returns the conversions of a sound. The native file gets the header that the
/// archive stores elsewhere; there is none for the Xbox.
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

pub(crate) const KIND: Kind<Sound> = Kind {
    title: "HIP sound",
    describe,
    warnings: |model| &mut model.warnings,
    heap: |model| match &model.entry.header {
        Header::Dsp(header) => header.stored.len(),
        Header::Bank(entry) => bank_sound_memory(&entry.sound) + entry.sound.data.len(),
        Header::Xbox(_) | Header::Vag(_) => 0,
    },
};

pub(crate) const TABLE: Kind<SoundTable> = Kind {
    title: "HIP sound table",
    describe: |model, info, _| {
        info.add("sounds", model.entries.len());
    },
    warnings: |model| &mut model.warnings,
    heap: table_memory,
};

/// Returns the memory of a table on the heap in bytes, without its bytes.
fn table_memory(table: &SoundTable) -> usize {
    // Entries share the sounds of the banks.
    let sounds = table.banks.iter().flat_map(|bank| &bank.sounds);
    let sounds = sounds.map(|sound| size_of::<BankSound>() + bank_sound_memory(sound));
    table.entries.capacity() * size_of::<Entry>()
        + table.banks.capacity() * size_of::<Bank>()
        + sounds.sum::<usize>()
}

/// Returns the memory of a sound of a bank on the heap in bytes, without its
/// data.
fn bank_sound_memory(sound: &BankSound) -> usize {
    let headers = sound.adpcm.iter();
    let headers = headers.map(|header| size_of_val(header) + header.stored.len());
    sound.name.capacity() + headers.sum::<usize>()
}

/// The headers of all sounds of an archive.
pub(crate) struct Headers {
    tables: Vec<SoundTable>,
    /// Why a table is incomplete.
    problems: Vec<String>,
    /// Bytes of the tables; the headers keep slices of them.
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
            headers.bytes += bytes.len();
            let facts = Origin::of_type(context.asset_of(file)).facts;
            let table = sound::parse_table(&bytes, &facts).unwrap_or_else(|incomplete| {
                let Incomplete { error, model } = *incomplete;
                headers.problems.push(error.to_string());
                model
            });
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
        match &mut entry.header {
            Header::Dsp(header) => header.stored = Bytes::copy_from_slice(&header.stored),
            Header::Bank(entry) => {
                let mut sound = BankSound::clone(&entry.sound);
                sound.data = Bytes::copy_from_slice(&sound.data);
                entry.sound = Arc::new(sound);
            }
            Header::Xbox(_) | Header::Vag(_) => {}
        }
        Some(entry)
    }

    /// Returns why there is no header for a sound.
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
        let tables = self.tables.iter().map(table_memory);
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

/// Returns the header of the asset of a context.
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

/// Returns the name of an archive beside the asset's own that has the header of a
/// sound, where the games do not look for it.
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

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    let entry = header(context).map_err(|error| {
        let info = Info::new(KIND.title, bytes, context);
        let partial = hpimount_assets::view::json::value(&info);
        Box::new(Failure { error, partial })
    })?;
    let stem = stem(context, &["wav", "dsp", "vag"], "sound");
    KIND.view(bytes, context, sound::parse(bytes, &entry), |shown| {
        let sound = &shown.model;
        let mut files = Vec::new();
        if let Some(why) = wav_of(sound).length_problem() {
            let warning = not_shown(format_args!("{stem}.wav"), why);
            shown.info.warnings.push(warning);
        } else if sound.samples > 0 {
            let file = Listed::new(None, format!("{stem}.wav"), Render::Whole(samples));
            files.push(file.sized(wav_of(sound).size()));
        }
        if let Some((header, extension)) = sound.native_header().filter(|_| !sound.data.is_empty())
        {
            let name = format!("{stem}.{extension}");
            let size = header.len() + sound.data.len();
            files.push(Listed::new(None, name, Render::Whole(native)).sized(size as u64));
        }
        files
    })
}

fn describe(sound: &Sound, info: &mut Info, _names: Names<'_>) {
    info.add("codec", sound.codec.name());
    info.add("list", sound.entry.kind.name());
    info.add("channels", sound.channels);
    info.add("rate", sound.rate);
    info.add("stored_rate", sound.entry.header.rate());
    info.add("samples", sound.samples);
    let seconds = f64::from(sound.samples) / f64::from(sound.rate.max(1));
    info.add("seconds", seconds);
    info.add("loop_start", sound.loops.map(|part| part.start));
    info.add("loop_end", sound.loops.map(|part| part.end));
    info.add(
        "loop_end_clamped",
        sound.loops.is_some_and(|part| part.is_clamped),
    );
}

fn wav_of(sound: &Sound) -> Wav {
    Wav {
        channels: sound.channels,
        rate: sound.rate,
        samples: sound.samples,
        loops: sound.loops.map(|part| (part.start, part.end)),
    }
}

fn samples(shown: &Shown<Sound>, out: &mut dyn Write) -> io::Result<()> {
    wav::write(&wav_of(&shown.model), &shown.model.pcm(), out)
}

fn native(shown: &Shown<Sound>, out: &mut dyn Write) -> io::Result<()> {
    if let Some((header, _)) = shown.model.native_header() {
        out.write_all(&header)?;
    }
    out.write_all(&shown.model.data)
}

fn open_table(bytes: &Bytes, context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    let facts = Origin::of(context).facts;
    let render: InContext<Shown<SoundTable>> =
        |shown, _, context, out| table(&shown.model, Names(context), out);
    TABLE.view(bytes, context, sound::parse_table(bytes, &facts), |shown| {
        let rows = Render::InContext(render, 0);
        let mut files = vec![Listed::new(None, "table.tsv".to_owned(), rows)];
        let banks = &shown.model.banks;
        if !banks.is_empty() {
            let rows = Render::InContext(
                |shown: &Shown<SoundTable>, _, context, out| {
                    bank_table(&shown.model, Names(context), out)
                },
                0,
            );
            files.push(Listed::new(None, "banks.tsv".to_owned(), rows));
        }
        for (number, bank) in banks.iter().enumerate() {
            let name = format!("bank{}.fsb", padded(number, banks.len(), 1));
            let render = Render::InContext(
                |shown: &Shown<SoundTable>, number, _, out| {
                    let bank = shown.model.banks.get(number);
                    out.write_all(bank.map_or(&[][..], |bank| &bank.bytes[..]))
                },
                number,
            );
            files.push(Listed::new(None, name, render).sized(bank.bytes.len() as u64));
        }
        files
    })
}

/// Writes `banks.tsv`: the sounds of the banks, with the assets that they are.
fn bank_table(model: &SoundTable, names: Names<'_>, out: &mut dyn Write) -> io::Result<()> {
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
    let mut table = Table::new(out, &columns)?;
    for (number, bank) in model.banks.iter().enumerate() {
        for (sample, sound) in bank.sounds.iter().enumerate() {
            table.cell(number).cell(sample).text(&sound.name);
            table.text(sound.codec.map_or_else(|name| name, |codec| codec.name()));
            table.cell(sound.channels).cell(sound.rate);
            table.cell(sound.samples);
            table.optional(sound.loops.map(|[start, _]| start));
            table.optional(sound.loops.map(|[_, end]| end));
            let asset = assets.get(&(number, sample)).copied();
            names.cells(asset.unwrap_or_default(), &mut table);
            table.end_row()?;
        }
    }
    Ok(())
}

/// Writes `table.tsv` of an SNDI asset.
fn table(model: &SoundTable, names: Names<'_>, out: &mut dyn Write) -> io::Result<()> {
    let columns = ["index", "list", "sound", "sound_name", "rate", "offset"];
    let mut table = Table::new(out, &columns)?;
    for (index, entry) in model.entries.iter().enumerate() {
        table.cell(index).cell(entry.kind.name());
        names.cells(entry.asset, &mut table);
        table
            .cell(entry.header.rate())
            .cell(entry.offset)
            .end_row()?;
    }
    Ok(())
}
