//! Tests of the screen report.

use super::*;
use crate::table_view::sheet::MAX_LISTED;
use fixtures::heavy_iron as hi;
use hpimount_assets::model::png;

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

/// Returns the common start of all screen objects.
fn placed(position: [f32; 2], size: [f32; 2]) -> Vec<u8> {
    let [x, y] = position;
    let floats = floats(&[x, y, 0.0, size[0], size[1]]);
    [floats, words(&[0, 0xFF00_0080, 0, 0, 0, 0, 0, 0, 0, 0, 0])].concat()
}

fn text(text: &[u8]) -> Vec<u8> {
    let length = text.len() as u32;
    [&length.to_be_bytes(), text, &[0; 4]].concat()
}

/// Returns an element that shows a text.
fn label(name: &str, placed: Vec<u8>) -> Vec<u8> {
    let of_text = [words(&[id("play")]), vec![0; 32]].concat();
    dynamic(name, "ui:text", 2, &[placed, of_text].concat(), &[])
}

/// Returns an element that shows the left half of an image.
fn image(name: &str, placed: Vec<u8>) -> Vec<u8> {
    let image = words(&[id("logo.RW3")]);
    let corners = floats(&[0.0, 0.0, 0.5, 0.0, 0.0, 1.0, 0.5, 1.0]);
    let body = [placed, image, corners, vec![0; 4 + 4 + 16]].concat();
    dynamic(name, "ui:image", 1, &body, &[])
}

/// Returns a texture of two blue columns and two red ones.
fn logo() -> Vec<u8> {
    let texels = [0x001F_001F, 0xF800_F800].repeat(4);
    hi::gamecube(4, 0, [4, 4], &[], &words(&texels), 1)
}

/// Returns the picture of the screen.
fn drawn(archives: &Archives) -> Vec<[u8; 4]> {
    let picture = png::read(&archives.bytes("tables/screen.png"), 640 * 480).unwrap();
    assert_eq!((picture.width, picture.height), (640, 480));
    picture.into_rgba()
}

#[test]
fn texts_name_the_objects_that_show_them() {
    let label = |name: &str| label(name, placed([10.0, 20.0], [30.0, 40.0]));
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
         0x{play:08X}\tplay\tPlay\t0x{first:08X} 0x{second:08X}\tfirst; second\n\
         0x{quit:08X}\tquit\tQuit\t0x{setter:08X}\tsetter\n\
         0x{none:08X}\tnone\t?\t\t\n"
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

#[test]
fn a_screen_has_texts_images_and_models_at_their_places() {
    let moved = {
        let mut placed = placed([100.0, 200.0], [50.0, 10.0]);
        placed[28..32].copy_from_slice(&id("grow").to_be_bytes());
        placed
    };
    let model = [
        placed([f32::NAN, 0.0], [1.0; 2]),
        words(&[id("bob.dff"), 0, 0]),
    ]
    .concat();
    let archives = Archives::new(&[
        ("a.HIP", b"DYNA", "label", label("label", moved)),
        (
            "a.HIP",
            b"DYNA",
            "logo",
            image("logo", placed([96.0, 192.0], [64.0; 2])),
        ),
        (
            "a.HIP",
            b"DYNA",
            "bob",
            dynamic("bob", "ui:model", 2, &model, &[]),
        ),
        (
            "a.HIP",
            b"UIM ",
            "grow",
            object("grow", 0, &words(&[0; 5]), &[]),
        ),
        ("a.HOP", b"TEXT", "play", text(b"Play\n")),
        ("a.HOP", b"RWTX", "logo.RW3", logo()),
        ("a.HOP", b"MODL", "bob.dff", Vec::new()),
    ])
    .of_game(Game::Incredibles);
    let [label, logo, bob] = ["label", "logo", "bob"].map(id);
    let [play, picture, model, grow] = ["play", "logo.RW3", "bob.dff", "grow"].map(id);
    let table = archives.text("tables/screen.tsv");
    let rows: Vec<_> = table.lines().skip(1).collect();
    let expected = [
        format!(
            "0x{label:08X}\tlabel\tui:text\t100\t200\t0\t50\t10\t0x{play:08X}\tplay\tPlay\\n\
             \t\t\t\t\t0x{grow:08X}\tgrow\t\t"
        ),
        format!(
            "0x{logo:08X}\tlogo\tui:image\t96\t192\t0\t64\t64\t\t\t\
             \t0x{picture:08X}\tlogo.RW3\t\t\t\t\t\t"
        ),
        format!(
            "0x{bob:08X}\tbob\tui:model\tNaN:7fc00000\t0\t0\t1\t1\t\t\t\
             \t\t\t0x{model:08X}\tbob.dff\t\t\t\t"
        ),
    ];
    assert_eq!(rows, expected);
    let shown = drawn(&archives);
    let at = |x: usize, y: usize| shown[y * 640 + x];
    assert_eq!([at(95, 192), at(96, 191), at(160, 192)], [[0; 4]; 3]);
    // The left half of the texture fills the image.
    assert_eq!([at(96, 192), at(159, 255)], [[0, 0, 255, 255]; 2]);
    // The text is smaller than the image, and on it.
    assert_eq!([at(100, 200), at(149, 209)], [[255, 220, 80, 255]; 2]);
    assert_eq!(at(110, 205)[3], 255, "its box is over the image");
    assert!(at(110, 205)[0] > 50 && at(110, 205)[2] > 150);
}

#[test]
fn texts_name_a_limited_number_of_objects() {
    let names: Vec<&str> = (0..=MAX_LISTED)
        .map(|number| &*format!("label {number}").leak())
        .collect();
    let place = || placed([0.0; 2], [1.0; 2]);
    let labels = names
        .iter()
        .map(|name| ("a.HIP", b"DYNA", *name, label(name, place())));
    let mut assets = vec![("a.HIP", b"TEXT", "play", text(b"Play"))];
    assets.extend(labels);
    let archives = Archives::new(&assets).of_game(Game::Incredibles);
    let texts = archives.text("texts.tsv");
    let row = texts.lines().nth(1).unwrap();
    let shown_by = names[..MAX_LISTED].join("; ");
    assert_eq!(row.rsplit('\t').next(), Some(&*shown_by));
}

#[test]
fn an_image_that_elements_repeat_is_decoded_once_in_reserved_memory() {
    let names = ["one", "two", "three"];
    let images = names.map(|name| {
        let image = image(name, placed([0.0; 2], [64.0; 2]));
        ("a.HIP", b"DYNA", name, image)
    });
    let mut assets = images.to_vec();
    assets.push(("a.HIP", b"RWTX", "logo.RW3", logo()));
    let archives = Archives::new(&assets).of_game(Game::Incredibles);
    assert_eq!(drawn(&archives)[0], [0, 0, 255, 255]);
    let texture = archives.find(AssetKey::Id(id("logo.RW3"))).unwrap();
    assert_eq!(archives.reads.borrow()[&texture], 1);
    assert_eq!(*archives.reserved.borrow(), [4 * 4 * 4]);
}

#[test]
fn subtitles_are_texts_with_their_times() {
    let head = [words(&[id("words"), 0]), vec![0, 2, 0, 9]].concat();
    let lines = [(0.5, 1.5, 0), (2.0, 3.0, 3)];
    let lines = lines.map(|(start, stop, at)| [floats(&[start, stop]), words(&[at])].concat());
    let subtitles = [head, lines.concat(), b"Hi\0there\0".to_vec()].concat();
    let archives = Archives::new(&[
        ("a.HIP", b"TEXT", "play", text(b"Play")),
        ("a.HIP", b"SUBT", "words", subtitles),
    ])
    .of_game(Game::RatProto);
    let [play, words] = ["play", "words"].map(id);
    let expected = format!(
        "id\tname\ttext\tshown_by\tshown_by_name\tstart\tstop\n\
         0x{play:08X}\tplay\tPlay\t\t\t\t\n\
         0x{words:08X}\twords\tHi\t\t\t0.5\t1.5\n\
         0x{words:08X}\twords\tthere\t\t\t2\t3\n"
    );
    assert_eq!(archives.text("texts.tsv"), expected);
}
