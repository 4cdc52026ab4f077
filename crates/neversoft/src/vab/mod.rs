//! VAB: banks of sounds of the PlayStation (FORMATS, Neversoft 4), as facts, tables of
//! its sounds and programs, and a WAV for each sound.
//!
//! [`parse`](mod@parse) reads the programs and finds the sounds.

pub mod parse;

pub use self::parse::*;

use bytes::Bytes;

use hpimount_assets::view::converted::{Conversion, Converted};
use hpimount_assets::view::node::{self, Node};
use hpimount_assets::view::page::{Page, Rows};
use hpimount_assets::view::{AssetContext, Opened, ViewFormat};
use hpimount_containers::text::has_extension;

/// Banks of sounds of the PlayStation.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: EXTENSIONS,
    converted: Conversion::Always(Converted::parts(&[])),
    matches: Some(|bytes| bytes.starts_with(MAGIC) && parse(bytes, None).is_ok()),
    ..ViewFormat::new("VAB", open)
};

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Opened {
    let beside = body(context);
    let mut vab = parse(bytes, beside.as_ref())?;
    let warnings = std::mem::take(&mut vab.warnings);
    let mut page = Page::new(FORMAT.name, "VAB bank of sounds", warnings);
    page.record(&vab.header)
        .fact("header_size", vab.header_size)
        .fact("body_inside", vab.has_body)
        .fact("body_end", vab.body_end)
        .list("programs", |vab: &Vab| {
            Box::new(vab.programs.iter().map(program))
        })
        .rows("sounds", sounds)
        .table("programs.tsv", programs);
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

/// Returns the sounds of a header, which are in a file of the same stem.
fn body(context: &dyn AssetContext) -> Option<Bytes> {
    let name = context.name();
    let stem = name.len().checked_sub(".vh".len())?;
    if !has_extension(name.as_bytes(), "vh") {
        return None;
    }
    context.read_sibling(&format!("{}.vb", name.get(..stem)?))
}

fn program(program: &Program) -> Node<'_> {
    let slot = ("slot", program.slot.into());
    let tones = ("tones", Node::each(&program.tones, |tone| node::of(tone)));
    let header = node::entries(&program.header);
    node::map([slot].into_iter().chain(header).chain([tones]))
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
    let tones = vab.programs.iter().flat_map(|program| {
        let tones = program.tones.iter().enumerate();
        tones.map(|(index, tone)| ([program.slot.into(), index.into()], tone))
    });
    Rows::keyed(["slot", "tone"], tones)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vab::parse::tests::bank;

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
}
