//! HIPB: data that modding tools append (FORMATS, HIP 7).

use std::collections::BTreeMap;

use crate::io::{Cursor, Result};

use super::block;
use crate::io::Warnings;

/// Newest known version of HIPB. Later ones begin in the same way.
const KNOWN_VERSION: u32 = 3;

/// Minimum length of a layer name: its layer and an empty string.
const MIN_NAME_LENGTH: usize = 6;

/// The fields of HIPB. Later fields are missing from earlier versions.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Hipb {
    /// Currently 3.
    pub version: u32,
    /// True if the editor hides the layers.
    pub no_layers: bool,
    /// The platform of a Scooby archive: 1 PlayStation 2, 2 GameCube, 3 Xbox.
    pub scooby_platform: u32,
    /// Names of layers given by users, by the layer's number.
    pub layer_names: BTreeMap<u32, Vec<u8>>,
    /// The game: 1 Scooby, 2 Battle for Bikini Bottom, 3 Incredibles or The
    /// Movie, 4 Rise of the Underminer, 5 Ratatouille prototype.
    pub game: u32,
}

impl Hipb {
    /// Reads HIPB's body; fields that are cut off keep their default.
    pub fn read(mut body: Cursor, warnings: &mut Warnings) -> Self {
        let mut hipb = Self::default();
        if let Err(error) = hipb.read_fields(&mut body) {
            warnings.push(format!("HIPB: {error}"));
        }
        if hipb.version > KNOWN_VERSION {
            warnings.push(format!(
                "HIPB: version {} is newer than {KNOWN_VERSION}, only its first part is read",
                hipb.version
            ));
        }
        hipb
    }

    fn read_fields(&mut self, body: &mut Cursor) -> Result<()> {
        self.version = body.u32("version")?;
        if self.version >= 1 {
            self.no_layers = body.u32("noLayers")? != 0;
        }
        if self.version >= 2 {
            self.scooby_platform = body.u32("scoobyPlatform")?;
            let count = body.u32("layer names")?;
            body.check_count(count.into(), MIN_NAME_LENGTH, "layer names")?;
            for _ in 0..count {
                let layer = body.u32("layerIndex")?;
                let name = block::take_string(body, "name")?;
                self.layer_names.insert(layer, name.to_vec());
            }
        }
        if self.version >= 3 {
            self.game = body.u32("game")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::Endian;

    fn read(bytes: &[u8]) -> (Hipb, Vec<String>) {
        let mut warnings = Warnings::default();
        let hipb = Hipb::read(Cursor::new(bytes, 0, Endian::Big), &mut warnings);
        (hipb, warnings.texts())
    }

    #[test]
    fn layer_names_and_the_game_are_read() {
        let (hipb, warnings) =
            read(b"\0\0\0\x03\0\0\0\x01\0\0\0\x02\0\0\0\x01\0\0\0\x05abc\0\0\0\0\x04");
        assert!(warnings.is_empty());
        assert!(hipb.no_layers);
        assert_eq!((hipb.scooby_platform, hipb.game), (2, 4));
        assert_eq!(hipb.layer_names[&5], b"abc");
    }

    #[test]
    fn an_impossible_count_of_names_is_ignored() {
        let (hipb, warnings) = read(b"\0\0\0\x02\0\0\0\0\0\0\0\x03\xff\xff\xff\xff");
        assert_eq!((hipb.version, hipb.scooby_platform), (2, 3));
        assert_eq!(warnings.len(), 1);
    }

    #[test]
    fn a_newer_version_is_read_as_far_as_it_is_known() {
        let (hipb, warnings) = read(b"\0\0\0\x09\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0\x05????");
        assert_eq!((hipb.scooby_platform, hipb.game), (2, 5));
        assert_eq!(
            warnings,
            ["HIPB: version 9 is newer than 3, only its first part is read"]
        );
    }
}
