//! If any single byte of an archive is damaged, or if it is truncated anywhere, it is
//! refused with an offset, or reads return the same bytes as before or EIO.
//!
//! Only chunks have mandatory checksums, and only for their payloads. No
//! checksum covers a stored file, a name, a size, an offset or the header of a
//! chunk. If a byte there is damaged, the archive is a valid archive with other
//! content, and the damage cannot be detected. Then reads must return exactly
//! that content, as the plain reader in `crate::plain` does.
//!
//! The checksums of HIP assets are not enforced, since edited archives have
//! stale ones, but the attribute `user.hip.checksum_ok` must show the damage.

mod archives;
mod assets;

use std::collections::BTreeMap;

use self::archives::{companions, hips, version_1, version_2};
use self::assets::{assets, gta_assets, lone_assets, ta_assets};
use crate::plain;
use fixtures::{consoles, playstation};
use hpimount::mount::Vfs;
use hpimount_containers::hip::CHECKSUM;
use hpimount_containers::text::windows_1252;
use testkit::matrix::{
    Bench, Counts, Damage, DamageReport, EVERY_OUTCOME, Outcome, Seen, What, compare, damages, see,
};
use testkit::trial;

/// The kind of a source, which determines the expected contents.
#[derive(Clone, Copy)]
enum Kind {
    Hpi,
    Hip,
    Asset,
}

/// A source, and where the mount shows its contents.
struct Variant {
    name: String,
    bytes: Vec<u8>,
    kind: Kind,
    bench: Bench,
    /// `/X.d` or `/X.meta` if the source is shown as a file `X` of the mount.
    inside: String,
    /// Number of bytes at its start that are damaged: not all if only pixels
    /// follow the header.
    damaged: usize,
    /// One of this many damages is tried; all of them in a long trial.
    step: usize,
}

impl Variant {
    /// Creates a source that is mounted alone.
    fn lone(name: impl Into<String>, kind: Kind, bytes: Vec<u8>) -> Self {
        Self {
            name: name.into(),
            damaged: bytes.len(),
            bytes,
            kind,
            bench: Bench::file("archive"),
            inside: String::new(),
            step: 1,
        }
    }

    /// Damages the source in every way, checks the mount each time, and counts
    /// the outcomes.
    fn outcomes(&self) -> Counts {
        let whole = self.bench.open(&self.bytes).unwrap();
        let whole = self.compared(inside(see(&whole), &self.inside));
        let mut counts = Counts::default();
        for damage in trial::some(damages(&self.bytes[..self.damaged]), self.step) {
            let report = DamageReport(&self.name, damage);
            let outcome = self.outcome(&whole, damage);
            counts[outcome as usize] += 1;
            drop(report);
        }
        counts
    }

    fn outcome(&self, whole: &[Seen], damage: Damage) -> Outcome {
        let bytes = damage.apply(&self.bytes);
        let vfs = match self.bench.open(&bytes) {
            Ok(vfs) => vfs,
            Err(problem) => return refusal(&problem, damage),
        };
        let seen = see(&vfs);
        if !self.inside.is_empty() {
            check_outside(&seen, &bytes);
        }
        let seen = inside(seen, &self.inside);
        if matches!(self.kind, Kind::Asset) {
            check_companion(&seen);
        }
        if let Some(problem) = problem(&seen) {
            return refusal(&problem, damage);
        }
        match self.kind {
            Kind::Hpi => check_hpi(&seen, &bytes),
            Kind::Hip => check_hip(&vfs, &seen, &bytes),
            Kind::Asset => {}
        }
        compare(whole, &self.compared(seen))
    }

    /// Returns the files to compare with the undamaged source: all except texts
    /// that show the damaged fields themselves, and converted assets.
    fn compared(&self, mut seen: Vec<Seen>) -> Vec<Seen> {
        if matches!(self.kind, Kind::Hip) {
            let texts = ["/info.json", "/assets.tsv", "/types/Settings.ini"];
            seen.retain(|seen| {
                !texts.contains(&seen.path.as_str()) && !seen.path.starts_with("/converted")
            });
        }
        seen
    }
}

fn refusal(problem: &str, damage: Damage) -> Outcome {
    if problem.contains(" at 0x") {
        return Outcome::Refused;
    }
    assert!(damage.is_before(8), "{problem}");
    Outcome::Unknown
}

/// Asserts that the file beside a companion has all its bytes, damaged or not.
fn check_outside(seen: &[Seen], bytes: &[u8]) {
    let What::File { bytes: found, .. } = &seen[0].what else {
        panic!("{:?}", seen[0]);
    };
    assert!(found.as_deref() == Some(bytes));
}

/// Asserts that the companion of an asset, damaged or not, has its facts and no empty
/// file.
fn check_companion(seen: &[Seen]) {
    for name in ["/info.json", "/info.txt"] {
        assert!(seen.iter().any(|seen| seen.path == name), "no {name}");
    }
    assert_eq!(empty_files(seen), [""; 0]);
}

/// Returns the paths of all empty files.
fn empty_files(seen: &[Seen]) -> Vec<&str> {
    let is_empty = |what: &What| matches!(what, What::File { size: 0, .. });
    let empty = seen.iter().filter(|seen| is_empty(&seen.what));
    empty.map(|seen| seen.path.as_str()).collect()
}

/// Returns the part of `seen` in the directory `top`, with relative paths.
fn inside(seen: Vec<Seen>, top: &str) -> Vec<Seen> {
    if top.is_empty() {
        return seen;
    }
    let below = seen.into_iter().filter_map(|mut seen| {
        let path = seen.path.strip_prefix(top)?;
        seen.path = path.strip_prefix('/').map(|_| path.to_owned())?;
        seen.raw.remove(0);
        Some(seen)
    });
    below.collect()
}

/// Returns the `error.txt` of a companion that cannot be shown.
fn problem(seen: &[Seen]) -> Option<String> {
    let error_file = seen.iter().find(|seen| seen.path == "/error.txt")?;
    let What::File { bytes, .. } = &error_file.what else {
        return None;
    };
    String::from_utf8(bytes.clone()?).ok()
}

/// Returns the variants, with one of `step` damages tried.
fn stepped(mut variants: Vec<Variant>, step: usize) -> Vec<Variant> {
    variants.iter_mut().for_each(|variant| variant.step = step);
    variants
}

/// Damages every variant in every way, and asserts that exactly the `possible` outcomes
/// happen. Other outcomes break a promise; if a possible outcome does not happen, the
/// trial does not test it.
fn assert_outcomes(what: &str, variants: &[Variant], possible: &[Outcome]) {
    let mut sums = Counts::default();
    for variant in variants {
        let counts = variant.outcomes();
        println!("{}: {counts:?}", variant.name);
        for outcome in EVERY_OUTCOME {
            let happened = counts[outcome as usize];
            assert!(
                happened == 0 || possible.contains(&outcome),
                "{}: {outcome:?}, {happened} times",
                variant.name
            );
            sums[outcome as usize] += happened;
        }
    }
    for outcome in possible {
        assert!(sums[*outcome as usize] > 0, "{what}: never {outcome:?}");
    }
    let [refused, unknown, same, eio, as_it_stands] = sums;
    let happened = format!(
        "refused with an offset {refused}, no longer recognized {unknown}, same bytes {same}, \
         EIO {eio}, undetectable without a checksum {as_it_stands}"
    );
    trial::record(
        &format!("one damaged byte, and truncation: {what}"),
        sums.iter().sum::<usize>(),
        &happened,
    );
}

/// Returns whether an entry is the companion of a file, or in one: damage may give a file
/// the extension of another format.
fn is_in_companion(seen: &Seen, all: &[Seen]) -> bool {
    let names = seen.path.match_indices(".d").filter(|&(at, _)| {
        let after = seen.path.as_bytes().get(at + 2);
        after.is_none_or(|&byte| byte == b'/')
    });
    let mut files = names.map(|(at, _)| &seen.path[..at]);
    files.any(|file| all.iter().any(|other| other.path == file))
}

/// The contents of an HPI archive must match the plain reader.
fn check_hpi(now: &[Seen], bytes: &[u8]) {
    let expected = plain::hpi(bytes).expect("a plain reader refuses it");
    let own = now.iter().filter(|seen| !is_in_companion(seen, now));
    let now = own.map(|seen| plain::Entry {
        path: seen.raw.clone(),
        file: match &seen.what {
            What::File { size, bytes } => Some(plain::File {
                size: *size,
                bytes: bytes.clone(),
            }),
            _ => None,
        },
    });
    assert_eq!(now.collect::<Vec<_>>(), expected);
}

/// The assets of a HIP archive must match the plain reader, in any order.
fn check_hip(vfs: &Vfs, now: &[Seen], bytes: &[u8]) {
    let expected = plain::hip(bytes).expect("a plain reader refuses it");
    let mut found = BTreeMap::new();
    for seen in now.iter().filter(|seen| seen.path.starts_with("/layers/")) {
        let What::File { size, bytes } = &seen.what else {
            continue;
        };
        let field = |name: &str| {
            let value = vfs.xattr(seen.ino, &format!("user.hip.{name}")).ok()?;
            String::from_utf8(value).ok()
        };
        let asset = plain::Asset {
            id: u32::from_str_radix(&field("id").unwrap(), 16).unwrap(),
            offset: field("offset").unwrap().parse().unwrap(),
            size: (*size).try_into().unwrap(),
            name: field("name").map(String::into_bytes),
            bytes: bytes.clone(),
        };
        let verdict = bytes.as_ref().map(|bytes| match field("checksum") {
            None => "unset",
            Some(sum) if sum == "00000000" => "unset",
            Some(sum) if sum == format!("{:08X}", CHECKSUM.checksum(bytes)) => "true",
            Some(_) => "false",
        });
        let is_set = field("checksum").is_some_and(|sum| sum != "00000000");
        assert_eq!(
            field("checksum_ok").as_deref(),
            verdict.or_else(|| (!is_set).then_some("unset"))
        );
        found.insert(seen.ino, asset);
    }
    let mut found: Vec<_> = found.into_values().collect();
    let named = |asset: plain::Asset| plain::Asset {
        name: asset
            .name
            .map(|name| windows_1252(&name).into_owned().into_bytes()),
        ..asset
    };
    let mut expected: Vec<_> = expected.into_iter().map(named).collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}

/// The outcomes for assets: the files of their companions can always be read.
const OF_ASSETS: [Outcome; 3] = [Outcome::Refused, Outcome::Same, Outcome::Undetected];

/// The outcomes for assets of Total Annihilation. Some types are recognized by
/// their first bytes.
const OF_TA_ASSETS: [Outcome; 4] = [
    Outcome::Refused,
    Outcome::Unknown,
    Outcome::Same,
    Outcome::Undetected,
];

#[test]
fn a_damaged_byte_of_hpi_version_1_is_refused_or_unreadable_or_as_stored() {
    let variants = stepped(version_1(), 5);
    assert_outcomes("HPI, version 1", &variants, &EVERY_OUTCOME);
}

#[test]
fn a_damaged_byte_of_hpi_version_2_is_refused_or_unreadable_or_as_stored() {
    let variants = stepped(version_2(), 5);
    assert_outcomes("HPI, version 2", &variants, &EVERY_OUTCOME);
}

#[test]
fn a_damaged_byte_of_hip_is_refused_or_unreadable_or_as_stored() {
    assert_outcomes("HIP and HOP", &stepped(hips(), 11), &EVERY_OUTCOME);
}

#[test]
fn a_damaged_byte_of_an_archive_in_a_folder_is_shown_in_its_companion() {
    assert_outcomes("archives in folders, `X.d`", &companions(), &EVERY_OUTCOME);
}

#[test]
fn a_damaged_byte_of_a_lone_asset_is_shown_in_its_companion() {
    let assets = stepped(assets(), 11);
    assert_outcomes("PSX, HGO and IFP, `X.meta`", &assets, &OF_ASSETS);
}

#[test]
fn a_damaged_byte_of_an_asset_of_neversoft_is_shown_in_its_companion() {
    let what = "TIM, VAG, VAB, QB, TRG, XA and others, `X.meta`";
    let assets = stepped(lone_assets(playstation::files()), 5);
    assert_outcomes(what, &assets, &OF_ASSETS);
}

#[test]
fn a_damaged_byte_of_a_banner_program_or_save_is_shown_in_its_companion() {
    let what = "BNR, XBE, XPR and saves, `X.meta`";
    assert_outcomes(what, &lone_assets(consoles::files()), &OF_ASSETS);
}

#[test]
fn a_damaged_byte_of_an_asset_of_grand_theft_auto_is_shown_in_its_companion() {
    let assets = stepped(gta_assets(), 5);
    assert_outcomes("Grand Theft Auto, `X.meta`", &assets, &OF_ASSETS);
}

#[test]
fn a_damaged_byte_of_an_asset_of_total_annihilation_is_shown_in_its_companion() {
    let assets = stepped(ta_assets(), 5);
    assert_outcomes("Total Annihilation, `X.meta`", &assets, &OF_TA_ASSETS);
}

#[test]
fn no_file_that_shows_an_asset_is_empty_unless_the_asset_has_nothing_of_its_kind() {
    let lone = [playstation::files(), consoles::files()].map(lone_assets);
    let assets = [assets(), ta_assets(), gta_assets()].into_iter();
    let mut empty = Vec::new();
    for variant in assets.chain(lone).flatten() {
        let shown = inside(
            see(&variant.bench.open(&variant.bytes).unwrap()),
            &variant.inside,
        );
        check_companion(&shown);
        assert_eq!(problem(&shown), None, "{}", variant.name);
        let converted = see(&variant.bench.open_converted(&variant.bytes).unwrap());
        let names = empty_files(&converted).into_iter();
        empty.extend(names.map(|path| format!("{}: {path}", variant.name)));
    }
    // It has neither models nor textures.
    assert_eq!(empty, ["empty.psx: /empty.png", "empty.psx: /empty.glb"]);
}
