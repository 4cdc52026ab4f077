//! What is on the screen: texts.

use super::*;

/// Returns a DYNA asset with its own fields.
fn dynamic(
    name: &str,
    kind: &str,
    version: u32,
    body: &[u8],
    links: &[(u16, u16, u32)],
) -> Vec<u8> {
    let head = words(&[id(kind), version << 16]);
    object(name, 0, &[&head, body].concat(), links)
}

/// Returns what all objects of a screen begin with.
fn placed(position: [f32; 2], size: [f32; 2]) -> Vec<u8> {
    let [x, y] = position;
    let floats = floats(&[x, y, 0.0, size[0], size[1]]);
    [floats, words(&[0, 0xFF00_0080, 0, 0, 0, 0, 0, 0, 0, 0, 0])].concat()
}

fn text(text: &[u8]) -> Vec<u8> {
    let length = text.len() as u32;
    [&length.to_be_bytes(), text, &[0; 4]].concat()
}

#[test]
fn texts_name_the_objects_that_show_them() {
    let label = |name: &str| {
        let of_text = [words(&[id("play")]), vec![0; 32]].concat();
        let body = [placed([10.0, 20.0], [30.0, 40.0]), of_text].concat();
        dynamic(name, "ui:text", 2, &body, &[])
    };
    let mut setter = dispatcher("setter", &[(1, 2, id("first"))]);
    // The first parameter of its link.
    setter[16..20].copy_from_slice(&id("quit").to_be_bytes());
    let archives = Archives::new(&[
        ("a.HIP", b"TEXT", "play", text(b"Play")),
        ("a.HIP", b"TEXT", "quit", text(b"Quit")),
        ("a.HIP", b"TEXT", "none", text(b"?")),
        ("a.HIP", b"DYNA", "first", label("first")),
        ("a.HIP", b"DYNA", "second", label("second")),
        ("a.HIP", b"DPAT", "setter", setter),
    ])
    .of_game(Game::Incredibles);
    let [play, quit, none, first, second, setter] =
        ["play", "quit", "none", "first", "second", "setter"].map(id);
    let expected = format!(
        "id\tname\ttext\tshown_by\tshown_by_name\n\
         {play:08X}\tplay\tPlay\t{first:08X} {second:08X}\tfirst; second\n\
         {quit:08X}\tquit\tQuit\t{setter:08X}\tsetter\n\
         {none:08X}\tnone\t?\t\t\n"
    );
    assert_eq!(archives.text("texts.tsv"), expected);
    let mut referring = Vec::new();
    for references in REFERENCES {
        let visit = &mut |one: hpimount_assets::view::report::Reference| {
            referring.extend((one.to[0] == "play").then_some((one.from[0].clone(), one.field)));
            Ok(())
        };
        (references.each)(&archives, visit).unwrap();
    }
    let expected = ["first", "second"].map(|name| (name.to_owned(), "text".to_owned()));
    assert_eq!(referring, expected, "the index finds the objects");
}
