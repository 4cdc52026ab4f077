//! Textures and sounds as the library decodes them.

use hpimount_heavy_iron::sound::{self, Sound};
use hpimount_heavy_iron::texture::{self, Texture};
use hpimount_heavy_iron::{Facts, Game, Platform};

pub fn first(bytes: Vec<u8>) -> Texture {
    let mut model = texture::parse(&bytes.into()).unwrap();
    assert!(model.warnings.is_empty(), "{:?}", model.warnings);
    model.textures.remove(0)
}

pub fn platform(name: &str) -> Platform {
    match name {
        "gc" => Platform::GameCube,
        "xbox" => Platform::Xbox,
        _ => Platform::PlayStation2,
    }
}

pub fn read_sound(platform: Platform, table: Vec<u8>, data: Vec<u8>) -> Sound {
    let facts = Facts::new(platform, Game::Bfbb);
    let table = sound::parse_table(&table.into(), &facts).unwrap();
    assert!(table.warnings.is_empty(), "{:?}", table.warnings);
    let sound = sound::parse(&data.into(), table.find(1).unwrap()).unwrap();
    assert!(sound.warnings.is_empty(), "{:?}", sound.warnings);
    sound
}
