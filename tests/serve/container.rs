//! The command of the Containerfile's image, which `scripts/container` builds.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use testkit::mount::{Fixture, hpi};

const CONTAINERFILE: &str = include_str!("../../Containerfile");

/// Returns the words of an instruction of the image.
fn words(instruction: &str) -> Vec<String> {
    let mut lines = CONTAINERFILE.lines();
    let words = lines.find_map(|line| line.strip_prefix(instruction));
    serde_json::from_str(words.unwrap()).unwrap()
}

/// Runs the command of the image with other places, and returns the token in the URL that it
/// prints first.
fn token_of_image(data: &Path, token: &Path) -> String {
    assert_eq!(words("ENTRYPOINT"), ["hpi", "serve"]);
    let words = words("CMD");
    let words = words.iter().map(|word| match word.as_str() {
        "0.0.0.0:8417" => "0.0.0.0:0".into(),
        "@/run/token" => format!("@{}", token.display()),
        "/data" => data.display().to_string(),
        option => option.to_owned(),
    });
    let mut server = hpi("serve")
        .args(words)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut output = BufReader::new(server.stdout.take().unwrap());
    output.read_line(&mut line).unwrap();
    server.kill().unwrap();
    server.wait().unwrap();
    let (_, token) = line.split_once("/?token=").expect("a URL with a token");
    token.trim().to_owned()
}

#[test]
fn the_image_prints_a_random_token_unless_it_has_one() {
    let fixture = Fixture::new();
    let token = fixture.archive.with_extension("token");
    let first = token_of_image(&fixture.archive, &token);
    assert_eq!(first.len(), 26);
    assert_ne!(token_of_image(&fixture.archive, &token), first);
    fs::write(&token, "a-token-that-was-given\n").unwrap();
    assert_eq!(
        token_of_image(&fixture.archive, &token),
        "a-token-that-was-given"
    );
}

#[test]
fn the_image_has_an_unprivileged_user_and_known_features() {
    let mut lines = CONTAINERFILE.lines();
    assert!(lines.any(|line| line == "USER 65534:65534"));
    let manifest: toml::Table = include_str!("../../Cargo.toml").parse().unwrap();
    let features = manifest["features"].as_table().unwrap();
    let chosen = CONTAINERFILE.split("--features ").nth(1).unwrap();
    for feature in chosen.split_whitespace().next().unwrap().split(',') {
        assert!(features.contains_key(feature), "{feature}");
    }
}
