//! The values of `-o`, which mount(8) and fstab(5) have too.

mod table;

use std::ffi::{OsStr, OsString};

use clap_lex::OsStrExt;

pub(super) use self::table::IGNORED;
pub use self::table::MOUNT_OPTIONS;
use crate::app::MountOptions;

/// The placeholder of a file with a secret.
const SECRET_FILE: &str = "@FILE";

/// Minimum Jaro-Winkler similarity of a misspelt name to one that is suggested, from 0 to 1.
const SIMILAR: f64 = 0.85;

/// An option, with its texts for help, man page, completions and docs/OPTIONS.md.
#[derive(Debug)]
pub struct MountOption {
    /// Its name.
    pub name: &'static str,
    /// The placeholder of its value, or all its values with `|` between them; empty if it
    /// has none.
    pub value: &'static str,
    /// One line without a full stop.
    pub help: &'static str,
    /// A paragraph for the man page; names are in backticks.
    pub details: &'static str,
    /// The behavior without the option: a value or a few words.
    pub default: &'static str,
    set: Set,
}

/// Setter of an option.
#[derive(Debug)]
enum Set {
    /// Something that is off without it.
    On(fn(&mut Settings)),
    /// A value, or a message.
    To(fn(&mut Settings, &OsStr) -> Result<(), String>),
}

/// Settings that mount options make.
#[derive(Debug, Default)]
pub(super) struct Settings {
    pub(super) mount: MountOptions,
    pub(super) is_read_only: bool,
}

impl MountOption {
    /// Returns its usage: `ro`, `uid=N`.
    pub fn usage(&self) -> String {
        match self.value {
            "" => self.name.to_owned(),
            value => format!("{}={value}", self.name),
        }
    }

    /// Returns how completions write it: `ro`, `uid=`, or once for each of its values.
    pub fn completions(&self) -> Vec<String> {
        match self.value {
            value if value.contains('|') => {
                let values = value.split('|');
                values
                    .map(|value| format!("{}={value}", self.name))
                    .collect()
            }
            "" => vec![self.name.to_owned()],
            _ => vec![format!("{}=", self.name)],
        }
    }
}

/// Returns the options, one per line.
pub(super) fn help() -> String {
    let line = |option: &MountOption| {
        let help = match option.default {
            default if option.value.is_empty() || default.contains(' ') => option.help.to_owned(),
            default => format!("{} [default: {default}]", option.help),
        };
        format!("  {:<24} {help}\n", option.usage())
    };
    let lines = MOUNT_OPTIONS.iter().map(line);
    format!("Mount options (-o):\n{}", lines.collect::<String>())
}

/// Returns the options with their paragraphs.
pub(super) fn long_help() -> String {
    let entry = |option: &MountOption| {
        let (usage, details) = (option.usage(), option.details);
        format!(
            "  {usage}\n          {details}\n          [default: {}]\n\n",
            option.default
        )
    };
    let entries = MOUNT_OPTIONS.iter().map(entry);
    format!("Mount options (-o):\n{}", entries.collect::<String>())
}

/// Parses options, which apply in this order.
///
/// # Errors
/// Returns a message about the first one that is unknown or has a wrong value.
pub(super) fn parse(options: &[OsString]) -> Result<Settings, String> {
    let mut settings = Settings::default();
    for option in options.iter().filter(|option| !option.is_empty()) {
        apply(option, &mut settings)?;
    }
    Ok(settings)
}

fn apply(text: &OsStr, settings: &mut Settings) -> Result<(), String> {
    let (name, value) = match text.split_once("=") {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    };
    if is_ignored(name) {
        return Ok(());
    }
    let name = name.to_string_lossy();
    let mut options = MOUNT_OPTIONS.iter();
    let option = options.find(|option| option.name == name);
    let option = option.ok_or_else(|| format!("-o {name}: unknown option{}", suggestion(&name)))?;
    let applied = match (&option.set, value) {
        (Set::On(set), None) => {
            set(settings);
            Ok(())
        }
        (Set::To(set), Some(value)) => set(settings, value),
        _ => Err(format!("expected {}", option.usage())),
    };
    applied.map_err(|problem| match option.value {
        // The text given instead of the file may be the secret itself.
        SECRET_FILE => format!("-o {name}: {problem}"),
        _ => format!("-o {}: {problem}", text.display()),
    })
}

/// Returns a hint at the option that is most similar to a misspelt name; empty if none is.
fn suggestion(name: &str) -> String {
    let known = MOUNT_OPTIONS.iter().map(|option| option.name);
    let rated = known.map(|known| (strsim::jaro_winkler(name, known), known));
    let best = rated.max_by(|(one, _), (other, _)| one.total_cmp(other));
    match best {
        Some((similarity, known)) if similarity >= SIMILAR => format!(", similar to {known}"),
        _ => String::new(),
    }
}

/// Returns whether an option is one of mount(8) and fstab(5) that is
/// ignored here; those that begin with `x-` are for other programs.
fn is_ignored(name: &OsStr) -> bool {
    name.starts_with("x-") || IGNORED.iter().any(|ignored| *ignored == name)
}

#[cfg(test)]
mod tests {
    use super::table::MAX_THREADS;
    use super::*;
    use crate::mount::Meta;

    fn options(text: &str) -> Result<MountOptions, String> {
        let options: Vec<OsString> = text.split(',').map(OsString::from).collect();
        parse(&options).map(|settings| settings.mount)
    }

    fn option(name: &str) -> &'static MountOption {
        let mut options = MOUNT_OPTIONS.iter();
        options.find(|option| option.name == name).unwrap()
    }

    /// Returns a value for an option that takes one.
    fn sample(name: &str) -> &'static str {
        match name {
            "uid" => "5",
            "gid" => "6",
            "umask" => "027",
            "cachesize" => "3M",
            "spoolsize" => "2G",
            "readahead" => "1M",
            "timeout" => "3",
            "blockcache" => "cache",
            "blockcachesize" => "3G",
            "header" | "password" => "@file",
            "threads" => "2",
            "idle" => "600",
            "palette" => "colors.gpl",
            "encoding" => "shift_jis",
            _ => panic!("there is no sample value for {name}"),
        }
    }

    #[test]
    fn every_option_of_the_table_is_accepted() {
        let mut all = Vec::new();
        for option in MOUNT_OPTIONS {
            for text in option.completions() {
                let value = if text.ends_with('=') {
                    sample(option.name)
                } else {
                    ""
                };
                all.push(text + value);
                options(&all[all.len() - 1]).unwrap();
            }
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
    fn the_defaults_match_the_table() {
        let names = ["cachesize", "spoolsize", "umask"];
        let defaults = names.map(|name| format!("{name}={}", option(name).default));
        let given = options(&defaults.join(",")).unwrap();
        let unset = MountOptions::default();
        assert_eq!(given.vfs.cache_size, unset.vfs.cache_size);
        assert_eq!(given.vfs.spool_size, unset.vfs.spool_size);
        assert_eq!(given.umask, unset.umask);
        assert_eq!(unset.vfs.meta, Meta::Default);
        assert!(unset.vfs.companions);
    }

    #[test]
    fn of_contradictory_options_the_last_one_wins() {
        let meta = |text: &str| options(text).unwrap().vfs.meta;
        assert_eq!(meta("meta=visible,meta=hidden"), Meta::Hidden);
        assert_eq!(meta("meta=hidden,ro,meta=visible"), Meta::Visible);
    }

    #[test]
    fn options_that_mount_and_fstab_add_are_accepted() {
        options("rw,nosuid,nodev,noatime,nofail,x-systemd.automount,_netdev,comment=ta").unwrap();
        options(",,ro,").unwrap();
        for ignored in IGNORED {
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
        let range = format!("from 1 to {MAX_THREADS}");
        assert!(option("threads").details.contains(&range));
    }
}
