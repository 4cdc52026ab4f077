//! "Open with hpi" in Explorer, for this user: no administrator is needed, and no other
//! program loses its files.

use std::io;
use std::path::Path;

use windows_registry::CURRENT_USER;

/// Registry key of this user's file types.
const CLASSES: &str = r"Software\Classes";
/// The name of the program among those that open files.
const PROGRAM: &str = "hpi.archive";
/// The list, at each extension, of programs that can open its files.
const PROGRAMS: &str = "OpenWithProgids";

/// Offers `program`, with these words before the file, for files with these extensions.
///
/// # Errors
/// Returns the error of the operating system.
pub fn register(program: &Path, words: &str, extensions: &[&str]) -> io::Result<()> {
    let class = CURRENT_USER.create(format!(r"{CLASSES}\{PROGRAM}"))?;
    class.set_string("", "Game archive")?;
    let command = class.create(r"shell\open\command")?;
    let program = program.display();
    command.set_string("", format!("\"{program}\" {words} \"%1\""))?;
    for extension in extensions {
        let programs = CURRENT_USER.create(format!(r"{CLASSES}\.{extension}\{PROGRAMS}"))?;
        programs.set_string(PROGRAM, "")?;
    }
    Ok(())
}

/// Takes back what [`register`] has done.
///
/// # Errors
/// Returns the error of the operating system, unless it was not done.
pub fn unregister(extensions: &[&str]) -> io::Result<()> {
    for extension in extensions {
        let path = format!(r"{CLASSES}\.{extension}\{PROGRAMS}");
        let programs = CURRENT_USER.options().read().write().open(path);
        if let Ok(programs) = programs
            && programs.get_type(PROGRAM).is_ok()
        {
            programs.remove_value(PROGRAM)?;
        }
    }
    let classes = CURRENT_USER.create(CLASSES)?;
    match classes.open(PROGRAM) {
        Ok(_) => Ok(classes.remove_tree(PROGRAM)?),
        Err(_) => Ok(()),
    }
}
