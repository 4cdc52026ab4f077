//! View of a menu of TA: Kingdoms: its strings. Its numbers have no known
//! meaning.

use std::io::{self, Write};

use bytes::Bytes;
use get_size2::GetSize;
use serde::Serialize;

use super::menu;
use hpimount_assets::view::json::{self, Seq};
use hpimount_assets::view::listed::{ListedView, whole_files};
use hpimount_assets::view::{Summary, View};
use hpimount_containers::io::Warnings;

/// A menu.
#[derive(GetSize)]
struct Menu {
    #[get_size(ignore)]
    file: Bytes,
}

/// Returns the view of a file that [is a menu](menu::is_menu).
pub(crate) fn view(file: &Bytes) -> Box<dyn View> {
    Box::new(ListedView {
        model: Menu { file: file.clone() },
        files: whole_files(&[("info.json", info), ("info.txt", page)]),
    })
}

#[derive(Serialize)]
struct Facts<'a> {
    format: &'static str,
    strings: Seq<'a, String>,
    warnings: [String; 0],
}

fn info(shown: &Menu, out: &mut dyn Write) -> io::Result<()> {
    let facts = Facts {
        format: "TA: Kingdoms menu",
        strings: Seq::new(|| menu::strings(&shown.file).map(String::from)),
        warnings: [],
    };
    json::write_pretty(&facts, out)
}

fn page(shown: &Menu, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Summary::new("Menu of TA: Kingdoms");
    let strings: Vec<_> = menu::strings(&shown.file).collect();
    page.list("strings", strings.iter());
    page.write(&Warnings::default(), out)
}
