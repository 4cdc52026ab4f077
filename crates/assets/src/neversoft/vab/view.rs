//! View of a bank: facts, tables of its sounds and programs, and a WAV for each
//! sound.

use std::io::{self, Write};

use bytes::Bytes;
use serde_json::{Value, json};

use crate::model::{not_shown, wav};
use crate::neversoft::vab::{self, Program, Sound, Tone, Vab};
use crate::view::converted::{Conversion, Converted};
use crate::view::damaged::failure;
use crate::view::listed::{Listed, ListedView, Render, whole_files};
use crate::view::{AssetContext, Failure, Summary, Table, View, ViewFormat, json};
use hpimount_containers::text::has_extension;

/// Banks of sounds of the PlayStation.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: vab::EXTENSIONS,
    converted: Conversion::Always(Converted::parts(&[])),
    matches: Some(|bytes| bytes.starts_with(vab::MAGIC) && vab::parse(bytes, None).is_ok()),
    ..ViewFormat::new("VAB", open)
};

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    let beside = body(context);
    let mut model =
        vab::parse(bytes, beside.as_ref()).map_err(|error| failure(&FORMAT, bytes, error))?;
    let mut files = whole_files(&[
        ("info.json", info),
        ("info.txt", page),
        ("sounds.tsv", sounds),
        ("programs.tsv", programs),
    ]);
    let mut problems = Vec::new();
    for (part, sound) in model.sounds.iter().enumerate() {
        let name = format!("{:03}.wav", sound.index);
        if let Some(problem) = &sound.problem {
            problems.push(format!("sound {} {problem}", sound.index));
        }
        match sound.wav().map(|wav| (wav.size(), wav.length_problem())) {
            Some((size, None)) => {
                let file = Listed::new(None, name, Render::Part(samples, part));
                files.push(file.sized(size));
            }
            Some((_, Some(problem))) => problems.push(not_shown(name, problem)),
            None => {}
        }
    }
    for problem in problems {
        model.warnings.push(problem);
    }
    Ok(Box::new(ListedView { model, files }))
}

/// Returns the sounds of a header, which are in a file of the same stem.
fn body(context: &dyn AssetContext) -> Option<Bytes> {
    let name = context.name();
    let stem = name.len().checked_sub(".vh".len())?;
    if !has_extension(name.as_bytes(), "vh") {
        return None;
    }
    context.read_sibling(&format!("{}.vb", name.get(..stem)?))
}

fn info(vab: &Vab, out: &mut dyn Write) -> io::Result<()> {
    let facts = json!({
        "format": FORMAT.name,
        "version": vab.version,
        "id": vab.id,
        "size": vab.size,
        "programs_count": vab.program_count,
        "tones_count": vab.tone_count,
        "sounds_count": vab.sound_count,
        "volume": vab.volume,
        "pan": vab.pan,
        "attributes": vab.attributes,
        "header_size": vab.header_size,
        "body_inside": vab.has_body,
        "body_end": vab.body_end,
        "programs": vab.programs.iter().map(program).collect::<Vec<_>>(),
        "sounds": vab.sounds.iter().map(sound).collect::<Vec<_>>(),
        "warnings": vab.warnings.texts(),
    });
    json::write_pretty(&facts, out)
}

fn program(program: &Program) -> Value {
    json!({
        "slot": program.slot,
        "volume": program.volume,
        "priority": program.priority,
        "mode": program.mode,
        "pan": program.pan,
        "tones": program.tones.iter().map(tone).collect::<Vec<_>>(),
    })
}

fn tone(tone: &Tone) -> Value {
    json!({
        "priority": tone.priority,
        "mode": tone.mode,
        "volume": tone.volume,
        "pan": tone.pan,
        "center": tone.center,
        "shift": tone.shift,
        "min": tone.notes[0],
        "max": tone.notes[1],
        "vibrato": tone.vibrato,
        "portamento": tone.portamento,
        "bend": tone.bend,
        "adsr": tone.adsr,
        "program": tone.program,
        "sound": tone.sound,
    })
}

fn sound(sound: &Sound) -> Value {
    let mut facts = json!({
        "index": sound.index,
        "offset": sound.offset,
        "size": sound.size,
        "rate_from": rate_from(sound),
    });
    if let Some(problem) = &sound.problem {
        facts["problem"] = problem.as_str().into();
    }
    if sound.samples > 0 {
        facts["sound"] = json!({
            "channels": 1,
            "rate": sound.rate,
            "samples": sound.samples,
            "loop": sound.loops,
        });
    }
    facts
}

/// Returns where the rate of a sound is from.
fn rate_from(sound: &Sound) -> &'static str {
    if sound.has_tone { "tone" } else { "assumed" }
}

fn page(vab: &Vab, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Summary::new("VAB bank of sounds");
    page.line("version", vab.version);
    page.list("programs", vab.programs.iter().map(|program| program.slot));
    let tones = vab.programs.iter().map(|program| program.tones.len());
    page.line("tones", tones.sum::<usize>());
    page.line("sounds", vab.sounds.len());
    page.write(&vab.warnings, out)
}

fn sounds(vab: &Vab, out: &mut dyn Write) -> io::Result<()> {
    let columns = [
        "index",
        "offset",
        "size",
        "rate",
        "rate_from",
        "samples",
        "loop_start",
        "loop_end",
    ];
    let mut table = Table::new(out, &columns)?;
    for sound in &vab.sounds {
        let (start, end) = sound.loops.unzip();
        table
            .cell(sound.index)
            .cell(sound.offset)
            .cell(sound.size)
            .cell(sound.rate)
            .cell(rate_from(sound))
            .cell(sound.samples)
            .optional(start)
            .optional(end)
            .end_row()?;
    }
    Ok(())
}

fn programs(vab: &Vab, out: &mut dyn Write) -> io::Result<()> {
    let columns = [
        "slot", "tone", "sound", "center", "shift", "min", "max", "volume", "pan", "adsr1", "adsr2",
    ];
    let mut table = Table::new(out, &columns)?;
    for program in &vab.programs {
        for (index, tone) in program.tones.iter().enumerate() {
            table.cell(program.slot).cell(index).cell(tone.sound);
            let bytes = [tone.center, tone.shift, tone.notes[0], tone.notes[1]];
            for byte in bytes.into_iter().chain([tone.volume, tone.pan]) {
                table.cell(byte);
            }
            table.cell(tone.adsr[0]).cell(tone.adsr[1]).end_row()?;
        }
    }
    Ok(())
}

fn samples(vab: &Vab, part: usize, out: &mut dyn Write) -> io::Result<()> {
    let sound = vab.sounds.get(part);
    match sound.and_then(|sound| Some((sound, sound.wav()?))) {
        Some((sound, properties)) => wav::write(&properties, &sound.pcm(), out),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neversoft::vab::parse::tests::bank;
    use crate::view::rendered;

    #[test]
    fn the_tables_list_sounds_and_tones() {
        assert_eq!(
            rendered(open, &bank(1), "sounds.tsv"),
            "index\toffset\tsize\trate\trate_from\tsamples\tloop_start\tloop_end\n\
             1\t3104\t16\t22696\ttone\t28\t\t\n"
        );
        assert_eq!(
            rendered(open, &bank(1), "programs.tsv"),
            "slot\ttone\tsound\tcenter\tshift\tmin\tmax\tvolume\tpan\tadsr1\tadsr2\n\
             60\t0\t1\t72\t64\t0\t127\t0\t0\t0\t0\n"
        );
    }
}
