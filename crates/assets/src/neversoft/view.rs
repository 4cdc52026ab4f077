//! What the views of this family share.

use bytes::Bytes;
use serde_json::json;

use crate::view::{Failure, ViewFormat};
use hpimount_containers::io::Error;

/// Returns the failure for a file that could not be parsed.
pub(crate) fn failure(format: &ViewFormat, bytes: &Bytes, error: Error) -> Box<Failure> {
    let partial = json!({ "format": format.name, "file_size": bytes.len() });
    Box::new(Failure { error, partial })
}

/// Returns the name of a file in a game without directories and extension.
pub(crate) fn stem(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}
