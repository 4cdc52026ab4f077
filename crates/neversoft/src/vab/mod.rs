//! VAB: sound banks of the PlayStation (FORMATS, Neversoft 4), shown as facts, tables
//! of sounds and programs, and a WAV file for each sound.
//!
//! [`parse`](mod@parse) reads the programs and finds the sounds.

pub mod parse;

pub use self::parse::*;

use bytes::Bytes;

use hpimount_assets::view::cells;
use hpimount_assets::view::converted::{Conversion, Converted};
use hpimount_assets::view::import::Editable;
use hpimount_assets::view::node::{self, Entry, Node, Nodes};
use hpimount_assets::view::page::{Page, Rows};
use hpimount_assets::view::{AssetContext, Measures, Opened, ViewFormat};
use hpimount_containers::io::Endian;
use hpimount_containers::text::has_extension;
use hpimount_record::Value;

/// Banks of sounds of the PlayStation.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: EXTENSIONS,
    converted: Conversion::Always(Converted::parts(&[])),
    matches: Some(|bytes| bytes.starts_with(MAGIC) && parse(bytes, None).is_ok()),
    edits: &[
        Editable::new("info.json", "values of the bank, programs and tones"),
        Editable::new("programs.tsv", "values of tones"),
    ],
    left_out: &[Editable::new(
        "*.wav",
        "is a sound of a bank, which is not encoded: make the VAG data with psxavenc and replace the bank",
    )],
    ..ViewFormat::new("VAB", open)
};

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Opened {
    let beside = body(context);
    let mut vab = parse(bytes, beside.as_ref())?;
    let warnings = std::mem::take(&mut vab.warnings);
    let mut page = Page::new(FORMAT.name, "VAB bank of sounds", warnings);
    page.edits()
        .computed(facts)
        .list("programs", |vab: &Vab| {
            Box::new(vab.programs.iter().map(program))
        })
        .rows("sounds", sounds)
        .measures(|vab| {
            let sounds = vab.sounds.iter();
            sounds
                .map(|sound| Measures::sound(sound.samples, sound.rate))
                .sum()
        })
        .table("programs.tsv", programs)
        .cells(&[&["slot", "tone"]], tone_cell);
    for (part, sound) in vab.sounds.iter().enumerate() {
        if let Some(problem) = &sound.problem {
            page.warn(format!("sound {} {problem}", sound.index));
        }
        if let Some(wav) = sound.wav() {
            let name = format!("{:03}.wav", sound.index);
            page.wav(name, wav, move |vab: &Vab| vab.sounds[part].pcm());
        }
    }
    Ok(page.show(vab, None))
}

/// Returns the sounds of a header, which are in a file with the same stem.
fn body(context: &dyn AssetContext) -> Option<Bytes> {
    let name = context.name();
    let stem = name.len().checked_sub(".vh".len())?;
    if !has_extension(name.as_bytes(), "vh") {
        return None;
    }
    context.read_sibling(&format!("{}.vb", name.get(..stem)?))
}

fn facts(vab: &Vab) -> Vec<Entry<'_>> {
    let mut facts = node::stored(&vab.header, 0, Endian::Little);
    facts.extend([
        ("header_size", vab.header_size.into()),
        ("body_inside", vab.has_body.into()),
        ("body_end", vab.body_end.into()),
    ]);
    facts
}

fn program(program: &Program) -> Node<'_> {
    let slot = ("slot", program.slot.into());
    let header = node::stored(&program.header, program.offset(), Endian::Little);
    let tones = move || -> Nodes<'_> {
        let tones = program.tones.iter().enumerate();
        Box::new(tones.map(|(number, tone)| {
            let offset = program.tone_offset(number);
            node::map(node::stored(tone, offset, Endian::Little))
        }))
    };
    let tones = ("tones", Node::Each(Box::new(tones)));
    node::map([slot].into_iter().chain(header).chain([tones]))
}

/// Returns the value of a text in a row of `programs.tsv`.
fn tone_cell(vab: &Vab, row: usize, column: &str, text: &str) -> Option<(String, Value)> {
    let (program, tone) = vab.tones().nth(row)?;
    let path = format!("programs[{program}].tones[{tone}]");
    cells::of_record(&vab.programs[program].tones[tone], path, column, text)
}

fn sounds(vab: &Vab) -> Rows<'_> {
    let columns = [
        "index",
        "offset",
        "size",
        "rate",
        "rate_from",
        "samples",
        "loop_start",
        "loop_end",
        "problem",
    ];
    let rows = vab.sounds.iter().map(|sound| {
        let (start, end) = sound.loops.unzip();
        let rate_from = if sound.has_tone { "tone" } else { "assumed" };
        [
            sound.index.into(),
            sound.offset.into(),
            sound.size.into(),
            sound.rate.into(),
            rate_from.into(),
            sound.samples.into(),
            start.into(),
            end.into(),
            sound.problem.clone().into(),
        ]
    });
    Rows::new(columns, rows)
}

fn programs(vab: &Vab) -> Rows<'_> {
    let tones = vab.tones().map(|(program, tone)| {
        let program = &vab.programs[program];
        ([program.slot.into(), tone.into()], &program.tones[tone])
    });
    Rows::keyed(["slot", "tone"], tones)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vab::parse::tests::bank;
    use fixtures::edited_value;

    fn rendered(bytes: &[u8], name: &str) -> String {
        hpimount_assets::view::rendered_text(&FORMAT, bytes, name).unwrap()
    }

    #[test]
    fn the_tables_list_sounds_and_tones() {
        assert_eq!(
            rendered(&bank(1), "sounds.tsv"),
            "index\toffset\tsize\trate\trate_from\tsamples\tloop_start\tloop_end\tproblem\n\
             1\t3104\t16\t22696\ttone\t28\t\t\t\n"
        );
        assert_eq!(
            rendered(&bank(1), "programs.tsv"),
            "slot\ttone\tpriority\tmode\tvolume\tpan\tcenter\tshift\tmin\tmax\tvibrato_0\t\
             vibrato_1\tportamento_0\tportamento_1\tbend_0\tbend_1\tadsr_1\tadsr_2\tprogram\tsound\n\
             60\t0\t0\t0\t0\t0\t72\t64\t0\t127\t0\t0\t0\t0\t0\t0\t0\t0\t0\t1\n"
        );
    }

    fn edited(path: &str, value: &str) -> Result<Option<Vec<u8>>, String> {
        edited_value(&FORMAT, &bank(1), path, value)
    }

    #[test]
    fn edited_values_are_stored_in_their_own_bytes() {
        let mut expected = bank(1);
        (expected[0x20 + 2048 + 18], expected[0x20 + 2048 + 19]) = (0x34, 0x12);
        let adsr = edited("programs[0].tones[0].adsr", "[0, \"0x1234\"]");
        assert_eq!(adsr, Ok(Some(expected)));
        let mut expected = bank(1);
        expected[0x20 + 16 * 60 + 4] = 64;
        assert_eq!(edited("programs[0].pan", "64.0"), Ok(Some(expected)));
        assert_eq!(edited("attributes", "[0, 0]"), Ok(None));
    }

    #[test]
    fn values_that_decide_the_layout_or_do_not_fit_are_refused() {
        let layout = Err("follows from the layout of the file, or decides it".to_owned());
        for path in ["version", "programs_count", "programs[0].tones_count"] {
            assert_eq!(edited(path, "9"), layout, "{path}");
        }
        for (path, value, reason) in [
            ("body_end", "1", "cannot be edited"),
            ("volume", "256", "\"256\" is not from 0 to 255"),
            ("programs[0].tones[0].bend", "[1]", "has 1 numbers, needs 2"),
            ("programs[0].tones", "[]", "has 0 numbers, needs 1"),
            ("programs[1].pan", "1", "is no field here"),
        ] {
            assert_eq!(edited(path, value), Err(reason.to_owned()), "{path}");
        }
    }
}
