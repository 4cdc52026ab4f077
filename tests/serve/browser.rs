//! The explorer and the page without JavaScript in Chromium: `browser.mjs` and `plain.mjs`
//! have their promises.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fixtures::png_of;
use testkit::mount::hpi;
use testkit::programs::built;
use testkit::skip::possible;
use testkit::trial;

use crate::kit::Server;

/// Names that browsers have on Linux.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// Path of Playwright, which the scripts use.
const PLAYWRIGHT: &str = "web/node_modules/playwright-core";

/// Returns the path of the repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the program of a browser.
fn browser() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<_> = std::env::split_paths(&path).collect();
    let programs = BROWSERS
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    programs.into_iter().find(|program| program.exists())
}

/// Fills a folder for the promises: the demo's games, and more.
fn fill(games: &Path) {
    let demo = Command::new(built("examples/demo")).arg(games).status();
    assert!(demo.unwrap().success());
    let pack = |folder: &str, archive: &str| {
        let packed = hpi("pack")
            .arg("-q")
            .args([games.join(folder), games.join(archive)])
            .status();
        assert!(packed.unwrap().success());
    };
    let tank = fs::read_to_string(games.join("mymod/units/DEMOTANK.FBI")).unwrap();
    let changed = tank.replace("MaxDamage=740;", "MaxDamage=9999;");
    assert_ne!(changed, tank);
    write(games, "patch/units/DEMOTANK.FBI", changed);
    pack("mymod", "mymod.ufo");
    pack("patch", "patch.gp3");

    write(
        games,
        "odd/page.html",
        "<script>document.title = 'ran'</script>",
    );
    write(games, "odd/50% & #1 ü?.txt", "odd but fine: quokka");
    let lines: Vec<_> = (1..=5000)
        .map(|line| format!("line {line} of many"))
        .collect();
    write(games, "odd/long.txt", lines.join("\n"));
    write(games, "odd/loop.wav", sound_with_loop());
    write(games, "many.bin", vec![0x2A; 3 << 20]);
    for number in 0..3000 {
        let name = format!("many/file {number:04}.txt");
        write(games, &name, format!("text {number:04}"));
    }
    for number in 0..80 {
        write(games, &format!("pictures/{number:02}.png"), picture(number));
    }
    for number in 0..trial::part(0, 10_000) {
        write(
            games,
            &format!("thousands/p{number:04}.png"),
            picture(number),
        );
    }
}

fn write(games: &Path, name: &str, bytes: impl AsRef<[u8]>) {
    let path = games.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// Returns a picture in a distinct color.
fn picture(number: u32) -> Vec<u8> {
    let [low, high, ..] = (number * 37).to_le_bytes();
    png_of(24, 24, vec![[low, high, 120, 255]; 24 * 24])
}

/// Returns a sound of half a second, whose second half is a loop.
fn sound_with_loop() -> Vec<u8> {
    const RATE: u32 = 8000;
    const SAMPLES: u32 = RATE / 2;
    let mut smpl = [0_u32; 15];
    smpl[7] = 1;
    smpl[11] = SAMPLES / 2;
    smpl[12] = SAMPLES - 1;
    let format: [u16; 8] = [1, 1, RATE as u16, 0, (2 * RATE) as u16, 0, 2, 16];
    let wave = (0..SAMPLES).map(|at| (f64::from(at) / 6.0).sin() * 9000.0);
    let chunks: [(&[u8; 4], Vec<u8>); 3] = [
        (b"fmt ", format.map(u16::to_le_bytes).concat()),
        (b"smpl", smpl.map(u32::to_le_bytes).concat()),
        (
            b"data",
            wave.flat_map(|sample| (sample as i16).to_le_bytes())
                .collect(),
        ),
    ];
    let mut body = b"WAVE".to_vec();
    for (name, chunk) in chunks {
        body.extend(name);
        body.extend((chunk.len() as u32).to_le_bytes());
        body.extend(chunk);
    }
    [b"RIFF", &(body.len() as u32).to_le_bytes()[..], &body].concat()
}

/// Runs a script of this folder in a browser, and asserts that all promises are kept.
fn run(script: &str, words: &[&str], browser: PathBuf) {
    let ran = Command::new("node")
        .arg(root().join("tests/serve").join(script))
        .args(words)
        .env("CHROMIUM", browser)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = [ran.stdout, ran.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    println!("{said}");
    assert!(ran.status.success(), "{said}");
}

/// Returns the program of a browser, if these files below the repository are there, too.
fn browser_with(files: &[&str]) -> Option<PathBuf> {
    let has_files = files.iter().all(|file| root().join(file).exists());
    let browser = browser().filter(|_| has_files);
    let needed = "needs chromium, and the explorer, which scripts/web builds";
    possible(browser.is_some(), needed).then_some(browser)?
}

#[test]
fn the_explorer_keeps_its_promises_in_a_browser() {
    let Some(browser) = browser_with(&["web/dist/index.html", PLAYWRIGHT]) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let games = folder.path().join("games");
    fill(&games);
    let server = Server::start([&games]);
    let merged = Server::start([games.join("mymod.ufo"), games.join("patch.gp3")]);
    let length = trial::part("part", "whole");
    run("browser.mjs", &[&server.url, &merged.url, length], browser);
}

#[test]
fn the_page_without_javascript_keeps_its_promises_in_a_browser() {
    let Some(browser) = browser_with(&[PLAYWRIGHT]) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let games = folder.path().join("games");
    fill(&games);
    let server = Server::start([&games]);
    run("plain.mjs", &[&server.url], browser);
}
