//! Static keys of one profile in the files of the AWS command line tools.

use std::env;
use std::fs;
use std::path::PathBuf;

/// A key and its secret.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Credentials {
    pub(super) key_id: String,
    pub(super) secret: String,
    pub(super) token: Option<String>,
}

/// The settings of a profile in these files.
#[derive(Default)]
pub(super) struct Profile {
    pub(super) credentials: Option<Credentials>,
    pub(super) region: Option<String>,
}

/// Returns the paths of the file with keys and of the file with settings, which
/// may not exist.
pub(super) fn files() -> [Option<PathBuf>; 2] {
    let home = env::var_os("HOME").map(PathBuf::from);
    [
        ("AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials"),
        ("AWS_CONFIG_FILE", ".aws/config"),
    ]
    .map(|(variable, usual)| {
        let given = env::var_os(variable).map(PathBuf::from);
        given.or_else(|| Some(home.as_ref()?.join(usual)))
    })
}

/// Returns the profile in `AWS_PROFILE`, or else the default one.
///
/// # Errors
/// Returns an error if the variable is set and the profile does not exist.
pub(super) fn of_profile() -> Result<Profile, String> {
    let named = env::var("AWS_PROFILE").ok().filter(|name| !name.is_empty());
    let name = named.as_deref().unwrap_or("default");
    let [keys, settings] = files().map(|file| {
        let text = file.and_then(|file| fs::read_to_string(file).ok());
        text.unwrap_or_default()
    });
    // In the file with settings, the titles of all but the default profile are
    // `profile NAME`.
    let title = match name {
        "default" => name.to_owned(),
        _ => format!("profile {name}"),
    };
    let (keys, settings) = (section(&keys, name), section(&settings, &title));
    if named.is_some() && keys.is_none() && settings.is_none() {
        return Err(format!("AWS_PROFILE={name}: there is no such profile"));
    }
    let (keys, settings) = (keys.unwrap_or_default(), settings.unwrap_or_default());
    let value = |wanted: &str| {
        let mut values = keys.iter().chain(&settings);
        let found = values.find(|(name, _)| name == wanted);
        found.map(|(_, value)| value.clone())
    };
    let credentials = value("aws_access_key_id")
        .zip(value("aws_secret_access_key"))
        .map(|(key_id, secret)| Credentials {
            key_id,
            secret,
            token: value("aws_session_token"),
        });
    Ok(Profile {
        credentials,
        region: value("region"),
    })
}

/// Returns the settings of a section of an INI file.
fn section(text: &str, title: &str) -> Option<Vec<(String, String)>> {
    let mut lines = text.lines().map(str::trim);
    let is_title = |line: &str| {
        let inner = line
            .strip_prefix('[')
            .and_then(|line| line.strip_suffix(']'));
        inner.is_some_and(|inner| inner.trim() == title)
    };
    lines.find(|line| is_title(line))?;
    let settings = lines
        .take_while(|line| !line.starts_with('['))
        .filter(|line| !line.starts_with(['#', ';']))
        .filter_map(|line| line.split_once('='));
    Some(
        settings
            .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_has_its_own_settings() {
        let text = "[default]\nregion = a\n\n[profile mods]\n# region = no\naws_access_key_id=K\n\
            aws_secret_access_key = S=S\n[other]\nregion = b\n";
        let mods = section(text, "profile mods").unwrap();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            mods,
            [
                pair("aws_access_key_id", "K"),
                pair("aws_secret_access_key", "S=S")
            ]
        );
        assert_eq!(section(text, "default").unwrap(), [pair("region", "a")]);
        assert!(section(text, "mods").is_none());
    }
}
