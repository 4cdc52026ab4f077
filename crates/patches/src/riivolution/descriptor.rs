//! Dolphin's game mod descriptor, in JSON.

use hpimount_containers::io::{Error, Result};
use serde_json::Value;

use super::model::Selection;

/// The `type` of a descriptor.
pub(super) const TYPE: &str = "dolphin-game-mod-descriptor";

/// Maximum length of a descriptor in bytes.
const MAX_LENGTH: usize = 1 << 20;

/// Maximum number of patches, and of options of a patch.
const MAX_ITEMS: usize = 1000;

/// A game mod descriptor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Descriptor {
    /// Path of the original disc, for information.
    pub base_file: Option<String>,
    /// The name that Dolphin shows.
    pub display_name: Option<String>,
    /// The XML files, in the order of their application.
    pub patches: Vec<DescriptorPatch>,
}

/// An XML file in a descriptor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescriptorPatch {
    /// Path of the XML, absolute or relative to the descriptor.
    pub xml: String,
    /// Path of the SD card's root, absolute or relative; by default, the folder of the
    /// XML.
    pub root: Option<String>,
    /// The choices that are made.
    pub selections: Vec<Selection>,
}

impl Descriptor {
    /// Parses a descriptor. Ignores unknown keys, options without a number, and
    /// everything after the first thousand patches, or options of a patch.
    ///
    /// # Errors
    /// Returns an error if it is not JSON, longer than 1 MiB, or not a game mod descriptor
    /// of version 1.
    pub fn parse(json: &[u8]) -> Result<Self> {
        let damaged = |problem: String| Error::damaged(0, "descriptor", problem);
        if json.len() > MAX_LENGTH {
            return Err(damaged(format!("has more than {MAX_LENGTH} bytes")));
        }
        let json: Value =
            serde_json::from_slice(json).map_err(|error| damaged(error.to_string()))?;
        if json["type"] != TYPE || json["version"] != 1 {
            let problem = format!("is not a {TYPE} of version 1");
            return Err(damaged(problem));
        }
        let patches = list(&json["riivolution"]["patches"]);
        let patches = patches.filter_map(|patch| {
            Some(DescriptorPatch {
                xml: text(&patch["xml"])?,
                root: text(&patch["root"]),
                selections: list(&patch["options"]).filter_map(selection).collect(),
            })
        });
        Ok(Self {
            base_file: text(&json["base-file"]),
            display_name: text(&json["display-name"]),
            patches: patches.collect(),
        })
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten().take(MAX_ITEMS)
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn selection(option: &Value) -> Option<Selection> {
    let choice = option["choice"].as_u64()?;
    let id = text(&option["option-id"]).filter(|id| !id.is_empty());
    Some(Selection {
        section: text(&option["section-name"]),
        option: id.or_else(|| text(&option["option-name"]))?,
        choice: u32::try_from(choice).unwrap_or(u32::MAX),
    })
}
