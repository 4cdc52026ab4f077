//! Banks of sounds, compared with the results of an independent reader.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value as Json;

use crate::heavy_iron::native_models::samples;
use crate::shared;
use hpimount_heavy_iron::sound::{self, Bank, BankEntry, BankSound, Entry, Header, SoundKind};
use hpimount_heavy_iron::{Facts, Game, Platform};
use testkit::fuse_test;
use testkit::mounted::mounted_files;
use testkit::shown::{bytes_of, rows};
use testkit::sources::names;

/// Returns the samples of a sound, or the text of its error.
fn decoded(sound: &Arc<BankSound>) -> Result<Vec<i16>, String> {
    let entry = Entry {
        kind: SoundKind::Sound,
        asset: 0,
        offset: 0,
        header: Header::Bank(BankEntry {
            bank: 0,
            index: 0,
            sound: sound.clone(),
        }),
    };
    let sound = sound::parse(&Bytes::new(), &entry);
    let sound = sound.map_err(|incomplete| incomplete.error.to_string())?;
    Ok(sound.pcm())
}

fn check_bank(name: &str, bank: &Bank, known: &Json) {
    let known = known["sounds"].as_array().unwrap();
    assert_eq!(bank.sounds.len(), known.len(), "{name}");
    for (sound, known) in bank.sounds.iter().zip(known) {
        assert_eq!(known["name"], sound.name, "{name}");
        let numbers = [
            ("samples", sound.samples),
            ("rate", sound.rate),
            ("channels", sound.channels.into()),
        ];
        for (field, number) in numbers {
            assert_eq!(known[field], number, "{name}: {field}");
        }
        let loops = sound
            .loops
            .map_or(Json::Null, |ends| serde_json::json!(ends));
        assert_eq!(known["loop"], loops, "{name}");
        let samples = decoded(sound).unwrap_or_else(|error| panic!("{name}: {error}"));
        let pcm = &known["pcm"];
        assert_eq!(pcm["count"], samples.len(), "{name}");
        let first: Vec<i16> = serde_json::from_value(pcm["first"].clone()).unwrap();
        assert_eq!(samples[..first.len()], first, "{name}");
        let bytes: Vec<u8> = samples.iter().flat_map(|one| one.to_le_bytes()).collect();
        let sum = format!("{:08x}", crc32fast::hash(&bytes));
        assert_eq!(pcm["crc"], sum, "{name}");
    }
}

#[test]
fn banks_have_the_samples_that_the_independent_reader_decodes() {
    let mut seen = 0;
    for (name, expect, bytes, known) in samples("sndi/") {
        if name.ends_with(".fsb") {
            let bank = Bank::read(&bytes, 0).unwrap();
            if expect == "bad" {
                let is_refused = bank.sounds.iter().any(|sound| decoded(sound).is_err());
                assert!(is_refused, "{name}");
                continue;
            }
            check_bank(&name, &bank, &known["banks"][0]);
            seen += 1;
            continue;
        }
        let facts = Facts::new(Platform::GameCube, Game::Incredibles);
        let table = sound::parse_table(&bytes, &facts);
        if expect == "bad" {
            assert!(table.is_err(), "{name}");
            continue;
        }
        let table = table.unwrap_or_else(|incomplete| panic!("{name}: {}", incomplete.error));
        assert!(table.warnings.is_empty(), "{name}");
        let banks = known["banks"].as_array().unwrap();
        assert_eq!(table.banks.len(), banks.len(), "{name}");
        for (bank, known) in table.banks.iter().zip(banks) {
            check_bank(&name, bank, known);
        }
        let ids = |list: &str| -> Vec<String> {
            let list = known[list].as_array().unwrap().iter();
            list.map(|one| one["sound"].as_str().unwrap().to_owned())
                .collect()
        };
        let known = [ids("entries"), ids("cutscenes")].concat();
        let ours = table.entries.iter().map(|one| format!("{:08X}", one.asset));
        assert_eq!(ours.collect::<Vec<_>>(), known, "{name}");
        seen += 1;
    }
    assert!(seen >= 8 || shared("samples").is_none(), "{seen}");
}

#[fuse_test]
fn sounds_of_banks_are_wav_files() {
    let Some(archive) = shared("samples/hip_assets2/sounds_gc_incredibles.HIP") else {
        return;
    };
    let mount = mounted_files(&[archive], "");
    let sounds = mount.file("converted/sounds");
    let shown = names(&sounds);
    for name in ["beep.wav", "loop.wav", "music.wav"] {
        assert!(shown.iter().any(|one| one == name), "{shown:?}");
    }
    let wav = bytes_of(&sounds.join("beep.wav"));
    assert_eq!(wav.len(), 44 + 2 * 4000);
    let table = rows(&mount.file("converted/tables/SNDI.tsv"));
    assert!(table.len() >= 3, "{table:?}");
}
