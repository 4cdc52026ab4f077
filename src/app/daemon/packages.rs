//! Advice on the package to install for a missing program.
//!
//! A missing `fusermount3` is the most common reason why the first mount on a
//! new system fails, and neither the command nor the package has the same name
//! everywhere. A system costs one line here.

/// Files that identify the system (os-release(5)).
const OS_RELEASE: [&str; 2] = ["/etc/os-release", "/usr/lib/os-release"];

/// Commands that install `fusermount3`, by the name of the system, or of one
/// that it is derived from.
const COMMANDS: &[(&str, &str)] = &[
    ("debian", "apt install fuse3"),
    ("ubuntu", "apt install fuse3"),
    ("fedora", "dnf install fuse3"),
    ("rhel", "dnf install fuse3"),
    ("centos", "dnf install fuse3"),
    ("arch", "pacman -S fuse3"),
    ("alpine", "apk add fuse3"),
    ("opensuse", "zypper install fuse3"),
    ("suse", "zypper install fuse3"),
    ("gentoo", "emerge sys-fs/fuse"),
    ("void", "xbps-install fuse3"),
    ("nixos", "nix-env -iA nixos.fuse3"),
];

/// Returns how to install the program that mounts for ordinary users.
pub(super) fn advice() -> String {
    let mut texts = OS_RELEASE
        .iter()
        .filter_map(|path| std::fs::read_to_string(path).ok());
    advice_for(&texts.next().unwrap_or_default())
}

/// Returns the advice for the system that an os-release(5) describes.
fn advice_for(os_release: &str) -> String {
    let names = ["ID=", "ID_LIKE="].into_iter().filter_map(|key| {
        let mut lines = os_release.lines();
        lines.find_map(|line| line.strip_prefix(key))
    });
    let mut names = names.flat_map(|value| value.trim_matches(['"', '\'']).split_whitespace());
    let command = names.find_map(|name| {
        // For example `opensuse-leap`.
        let family = name.split('-').next().unwrap_or(name);
        let mut known = COMMANDS.iter();
        known.find(|(system, _)| *system == family)
    });
    match command {
        Some((_, command)) => format!("install it with `{command}`"),
        None => "install the package for FUSE 3, called `fuse3` on most systems".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_is_for_the_system_or_for_its_base() {
        for (os_release, command) in [
            (
                "PRETTY_NAME=\"Debian 13\"\nID=debian\n",
                "`apt install fuse3`",
            ),
            (
                "ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n",
                "`apt install fuse3`",
            ),
            (
                "ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n",
                "`dnf install fuse3`",
            ),
            ("ID=fedora\nVERSION_ID=43\n", "`dnf install fuse3`"),
            ("ID=arch\n", "`pacman -S fuse3`"),
            ("ID=alpine\n", "`apk add fuse3`"),
            (
                "ID=\"opensuse-tumbleweed\"\nID_LIKE=\"opensuse suse\"\n",
                "`zypper install fuse3`",
            ),
            ("ID=haiku\n", "called `fuse3` on most systems"),
            ("", "called `fuse3` on most systems"),
        ] {
            let advice = advice_for(os_release);
            assert!(advice.contains(command), "{os_release}: {advice}");
        }
    }
}
