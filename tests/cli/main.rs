//! Command lines without a mount, exit codes, and the project itself.

mod architecture;
mod check;
mod check_once;
mod command_line;
mod dependencies;
mod diff;
mod exit_codes;
mod extract;
mod field_tables;
mod foreign_text;
#[cfg(feature = "index")]
mod index;
mod licences;
mod list;
mod shared_folder;
mod terminal;
mod test_kit;
