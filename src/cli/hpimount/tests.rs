//! Parsing of command lines.

use super::*;
use crate::cli::Rejected;
use crate::cli::values::choice;
use crate::mount::Meta;

fn parse(line: &[&str]) -> Result<Args, Rejected> {
    let line = [&["hpimount"], line].concat();
    PROGRAM.parse(line.into_iter().map(OsString::from))
}

fn options(text: &str) -> Result<MountOptions, String> {
    match parse(&["a.hpi", "mnt", "-o", text]) {
        Ok(args) => Ok(args.mount),
        Err(rejected) => Err(rejected.to_string()),
    }
}

fn sources(line: &[&str]) -> Result<Sources, String> {
    match parse(line).unwrap().action()? {
        Action::Mount(sources, _) | Action::Inspect(sources, _) => Ok(sources),
        action => panic!("{action:?}"),
    }
}

#[test]
fn the_command_line_is_valid() {
    PROGRAM.command().debug_assert();
}

#[test]
fn the_last_path_is_the_mount_point() {
    let args = parse(&["a", "b", "mnt", "-o", "ro"]).unwrap();
    let action = args.action().unwrap();
    let Action::Mount(Sources::Given { locations, .. }, mount_point) = action else {
        panic!("{action:?}");
    };
    assert_eq!(locations, ["a", "b"].map(|path| PathBuf::from(path).into()));
    assert_eq!(mount_point, Path::new("mnt"));
}

#[test]
fn a_game_has_a_mount_point_and_no_sources() {
    assert!(matches!(
        sources(&["--game", "ta", "--order", "rwe", "mnt"]),
        Ok(Sources::Game {
            order: Some(Order::Rwe),
            ..
        })
    ));
    assert!(sources(&["--game", "ta", "a.hpi", "mnt"]).is_err());
    assert!(sources(&["--game", "ta", "--order", "cli", "mnt"]).is_err());
    assert_eq!(sources(&["mnt"]).unwrap_err(), "the mount point is missing");
}

#[test]
fn mods_are_folders_above_a_game_in_their_order() {
    let found = sources(&["--game", "gta", "--mod", "a", "--mod=b", "mnt"]);
    let Ok(Sources::Game { mods, .. }) = found else {
        panic!("{found:?}");
    };
    assert_eq!(mods, ["a", "b"].map(PathBuf::from));
    let refused = sources(&["--mod", "a", "b.hpi", "mnt"]).unwrap_err();
    assert_eq!(refused, "--mod requires --game");
}

#[test]
fn the_source_of_list_and_cat_is_followed_by_paths_in_it() {
    let paths = |line: &[&str]| match parse(line).unwrap().action()? {
        Action::Inspect(_, Inspection::List(paths, _) | Inspection::Cat(paths)) => Ok(paths),
        action => Err(format!("{action:?}")),
    };
    assert_eq!(paths(&["-l", "a.hpi"]), Ok(Vec::new()));
    assert_eq!(paths(&["--list", "a.hpi", "b"]), Ok(vec!["b".to_owned()]));
    assert_eq!(paths(&["--cat", "a", "b", "c"]).unwrap().len(), 2);
    assert_eq!(paths(&["--cat", "--game", "ta", "b"]).unwrap().len(), 1);
    assert_eq!(paths(&["--list", "--game", "ta"]), Ok(Vec::new()));
    for line in [
        &["--list"][..],
        &["--cat"],
        &["--cat", "a.hpi"],
        &["--cat", "--game", "ta"],
        &["--json", "a.hpi", "mnt"],
        &["--dat", "list", "--list", "a.hpi"],
        &["--expansion", "7", "--cat", "a.hpi", "b"],
        &["--check"],
    ] {
        assert!(paths(line).is_err(), "{line:?}");
    }
    assert!(parse(&["--list", "--cat", "a", "b"]).is_err());
    assert!(parse(&["--unmount"]).unwrap().action().is_err());
}

#[test]
fn a_mount_that_is_edited_is_not_read_only() {
    let edited = |options: &str| parse(&["--edit", "e", "-o", options, "a.hpi", "mnt"]).unwrap();
    assert!(edited("rw").action().is_ok());
    assert!(edited("ro").action().is_err());
    assert!(parse(&["--edit", "e", "--edit", "f", "a.hpi", "mnt"]).is_err());
}

#[test]
fn folders_of_changes_are_absolute_and_in_order() {
    let args = parse(&["--apply", "/a", "--apply=b", "a.hpi", "mnt"]).unwrap();
    let folders = &args.mount.apply;
    assert_eq!(folders[0], Path::new("/a"));
    assert!(folders[1].is_absolute() && folders[1].ends_with("b"));
    let game = parse(&["--apply", "a", "--game", "ta", "mnt"]).unwrap();
    assert!(game.action().is_ok());
}

#[test]
fn changes_are_those_of_one_mount() {
    let sources = |line: &[&str]| match parse(line).unwrap().action() {
        Ok(Action::Check(check)) => Ok(check.sources.len()),
        Ok(Action::Diff(Diff { sides, .. })) => Ok(sides.len()),
        other => Err(format!("{other:?}")),
    };
    assert_eq!(sources(&["--check", "a.hpi", "b.hpi"]), Ok(2));
    assert_eq!(
        sources(&["--check", "--game", "ta", "--game", "tak", "a.hpi"]),
        Ok(3)
    );
    let apply = |rest: &[&str]| sources(&[&["--apply", "edit"], rest].concat());
    assert_eq!(apply(&["--check", "a.hpi", "b.hpi"]), Ok(1));
    assert_eq!(apply(&["--check", "--game", "ta"]), Ok(1));
    assert_eq!(apply(&["--diff", "a.hpi"]), Ok(2));
    assert_eq!(apply(&["--diff", "--game", "ta"]), Ok(2));
    let problem = apply(&["--check", "--game", "ta", "--game", "tak"]).unwrap_err();
    assert!(problem.contains("one --game"), "{problem}");
    assert!(sources(&["--diff", "a.hpi"]).is_err());
}

#[test]
fn an_invalid_url_is_rejected_with_a_message() {
    for (line, refusal) in [
        (&["gopher://mods/a.hpi", "mnt"][..], "sources are files"),
        #[cfg(feature = "remote")]
        (&["--game", "s3://ta/", "mnt"], "folders on disk only"),
        #[cfg(not(feature = "remote"))]
        (&["s3://ta/", "mnt"], "built without remote sources"),
    ] {
        let problem = sources(line).unwrap_err();
        assert!(problem.contains(refusal), "{problem}");
    }
}

/// Returns a value for an option that takes one.
fn sample(id: &str) -> &'static str {
    match id {
        "uid" => "5",
        "gid" => "6",
        "umask" => "027",
        "cachesize" => "3M",
        "spoolsize" => "2G",
        "readahead" => "1M",
        "timeout" => "3",
        "blockcache" => "cache",
        "blockcachesize" => "3G",
        "header" => "@file",
        "threads" => "2",
        "expansion" => "2000",
        "idle" => "600",
        "palette" => "colors.gpl",
        "apply" => "changes",
        "edit" => "edits",
        "password" => "@file",
        "encoding" => "shift_jis",
        "game" | "mod" | "export" => "folder",
        "dat" => "list.dat",
        "sort" => "size",
        "type" => "fbi",
        "hash" => "sha256",
        "against" => "b.hpi",
        "index" => "all.sqlite",
        "options" => "ro",
        _ => panic!("there is no sample value for {id}"),
    }
}

#[test]
fn every_mount_option_of_the_table_is_accepted() {
    let mut all = Vec::new();
    for option in PROGRAM.mount_options() {
        let id = option.id();
        let choices = option.choices().iter().map(|choice| choice.name);
        let texts: Vec<String> = match (option.value_name(), option.choices()) {
            (None, _) => vec![id.to_owned()],
            (Some(_), []) => vec![format!("{id}={}", sample(id))],
            (Some(_), _) => choices.map(|name| format!("{id}={name}")).collect(),
        };
        for text in &texts {
            options(text).unwrap();
        }
        all.extend(texts);
    }
    let parsed = options(&all.join(",")).unwrap();
    assert!(parsed.allow_other && parsed.no_prefetch);
    assert_eq!(parsed.idle, Some(std::time::Duration::from_secs(600)));
    assert!(parsed.vfs.case_sensitive && parsed.vfs.force && parsed.vfs.verify);
    assert_eq!(
        (parsed.uid, parsed.gid, parsed.umask),
        (Some(5), Some(6), 0o027)
    );
    assert_eq!((parsed.vfs.cache_size, parsed.threads), (3 << 20, Some(2)));
    assert_eq!(parsed.vfs.spool_size, 2 << 30);
    assert_eq!((parsed.vfs.meta, parsed.vfs.companions), (Meta::Off, true));
}

#[test]
fn every_flag_of_the_table_is_accepted() {
    for option in PROGRAM.flags() {
        let id = option.id();
        let choices = option.choices().iter().map(|choice| choice.name);
        let values: Vec<Option<&str>> = match (option.value_name(), option.choices()) {
            (None, _) => vec![None],
            (Some(_), []) => vec![Some(sample(id))],
            (Some(_), _) => choices.map(Some).collect(),
        };
        for (spelling, value) in option
            .spellings()
            .iter()
            .flat_map(|spelling| values.iter().map(move |value| (spelling, value)))
        {
            let operands: &[&str] = if option.exclusive { &[] } else { &["a", "mnt"] };
            let line: Vec<&str> = std::iter::once(spelling.as_str())
                .chain(*value)
                .chain(operands.iter().copied())
                .collect();
            let parsed = parse(&line);
            assert!(parsed.is_ok(), "{line:?}: {parsed:?}");
        }
    }
    let args = parse(&["-f", "-vv", "--strict", "--separate", "a", "mnt"]).unwrap();
    assert!(args.foreground && args.mount.vfs.strict && args.separate);
    assert_eq!(args.log_level(), log::LevelFilter::Debug);
    assert_eq!(
        parse(&["-q", "a", "mnt"]).unwrap().log_level(),
        log::LevelFilter::Error
    );
}

#[test]
fn the_choices_are_all_orders() {
    let order = PROGRAM.flags().find(|option| option.id() == "order");
    let names = order.unwrap().choices().iter().map(|choice| choice.name);
    assert!(names.eq(Order::NAMES.map(|(name, _)| name)));
    for (name, order) in Order::NAMES {
        assert_eq!(choice(name.as_ref(), &Order::NAMES), Ok(order));
    }
}

#[test]
fn the_defaults_match_the_table() {
    let default = |id: &str| {
        let option = PROGRAM.mount_options().find(|option| option.id() == id);
        option.unwrap().default
    };
    let with_defaults = format!(
        "cachesize={},spoolsize={},umask={}",
        default("cachesize"),
        default("spoolsize"),
        default("umask")
    );
    let given = options(&with_defaults).unwrap();
    let unset = MountOptions::default();
    assert_eq!(given.vfs.cache_size, unset.vfs.cache_size);
    assert_eq!(given.vfs.spool_size, unset.vfs.spool_size);
    assert_eq!(given.umask, unset.umask);
    assert_eq!(unset.vfs.meta, Meta::Default);
    assert!(unset.vfs.companions);
}

#[test]
fn of_contradictory_options_the_last_one_wins() {
    let meta = |line: &[&str]| {
        let vfs = parse(&[line, &["a", "mnt"]].concat()).unwrap().mount.vfs;
        (vfs.meta, vfs.companions)
    };
    assert_eq!(meta(&["--no-meta"]), (Meta::Off, false));
    assert_eq!(meta(&["-o", "meta=off"]), (Meta::Off, true));
    assert_eq!(
        meta(&["-o", "meta=visible,meta=hidden"]),
        (Meta::Hidden, true)
    );
    assert_eq!(
        meta(&["-o", "meta=hidden", "-o", "ro,meta=visible"]),
        (Meta::Visible, true)
    );
    assert_eq!(
        meta(&["-o", "meta=hidden", "--no-meta"]),
        (Meta::Off, false)
    );
    assert_eq!(
        meta(&["--no-meta", "-o", "meta=hidden"]),
        (Meta::Hidden, false)
    );
}

#[test]
fn options_that_mount_and_fstab_add_are_accepted() {
    options("rw,nosuid,nodev,noatime,nofail,x-systemd.automount,_netdev,comment=ta").unwrap();
    options(",,ro,").unwrap();
    for ignored in PROGRAM.ignored_mount_options {
        options(ignored).unwrap();
    }
}

#[test]
fn mistakes_are_reported() {
    for (text, message) in [
        (
            "cahcesize=1M",
            "-o cahcesize: unknown option, similar to cachesize",
        ),
        ("zzz", "-o zzz: unknown option"),
        // Neither shows what may be a secret.
        (
            "password=secret",
            "-o password: expected password=@FILE or password=ask",
        ),
        (
            "pasword=secret",
            "-o pasword: unknown option, similar to password",
        ),
        ("umask", "-o umask: expected umask=OOO"),
        ("force=1", "-o force=1: expected force"),
        ("umask=9", "-o umask=9: is not an octal mask"),
        ("umask=1000", "-o umask=1000: is not an octal mask"),
        ("threads=0", "-o threads=0: must be from 1 to 256"),
        ("cachesize=0", "-o cachesize=0: must be at least 1M"),
        ("cachesize=1023K", "-o cachesize=1023K: must be at least 1M"),
        ("threads=257", "-o threads=257: must be from 1 to 256"),
        ("uid=root", "-o uid=root: is not a number"),
        ("spoolsize=1T", "-o spoolsize=1T: is not a number"),
        (
            "meta=shown",
            "-o meta=shown: must be visible, converted, hidden or off",
        ),
        (
            "meta",
            "-o meta: expected meta=visible|converted|hidden|off",
        ),
    ] {
        assert_eq!(options(text).unwrap_err(), message);
    }
}

#[test]
fn the_texts_state_the_actual_limits() {
    let threads = PROGRAM
        .mount_options()
        .find(|option| option.id() == "threads");
    let range = format!("from 1 to {MAX_THREADS}");
    assert!(threads.unwrap().long_help.contains(&range));
}
