//! The types of an archive's assets, found without going through all of these for each
//! new one.

use std::collections::{HashMap, HashSet};

use crate::hip::Hip;
use crate::hip::kinds::{Code, Type};
use crate::hip::toc::Asset;

/// The types that an archive has.
pub(super) struct Kinds<'h> {
    hip: &'h Hip,
    /// The number of the first asset of each type.
    first: HashMap<Code, u32>,
    /// Known answers: true if most names of a type have an extension.
    extensions: HashMap<Code, bool>,
    /// The types in the layers that were asked about.
    layers: HashMap<usize, HashSet<Code>>,
}

impl<'h> Kinds<'h> {
    /// Returns the types of an archive.
    pub(super) fn of(hip: &'h Hip) -> Self {
        let mut first = HashMap::new();
        for (number, asset) in (0..).zip(&hip.contents.toc.assets) {
            first.entry(asset.kind.code).or_insert(number);
        }
        Self {
            hip,
            first,
            extensions: HashMap::new(),
            layers: HashMap::new(),
        }
    }

    /// Returns the archive.
    pub(super) fn hip(&self) -> &'h Hip {
        self.hip
    }

    /// Returns the archive's first asset of a type.
    pub(super) fn first(&self, kind: Type) -> Option<&'h Asset> {
        let number = self.first.get(&kind.code)?;
        Some(self.hip.asset(*number))
    }

    /// Returns whether most names of a type's assets have an extension, which some
    /// tools leave out.
    pub(super) fn have_extensions(&mut self, kind: Type) -> bool {
        let hip = self.hip;
        *self.extensions.entry(kind.code).or_insert_with(|| {
            let toc = &hip.contents.toc;
            let extensions = kind.extensions(hip.platform.value);
            let alike = toc.assets.iter();
            let alike = alike.filter(|asset| asset.kind.code == kind.code);
            let votes = alike.map(|asset| match extensions.carried(toc.name(asset)) {
                0 => -1,
                _ => 1,
            });
            votes.sum::<i64>() > 0
        })
    }

    /// Returns whether a layer has assets of a type.
    pub(super) fn is_in(&mut self, layer: usize, kind: Type) -> bool {
        let hip = self.hip;
        let types = self.layers.entry(layer).or_insert_with(|| {
            let members = hip.layout.layers.get(layer).into_iter().flatten();
            members.map(|&number| hip.asset(number).kind.code).collect()
        });
        types.contains(&kind.code)
    }
}
