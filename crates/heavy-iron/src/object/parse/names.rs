//! Names for numbers in objects of Battle for Bikini Bottom.

use hpimount_assets::view::edit::number_named;
use hpimount_containers::hip::asset_id;

/// Returns the name of an object type, by the number in its header.
pub fn base_type_name(number: u8) -> Option<&'static str> {
    BASE_TYPES.get(usize::from(number)).copied()
}

/// Returns the number of an object type.
///
/// # Errors
/// Like all functions here that return a number by its name, returns an error with
/// similar names for an unknown one.
pub fn base_type_number(name: &str) -> Result<u32, String> {
    number_named("base type", name, (0..).zip(BASE_TYPES))
}

/// The comparison operators of a COND asset, by number.
const CONDITIONS: [&str; 6] = ["==", ">", "<", ">=", "<=", "!="];

/// Returns the comparison operator of a COND asset.
pub fn condition_sign(number: u32) -> Option<&'static str> {
    CONDITIONS.get(usize::try_from(number).ok()?).copied()
}

/// Returns the number of a comparison operator.
///
/// # Errors
/// See [`base_type_number`].
pub fn condition_number(sign: &str) -> Result<u32, String> {
    number_named("operator", sign, (0..).zip(CONDITIONS))
}

/// Returns the name of the variable in a COND asset. The numbers are not hashes of the
/// names.
pub fn variable_name(number: u32) -> Option<&'static str> {
    let found = VARIABLES.iter().find(|(known, _)| *known == number);
    found.map(|(_, name)| *name)
}

/// Returns the number of the variable in a COND asset.
///
/// # Errors
/// See [`base_type_number`].
pub fn variable_number(name: &str) -> Result<u32, String> {
    number_named("variable", name, VARIABLES.iter().copied())
}

/// Returns the shape name of a TRIG asset, by subtype.
pub fn trigger_shape(subtype: u8) -> Option<&'static str> {
    match subtype {
        0 => Some("box"),
        1 => Some("sphere"),
        2 => Some("cylinder"),
        3 => Some("circle"),
        _ => None,
    }
}

/// Returns the interpolation of a particle property between its two values.
pub fn interpolation(number: u32) -> Option<&'static str> {
    let mut known = INTERPOLATIONS.iter().copied();
    known.find(|name| asset_id(name.as_bytes()) == number)
}

/// Returns the number of an interpolation.
///
/// # Errors
/// See [`base_type_number`].
pub fn interpolation_number(name: &str) -> Result<u32, String> {
    number_named(
        "interpolation",
        name,
        INTERPOLATIONS.map(hashed).into_iter(),
    )
}

/// Returns the name with a number as its hash.
fn hashed(name: &'static str) -> (u32, &'static str) {
    (asset_id(name.as_bytes()), name)
}

/// Returns the number of a pickup kind.
///
/// # Errors
/// See [`base_type_number`].
pub fn pickup_number(name: &str) -> Result<u32, String> {
    let all = PICKUPS.map(hashed).into_iter();
    number_named("pickup", name, all.chain(OTHER_PICKUPS.iter().copied()))
}

/// Returns the name of a pickup kind.
pub fn pickup_name(number: u32) -> Option<&'static str> {
    let is_found = |name: &&str| asset_id(name.as_bytes()) == number;
    let named = PICKUPS.iter().copied().find(is_found);
    named.or_else(|| {
        let mut others = OTHER_PICKUPS.iter();
        others
            .find(|(known, _)| *known == number)
            .map(|(_, name)| *name)
    })
}

/// Returns the name of a villain or character type: the name of its model.
pub fn npc_type(number: u32) -> Option<String> {
    let is_found = |name: &str| asset_id(name.as_bytes()) == number;
    if let Some(name) = NPC_TYPES.iter().find(|name| is_found(name)) {
        return Some((*name).to_owned());
    }
    let critters = ('a'..='z').map(|letter| format!("critter_{letter}_bind"));
    let fish = ('a'..='j').flat_map(|letter| {
        let clothes = FISH_CLOTHES.iter();
        clothes.flat_map(move |clothes| {
            let ends = ["bind", "bind01", "bind02", "bind03"];
            ends.map(|end| format!("fish_{letter}_{clothes}{end}"))
        })
    });
    critters.chain(fish).find(|name| is_found(name))
}

/// Names of interpolations. Their numbers are the hashes of the names.
const INTERPOLATIONS: [&str; 8] = [
    "ConstA", "ConstB", "Cosine", "Linear", "Random", "Sine", "Step", "Time",
];

/// Names of pickups whose numbers are the hashes of the names.
const PICKUPS: [&str; 11] = [
    "RedShiny",
    "YellowShiny",
    "GreenShiny",
    "BlueShiny",
    "PurpleShiny",
    "Underwear",
    "GoldenUnderwear",
    "GoldenSpatula",
    "PatsSock",
    "SpongeBall",
    "Sundae",
];

/// Pickups whose numbers are hashes of unknown names.
const OTHER_PICKUPS: [(u32, &str); 3] = [
    (0x1814_0B10, "Artwork"),
    (0x4C67_C832, "SteeringWheel"),
    (0xFE7A_89BB, "PowerCrystal"),
];

/// Clothes of the townsfish, from the names of their models.
const FISH_CLOTHES: [&str; 7] = ["", "beach_", "camp_", "ranger_", "rb_", "rb02_", "snow_"];

/// Names of the models of characters.
#[rustfmt::skip]
const NPC_TYPES: [&str; 62] = [
    "robot_0a_fodder_bind", "robot_0a_bomb_bind", "robot_0a_chomper_bind", "robot_0a_bzzt_bind",
    "ham_bind", "hamspin_bind", "robot_tar_bind", "g_love_bind", "robot_4a_monsoon_bind",
    "robot_sleepy-time_bind", "robot_arf_dog_bind", "robot_arf_bind", "robot_chuck_bind",
    "tubelet_bind", "tubelet_slave_bind", "robot_9a_bind", "duplicatotron1000_bind",
    "dutchman_bind", "king_jelly_bind", "prawn_bind", "boss_sa_bind", "boss_patrick_bind",
    "boss_sb_muscle_bind", "boss_sb_body_bind", "plankton_boss_bind", "tiki_wooden_bind",
    "tiki_lovey_dovey_bind", "tiki_shhhh_bind", "tiki_thunder_bind", "tiki_stone_bind",
    "jellyfish_pink_bind", "jellyfish_blue_bind", "king_neptune_bind", "mime_fish_bind",
    "cow_bind", "squidward_bind_01", "squidward_music_bind_01", "squidward_bandaid_bind_01",
    "dutchman_notsubboss_bind", "mr_krabs_bind", "mspuffs_bind", "gary_bind",
    "bubble_buddy_bind", "sandy_bikini_bind", "sandy_npc_bind", "patrick_npc_bind",
    "spongebob_npc_bind", "plankton_npc_bind", "plankton_bind", "motorist_bind", "worm_bind",
    "mermaid_man_bind", "mermaid_man_chair_bind", "barnacle_boy_bind", "newscaster_bind",
    "newscaster_tv_bind", "larry_lobster_bind", "oldfish_a_bind", "oldfish_b_bind",
    "oldfish_c_bind", "fish_d_balloon_kid_bind", "fish_h_fried_bind",
];

const VARIABLES: [(u32, &str); 15] = [
    (0x4329_EFFD, "CounterValue"),
    (0xD6FC_CFE7, "ShinyObjects"),
    (0x84D4_A26D, "MusicVolume"),
    (0x1E0E_EB55, "SFXVolume"),
    (0x1E42_996C, "IsVisible"),
    (0x9653_DA31, "CurrentLevelCollectable"),
    (0xC7E0_F71C, "GoldenSpatulas"),
    (0xD1FE_EEE2, "TotalPatsSocks"),
    (0x2960_0EB0, "SoundMode"),
    (0x3B93_C93F, "IsVibrationOn"),
    (0x1824_9056, "PatSocks"),
    (0xA695_6B3F, "IsEnabled"),
    (0x4245_3758, "MemoryCardAvailable"),
    (0x704D_04A9, "LetterOfScene"),
    (0x0B11_B427, "Room"),
];

#[rustfmt::skip]
const BASE_TYPES: [&str; 72] = [
    "Unknown", "Trigger", "Villain", "Player", "Pickup", "Env", "Platform", "Camera", "Door",
    "SavePoint", "Item", "Static", "Dynamic", "MovePoint", "Timer", "Bubble", "Portal", "Group",
    "Pendulum", "SFX", "FFX", "VFX", "Counter", "Hangable", "Button", "Projectile", "Surface",
    "DestructObj", "Gust", "Volume", "Dispatcher", "Cond", "UI", "UIFont", "ProjectileType",
    "LobMaster", "Fog", "Light", "ParticleEmitter", "ParticleSystem", "CutsceneMgr",
    "EGenerator", "Script", "NPC", "Hud", "NPCProps", "ParticleEmitterProps", "Boulder",
    "CruiseBubble", "TeleportBox", "BusStop", "TextBox", "TalkBox", "TaskBox",
    "BoulderGenerator", "NPCSettings", "DiscoFloor", "Taxi", "HUD_model", "HUD_font_meter",
    "HUD_unit_meter", "BungeeHook", "CameraFly", "TrackPhysics", "ZipLine", "Arena",
    "Duplicator", "LaserBeam", "Turret", "CameraTweak", "SlideProps", "HUD_text",
];
