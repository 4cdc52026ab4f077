//! The chunks of a GLB file, and the memory for its JSON.

use crate::model::edited::MAX_FILE;

/// Maximum number of bytes of the JSON part of a file.
const MAX_JSON: usize = 64 << 20;

/// Memory for an object and for another value while the JSON is parsed, in bytes: more
/// than a node, less than a material.
const OBJECT_BYTES: usize = 384;
const VALUE_BYTES: usize = 32;

/// The same for preserved JSON, as measured. Its arrays take memory too.
const KEPT_OBJECT_BYTES: usize = 768;
const KEPT_ARRAY_BYTES: usize = 384;
const KEPT_VALUE_BYTES: usize = 288;

/// Returns the JSON and the buffer of a file.
pub(super) fn unpack(file: &[u8]) -> Result<(&[u8], &[u8]), String> {
    let word = |at: usize| {
        let bytes = file.get(at..)?.first_chunk::<4>()?;
        Some(u32::from_le_bytes(*bytes) as usize)
    };
    if file.get(..4) != Some(b"glTF") || word(4) != Some(2) {
        return Err("is no GLB file of version 2".to_owned());
    }
    if file.len() > MAX_FILE {
        return Err(format!("has more than {MAX_FILE} bytes"));
    }
    let stated = word(8).unwrap_or_default();
    let file = file
        .get(..stated)
        .ok_or_else(|| format!("is cut: it has {} of {stated} bytes", file.len()))?;
    let (mut json, mut binary) = (None, &file[..0]);
    let mut at = 12;
    while let (Some(length), Some(kind)) = (word(at), file.get(at + 4..at + 8)) {
        let body = file.get(at + 8..).and_then(|rest| rest.get(..length));
        let body = body.ok_or_else(|| format!("is cut: its chunk at {at:#x} is past its end"))?;
        match kind {
            b"JSON" if json.is_none() => json = Some(body),
            b"BIN\0" if binary.is_empty() => binary = body,
            _ => {}
        }
        at += 8 + length.next_multiple_of(4);
    }
    let json = json.ok_or("has no JSON chunk")?;
    if json.len() > MAX_JSON {
        return Err(format!("has more than {MAX_JSON} bytes of JSON"));
    }
    Ok((json, binary))
}

/// Returns the memory that parsed JSON takes, about.
pub(super) fn parsed_size(json: &[u8]) -> usize {
    let mut size = json.len();
    let (mut rest, mut key) = (json, &json[..0]);
    // The number of open brackets, now and at the start of preserved JSON.
    let (mut open, mut kept) = (0_usize, None);
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'"' => {
                (key, rest) = string(after);
                continue;
            }
            b'{' | b'[' => {
                open += 1;
                kept = kept.or(is_kept(key).then_some(open));
            }
            b'}' | b']' => {
                open = open.saturating_sub(1);
                kept = kept.filter(|&kept| kept <= open);
            }
            _ => {}
        }
        size += match (byte, kept) {
            (b'{', None) => OBJECT_BYTES,
            (b',', None) => VALUE_BYTES,
            (b'{', Some(_)) => KEPT_OBJECT_BYTES,
            (b'[', Some(_)) => KEPT_ARRAY_BYTES,
            (b',', Some(_)) => KEPT_VALUE_BYTES,
            _ => 0,
        };
    }
    size
}

/// Splits JSON within a string at its end.
fn string(json: &[u8]) -> (&[u8], &[u8]) {
    let mut end = 0;
    while let Some(byte) = json.get(end).filter(|&&byte| byte != b'"') {
        end += if *byte == b'\\' { 2 } else { 1 };
    }
    let (string, rest) = json.split_at(end.min(json.len()));
    (string, rest.get(1..).unwrap_or_default())
}

/// Returns true if the value of a key may be kept as JSON: extensions, the limits of
/// accessors, and keys with escapes.
fn is_kept(key: &[u8]) -> bool {
    matches!(key, b"extensions" | b"min" | b"max") || key.contains(&b'\\')
}
