//! Writer of mods with whole files: XML and descriptor.

use quick_xml::escape::escape;
use serde_json::json;

use super::descriptor::TYPE;
use hpimount_containers::io::{Error, Result};

/// Identifier of the single option and its patch.
const ID: &str = "changes";

/// Maximum length of the name of a mod.
const MAX_NAME: usize = 60;

/// A new mod of whole files: `NAME.json`, `riivolution/NAME.xml`, and the changed files
/// in the folder `NAME`, with their paths on the disc.
#[derive(Debug, Clone, Copy)]
pub struct Output<'a> {
    /// The name: letters, digits, spaces, `_`, `.` and `-`, up to 60 characters.
    pub name: &'a str,
    /// The ID of the disc, such as `GXXE01`.
    pub id: &'a str,
    /// Number and version of the disc.
    pub disc: Option<(u8, u8)>,
    /// Paths of the changed and new files: `files/…` or `sys/main.dol`.
    pub files: &'a [String],
    /// The path of the disc for the descriptor.
    pub base_file: Option<&'a str>,
}

impl Output<'_> {
    /// Returns the XML.
    ///
    /// # Errors
    /// Returns an error if the name or the ID is not valid, if there are no files, or if
    /// Riivolution cannot express a file, see [`check_path`].
    pub fn xml(&self) -> Result<String> {
        self.check()?;
        let Self { name, id, .. } = self;
        let disc = self
            .disc
            .map(|(number, version)| format!(" disc=\"{number}\" version=\"{version}\""));
        let (game, region, developer) = (&id[..3], &id[3..4], &id[4..]);
        let mut xml = format!(
            r#"<?xml version="1.0" encoding="utf-8"?>
<wiidisc version="1" root="/{name}">
  <id game="{game}" developer="{developer}"{disc}>
    <region type="{region}"/>
  </id>
  <options>
    <section name="{name}">
      <option name="{name}" id="{ID}" default="1">
        <choice name="Enabled"><patch id="{ID}"/></choice>
      </option>
    </section>
  </options>
  <patch id="{ID}">
"#,
            disc = disc.unwrap_or_default(),
        );
        for path in self.files {
            let disc =
                disc_path(path).map_err(|error| Error::Unsupported(format!("{path}: {error}")))?;
            let (external, disc) = (escape(&**path), escape(disc));
            xml +=
                &format!("    <file disc=\"{disc}\" external=\"{external}\" create=\"true\"/>\n");
        }
        Ok(xml + "  </patch>\n</wiidisc>\n")
    }

    /// Returns the descriptor, in JSON. Dolphin starts it if its name ends in `.json`.
    ///
    /// # Errors
    /// Returns an error if the name or the ID is not valid, or if there are no files.
    pub fn descriptor(&self) -> Result<String> {
        self.check()?;
        let option = json!({"section-name": self.name, "option-id": ID, "choice": 1});
        let patch = json!({
            "xml": format!("riivolution/{}.xml", self.name),
            "root": ".",
            "options": [option],
        });
        let mut json = json!({
            "type": TYPE,
            "version": 1,
            "display-name": self.name,
            "riivolution": {"patches": [patch]},
        });
        if let Some(base_file) = self.base_file {
            json["base-file"] = base_file.into();
        }
        Ok(format!("{json:#}\n"))
    }

    fn check(&self) -> Result<()> {
        let is_valid = |letter: char| letter.is_ascii_alphanumeric() || " _.-".contains(letter);
        let is_name = (1..=MAX_NAME).contains(&self.name.len()) && !self.name.starts_with('.');
        if !is_name || !self.name.chars().all(is_valid) {
            return refuse(format!("{:?} cannot be the name of a mod", self.name));
        }
        let is_id =
            self.id.len() == 6 && self.id.chars().all(|letter| letter.is_ascii_alphanumeric());
        if !is_id {
            return refuse(format!("{:?} is not the ID of a disc", self.id));
        }
        match self.files.is_empty() {
            true => refuse("nothing has changed".to_owned()),
            false => Ok(()),
        }
    }
}

/// Checks that Riivolution can express a change of the file with this path.
///
/// # Errors
/// Returns an error if it is in `sys/` and not `main.dol`, or has a name that is not
/// Shift-JIS or that XML cannot hold.
pub fn check_path(path: &str) -> Result<()> {
    disc_path(path).map(drop)
}

/// Returns the path of a file in Riivolution's notation.
fn disc_path(path: &str) -> Result<&str> {
    // XML normalizes line ends and tabs in attributes, and forbids other control
    // characters.
    let is_odd = |letter: char| letter.is_control() || matches!(letter, '\u{FFFE}' | '\u{FFFF}');
    if path.contains(char::REPLACEMENT_CHARACTER) {
        return refuse("has a name that is not Shift-JIS".to_owned());
    }
    if path.contains(is_odd) {
        return refuse("has a name that XML cannot hold".to_owned());
    }
    match (path, path.strip_prefix("files")) {
        ("sys/main.dol", _) => Ok("main.dol"),
        (_, Some(rest)) if rest.len() > 1 && rest.starts_with('/') => Ok(rest),
        _ => refuse(
            "is neither in files/ nor sys/main.dol, and Riivolution changes nothing else"
                .to_owned(),
        ),
    }
}

fn refuse<T>(problem: String) -> Result<T> {
    Err(Error::Unsupported(problem))
}
