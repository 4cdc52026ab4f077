//! Names for numbers in objects of Battle for Bikini Bottom.

/// Returns the name of a type of objects, by the number in its header.
pub fn base_type_name(number: u8) -> Option<&'static str> {
    BASE_TYPES.get(usize::from(number)).copied()
}

/// Returns the comparison operator of a COND asset.
pub fn condition_sign(number: u32) -> Option<&'static str> {
    let signs = ["==", ">", "<", ">=", "<=", "!="];
    signs.get(usize::try_from(number).ok()?).copied()
}

/// Returns the name of the variable that a COND asset compares. The numbers are
/// not ids of the names.
pub fn variable_name(number: u32) -> Option<&'static str> {
    let found = VARIABLES.iter().find(|(known, _)| *known == number);
    found.map(|(_, name)| *name)
}

/// Returns the name of the shape of a TRIG asset, by its subtype.
pub fn trigger_shape(subtype: u8) -> Option<&'static str> {
    match subtype {
        0 => Some("box"),
        1 => Some("sphere"),
        _ => None,
    }
}

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
