//! The order of assets in a layer (FORMATS, HIP 11).

use crate::hip::{Game, Type};

/// The initial camera of a level, which comes before the others.
const START_CAMERA: (&[u8], &str) = (b"STARTCAM", "Camera STARTCAM");

/// Offset of the kind of platform in an asset of type PLAT, in bytes: in Battle
/// for Bikini Bottom, and in the other games.
const PLATFORM_KIND_BFBB: u64 = 0x54;
const PLATFORM_KIND: u64 = 0x50;

/// HipHopTool's order: folders of types, with [`START_CAMERA`] and the kinds of
/// platforms of [`platform_group`] among them. Anything else comes first.
const ORDER: [&str; 204] = [
    "Texture",
    "BSP",
    "JSP",
    "JSPInfo",
    "Model",
    "Player",
    "Villain",
    "NPC",
    "NPCProperties",
    "Duplicator",
    "Pickup",
    "Trigger",
    START_CAMERA.1,
    "Camera",
    "Environment",
    "Timer",
    "Portal",
    "Text",
    "Subtitles",
    "Platform moving",
    "MovePoint",
    "Marker",
    "Group",
    "RawImage",
    "Counter",
    "Hangable",
    "Pendulum",
    "SFX",
    "SDFX",
    "Platform conveyor belt",
    "Platform breakaway",
    "Platform springboard",
    "Platform teeter-totter",
    "Platform mechanism",
    "Platform paddle",
    "Track",
    "SimpleObject",
    "Button",
    "SlideProperty",
    "ZipLine",
    "Surface",
    "DestructibleObject",
    "Gust",
    "Volume",
    "Dispatcher",
    "Conditional",
    "UserInterface",
    "UserInterfaceFont",
    "Projectile",
    "LobMaster",
    "Fog",
    "Light",
    "ParticleProperties",
    "ParticleEmitter",
    "ParticleSystem",
    "CutsceneManager",
    "ElectricArcGenerator",
    "AnimationList",
    "Boulder",
    "LightKit",
    "AttackTable",
    "NPCSettings",
    "OneLiner",
    "Script",
    "ProgressScript",
    "SplinePath",
    "Credits",
    "DiscoFloor",
    "UserInterfaceMotion",
    "AudioConversation",
    "CameraBinaryPoi",
    "CameraPreset",
    "CameraTransitionPath",
    "CameraTransitionTime",
    "Checkpoint",
    "BossBrain",
    "Flamethrower",
    "Grass",
    "LensFlareElement",
    "LensFlareSource",
    "LightEffect",
    "LightEffectFlicker",
    "LightEffectStrobe",
    "Lightning",
    "ParticleGenerator",
    "Rumble",
    "RumbleBoxEmitter",
    "RumbleSphericalEmitter",
    "ScreenFade",
    "ScreenWarp",
    "SmokeEmitter",
    "SparkEmitter",
    "Splash",
    "Spotlight",
    "UberLaser",
    "WaterHose",
    "WaterBody",
    "Bomber",
    "BossUnderminerDrill",
    "BossUnderminerUM",
    "Chicken",
    "Driller",
    "Enforcer",
    "Humanoid",
    "Rat",
    "RobotTank",
    "Scientist",
    "Shooter",
    "EnemySB",
    "Spawner",
    "CastNCrew",
    "Critter",
    "Dennis",
    "FrogFish",
    "Mindy",
    "Neptune",
    "Enemy",
    "Crate",
    "Turret",
    "BoulderGenerator",
    "BulletMark",
    "BulletTime",
    "BungeeDrop",
    "BungeeHook",
    "BusStop",
    "CameraParamAsset",
    "CameraTweak",
    "DashCameraSpline",
    "FlameEmitter",
    "FlythroughObject",
    "FreezableObject",
    "Grapple",
    "HangableObject",
    "IncrediblesPickup",
    "LaserBeam",
    "NPCSettingsObject",
    "RaceTimer",
    "RbandCameraAsset",
    "Ring",
    "RingControl",
    "RubbleGenerator",
    "TalkBox",
    "TaskBox",
    "Taxi",
    "TeleportBox",
    "TextBox",
    "TrainCar",
    "TrainJunction",
    "TurretObject",
    "Vent",
    "VentType",
    "HUDImage",
    "HUDMeterFont",
    "HUDMeterUnit",
    "HUDModel",
    "HUDText",
    "IncrediblesIcon",
    "InteractionIceBridge",
    "InteractionLaunch",
    "InteractionLift",
    "InteractionSwitchLever",
    "InteractionTurn",
    "InterestPointer",
    "JSPExtraData",
    "LogicFunctionGenerator",
    "LogicReference",
    "NPCCoverPoint",
    "NPCGroup",
    "NPCCustomAV",
    "Pointer",
    "SceneProperties",
    "UserInterfaceBox",
    "UserInterfaceController",
    "UserInterfaceImage",
    "UserInterfaceModel",
    "UserInterfaceText",
    "UserInterfaceTextUserString",
    "Unknown_EBC04E7B",
    "PickupTypes",
    "ThrowableTable",
    "ReactiveAnimation",
    "SceneSettings",
    "Flythrough",
    "NavigationMesh",
    "GrassMesh",
    "MorphTarget",
    "Animation",
    "AnimationTable",
    "Shrapnel",
    "PickupTable",
    "ModelInfo",
    "SoundGroup",
    "Destructible",
    "LevelOfDetailTable",
    "CollisionTable",
    "ShadowTable",
    "PipeInfoTable",
    "JawDataTable",
    "SurfaceMapper",
    "Cutscene",
    "Sound",
    "SoundStream",
    "CutsceneStreamingSound",
    "SoundInfo",
];

/// Returns the offset of the byte in an asset's data that its order depends on.
pub(super) fn sort_byte_offset(game: Game, kind: Type) -> Option<u64> {
    match (&kind.code, game) {
        (b"PLAT", Game::Bfbb) => Some(PLATFORM_KIND_BFBB),
        (b"PLAT", _) => Some(PLATFORM_KIND),
        _ => None,
    }
}

/// Returns the rank of an asset in its layer; assets of equal rank keep their
/// order. `sort_byte` is the byte at [`sort_byte_offset`], if the asset is long
/// enough.
pub(super) fn rank(kind: Type, name: &[u8], sort_byte: Option<u8>) -> usize {
    let folder = kind.folder();
    let row = match &kind.code {
        b"CAM " if name == START_CAMERA.0 => START_CAMERA.1,
        b"PLAT" => match sort_byte.map(platform_group) {
            Some(group) => group,
            None => return 0,
        },
        _ => &*folder,
    };
    let row_number = ORDER.iter().position(|&entry| entry == row);
    row_number.map_or(0, |row_number| row_number + 1)
}

/// Returns the row of [`ORDER`] for a kind of platform.
fn platform_group(kind: u8) -> &'static str {
    match kind {
        0..=3 | 13 => "Platform moving",
        4 => "Platform mechanism",
        6 => "Platform conveyor belt",
        9 => "Platform breakaway",
        10 => "Platform springboard",
        11 => "Platform teeter-totter",
        12 => "Platform paddle",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank_of(folder: &str, name: &str, sort_byte: Option<u8>) -> usize {
        rank(Type::of_folder(folder).unwrap(), name.as_bytes(), sort_byte)
    }

    #[test]
    fn every_row_is_a_type_or_a_group_and_unique() {
        let rows: std::collections::HashSet<_> = ORDER.iter().collect();
        assert_eq!(rows.len(), ORDER.len());
        let types = ORDER.iter().filter(|row| !row.contains(' '));
        for row in types {
            let kind = Type::of_folder(row).unwrap_or_else(|| panic!("{row}"));
            assert_eq!(kind.folder(), *row);
        }
        for kind in 0..=255 {
            let row = platform_group(kind);
            assert!(row.is_empty() || rows.contains(&row), "{row}");
        }
    }

    #[test]
    fn the_first_camera_and_moving_platforms_have_their_own_ranks() {
        assert!(rank_of("Camera", "STARTCAM", None) < rank_of("Camera", "CAM_01", None));
        assert!(rank_of("Platform", "", Some(2)) < rank_of("Marker", "", None));
        assert!(rank_of("Platform", "", Some(12)) > rank_of("SDFX", "", None));
        for sort_byte in [None, Some(5), Some(255)] {
            assert_eq!(rank_of("Platform", "", sort_byte), 0);
        }
        assert_eq!(rank_of("Spline", "", None), 0);
        assert_eq!(rank_of("DYNA_12345678", "", None), 0);
    }
}
