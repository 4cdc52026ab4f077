//! Destinations as paths: constants in braces become directories of their names.

/// Returns the path of a destination, with slashes. `..` leads up, but not above the
/// root. Characters that names on Windows cannot have are `$`.
pub(super) fn expanded(destination: &str) -> String {
    let (mut text, mut depth) = (String::with_capacity(destination.len()), 0);
    let mut characters = destination.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '{' if characters.next_if_eq(&'{').is_some() => text.push('{'),
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            _ => text.push(character),
        }
    }
    relative("", &text)
}

/// Returns the path of `name`, which is relative to the directory `below`.
pub(super) fn relative(below: &str, name: &str) -> String {
    let mut path = String::new();
    for component in [below].into_iter().chain(name.split(['\\', '/'])) {
        match component {
            "" | "." => {}
            ".." => path.truncate(path.rfind('/').unwrap_or(0)),
            _ => {
                if !path.is_empty() {
                    path.push('/');
                }
                let shown = |character| match is_invalid(character) {
                    true => '$',
                    false => character,
                };
                path.extend(component.chars().map(shown));
            }
        }
    }
    path
}

/// Returns whether names on Windows cannot have a character.
fn is_invalid(character: char) -> bool {
    character < ' ' || matches!(character, '<' | '>' | ':' | '"' | '|' | '?' | '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_directories_and_no_path_leads_out() {
        for (destination, path) in [
            ("{app}\\maps\\a.dat", "app/maps/a.dat"),
            ("{code:Place|x}\\y", "code$Place$x/y"),
            ("{reg:HKLM\\X,Path|{pf}\\X}\\z", "reg$HKLM/X,Path$pf/X/z"),
            ("{app}\\{{brace}\\x", "app/{brace}/x"),
            ("C:\\a?b", "C$/a$b"),
            ("{app}\\..\\beside", "beside"),
            ("{app}\\..\\..\\..\\x", "x"),
            ("", ""),
        ] {
            assert_eq!(expanded(destination), path, "{destination}");
        }
        assert_eq!(relative("app", "a\\{b}.txt"), "app/a/{b}.txt");
    }
}
