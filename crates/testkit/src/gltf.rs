//! Independent programs that read GLB files.

use std::path::Path;
use std::process::Command;

use crate::shown::bytes_of;
use crate::skip::skip;
use serde_json::Value;

/// Node script that prints the validator's errors for the given files.
const VALIDATE: &str = "
const { validateBytes } = require(process.env.GLTF_VALIDATOR || 'gltf-validator');

const fs = require('fs');

(async () => {
    for (const file of process.argv.slice(1)) {
        const { issues } = await validateBytes(new Uint8Array(fs.readFileSync(file)));
        const bad = issues.messages.filter((message) => message.severity === 0);
        if (bad.length) console.log(file, JSON.stringify(bad.slice(0, 9)));
    }
})();";

/// Asserts that gltf-validator finds no errors in some files. It is installed with `npm
/// install gltf-validator`. If node does not find it, `GLTF_VALIDATOR` must be its
/// folder.
pub fn validate(files: &[impl AsRef<Path>]) {
    let node = |script: &str| {
        let mut command = Command::new("node");
        command.args(["-e", script]);
        command
    };
    let found = node("require(process.env.GLTF_VALIDATOR || 'gltf-validator')").output();
    if !found.is_ok_and(|output| output.status.success()) {
        skip("gltf-validator is not installed");
        return;
    }
    let files = files.iter().map(AsRef::as_ref);
    let output = node(VALIDATE).args(files).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.is_empty(), "{text}");
}

/// Asserts that assimp loads some files, and that the validator finds no
/// errors in them.
pub fn accept(files: &[impl AsRef<Path>]) {
    for file in files {
        let file = file.as_ref();
        let output = Command::new("assimp").arg("info").arg(file).output();
        let Ok(output) = output else {
            skip("assimp is not installed");
            break;
        };
        assert!(output.status.success(), "{}: {output:?}", file.display());
    }
    validate(files);
}

/// Returns the JSON part of a GLB file.
pub fn scene(path: &Path) -> Value {
    let bytes = bytes_of(path);
    assert!(bytes.starts_with(b"glTF\x02\0\0\0"), "{}", path.display());
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    serde_json::from_slice(&bytes[20..20 + length]).unwrap()
}

pub fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}
