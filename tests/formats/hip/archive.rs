//! The reader of HIP archives, without a mount.

use std::collections::{BTreeMap, BTreeSet};

use fixtures::hip::{Asset, Hip, hipb};
use hpimount_containers::format::Options;
use hpimount_containers::hip::{Game, Platform};
use hpimount_containers::io::{Error, Result};
use hpimount_containers::volume::{FileId, NodeId};
use testkit::record::{Node, Opened, open, read_extent};

fn opened(hip: &Hip) -> Opened {
    open(hip.build(), Options::default()).expect("the builder's archive opens")
}

/// Returns the rows of `assets.tsv`, by column.
fn table(archive: &Opened) -> Vec<BTreeMap<String, String>> {
    let text = archive.text("assets.tsv");
    let mut lines = text.lines().map(|line| line.split('\t').map(str::to_owned));
    let columns: Vec<String> = lines.next().expect("a header line").collect();
    lines
        .map(|cells| columns.iter().cloned().zip(cells).collect())
        .collect()
}

fn attribute(archive: &Opened, path: &str, name: &str) -> Option<String> {
    let entry = archive.tree.entry(archive.tree.find(path));
    let value = archive.archive.xattr(entry.file, name);
    value.expect("needs no missing bytes")
}

#[test]
fn the_tree_is_layers_types_ids_and_two_tables() {
    let mut hip = Hip::default();
    hip.layer(1)
        .add(Asset::new(b"RWTX", "sand.RW3", b"texture"));
    hip.layer(1);
    hip.layer(0)
        .add(Asset::new(b"TIMR", "TIMER_01", b"timer"))
        .add(Asset::new(b"TEXT", "a/b", b"text"));
    let archive = opened(&hip);
    assert_eq!(
        archive.tree.names("layers"),
        ["00-TEXTURE", "01-TEXTURE", "02-DEFAULT"]
    );
    assert_eq!(archive.tree.names("layers/00-TEXTURE"), ["sand.RW3"]);
    assert!(archive.tree.names("layers/01-TEXTURE").is_empty());
    assert_eq!(
        archive.tree.names("layers/02-DEFAULT"),
        ["TIMER_01.timr", "a/b.text"]
    );
    assert_eq!(
        archive.tree.names("types"),
        ["Texture", "Timer", "Text", "Settings.ini"]
    );
    assert_eq!(archive.tree.names("types/Timer"), ["[21641EA7] TIMER_01"]);
    assert_eq!(archive.tree.names("types/Text")[0][10..], *" a_b");
    let by_id = archive.tree.entry(archive.tree.find("ids/21641EA7"));
    assert_eq!(archive.read(by_id).unwrap(), b"timer");
    let roots = archive.tree.list(NodeId(0)).iter();
    let roots: Vec<_> = roots.map(|(name, _)| name.as_slice()).collect();
    assert_eq!(
        roots,
        [
            &b"layers"[..],
            b"types",
            b"ids",
            b"info.json",
            b"assets.tsv"
        ]
    );
}

#[test]
fn every_file_has_the_time_of_the_archive() {
    let mut hip = Hip::default();
    hip.layer(0).add(Asset::new(b"TIMR", "TIMER_01", b""));
    let archive = opened(&hip);
    let times: BTreeSet<_> = archive
        .tree
        .nodes
        .iter()
        .filter_map(|node| match node {
            Node::File(entry) => Some(entry.modified),
            _ => None,
        })
        .collect();
    assert_eq!(times, BTreeSet::from([Some(1_063_238_400)]));
}

#[test]
fn names_that_differ_in_case_only_get_their_ids() {
    let mut hip = Hip::default();
    hip.layer(0)
        .add(Asset::new(b"MRKR", "Upper", b"").with_id(1))
        .add(Asset::new(b"MRKR", "UPPER.mrkr", b"").with_id(2))
        .add(Asset::new(b"TIMR", "upper", b"").with_id(3))
        .add(Asset::new(b"MRKR", "upper [00000001]", b"").with_id(4))
        .add(Asset::new(b"MRKR", "", b"").with_id(5));
    hip.layer(0)
        .add(Asset::new(b"MRKR", "UPPER", b"").with_id(6));
    let archive = opened(&hip);
    assert_eq!(
        archive.tree.names("layers/00-DEFAULT"),
        [
            "Upper [00000001].mrkr",
            "UPPER [00000002].mrkr",
            "upper.timr",
            "upper [00000001] [00000004].mrkr",
            "[00000005].mrkr",
        ]
    );
    assert_eq!(archive.tree.names("layers/01-DEFAULT"), ["UPPER.mrkr"]);
}

#[test]
fn an_asset_in_several_layers_is_one_file() {
    let mut hip = Hip::default();
    hip.layer(0).add(Asset::new(b"TIMR", "TIMER_01", b"timer"));
    hip.layers.push((8, vec![0x2164_1EA7, 0x2164_1EA7]));
    let archive = opened(&hip);
    let first = archive.tree.find("layers/00-DEFAULT/TIMER_01.timr");
    let second = archive.tree.find("layers/01-CUTSCENE/TIMER_01.timr");
    assert_eq!(first, second);
    let value = |name| attribute(&archive, "ids/21641EA7", name).unwrap();
    assert_eq!(value("user.hip.layer"), "0,1");
    assert_eq!(value("user.hip.layer_name"), "DEFAULT,CUTSCENE");
    assert_eq!(
        archive.archive.warnings(),
        [
            "asset 21641EA7 is in layers 0 and 1",
            "layer 1 lists 21641EA7 more than once",
        ]
    );
}

#[test]
fn assets_without_a_layer_and_ids_without_an_asset_are_warnings() {
    let mut hip = Hip::default();
    hip.layers.push((0, vec![0xDEAD_BEEF]));
    hip.assets.push(Asset::new(b"TIMR", "TIMER_01", b"timer"));
    let archive = opened(&hip);
    assert_eq!(archive.tree.names("layers/unlayered"), ["TIMER_01.timr"]);
    assert!(archive.tree.names("layers/00-DEFAULT").is_empty());
    assert_eq!(
        archive.archive.warnings(),
        [
            "layer 0 lists DEADBEEF, which is missing",
            "asset 21641EA7 is in no layer",
        ]
    );
    assert_eq!(attribute(&archive, "ids/21641EA7", "user.hip.layer"), None);
    assert_eq!(table(&archive)[0]["layer"], "");
}

#[test]
fn of_assets_with_equal_ids_the_first_is_in_the_layer() {
    let mut hip = Hip::default();
    hip.layer(0)
        .add(Asset::new(b"TEXT", "one", b"1").with_id(7));
    hip.assets.push(Asset::new(b"TEXT", "two", b"2").with_id(7));
    let archive = opened(&hip);
    assert_eq!(archive.tree.names("layers/00-DEFAULT"), ["one.text"]);
    assert_eq!(archive.tree.names("layers/unlayered"), ["two.text"]);
    assert_eq!(archive.tree.names("ids"), ["00000007", "00000007 (1)"]);
    let second = archive.tree.entry(archive.tree.find("ids/00000007 (1)"));
    assert_eq!(archive.read(second).unwrap(), b"2");
}

#[test]
fn named_layers_have_their_names_and_unknown_layers_have_numbers() {
    let mut hip = Hip::default();
    hip.layer(0).layer(77).layer(u32::MAX);
    hip.hipb = Some(hipb(
        0,
        &[(0, b"Objects"), (1, b"M\xe4rkers"), (9, b"x")],
        0,
    ));
    let archive = opened(&hip);
    assert_eq!(
        archive.tree.names("layers"),
        [
            "00-DEFAULT Objects",
            "01-TYPE_77 Märkers",
            "02-TYPE_4294967295",
        ]
    );
}

#[test]
fn the_incredibles_have_layers_of_texture_streams() {
    let mut hip = Hip::target(Game::Incredibles, Platform::PlayStation2);
    hip.layer(2).layer(11);
    let names = opened(&hip).tree.names("layers");
    assert_eq!(names, ["00-TEXTURE_STRM", "01-JSPINFO"]);
}

#[test]
fn jsp_is_info_by_its_first_layer_and_dyna_is_named_by_its_hash() {
    let mut hip = Hip::default();
    hip.layer(2).add(Asset::new(b"JSP ", "world", b""));
    hip.layer(10).add(Asset::new(b"JSP ", "info", b""));
    let world = hip.assets[0].id;
    hip.layers[1].1.push(world);
    hip.layer(0)
        .add(Asset::new(
            b"DYNA",
            "BOX",
            b"\0\0\0\0\0\0\0\0\x70\xad\xb7\xf9",
        ))
        .add(Asset::new(b"DYNA", "NEW", b"\0\0\0\0\0\0\0\0\0\0\x12\x34"))
        .add(Asset::new(b"DYNA", "CUT", b"\0\0\0\0\0\0\0\0\x70\xad\xb7"))
        .add(Asset::new(b"ZZ\0\0", "ODD", b"?"));
    let archive = opened(&hip);
    assert_eq!(
        archive.tree.names("types"),
        [
            "JSP",
            "JSPInfo",
            "TeleportBox",
            "DYNA_00001234",
            "DYNA",
            "ZZ",
            "Settings.ini",
        ]
    );
    assert_eq!(archive.tree.names("layers/00-BSP"), ["world.jsp"]);
    assert_eq!(archive.tree.names("layers/02-DEFAULT")[3], "ODD.zz");
    let path = "layers/02-DEFAULT/BOX.dyna";
    let value = |name| attribute(&archive, path, name).unwrap();
    assert_eq!(value("user.hip.type"), "DYNA");
    assert_eq!(value("user.hip.type_name"), "TeleportBox");
}

#[test]
fn attributes_have_the_metadata_of_the_archive() {
    let mut hip = Hip::default();
    let asset = Asset {
        source_file: br"\\Job\sb\x.dff".to_vec(),
        flags: 5,
        align: -1,
        ..Asset::new(b"MODL", "caf\u{e9}", b"model")
    };
    let wrong = Asset {
        checksum: Some(0xBAD),
        ..Asset::new(b"TIMR", "wrong", b"timer")
    };
    let unset = Asset {
        checksum: Some(0),
        ..Asset::new(b"TIMR", "unset", b"timer")
    };
    hip.layer(3).add(asset).add(wrong).add(unset);
    hip.assets[0].name = b"caf\xe9".to_vec();
    let archive = opened(&hip);
    let attributes: BTreeMap<_, _> = archive
        .attributes(FileId(0))
        .into_iter()
        .map(|(name, value)| (name, value.unwrap()))
        .collect();
    let offset = attributes["user.hip.offset"].parse::<usize>().unwrap();
    assert_eq!(&hip.build()[offset..offset + 5], b"model");
    let checksum = hpimount_containers::hip::CHECKSUM.checksum(b"model");
    let expected = [
        ("user.hip.alignment", "-1"),
        ("user.hip.checksum", &format!("{checksum:08X}")),
        ("user.hip.checksum_ok", "true"),
        ("user.hip.flags", "5"),
        ("user.hip.id", &format!("{:08X}", hip.assets[0].id)),
        ("user.hip.layer", "0"),
        ("user.hip.layer_name", "MODEL"),
        ("user.hip.name", "café"),
        ("user.hip.offset", &offset.to_string()),
        ("user.hip.source_file", r"\\Job\sb\x.dff"),
        ("user.hip.type", "MODL"),
        ("user.hip.type_name", "Model"),
    ];
    let expected: BTreeMap<_, _> = expected
        .into_iter()
        .map(|(name, value)| (name, value.to_owned()))
        .collect();
    assert_eq!(attributes, expected);
    let verdict = |path| attribute(&archive, path, "user.hip.checksum_ok").unwrap();
    assert_eq!(verdict("layers/00-MODEL/wrong.timr"), "false");
    assert_eq!(verdict("layers/00-MODEL/unset.timr"), "unset");
    assert_eq!(attribute(&archive, "info.json", "user.hip.id"), None);
}

#[test]
fn an_archive_of_the_first_version_has_no_checksums() {
    let mut hip = Hip {
        sub_version: 1,
        ..Hip::target(Game::Scooby, Platform::GameCube)
    };
    hip.layer(0).add(Asset::new(b"TIMR", "TIMER_01", b"timer"));
    let archive = opened(&hip);
    let path = "layers/00-DEFAULT/TIMER_01.timr";
    assert_eq!(attribute(&archive, path, "user.hip.checksum"), None);
    let verdict = attribute(&archive, path, "user.hip.checksum_ok");
    assert_eq!(verdict.as_deref(), Some("unset"));
}

#[test]
fn an_asset_past_the_end_is_listed_and_cannot_be_read() {
    let mut hip = Hip::default();
    hip.layer(0)
        .add(Asset::new(b"TIMR", "TIMER_01", &[7; 1000]));
    let mut bytes = hip.build();
    bytes.truncate(bytes.len() - 900);
    let options = Options {
        verify: true,
        ..Options::default()
    };
    let archive = open(bytes, options).unwrap();
    let entry = archive.tree.entry(archive.tree.find("ids/21641EA7"));
    assert_eq!(entry.size, Some(1000));
    let mut start = [0; 16];
    read_extent(&*archive.archive, entry.file, 0, &mut start).unwrap();
    assert_eq!(start, [7; 16]);
    for error in [
        archive.read(entry).unwrap_err(),
        archive.attributes(entry.file)["user.hip.checksum_ok"]
            .clone()
            .unwrap_err(),
    ] {
        let Error::Read { cause, .. } = error else {
            panic!("{error}");
        };
        assert_eq!(cause.kind(), std::io::ErrorKind::UnexpectedEof);
    }
    assert_eq!(table(&archive)[0]["checksum_ok"], "unreadable");
    let warnings = archive.archive.warnings();
    assert!(
        warnings
            .iter()
            .any(|text| text.starts_with("asset 21641EA7 ends at"))
    );
}

#[test]
fn the_table_has_verified_checksums_only_on_request() {
    let mut hip = Hip::default();
    let wrong = Asset {
        checksum: Some(0xBAD),
        ..Asset::new(b"TIMR", "wrong", b"timer")
    };
    hip.layer(0)
        .add(Asset::new(b"TIMR", "TIMER_01", b"timer"))
        .add(wrong);
    let row = &table(&opened(&hip))[0];
    let line: Vec<_> = [
        "layer",
        "layer_name",
        "id",
        "type",
        "name",
        "file",
        "size",
        "plus",
        "flags",
        "alignment",
        "source_file",
        "checksum_ok",
    ]
    .map(|column| row[column].as_str())
    .into();
    assert_eq!(
        line,
        [
            "0",
            "DEFAULT",
            "21641EA7",
            "TIMR",
            "TIMER_01",
            "TIMER_01.timr",
            "5",
            "11",
            "2",
            "0",
            "",
            ""
        ]
    );
    let options = Options {
        verify: true,
        ..Options::default()
    };
    let verified = table(&open(hip.build(), options).unwrap());
    assert_eq!(verified[0]["checksum_ok"], "true");
    assert_eq!(verified[1]["checksum_ok"], "false");
}

#[test]
fn info_has_the_game_and_the_evidence_for_it() {
    let mut hip = Hip::default();
    hip.layer(0).add(Asset::new(b"TIMR", "TIMER_01", b"timer"));
    let archive = opened(&hip);
    let info: serde_json::Value = serde_json::from_str(&archive.text("info.json")).unwrap();
    assert_eq!(info, archive.archive.info());
    assert_eq!(info["game"], "bfbb");
    assert_eq!(info["platform"], "gc");
    assert_eq!(info["platform_detected_by"], "the first string of PLAT");
    assert_eq!(info["PACK"]["PFLG"], "0229002E");
    assert_eq!(
        info["PACK"]["PCRT"]["createdDateString"],
        "Wed Sep 10 17:00:00 2003"
    );
    assert_eq!(info["types"]["Timer"], 1);
    assert_eq!(info["layers"][0]["folder"], "00-DEFAULT");
    assert_eq!(info["warnings"], serde_json::json!([]));
}

#[test]
fn settings_match_hiphoptool() {
    let mut hip = Hip::default();
    let model = Asset {
        source_file: br"\\Job\x.dff".to_vec(),
        flags: 5,
        align: -1,
        checksum: Some(0x12),
        ..Asset::new(b"MODL", "a;b=c", b"model")
    };
    hip.layer(3).add(model.with_id(0xAB));
    hip.layers.push((0, vec![0xAB]));
    hip.layers.push((77, vec![]));
    let expected = r"Game=BFBB
IniVersion=2
PACK.PVER=2;655375;1
PACK.PFLG=36241454
PACK.PCRT=1063238400;Wed Sep 10 17:00:00 2003
PACK.PLAT.Target=GC
PACK.PLAT.RegionFormat=NTSC
PACK.PLAT.Language=US Common
PACK.PLAT.TargetGame=Sponge Bob
PACK.PLAT.TargetPlatformName=GameCube

DICT.ATOC.AINF=0
DICT.LTOC.LINF=0

LayerType=3 MODEL
LHDR.LDBG=-1
Asset=000000AB;Model;5;-1;a_b_c;\\Job\x.dff;00000012
EndLayer

LayerType=0 DEFAULT
AssetAmount=0
LHDR.LDBG=-1
Shared=000000AB
EndLayer

LayerType=77 77
AssetAmount=0
LHDR.LDBG=-1
EndLayer

STRM.DHDR=-1

";
    assert_eq!(opened(&hip).text("types/Settings.ini"), expected);

    let later = opened(&Hip::target(Game::Rotu, Platform::Xbox)).text("types/Settings.ini");
    assert!(later.starts_with("Game=ROTU\n"));
    assert!(later.contains(
        "PACK.PLAT.Target=BX\nPACK.PLAT.RegionFormat=NTSC\nPACK.PLAT.Language=US\n\
         PACK.PLAT.TargetGame=Incredibles\n\nDICT"
    ));
    let scooby = opened(&Hip::target(Game::Scooby, Platform::GameCube)).text("types/Settings.ini");
    assert!(scooby.starts_with("Game=Scooby\nIniVersion=2\nPlatform=gc\nPACK.PVER=2;262150;1\n"));
    assert!(scooby.contains("PACK.PCRT=1029024000;Sat Aug 10 17:00:00 2002\n\nDICT"));

    let mut odd = Hip::target(Game::Incredibles, Platform::Xbox);
    odd.layer(0).add(Asset::new(b"TIMR", "TIMER_01", b"timer"));
    odd.assets.push(Asset::new(b"MRKR", "lone", b"marker"));
    odd.hipb = Some(hipb(0, &[(0, b"Mine=;")], 4));
    let text = opened(&odd).text("types/Settings.ini");
    assert!(
        text.ends_with(
            "EndLayer\n\nUnlayered=0A43E1FA;Marker;2;0;lone;;4E5F7FE4\n\
         HIPB=3;0;0;4\nHIPB.LayerName=0;Mine__\nSTRM.DHDR=-1\n\n"
        ),
        "{text}"
    );
}

#[test]
fn a_truncated_directory_is_damage_unless_forced() {
    let mut hip = Hip::default();
    hip.layer(0)
        .add(Asset::new(b"TIMR", "TIMER_01", b"timer"))
        .add(Asset::new(b"TIMR", "TIMER_02", b"timer"));
    let mut bytes = hip.build();
    let second = bytes.windows(4).rposition(|name| name == b"AHDR").unwrap();
    bytes.truncate(second + 8 + 20);
    let refused = open(bytes.clone(), Options::default()).err().unwrap();
    assert!(matches!(refused, Error::Damaged { .. }), "{refused}");
    let options = Options {
        force: true,
        ..Options::default()
    };
    let archive = open(bytes, options).unwrap();
    assert_eq!(archive.tree.names("layers/unlayered"), ["TIMER_01.timr"]);
}

#[test]
fn a_file_that_is_not_an_archive_is_refused() {
    for bytes in [&b""[..], b"HIPA\0\0", b"PACK\0\0\0\0HIPA"] {
        let error = open(bytes.to_vec(), Options::default()).err().unwrap();
        assert!(matches!(error, Error::UnknownFormat), "{error}");
    }
}

#[test]
fn a_file_of_the_archive_that_does_not_exist_is_an_error() -> Result<()> {
    let archive = open(Hip::default().build(), Options::default())?.archive;
    assert!(archive.content(FileId(99)).is_err());
    assert!(archive.xattr_names(FileId(99)).is_empty());
    Ok(())
}
