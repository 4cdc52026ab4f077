//! `hpi check` finds damage, reports its position, and reports nothing else.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Stdio;

use fixtures::disc::Disc;
use fixtures::hip::{Asset, Hip};
use fixtures::hpi::{File, V1, V2, file as entry};
use fixtures::ta::cob;
use fixtures::{container_seeds, noise, text};
use hpimount_containers::hpi::chunk::Method;
use md5::{Digest, Md5};
use serde_json::Value;
use sha1::Sha1;
use testkit::chd;
use testkit::mount::{Fixture, Run, big, hpi, run};
use testkit::sources::{file, folder, ifp};

/// Returns the exit code and the lines of a check. The findings are sorted,
/// because threads report them in any order.
fn check(source: &Path, args: &[&str]) -> (Option<i32>, Vec<String>) {
    let Run {
        code,
        stdout,
        stderr,
    } = run(hpi("check").args(args).arg(source));
    assert_eq!(stderr, "", "{stdout}");
    let source = format!("{}: ", source.display());
    let lines = stdout.lines().map(|line| line.replace(&source, ""));
    let mut lines: Vec<String> = lines.collect();
    let summary = lines.pop().unwrap();
    lines.sort();
    lines.push(summary);
    (code, lines)
}

/// Returns the exit code and the findings, without the summary.
fn findings(source: &Path) -> (Option<i32>, Vec<String>) {
    let (code, mut lines) = check(source, &[]);
    assert!(lines.pop().unwrap().starts_with("checked 1 source, "));
    (code, lines)
}

/// Returns the lines of JSON, the summary last.
fn json(source: &Path, args: &[&str]) -> (Option<i32>, Vec<Value>) {
    let (code, lines) = check(source, &[&["--json"], args].concat());
    let parse = |line: &String| serde_json::from_str(line).unwrap();
    (code, lines.iter().map(parse).collect())
}

fn packed(name: &str, bytes: &[u8]) -> fixtures::hpi::Entry {
    entry(name.as_bytes(), File::new(bytes, Method::Zlib))
}

#[test]
fn a_sound_source_has_a_summary_and_nothing_else() {
    let fixture = Fixture::new();
    let (code, lines) = check(&fixture.archive, &[]);
    let counts = "checked 1 source, 1 archive, 2 files, 0 assets, 292.97 KiB in ";
    let found = "): 0 damaged, 0 not checked, 0 warnings";
    assert_eq!((code, lines.len()), (Some(0), 1), "{lines:?}");
    assert!(lines[0].starts_with(counts), "{lines:?}");
    assert!(lines[0].ends_with(found), "{lines:?}");
    let (_, lines) = json(&fixture.archive, &[]);
    let [summary] = &lines[..] else {
        panic!("{lines:?}")
    };
    for (key, count) in [
        ("sources", 1),
        ("archives", 1),
        ("files", 2),
        ("assets", 0),
        ("bytes", 300_006),
        ("damage", 0),
        ("not_checked", 0),
        ("warnings", 0),
    ] {
        assert_eq!(summary[key], count, "{key}");
    }
    assert!(summary["seconds"].is_number());
}

#[test]
fn every_damaged_chunk_is_found_with_its_position() {
    let files = vec![
        packed("a.bin", &noise(1, 200_000)),
        packed("b.bin", &noise(2, 70_000)),
        packed("c.bin", &big()),
    ];
    for built in [
        V1::new(files.clone()).build(),
        V2::new(files.clone()).build(),
    ] {
        let mut bytes = built.bytes.clone();
        let [a, b, _] = &built.files[..] else {
            panic!("three files")
        };
        let damaged = [(a.chunks[1], 1), (a.chunks[3], 3), (b.chunks[0], 0)];
        for (chunk, _) in damaged {
            bytes[chunk + 500] ^= 0x40;
        }
        let fixture = file("damaged.hpi", &bytes);
        let (code, lines) = findings(&fixture.archive);
        assert_eq!((code, lines.len()), (Some(12), 3), "{lines:?}");
        for ((chunk, number), (path, line)) in damaged
            .iter()
            .zip(["a.bin", "a.bin", "b.bin"].iter().zip(&lines))
        {
            let start = format!("{path}: damaged: chunk {number} at {chunk:#x}: checksum is ");
            assert!(line.starts_with(&start), "{line} should start with {start}");
        }
        let (code, lines) = json(&fixture.archive, &[]);
        assert_eq!((code, &lines[3]["damage"]), (Some(12), &3.into()));
        let mut found: Vec<(&str, u64)> = lines[..3]
            .iter()
            .map(|line| {
                assert_eq!(
                    (&line["type"], &line["severity"]),
                    (&"finding".into(), &"damage".into())
                );
                assert_eq!(line["source"], fixture.archive.to_str().unwrap());
                (
                    line["path"].as_str().unwrap(),
                    line["offset"].as_u64().unwrap(),
                )
            })
            .collect();
        found.sort_unstable();
        let expected = damaged.map(|(chunk, _)| chunk as u64);
        assert_eq!(
            found.iter().map(|(_, at)| *at).collect::<Vec<_>>(),
            expected
        );
    }
}

#[test]
fn the_checksum_of_a_file_of_kingdoms_is_compared() {
    let built = V2::new(vec![
        entry(b"a.dat", File::new(noise(3, 5000), Method::Stored)),
        entry(b"b.dat", File::new(noise(4, 5000), Method::Stored)),
    ])
    .build();
    let data = built.files[1].data;
    let fixture = file(
        "k.hpi",
        &built.patched(data + 7, [built.bytes[data + 7] ^ 1]),
    );
    // Sums of one byte: of the bytes, and of the bytes with their positions.
    let sum = |bytes: &[u8]| {
        let numbered = || bytes.iter().zip((0..=255).cycle());
        u32::from_le_bytes([
            numbered().fold(0, |sum: u8, (byte, _)| sum.wrapping_add(*byte)),
            numbered().fold(0, |sum, (byte, _)| sum ^ byte),
            numbered().fold(0, |sum: u8, (byte, at)| sum.wrapping_add(byte ^ at)),
            numbered().fold(0, |sum, (byte, at)| sum ^ byte.wrapping_add(at)),
        ])
    };
    let mut bytes = noise(4, 5000);
    let recorded = sum(&bytes);
    bytes[7] ^= 1;
    let problem = format!("checksum is {:08x}, should be {recorded:08x}", sum(&bytes));
    let line = format!("b.dat: damaged: file at {data:#x}: {problem}");
    assert_eq!(findings(&fixture.archive), (Some(12), vec![line]));
}

#[test]
fn the_checksum_of_the_bytes_of_a_chunk_is_named_before_the_recorded_one() {
    let mut built = V1::new(vec![packed("a.bin", &noise(1, 5000))]).build();
    let chunk = built.files[0].chunks[0];
    built.bytes[chunk + 100] ^= 0x40;
    let number = |at: usize| u32::from_le_bytes(*built.bytes[at..].first_chunk().unwrap());
    let payload = &built.bytes[chunk + 19..][..number(chunk + 7) as usize];
    let found: u32 = payload.iter().map(|&byte| u32::from(byte)).sum();
    let problem = format!(
        "checksum is {found:08x}, should be {:08x}",
        number(chunk + 15)
    );
    let line = format!("a.bin: damaged: chunk 0 at {chunk:#x}: {problem}");
    let fixture = file("a.hpi", &built.bytes);
    assert_eq!(findings(&fixture.archive), (Some(12), vec![line]));
}

#[test]
fn archives_in_archives_are_checked() {
    let inner = V1::new(vec![packed("in.bin", &noise(5, 1000))]).build();
    let chunk = inner.files[0].chunks[0];
    let inner = inner.patched(chunk + 30, [!inner.bytes[chunk + 30]]);
    let middle = V1::new(vec![packed("Inner.UFO", &inner)]).build().bytes;
    let mut zip = container_seeds::zip();
    let at = zip
        .windows(8)
        .position(|bytes| bytes == b"as it is")
        .unwrap();
    zip[at] = b'A';
    let fixture = folder(|source| {
        fs::create_dir(source.join("mods")).unwrap();
        fs::write(source.join("mods/middle.hpi"), &middle).unwrap();
        fs::write(source.join("a.zip"), &zip).unwrap();
        fs::write(source.join("cut.hpi"), &middle[..30]).unwrap();
        fs::write(source.join("none.iso"), "is no disc").unwrap();
    });
    let (code, lines) = findings(&fixture.archive);
    assert_eq!((code, lines.len()), (Some(12), 5), "{lines:#?}");
    for (line, start) in lines.iter().zip([
        "a.zip.d/d/secret: warning: is encrypted",
        "a.zip.d/stored.txt: damaged: ",
        "cut.hpi: damaged: dir_end at 0x8: ",
        &format!("mods/middle.hpi.d/Inner.UFO.d/in.bin: damaged: chunk 0 at {chunk:#x}: "),
        "none.iso: warning: is not an archive of a known format",
    ]) {
        assert!(line.starts_with(start), "{line} should start with {start}");
    }
}

#[test]
fn assets_are_parsed_wherever_they_are() {
    let package = ifp(2, 3);
    let cut = &package[..package.len() - 5];
    let mut hip = Hip::default();
    hip.layer(0);
    hip.add(Asset::new(b"RAW ", "good.ifp", &package));
    hip.add(Asset::new(b"BINK", "cut.ifp", cut));
    let mut summed = Asset::new(b"XYZ ", "summed", b"some bytes");
    summed.checksum = Some(0x1234_5678);
    hip.add(summed);
    let fixture = folder(|source| {
        fs::write(source.join("cut.ifp"), cut).unwrap();
        fs::write(source.join("assets.HIP"), hip.build()).unwrap();
        let mods = V1::new(vec![packed("deep.ifp", cut), packed("good.ifp", &package)]);
        fs::write(source.join("mods.ufo"), mods.build().bytes).unwrap();
    });
    let (code, lines) = findings(&fixture.archive);
    assert_eq!(code, Some(12), "{lines:#?}");
    let (damaged, odd): (Vec<&String>, _) =
        lines.iter().partition(|line| line.contains(": damaged: "));
    assert_eq!(damaged.len(), 3, "{lines:#?}");
    for (line, file) in
        damaged
            .iter()
            .zip(["assets.HIP.d/layers/", "cut.ifp: ", "mods.ufo.d/deep.ifp: "])
    {
        assert!(line.starts_with(file) && line.contains(" at 0x"), "{line}");
    }
    assert!(odd.iter().any(
        |line| line.contains("warning: checksum is ") && line.ends_with(", should be 12345678")
    ));
    let (_, lines) = json(&fixture.archive, &[]);
    assert_eq!(lines.last().unwrap()["assets"], 5);
}

/// Other files of this size are read in parts.
#[test]
fn the_checksum_of_a_large_asset_is_compared() {
    let mut large = Asset::new(b"XYZ ", "large", &vec![7; 9 << 20]);
    large.checksum = Some(0x1234_5678);
    let mut hip = Hip::default();
    hip.layer(0).add(large);
    let fixture = file("large.HIP", &hip.build());
    let (code, lines) = findings(&fixture.archive);
    assert_eq!((code, lines.len()), (Some(0), 1), "{lines:?}");
    let start = "layers/00-DEFAULT/large.xyz: warning: checksum is ";
    let is_named = lines[0].starts_with(start) && lines[0].ends_with(", should be 12345678");
    assert!(is_named, "{lines:?}");
}

#[test]
fn warnings_leave_the_exit_code_at_0() {
    let package = {
        let mut package = ifp(1, 1);
        package.extend(b"and more");
        package
    };
    let fixture = file("odd.ifp", &package);
    let (code, lines) = findings(&fixture.archive);
    assert!(code == Some(0) && !lines.is_empty(), "{lines:?}");
    let are_warnings = lines
        .iter()
        .all(|line| line.starts_with("odd.ifp: warning: "));
    assert!(are_warnings, "{lines:?}");
}

#[test]
fn a_source_that_cannot_be_opened_is_reported_and_the_others_are_checked() {
    let fixture = Fixture::new();
    let write = |name: &str, bytes: &[u8]| {
        let path = fixture.dir().join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let sample = fs::read(&fixture.archive).unwrap();
    let mut bank = sample.clone();
    bank[4..8].copy_from_slice(b"BANK");
    let missing = fixture.dir().join("missing");
    let unknown = write("unknown", b"of no format");
    let unsupported = write("bank.hpi", &bank);
    let cut = write("cut.hpi", &sample[..12]);
    for (path, code, finding) in [
        (&missing, 10, "not checked: cannot be opened"),
        (
            &unknown,
            11,
            "not checked: is not an archive of a known format",
        ),
        (&unsupported, 13, "not checked: is a saved game"),
        (&cut, 12, "damaged: header at 0x0: "),
    ] {
        let (found, lines) = findings(path);
        assert_eq!((found, lines.len()), (Some(code), 1), "{lines:?}");
        assert!(lines[0].starts_with(finding), "{lines:?}");
    }
    let sources = [&unknown, &missing, &fixture.archive, &unsupported];
    let ran = run(hpi("check").args(sources));
    assert_eq!(ran.code, Some(11), "{ran:?}");
    assert!(
        ran.stdout
            .contains("checked 4 sources, 1 archive, 2 files, "),
        "{ran:?}"
    );
    let ran = run(hpi("check").args(sources).arg(&cut));
    assert_eq!(ran.code, Some(12), "{ran:?}");
}

#[test]
fn every_damaged_sector_of_a_raw_disc_is_found() {
    let mut disc = Disc::default();
    disc.file("A.TXT", &noise(6, 100_000))
        .file("B.TXT", &text(9000));
    let mut image = disc.raw();
    let of = |image: &[u8], bytes: &[u8]| {
        image
            .windows(64)
            .position(|found| found == &bytes[..64])
            .unwrap()
    };
    let noise = noise(6, 100_000);
    let sectors = [3, 4, 30].map(|sector: usize| {
        let at = of(&image, &noise[sector * 2048..]);
        image[at + 70] ^= 8;
        at / 2352
    });
    let fixture = file("disc.bin", &image);
    let (code, lines) = findings(&fixture.archive);
    assert_eq!((code, lines.len()), (Some(12), 4), "{lines:#?}");
    for sector in sectors {
        let found = |line: &&String| {
            line.starts_with("A.TXT: damaged: ") && line.contains(&format!(": sector {sector} at "))
        };
        assert_eq!(
            lines.iter().filter(found).count(),
            1,
            "{sector}: {lines:#?}"
        );
    }
}

/// Returns CRC-32, MD5 and SHA-1 in hexadecimal digits.
fn sums(bytes: &[u8]) -> [String; 3] {
    let digits = |sum: &[u8]| -> String { sum.iter().map(|byte| format!("{byte:02x}")).collect() };
    [
        format!("{:08x}", crc32fast::hash(bytes)),
        digits(&Md5::digest(bytes)),
        digits(&Sha1::digest(bytes)),
    ]
}

/// Returns a list with these files.
fn list(files: &[(&str, &[u8])]) -> String {
    let files = files.iter().map(|(name, bytes)| {
        let ([crc, md5, sha1], size) = (sums(bytes), bytes.len());
        let crc = crc.to_uppercase();
        format!(
            "<rom name=\"{name}\" size=\"{size}\" crc=\"{crc}\" md5=\"{md5}\" sha1=\"{sha1}\"/>\n"
        )
    });
    let files: String = files.collect();
    format!(
        "<?xml version=\"1.0\"?>\n<datafile>\n<header><name>Discs</name></header>\n\
         <game name=\"A Game (World)\">\n<category>Games</category>\n{files}</game>\n</datafile>\n"
    )
}

#[test]
fn a_disc_has_the_checksums_of_its_image_and_is_compared_with_a_list() {
    let mut disc = Disc::default();
    let image = disc.file("A.TXT", &text(5000)).iso();
    let fixture = file("game.iso", &image);
    let (code, lines) = json(&fixture.archive, &[]);
    let [crc32, md5, sha1] = sums(&image);
    assert_eq!(code, Some(0));
    for (key, value) in [
        ("type", "image"),
        ("image", "image"),
        ("crc32", &crc32),
        ("md5", &md5),
        ("sha1", &sha1),
    ] {
        assert_eq!(lines[0][key], value);
    }
    assert_eq!(lines[0]["size"], image.len());
    let dat = fixture.dir().join("list.dat");
    let with_list = |list: String| {
        fs::write(&dat, list).unwrap();
        check(&fixture.archive, &["--dat", dat.to_str().unwrap()])
    };
    let checksums = format!(
        "image: {} bytes, CRC-32 {crc32}, MD5 {md5}, SHA-1 {sha1}",
        image.len()
    );
    let (code, lines) = with_list(list(&[("A Game (World).iso", &image)]));
    let listed = format!("{checksums}, listed as \"A Game (World).iso\" of \"A Game (World)\"");
    assert_eq!((code, &lines[0]), (Some(0), &listed));
    let (name, size) = ("A Game (World)", image.len());
    let rom = format!("name \"{name}.iso\" size {size} crc {crc32} md5 {md5} sha1 {sha1}");
    let header = "clrmamepro (\n\tname \"Discs\"\n)\n\n";
    let text = format!("{header}game (\n\tname \"{name}\"\n\trom ( {rom} )\n)\n");
    let (code, lines) = with_list(text);
    assert_eq!((code, &lines[0]), (Some(0), &listed));
    let mut other = image.clone();
    other[40_000] ^= 1;
    let (code, lines) = with_list(list(&[("GAME.iso", &other)]));
    let differs = format!(
        "damaged: is not as listed: \"GAME.iso\" of the list has SHA-1 {}",
        sums(&other)[2]
    );
    assert_eq!((code, &lines[..2]), (Some(12), &[differs, checksums][..]));
    let (code, lines) = with_list(list(&[("another.iso", &other)]));
    assert_eq!(
        (code, lines[0].as_str()),
        (Some(12), "damaged: is not in the list")
    );
    fs::write(&dat, "no list").unwrap();
    let ran = run(hpi("check").arg("--dat").args([&dat, &fixture.archive]));
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
    assert!(
        ran.stderr.starts_with(&format!("hpi: {}: ", dat.display())),
        "{ran:?}"
    );
}

#[test]
fn the_tracks_of_a_cue_sheet_have_their_own_checksums() {
    let mut disc = Disc::default();
    let data = disc.file("A.TXT", &text(5000)).raw();
    let audio = noise(8, 2352 * 20);
    let frames = data.len() / 2352;
    let time = |frames: usize| {
        format!(
            "{:02}:{:02}:{:02}",
            frames / 4500,
            frames / 75 % 60,
            frames % 75
        )
    };
    let sheet = format!(
        "FILE \"game.bin\" BINARY\n  TRACK 01 MODE2/2352\n    INDEX 01 00:00:00\n  \
         TRACK 02 AUDIO\n    INDEX 00 {}\n    INDEX 01 {}\n",
        time(frames),
        time(frames + 5)
    );
    let fixture = file("game.cue", sheet.as_bytes());
    let whole = [&data[..], &audio].concat();
    fs::write(fixture.dir().join("game.bin"), &whole).unwrap();
    let (code, lines) = json(&fixture.archive, &[]);
    assert_eq!(code, Some(0), "{lines:#?}");
    let sum = |name: &str| {
        let line = lines.iter().find(|line| line["image"] == name);
        line.unwrap_or_else(|| panic!("{lines:#?}"))["sha1"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(sum("game.bin"), sums(&whole)[2]);
    assert_eq!(sum("track 01 of game.bin"), sums(&data)[2]);
    assert_eq!(sum("track 02 of game.bin"), sums(&audio)[2]);
    // Lists contain either the tracks or the whole image.
    let dat = fixture.dir().join("list.dat");
    let code = |files: &[(&str, &[u8])]| {
        fs::write(&dat, list(files)).unwrap();
        check(&fixture.archive, &["--dat", dat.to_str().unwrap()]).0
    };
    assert_eq!(
        code(&[("Track 1.bin", &data), ("Track 2.bin", &audio)]),
        Some(0)
    );
    assert_eq!(code(&[("game.bin", &whole)]), Some(0));
    assert_eq!(code(&[("Track 1.bin", &data)]), Some(12));
}

#[test]
fn the_tracks_of_a_cd_in_a_block_image_are_those_of_its_dump() {
    let mut disc = Disc::default();
    let data = disc.file("A.TXT", &text(5000)).raw();
    let audio = noise(8, 2352 * 21);
    let image = chd::cd(&[
        ("TYPE:MODE2_RAW", &data),
        ("TYPE:AUDIO PREGAP:5 PGTYPE:VAUDIO", &audio),
    ]);
    let fixture = file("game.chd", &image);
    let dat = fixture.dir().join("list.dat");
    let with = |files: &[(&str, &[u8])]| {
        fs::write(&dat, list(files)).unwrap();
        json(&fixture.archive, &["--dat", dat.to_str().unwrap()])
    };
    let tracks = [("Track 1.bin", &data[..]), ("Track 2.bin", &audio)];
    let (code, lines) = with(&tracks);
    assert_eq!((code, lines.len()), (Some(0), 3), "{lines:#?}");
    for (number, (name, bytes)) in (1..).zip(tracks) {
        let image = format!("track {number:02} of game.chd");
        let line = lines.iter().find(|line| line["image"] == image.as_str());
        let line = line.unwrap_or_else(|| panic!("{lines:#?}"));
        assert_eq!(
            (&line["size"], &line["sha1"]),
            (&bytes.len().into(), &sums(bytes)[2].clone().into())
        );
        let listed = serde_json::json!({"title": "A Game (World)", "file": name});
        assert_eq!(line["listed"], listed);
    }
    assert_eq!(with(&tracks[..1]).0, Some(12));
}

#[test]
fn a_cue_sheet_is_compared_with_the_one_of_the_list() {
    let mut disc = Disc::default();
    let data = disc.file("A.TXT", &text(5000)).raw();
    let sheet = b"FILE \"game.bin\" BINARY\n  TRACK 01 MODE2/2352\n    INDEX 01 00:00:00\n";
    let fixture = file("game.cue", sheet);
    fs::write(fixture.dir().join("game.bin"), &data).unwrap();
    let dat = fixture.dir().join("list.dat");
    let with = |files: &[(&str, &[u8])]| {
        fs::write(&dat, list(files)).unwrap();
        check(&fixture.archive, &["--dat", dat.to_str().unwrap()])
    };
    let found =
        |lines: &[String], text: &str| lines.iter().filter(|line| line.contains(text)).count();
    let (code, lines) = with(&[("game.bin", &data), ("game.cue", sheet)]);
    assert_eq!(
        (code, found(&lines, "listed as \"game.cue\"")),
        (Some(0), 1),
        "{lines:#?}"
    );
    let (code, lines) = with(&[("game.bin", &data), ("game.cue", b"another")]);
    let differs = "warning: has 67 bytes; \"game.cue\" of the list has 7";
    assert_eq!((code, found(&lines, differs)), (Some(0), 1), "{lines:#?}");
    let (code, lines) = with(&[("game.bin", &data), ("track 2.bin", b"more")]);
    let lacks = "warning: lacks \"track 2.bin\" of \"A Game (World)\"";
    assert_eq!((code, found(&lines, lacks)), (Some(0), 1), "{lines:#?}");
}

#[test]
fn a_closed_pipe_ends_the_check_silently() {
    let fixture = Fixture::new();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = hpi("check")
        .arg(&fixture.archive)
        .stdout(writer)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert_eq!(output.status.signal(), Some(libc::SIGPIPE), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
}

#[test]
fn the_files_of_a_game_are_compared_with_each_other() {
    let fixture = folder(|source| {
        let units = source.join("mods/mine/units");
        fs::create_dir_all(&units).unwrap();
        fs::create_dir(source.join("mods/mine/weapons")).unwrap();
        for name in ["a", "b"] {
            let text = format!("// {name}\n[UNITINFO]\n{{\nUnitName={name};\nUnitNumber=7;\n}}\n");
            fs::write(units.join(name).with_extension("fbi"), text).unwrap();
        }
    });
    let path = "mods/mine/units/b.fbi";
    let cause = "the unit number 7 is also that of a in mods/mine/units/a.fbi";
    let (code, lines) = findings(&fixture.archive);
    assert_eq!(code, Some(0));
    let line = format!("{path}: warning: line 2: {cause}");
    assert!(lines.contains(&line), "{lines:?}");
    let (_, lines) = json(&fixture.archive, &[]);
    let line = lines.iter().find(|line| line["cause"] == cause).unwrap();
    assert_eq!((&line["path"], &line["line"]), (&path.into(), &2.into()));
    let (_, lines) = check(&fixture.archive, &["-o", "meta=off"]);
    assert_eq!(lines.len(), 1, "{lines:?}");
}

#[test]
fn matters_of_style_are_counted_and_listed_on_request() {
    let fixture = folder(|source| {
        fs::create_dir_all(source.join("units")).unwrap();
        fs::create_dir_all(source.join("scripts")).unwrap();
        fs::write(
            source.join("units/a.fbi"),
            "[UNITINFO]\n{\nUnitName=a;\n}\n",
        )
        .unwrap();
        fs::write(source.join("scripts/a.cob"), cob::small(4).file()).unwrap();
    });
    let line = "scripts/a.cob: style: line 1: the piece base is never used";
    let (code, lines) = check(&fixture.archive, &["-v"]);
    assert_eq!(code, Some(0));
    assert!(lines.contains(&line.to_owned()), "{lines:?}");
    assert!(lines.last().unwrap().ends_with(", 2 of style"), "{lines:?}");
    let (_, lines) = check(&fixture.archive, &[]);
    assert!(!lines.contains(&line.to_owned()), "{lines:?}");
    let summary = lines.last().unwrap();
    assert!(
        summary.ends_with(", 2 of style (-v lists them)"),
        "{summary}"
    );
    let (_, lines) = json(&fixture.archive, &["-v"]);
    let of_style = lines.iter().filter(|line| line["severity"] == "style");
    let found: Vec<_> = of_style
        .map(|line| (&line["path"], &line["line"]))
        .collect();
    let path = "scripts/a.cob".into();
    assert_eq!(found, [(&path, &2.into()), (&path, &1.into())]);
    assert_eq!(lines.last().unwrap()["style"], 2);
}
