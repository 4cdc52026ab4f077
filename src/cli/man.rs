//! Man pages.

use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, italic, roman};

use super::text::wrap;
use super::{Block, OptionSpec, Program, Section};

/// Maximum length of a line of roff in bytes, with two more for an escape.
const WIDTH: usize = 76;

/// The date of the last change to the pages.
const DATE: &str = "2026-11-28";

/// Returns the man page of a program, in roff.
pub fn page<S>(program: &Program<S>) -> String {
    let man = Man::new(program.command().about(program.summary))
        .title(program.name.to_uppercase())
        .section(program.manual_section)
        .date(DATE)
        .source(format!("{} {}", program.name, env!("CARGO_PKG_VERSION")))
        .manual("hpimount manual");
    let mut head = Vec::new();
    let rendered = man
        .render_title(&mut head)
        .and_then(|()| man.render_name_section(&mut head))
        .and_then(|()| man.render_synopsis_section(&mut head));
    debug_assert!(rendered.is_ok(), "writing to memory does not fail");

    let mut body = Roff::new();
    // Do not hyphenate names of files and options.
    body.control("nh", []).control("ad", ["l"]);
    description(&mut body, program);
    body.control("SH", ["OPTIONS"]);
    program.flags().for_each(|option| entry(&mut body, option));
    item(&mut body, vec![bold("-h"), roman(", "), bold("--help")]);
    body.text([
        roman("Print a summary of the options, or with "),
        bold("--help"),
    ]);
    body.text([roman("the full descriptions given here.")]);
    item(&mut body, vec![bold("-V"), roman(", "), bold("--version")]);
    body.text([roman("Print the version.")]);
    mount_options(&mut body, program);
    sections(&mut body, program.sections);
    body.control("SH", ["EXIT STATUS"]);
    for reason in program.exit_reasons {
        item(&mut body, vec![bold(reason.code.to_string())]);
        body.text(marked(&format!("{}.", reason.meaning)));
    }
    sections(&mut body, program.last_sections);

    // Each part begins with the same definitions, which are needed only once.
    let definitions = Roff::new().render();
    let parts = String::from_utf8_lossy(&head).into_owned() + &body.render();
    definitions.clone() + &wrapped(&parts.replace(&definitions, ""))
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
        for (number, part) in wrap(line, WIDTH).into_iter().enumerate() {
            // A period or an apostrophe at the start of a line would be a
            // request.
            if number > 0 && part.starts_with(['.', '\'']) {
                text += r"\&";
            }
            text += &part;
            text += "\n";
        }
    }
    text
}

fn description<S>(body: &mut Roff, program: &Program<S>) {
    body.control("SH", ["DESCRIPTION"]);
    for (number, paragraph) in program.description.iter().enumerate() {
        if number > 0 {
            body.control("PP", []);
        }
        body.text(marked(paragraph));
    }
}

fn mount_options<S>(body: &mut Roff, program: &Program<S>) {
    if program.mount_options().next().is_none() {
        return;
    }
    body.control("SH", ["MOUNT OPTIONS"]);
    body.text(marked("The values of `-o`, separated by commas."));
    for option in program.mount_options() {
        entry(body, option);
    }
    body.control("PP", []);
    body.text(marked(
        "Options that `mount(8)` and `fstab(5)` add are accepted and change nothing, because the \
         file system is mounted `nosuid` and `nodev` in any case, and read-only without `--edit`. These are the \
         options that begin with `x-`, and:",
    ));
    let mut names = Vec::new();
    for (number, name) in program.ignored_mount_options.iter().enumerate() {
        names.push(roman(if number == 0 { "" } else { ", " }));
        names.push(bold(*name));
    }
    names.push(roman("."));
    body.text(names);
}

/// Appends the full description of an option.
fn entry<S>(body: &mut Roff, option: &OptionSpec<S>) {
    let mut term = Vec::new();
    for (number, spelling) in option.spellings().into_iter().enumerate() {
        term.push(roman(if number == 0 { "" } else { ", " }));
        term.push(bold(spelling));
    }
    if let Some(value) = option.value_name() {
        term.push(roman(if option.is_mount_option() { "=" } else { " " }));
        term.push(italic(value));
    }
    item(body, term);
    body.text(marked(&format!(
        "{} Default: {}.",
        option.long_help, option.default
    )));
    if option.choices().is_empty() {
        return;
    }
    body.control("RS", []);
    for choice in option.choices() {
        item(body, vec![bold(choice.name)]);
        body.text(marked(&format!("{}.", choice.help)));
    }
    body.control("RE", []);
}

fn sections(body: &mut Roff, sections: &[Section]) {
    for section in sections {
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
