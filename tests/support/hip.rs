//! Builds HIP archives.

use hpimount_containers::hip::{CHECKSUM, Game, Platform, asset_id};

/// The byte that fills gaps.
const FILLER: u8 = 0x33;

/// An archive to be built. The defaults are for Battle for Bikini Bottom on
/// GameCube.
#[derive(Debug, Clone)]
pub struct Hip {
    pub sub_version: u32,
    pub client_version: u32,
    pub flags: u32,
    /// PCRT and PMOD.
    pub time: u32,
    pub date: Vec<u8>,
    /// Strings of PLAT, which is omitted if this is empty.
    pub plat: Vec<&'static str>,
    /// Alignment of layers.
    pub alignment: usize,
    pub assets: Vec<Asset>,
    /// Type and asset ids of each layer.
    pub layers: Vec<(u32, Vec<u32>)>,
    /// Body of the HIPB block.
    pub hipb: Option<Vec<u8>>,
}

/// An asset of an archive to be built.
#[derive(Debug, Clone)]
pub struct Asset {
    pub id: u32,
    pub code: [u8; 4],
    pub name: Vec<u8>,
    pub source_file: Vec<u8>,
    pub flags: u32,
    pub align: i32,
    pub bytes: Vec<u8>,
    /// `None` for the right one.
    pub checksum: Option<u32>,
}

/// The games and platforms that archives can be built for.
pub const TARGETS: [(Game, Platform); 20] = [
    (Game::Scooby, Platform::GameCube),
    (Game::Scooby, Platform::PlayStation2),
    (Game::Scooby, Platform::Xbox),
    (Game::Scooby, Platform::Unknown),
    (Game::ScoobyPrototype, Platform::PlayStation2),
    (Game::Bfbb, Platform::GameCube),
    (Game::Bfbb, Platform::PlayStation2),
    (Game::Bfbb, Platform::Xbox),
    (Game::Bfbb, Platform::Unknown),
    (Game::Incredibles, Platform::GameCube),
    (Game::Incredibles, Platform::PlayStation2),
    (Game::Incredibles, Platform::Xbox),
    (Game::Incredibles, Platform::Unknown),
    (Game::Rotu, Platform::GameCube),
    (Game::Rotu, Platform::PlayStation2),
    (Game::Rotu, Platform::Xbox),
    (Game::RatProto, Platform::GameCube),
    (Game::RatProto, Platform::PlayStation2),
    (Game::RatProto, Platform::Xbox),
    (Game::Unknown, Platform::Unknown),
];

impl Default for Hip {
    fn default() -> Self {
        Self::target(Game::Bfbb, Platform::GameCube)
    }
}

impl Hip {
    /// Creates an empty archive for a game and a platform.
    pub fn target(game: Game, platform: Platform) -> Self {
        let (time, date): (u32, &[u8]) = match (game, platform) {
            (Game::Scooby, Platform::GameCube) => (1_029_024_000, b"Sat Aug 10 17:00:00 2002\n"),
            (Game::Scooby, Platform::PlayStation2) => {
                (1_018_483_200, b"Wed Apr 10 17:00:00 2002\n")
            }
            (Game::Scooby, Platform::Xbox) => (1_050_019_200, b"Thu Apr 10 17:00:00 2003\n"),
            (Game::Bfbb, _) => (1_063_238_400, b"Wed Sep 10 17:00:00 2003"),
            (Game::Incredibles, _) => (1_094_127_346, b"Thu Sep 02 05:15:46 2004"),
            (Game::Rotu, _) => (1_125_663_346, b"Fri Sep 02 05:15:46 2005"),
            (Game::RatProto, _) => (1_157_199_346, b"Sat Sep 02 05:15:46 2006"),
            (Game::ScoobyPrototype | Game::Scooby | Game::Unknown, _) => {
                (1_005_000_000, b"Mon Nov 05 14:40:00 2001\n")
            }
        };
        let (early_id, name, late_id) = match platform {
            Platform::GameCube => ("GC", "GameCube", "GC"),
            Platform::PlayStation2 => ("P2", "PlayStation 2", "PS2"),
            Platform::Xbox => ("XB", "Xbox", "BX"),
            Platform::Unknown => ("WII", "Wii", "WII"),
        };
        let plat = match game {
            Game::Scooby | Game::ScoobyPrototype | Game::Unknown => vec![],
            Game::Bfbb => vec![early_id, name, "NTSC", "US Common", "Sponge Bob"],
            Game::Incredibles | Game::Rotu | Game::RatProto => {
                vec![late_id, "US", "NTSC", "Incredibles"]
            }
        };
        Self {
            sub_version: 2,
            client_version: match game {
                Game::ScoobyPrototype => 1,
                Game::Scooby => 0x0004_0006,
                _ => 0x000A_000F,
            },
            flags: if game == Game::Bfbb {
                0x0229_002E
            } else {
                0x2E
            },
            time,
            date: date.to_vec(),
            plat,
            alignment: if platform == Platform::GameCube {
                32
            } else {
                2048
            },
            assets: Vec::new(),
            layers: Vec::new(),
            hipb: None,
        }
    }

    /// Adds an asset to the last layer.
    pub fn add(&mut self, asset: Asset) -> &mut Self {
        let (_, ids) = self.layers.last_mut().expect("a layer comes first");
        ids.push(asset.id);
        self.assets.push(asset);
        self
    }

    /// Adds an empty layer.
    pub fn layer(&mut self, kind: u32) -> &mut Self {
        self.layers.push((kind, Vec::new()));
        self
    }

    /// Returns the bytes of the archive.
    pub fn build(&self) -> Vec<u8> {
        // The length of the tables does not depend on the offsets in them.
        let unplaced = vec![AssetOffsets::default(); self.assets.len()];
        let start = self.head(&unplaced).len();
        let data_header = block(b"DHDR", &u32::MAX.to_be_bytes());
        let base = start + 8 + data_header.len() + 8;
        let (all_offsets, data) = self.data(base);
        let stream = [data_header, block(b"DPAK", &data)].concat();
        let mut bytes = self.head(&all_offsets);
        bytes.extend(block(b"STRM", &stream));
        if let Some(hipb) = &self.hipb {
            bytes.extend(block(b"HIPB", hipb));
        }
        bytes
    }

    /// Lays out the assets layer by layer, then the assets of no layer.
    fn data(&self, base: usize) -> (Vec<AssetOffsets>, Vec<u8>) {
        let mut all_offsets = vec![AssetOffsets::default(); self.assets.len()];
        let mut data = Vec::new();
        if self.assets.is_empty() {
            return (all_offsets, data);
        }
        let padding = (base + 4).next_multiple_of(self.alignment) - base - 4;
        data.extend((padding as u32).to_be_bytes());
        data.resize(data.len() + padding, FILLER);
        let mut placed = vec![false; self.assets.len()];
        let layers = self.layers.iter().map(|(_, ids)| Some(ids));
        for ids in layers.chain([None]) {
            for (number, asset) in self.assets.iter().enumerate() {
                if placed[number] || ids.is_some_and(|ids| !ids.contains(&asset.id)) {
                    continue;
                }
                placed[number] = true;
                let plus = asset.bytes.len().next_multiple_of(16) - asset.bytes.len();
                all_offsets[number] = AssetOffsets {
                    offset: (base + data.len()) as u32,
                    plus: plus as u32,
                };
                data.extend(&asset.bytes);
                data.resize(data.len() + plus, FILLER);
            }
            let end = (base + data.len()).next_multiple_of(self.alignment) - base;
            data.resize(end, FILLER);
        }
        (all_offsets, data)
    }

    /// Returns HIPA, PACK and DICT.
    fn head(&self, all_offsets: &[AssetOffsets]) -> Vec<u8> {
        let assets = self.assets.iter().zip(all_offsets);
        let assets =
            assets.flat_map(|(asset, &asset_offsets)| self.asset_header(asset, asset_offsets));
        let layers = self.layers.iter();
        let layers = layers.flat_map(|(kind, ids)| self.layer_header(*kind, ids));
        let asset_table = [block(b"AINF", &[0; 4]), assets.collect()].concat();
        let layer_table = [block(b"LINF", &[0; 4]), layers.collect()].concat();
        let tables = [block(b"ATOC", &asset_table), block(b"LTOC", &layer_table)].concat();
        [block(b"HIPA", b""), self.package(), block(b"DICT", &tables)].concat()
    }

    fn package(&self) -> Vec<u8> {
        let counts = [self.assets.len() as u32, self.layers.len() as u32, 0, 0, 0];
        let mut created = numbers(&[self.time]);
        if self.sub_version > 1 {
            created.extend(string(&self.date));
        }
        let mut body = [
            block(
                b"PVER",
                &numbers(&[self.sub_version, self.client_version, 1]),
            ),
            block(b"PFLG", &numbers(&[self.flags])),
            block(b"PCNT", &numbers(&counts)),
            block(b"PCRT", &created),
            block(b"PMOD", &numbers(&[self.time])),
        ]
        .concat();
        if !self.plat.is_empty() {
            let strings = self.plat.iter().flat_map(|text| string(text.as_bytes()));
            body.extend(block(b"PLAT", &strings.collect::<Vec<u8>>()));
        }
        block(b"PACK", &body)
    }

    fn asset_header(&self, asset: &Asset, asset_offsets: AssetOffsets) -> Vec<u8> {
        let size = asset.bytes.len() as u32;
        let mut debug = asset.align.to_be_bytes().to_vec();
        debug.extend(string(&asset.name));
        debug.extend(string(&asset.source_file));
        if self.sub_version > 1 {
            let right = || CHECKSUM.checksum(&asset.bytes);
            debug.extend(numbers(&[asset.checksum.unwrap_or_else(right)]));
        }
        let header = [
            numbers(&[asset.id]),
            asset.code.to_vec(),
            numbers(&[asset_offsets.offset, size, asset_offsets.plus, asset.flags]),
            block(b"ADBG", &debug),
        ];
        block(b"AHDR", &header.concat())
    }

    fn layer_header(&self, kind: u32, ids: &[u32]) -> Vec<u8> {
        let mut body = numbers(&[kind, ids.len() as u32]);
        body.extend(numbers(ids));
        let debug = if self.sub_version > 1 {
            &[0xFF; 4][..]
        } else {
            &[]
        };
        body.extend(block(b"LDBG", debug));
        block(b"LHDR", &body)
    }
}

impl Asset {
    /// Creates an asset whose id is the hash of its name.
    pub fn new(code: &[u8; 4], name: &str, bytes: &[u8]) -> Self {
        Self {
            id: asset_id(name.as_bytes()),
            code: *code,
            name: name.as_bytes().to_vec(),
            source_file: Vec::new(),
            flags: 2,
            align: 0,
            bytes: bytes.to_vec(),
            checksum: None,
        }
    }

    /// Returns the same asset with another id.
    pub fn with_id(self, id: u32) -> Self {
        Self { id, ..self }
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct AssetOffsets {
    offset: u32,
    plus: u32,
}

/// Returns the body of a HIPB block of version 3.
pub fn hipb(scooby_platform: u32, layer_names: &[(u32, &[u8])], game: u32) -> Vec<u8> {
    let mut body = numbers(&[3, 0, scooby_platform, layer_names.len() as u32]);
    for (layer, name) in layer_names {
        body.extend(numbers(&[*layer]));
        body.extend(string(name));
    }
    body.extend(numbers(&[game]));
    body
}

/// Returns a block with its header.
pub fn block(name: &[u8; 4], body: &[u8]) -> Vec<u8> {
    [name, &(body.len() as u32).to_be_bytes()[..], body].concat()
}

fn numbers(values: &[u32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_be_bytes())
        .collect()
}

fn string(text: &[u8]) -> Vec<u8> {
    let mut bytes = text.to_vec();
    bytes.extend(if text.len().is_multiple_of(2) {
        &[0, 0][..]
    } else {
        &[0]
    });
    bytes
}
