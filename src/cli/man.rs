//! Man pages.

use std::io;

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, italic, roman};

use super::mount_options::{IGNORED, MOUNT_OPTIONS};
use super::pages::{Block, DESCRIPTION, Section, sections};
use super::{HPI, command};
use crate::app::EXIT_REASONS;

/// Maximum length of a line of roff in bytes, with two more for an escape.
const WIDTH: usize = 76;

/// The date of the last change to the pages.
const DATE: &str = "2026-11-29";

/// Returns the man page of a command, or of `hpi`, in roff.
///
/// # Errors
/// Returns a message if there is no such command.
pub fn man(name: Option<&str>) -> Result<String, String> {
    let mut hpi = command(HPI).long_about(DESCRIPTION);
    hpi.build();
    // As for mount(8), which calls it, and all other helpers of that program.
    let (command, section) = match name {
        None => (hpi, "1"),
        Some("mount") => (command("hpimount").display_name("hpimount"), "8"),
        Some(name) => match hpi.find_subcommand(name) {
            Some(command) => (command.clone(), "1"),
            None => return Err(format!("{name}: is not a command")),
        },
    };
    let title = command.get_display_name().unwrap_or(HPI).to_owned();
    Ok(page(command, &title, section, name.unwrap_or_default()))
}

/// Returns the man pages of `hpi` and of all commands, with their paths in a folder of man
/// pages.
pub fn man_pages() -> Vec<(String, String)> {
    let hpi = command(HPI);
    let names = hpi
        .get_subcommands()
        .map(|command| Some(command.get_name()));
    let path = |name| match name {
        None => "man1/hpi.1".to_owned(),
        Some("mount") => "man8/hpimount.8".to_owned(),
        Some(name) => format!("man1/{HPI}-{name}.1"),
    };
    let pages = std::iter::once(None).chain(names);
    let page = |name| Some((path(name), man(name).ok()?));
    pages.filter_map(page).collect()
}

fn page(command: Command, title: &str, section: &str, name: &str) -> String {
    let mut body = Roff::new();
    if name == "mount" {
        mount_options(&mut body);
    }
    let (before, after) = sections(name);
    before.iter().for_each(|one| add_section(&mut body, one));
    body.control("SH", ["EXIT STATUS"]);
    for reason in EXIT_REASONS {
        item(&mut body, vec![bold(reason.code.to_string())]);
        body.text(marked(&format!("{}.", reason.meaning)));
    }
    after.iter().for_each(|one| add_section(&mut body, one));

    // Each part begins with the same definitions, which are needed only once.
    let definitions = Roff::new().render();
    let head = head(command, title, section);
    debug_assert!(head.is_ok(), "writing to memory does not fail");
    let head = bold_names(&String::from_utf8_lossy(&head.unwrap_or_default()));
    let parts = head + &body.render();
    definitions.clone() + &wrapped(&parts.replace(&definitions, ""))
}

/// Returns the sections that clap_mangen makes.
fn head(command: Command, title: &str, section: &str) -> io::Result<Vec<u8>> {
    let has_commands = command.has_subcommands();
    let man = Man::new(command)
        .title(title.to_uppercase())
        .section(section)
        .date(DATE)
        .source(format!("{HPI} {}", env!("CARGO_PKG_VERSION")))
        .manual("hpimount manual");
    let mut head = Vec::new();
    man.render_title(&mut head)?;
    man.render_name_section(&mut head)?;
    man.render_synopsis_section(&mut head)?;
    // Do not hyphenate names of files and options.
    head.extend_from_slice(b".nh\n.ad l\n");
    man.render_description_section(&mut head)?;
    man.render_options_section(&mut head)?;
    if has_commands {
        man.render_subcommands_section(&mut head)?;
    }
    Ok(head)
}

/// Sets the names that are in backticks in bold type.
fn bold_names(page: &str) -> String {
    let mut text = String::with_capacity(page.len());
    for (number, part) in page.split('`').enumerate() {
        text += match number {
            0 => "",
            _ if number % 2 == 1 => r"\fB",
            _ => r"\fR",
        };
        text += part;
    }
    text
}

/// Breaks the long lines of a page, except for preformatted ones.
fn wrapped(page: &str) -> String {
    let mut text = String::new();
    let mut literal = false;
    for line in page.lines() {
        literal = (literal || line == ".nf") && line != ".fi";
        if literal || line.starts_with('.') {
            text += line;
            text += "\n";
            continue;
        }
        if line.is_empty() {
            // A further paragraph after a term.
            text += ".IP\n";
            continue;
        }
        let mut length = 0;
        for word in line.trim_end().split(' ') {
            if length > 0 && length + 1 + word.len() > WIDTH {
                text += "\n";
                length = 0;
                // A period or an apostrophe at the start of a line would be a request.
                if word.starts_with(['.', '\'']) {
                    text += r"\&";
                }
            } else if length > 0 {
                text += " ";
                length += 1;
            }
            text += word;
            length += word.len();
        }
        text += "\n";
    }
    text
}

fn mount_options(body: &mut Roff) {
    body.control("SH", ["MOUNT OPTIONS"]);
    body.text(marked("The values of `-o`, separated by commas."));
    for option in MOUNT_OPTIONS {
        let mut term = vec![bold(option.name)];
        if !option.value.is_empty() {
            term.extend([roman("="), italic(option.value)]);
        }
        item(body, term);
        let text = format!("{} Default: {}.", option.details, option.default);
        body.text(marked(&text));
    }
    body.control("PP", []);
    body.text(marked(
        "Options that `mount(8)` and `fstab(5)` add are accepted and change nothing, because the \
         file system is mounted `nosuid` and `nodev` in any case, and read-only without `--edit`. These are the \
         options that begin with `x-`, and:",
    ));
    body.text(marked(&format!("`{}`.", IGNORED.join("`, `"))));
}

fn add_section(body: &mut Roff, section: &Section) {
    body.control("SH", [section.heading]);
    for (number, block) in section.blocks.iter().enumerate() {
        match block {
            Block::Text(text) => {
                if number > 0 {
                    body.control("PP", []);
                }
                body.text(marked(text));
            }
            Block::Code(lines) => code(body, lines),
            Block::Item(term, text) => {
                item(body, vec![bold(*term)]);
                body.text(marked(text));
            }
        }
    }
}

/// Begins a paragraph after a term.
fn item(body: &mut Roff, term: Vec<Inline>) {
    body.control("TP", []);
    body.text(term);
}

fn code(body: &mut Roff, lines: &str) {
    body.control("PP", []);
    body.control("RS", ["4"]);
    body.control("nf", []);
    for line in lines.lines() {
        body.text([roman(line)]);
    }
    body.control("fi", []);
    body.control("RE", []);
}

/// Returns a text with bold type instead of backticks.
fn marked(text: &str) -> Vec<Inline> {
    let parts = text.split('`').enumerate();
    parts
        .map(|(number, part)| match number % 2 {
            0 => roman(part),
            _ => bold(part),
        })
        .collect()
}
