//! The fuzz targets without a fuzzer: on their seeds, on earlier findings, and
//! on randomly damaged seeds.

use std::fs;
use std::path::Path;

use hpimount_containers::changes::Action;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::TestRunner;
use testkit::fuzz::{TARGETS, Target, changed};
use testkit::trial;

/// Folder of the seeds of `scripts/fuzz`.
const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/corpus");

/// Findings of fuzzers, in a folder for each target.
const REGRESSIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/regressions");

/// A change that damages a seed.
#[derive(Debug, Clone)]
enum Damage {
    Byte(Index, u8),
    Bit(Index, u8),
    Word(Index, u32),
    Cut(Index),
    Insert(Index, Vec<u8>),
    /// Overwrites bytes with a piece of the same or another seed.
    Splice(Index, Index, Index, usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = any::<Index>;
    let word = prop_oneof![
        Just(0),
        Just(1),
        Just(0xFFFF),
        Just(0x7FFF_FFFF),
        Just(u32::MAX),
        0..600_u32,
        any::<u32>()
    ];
    prop_oneof![
        3 => (at(), any::<u8>()).prop_map(|(at, byte)| Damage::Byte(at, byte)),
        3 => (at(), 0..8_u8).prop_map(|(at, bit)| Damage::Bit(at, bit)),
        3 => (at(), word).prop_map(|(at, word)| Damage::Word(at, word)),
        1 => at().prop_map(Damage::Cut),
        1 => (at(), vec(any::<u8>(), 1..20)).prop_map(|(at, bytes)| Damage::Insert(at, bytes)),
        2 => (at(), at(), at(), 1..200_usize)
            .prop_map(|(to, seed, from, length)| Damage::Splice(to, seed, from, length)),
    ]
}

impl Damage {
    fn apply(&self, bytes: &mut Vec<u8>, seeds: &[Vec<u8>]) {
        let length = bytes.len();
        let mut put = |at: usize, with: &[u8]| {
            let there = bytes.iter_mut().skip(at);
            there.zip(with).for_each(|(byte, new)| *byte = *new);
        };
        match self {
            Self::Byte(at, byte) => put(at.index(length + 1), &[*byte]),
            Self::Word(at, word) => put(at.index(length + 1), &word.to_le_bytes()),
            Self::Bit(at, bit) => {
                if let Some(byte) = bytes.get_mut(at.index(length + 1)) {
                    *byte ^= 1 << bit;
                }
            }
            Self::Cut(at) => bytes.truncate(at.index(length + 1)),
            Self::Insert(at, new) => {
                let at = at.index(length + 1);
                bytes.splice(at..at, new.iter().copied());
            }
            Self::Splice(to, seed, from, most) => {
                let seed = seed.get(seeds);
                let from = from.index(seed.len() + 1);
                let piece = &seed[from..seed.len().min(from + most)];
                put(to.index(length + 1), piece);
            }
        }
    }
}

/// Runs a target on its seeds, its findings, and `times` damaged seeds.
fn try_out(name: &str, times: u32) {
    let target = TARGETS.iter().find(|target| target.name == name).unwrap();
    let seeds = (target.seeds)();
    seeds.iter().for_each(|seed| (target.run)(seed));
    let found = found(target);
    found.iter().for_each(|find| (target.run)(find));
    let times = trial::length(trial::part(times / 2, times), times * 300);
    let config = ProptestConfig {
        cases: times,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let inputs = (any::<Index>(), vec(damage(), 1..8));
    let run = TestRunner::new(config).run(&inputs, |(seed, damages)| {
        let mut bytes = seed.get(&seeds).clone();
        damages
            .iter()
            .for_each(|damage| damage.apply(&mut bytes, &seeds));
        (target.run)(&bytes);
        Ok(())
    });
    run.unwrap_or_else(|error| panic!("{name}: {error}"));
    trial::record(
        &format!("fuzz target `{name}` on damaged seeds"),
        times as usize + seeds.len() + found.len(),
        "every assertion held",
    );
}

/// Returns the earlier findings of a target.
fn found(target: &Target) -> Vec<Vec<u8>> {
    let Ok(entries) = fs::read_dir(Path::new(REGRESSIONS).join(target.name)) else {
        return Vec::new();
    };
    let entries = entries.map(|entry| entry.unwrap().path());
    entries.map(|path| fs::read(path).unwrap()).collect()
}

macro_rules! targets {
    ($($test:ident: $name:literal, $times:literal;)*) => {
        $(
            #[test]
            fn $test() {
                try_out($name, $times);
            }
        )*

        #[test]
        fn every_target_has_a_test() {
            assert_eq!(TARGETS.map(|target| target.name), [$($name),*]);
        }
    };
}

targets! {
    damaged_archives_of_version_1_keep_the_promises: "hpi_v1", 200;
    damaged_archives_of_version_2_keep_the_promises: "hpi_v2", 200;
    damaged_chunks_decode_alike_as_a_whole_and_as_a_stream: "chunk", 300;
    damaged_lz77_is_decoded_or_refused_by_both_decoders_alike: "lz77", 100;
    damaged_hip_archives_keep_the_promises: "hip", 200;
    damaged_psx_files_are_shown_or_refused: "psx", 100;
    damaged_pictures_of_the_playstation_are_shown_or_refused: "tim", 60;
    damaged_sounds_of_the_playstation_are_shown_or_refused: "vag", 60;
    damaged_banks_of_sounds_are_shown_or_refused: "vab", 60;
    damaged_scripts_of_pro_skater_are_shown_or_refused: "qb", 60;
    damaged_nodes_of_levels_are_shown_or_refused: "trg", 60;
    damaged_packed_pictures_are_shown_or_refused: "rle", 60;
    damaged_pictures_of_the_dreamcast_are_shown_or_refused: "pvr", 60;
    damaged_names_of_parts_are_shown_or_refused: "psh", 60;
    damaged_sounds_of_the_dreamcast_are_shown_or_refused: "kat", 60;
    damaged_movies_are_shown_or_refused: "xa", 60;
    damaged_models_of_levels_are_shown_or_refused: "ddm", 60;
    damaged_characters_are_shown_or_refused: "bon", 60;
    damaged_banners_programs_and_saves_are_shown_or_refused: "consoles", 60;
    damaged_hgo_files_are_shown_or_refused: "hgo", 100;
    damaged_ifp_files_are_shown_or_refused: "ifp", 200;
    damaged_texture_dictionaries_are_shown_or_refused: "txd", 300;
    damaged_collision_models_are_shown_or_refused: "col", 300;
    damaged_models_of_grand_theft_auto_are_shown_or_refused: "dff", 300;
    damaged_maps_are_shown_or_refused: "map", 300;
    damaged_texts_are_shown_or_refused: "gxt", 300;
    damaged_data_of_grand_theft_auto_are_shown_or_refused: "gta_data", 200;
    damaged_games_have_whole_models_maps_and_tables: "gta_game", 60;
    damaged_gaf_files_are_read_or_refused: "gaf", 300;
    damaged_3do_files_are_read_or_refused: "tdo", 300;
    damaged_cob_files_are_read_or_refused: "cob", 100;
    any_text_is_compiled_or_refused: "bos", 300;
    damaged_maps_and_sections_are_read_or_refused: "tnt", 200;
    damaged_pcx_files_are_read_or_refused: "pcx", 300;
    damaged_tdf_files_are_read_or_refused: "tdf", 300;
    damaged_palettes_fonts_and_sounds_are_read_or_refused: "ta_small", 200;
    damaged_textures_are_decoded_or_refused: "hi_textures", 300;
    damaged_sounds_are_decoded_or_refused: "hi_sounds", 300;
    damaged_models_are_read_or_refused: "hi_models", 300;
    damaged_objects_are_read_or_refused: "hi_objects", 300;
    reports_of_damaged_assets_are_whole_or_refused: "hi_reports", 100;
    damaged_img_archives_are_read_or_refused: "img", 300;
    damaged_wad_directories_are_read_or_refused: "wad", 300;
    damaged_pkr_archives_are_read_or_refused: "pkr", 300;
    damaged_pre_archives_are_read_or_refused: "pre", 300;
    damaged_zip_archives_are_read_or_refused: "zip", 300;
    damaged_xbox_discs_are_read_or_refused: "xdvdfs", 300;
    damaged_settings_are_read_or_refused: "settings", 300;
    damaged_7z_archives_are_read_or_refused: "seven_zip", 300;
    damaged_installers_are_read_or_refused: "inno", 300;
    damaged_tar_archives_are_read_or_refused: "tar", 300;
    damaged_compressed_files_are_read_or_refused: "compressed", 300;
    damaged_gamecube_discs_are_read_or_refused: "gcm", 300;
    damaged_iso_discs_are_read_or_refused: "iso", 200;
    damaged_udf_discs_are_read_or_refused: "udf", 60;
    damaged_block_images_are_decoded_or_refused: "image", 300;
    damaged_lists_of_databases_are_read_or_refused: "dat", 300;
    answers_of_servers_are_refused_unless_they_have_the_requested_bytes: "http", 500;
    damaged_listings_of_buckets_are_read_or_refused: "listing", 300;
    edited_files_become_assets_that_are_shown: "edited", 200;
    a_damaged_archive_in_a_disc_in_an_archive_affects_nothing_around_it: "nested", 40;
    mounts_of_damaged_files_keep_the_promises: "vfs", 100;
    operations_in_any_order_are_answered_as_by_a_model: "ops", 100;
    damaged_patches_are_applied_or_refused: "patches", 300;
    requests_get_what_is_served_or_are_refused: "serve_route", 300;
    ranges_and_conditions_get_parts_of_the_file: "serve_range", 300;
    properties_are_well_formed_whatever_is_asked: "serve_propfind", 300;
    calls_of_nfs_get_bytes_of_the_file_or_an_error: "serve_rpc", 300;
}

/// Otherwise the target would only try refusals.
#[test]
fn the_seeds_of_hip_archives_are_changed() {
    let target = TARGETS.iter().find(|target| target.name == "hip").unwrap();
    // The first one has no assets.
    for seed in &(target.seeds)()[1..] {
        let report = changed("x.hip", seed, None).unwrap();
        for action in [Action::Replace, Action::Add, Action::Delete] {
            assert!(report.count(action) > 0, "{}", report.summary());
        }
    }
}

/// `scripts/fuzz` runs the programs of the manifest.
#[test]
fn every_target_has_a_program() {
    let manifest = include_str!("../../fuzz/Cargo.toml");
    let programs = manifest.split("[[bin]]").skip(1).map(|program| {
        let name = program.trim_start().strip_prefix("name = \"").unwrap();
        name.split_once('"').unwrap().0
    });
    let mut programs: Vec<_> = programs.collect();
    programs.sort_unstable();
    let mut targets = TARGETS.map(|target| target.name);
    targets.sort_unstable();
    assert_eq!(programs, targets);
}

/// Writes the seeds to the corpus of the fuzzers.
#[test]
#[ignore = "is a part of scripts/fuzz"]
fn write_the_seeds() {
    let corpus = std::env::var("HPIMOUNT_CORPUS").unwrap_or_else(|_| CORPUS.to_owned());
    for target in &TARGETS {
        let folder = Path::new(&corpus).join(target.name);
        fs::create_dir_all(&folder).unwrap();
        for (number, seed) in (target.seeds)().iter().enumerate() {
            fs::write(folder.join(format!("seed-{number:02}")), seed).unwrap();
        }
    }
}
