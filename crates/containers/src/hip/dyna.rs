//! Types of DYNA assets, which are identified by a hash in their contents
//! (FORMATS, HIP 10).

use super::hash::asset_id;

/// Names of DYNA types as the engine spells them, and HipHopTool's folder for
/// each. The hash of the name is the type's number.
const NAMED: [(&str, &str); 130] = [
    ("Analog Deflection", "AnalogDeflection"),
    ("Analog Direction", "AnalogDirection"),
    ("Carrying:Carryable Object", "CarryableObject"),
    (
        "Carrying:Carryable Property:Generic Use Property",
        "CarryablePropertyGeneric",
    ),
    (
        "Carrying:Carryable Property:Use Property Attract",
        "CarryablePropertyAttract",
    ),
    (
        "Carrying:Carryable Property:Use Property Repel",
        "CarryablePropertyRepel",
    ),
    (
        "Carrying:Carryable Property:Use Property Swipe",
        "CarryablePropertySwipe",
    ),
    ("Checkpoint", "Checkpoint"),
    ("Context Object:Pole Swing", "PoleSwing"),
    ("Context Object:Springboard", "Springboard"),
    ("Context Object:Tightrope", "Tightrope"),
    ("Effect:particle_generator", "ParticleGenerator"),
    ("Enemy:IN2:Bomber", "Bomber"),
    ("Enemy:IN2:BossUnderminerDrill", "BossUnderminerDrill"),
    ("Enemy:IN2:BossUnderminerUM", "BossUnderminerUM"),
    ("Enemy:IN2:Chicken", "Chicken"),
    ("Enemy:IN2:Driller", "Driller"),
    ("Enemy:IN2:Enforcer", "Enforcer"),
    ("Enemy:IN2:Humanoid", "Humanoid"),
    ("Enemy:IN2:Rat", "Rat"),
    ("Enemy:IN2:RobotTank", "RobotTank"),
    ("Enemy:IN2:Scientist", "Scientist"),
    ("Enemy:IN2:Shooter", "Shooter"),
    ("Enemy:NPC Gate", "NPCGate"),
    ("Enemy:NPC Walls", "NPCWalls"),
    ("Enemy:RATS:LeftArm", "EnemyLeftArm"),
    ("Enemy:RATS:RightArm", "EnemyRightArm"),
    ("Enemy:RATS:Swarm:Bug", "EnemySwarmBug"),
    ("Enemy:RATS:Swarm:Owl", "EnemySwarmOwl"),
    ("Enemy:RATS:Thief", "EnemyThief"),
    ("Enemy:RATS:Waiter", "EnemyWaiter"),
    ("Enemy:SB", "EnemySB"),
    ("Enemy:SB:BucketOTron", "Spawner"),
    ("Enemy:SB:CastNCrew", "CastNCrew"),
    ("Enemy:SB:Critter", "Critter"),
    ("Enemy:SB:Dennis", "Dennis"),
    ("Enemy:SB:FrogFish", "FrogFish"),
    ("Enemy:SB:Mindy", "Mindy"),
    ("Enemy:SB:Neptune", "Neptune"),
    ("Enemy:SB:Standard", "Enemy"),
    ("Enemy:SB:SupplyCrate", "Crate"),
    ("Enemy:SB:Turret", "Turret"),
    ("HUD_Compass_Object", "HUDCompassObject"),
    ("HUD_Compass_System", "HUDCompassSystem"),
    ("Incredibles:Icon", "IncrediblesIcon"),
    ("Interest_Pointer", "InterestPointer"),
    ("JSP Extra Data", "JSPExtraData"),
    ("Pour Widget", "PourWidget"),
    ("Twiddler", "Twiddler"),
    ("audio:conversation", "AudioConversation"),
    ("camera:binary_poi", "CameraBinaryPoi"),
    ("camera:preset", "CameraPreset"),
    ("camera:transition_path", "CameraTransitionPath"),
    ("camera:transition_time", "CameraTransitionTime"),
    ("effect:Boss Brain", "BossBrain"),
    ("effect:Flamethrower", "Flamethrower"),
    ("effect:Lens Flare Element", "LensFlareElement"),
    ("effect:Lens Flare Source", "LensFlareSource"),
    ("effect:Light Effect Flicker", "LightEffectFlicker"),
    ("effect:Light Effect Strobe", "LightEffectStrobe"),
    ("effect:Lightning", "Lightning"),
    ("effect:Rumble", "Rumble"),
    ("effect:Rumble Box Emitter", "RumbleBoxEmitter"),
    ("effect:Rumble Spherical Emitter", "RumbleSphericalEmitter"),
    ("effect:Screen Warp", "ScreenWarp"),
    ("effect:ScreenFade", "ScreenFade"),
    ("effect:Splash", "Splash"),
    ("effect:Waterhose", "WaterHose"),
    ("effect:grass", "Grass"),
    ("effect:light", "LightEffect"),
    ("effect:smoke_emitter", "SmokeEmitter"),
    ("effect:spark_emitter", "SparkEmitter"),
    ("effect:spotlight", "Spotlight"),
    ("effect:uber_laser", "UberLaser"),
    ("effect:water_body", "WaterBody"),
    ("game_object:BoulderGenerator", "BoulderGenerator"),
    ("game_object:BusStop", "BusStop"),
    ("game_object:Camera_Tweak", "CameraTweak"),
    ("game_object:Flythrough", "FlythroughObject"),
    ("game_object:FreezableObject", "FreezableObject"),
    ("game_object:Grapple", "Grapple"),
    ("game_object:Hangable", "HangableObject"),
    ("game_object:IN_Pickup", "IncrediblesPickup"),
    ("game_object:NPCSettings", "NPCSettingsObject"),
    ("game_object:RaceTimer", "RaceTimer"),
    ("game_object:Ring", "Ring"),
    ("game_object:RingControl", "RingControl"),
    ("game_object:RubbleGenerator", "RubbleGenerator"),
    ("game_object:Taxi", "Taxi"),
    ("game_object:Teleport", "TeleportBox"),
    ("game_object:Turret", "TurretObject"),
    ("game_object:Vent", "Vent"),
    ("game_object:VentType", "VentType"),
    ("game_object:bullet_mark", "BulletMark"),
    ("game_object:bullet_time", "BulletTime"),
    ("game_object:bungee_drop", "BungeeDrop"),
    ("game_object:bungee_hook", "BungeeHook"),
    ("game_object:camera_param_asset", "CameraParamAsset"),
    ("game_object:dash_camera_spline", "DashCameraSpline"),
    ("game_object:flame_emitter", "FlameEmitter"),
    ("game_object:laser_beam", "LaserBeam"),
    ("game_object:rband_camera_asset", "RbandCameraAsset"),
    ("game_object:talk_box", "TalkBox"),
    ("game_object:task_box", "TaskBox"),
    ("game_object:text_box", "TextBox"),
    ("game_object:train_car", "TrainCar"),
    ("game_object:train_junction", "TrainJunction"),
    ("hud:image", "HUDImage"),
    ("hud:meter:font", "HUDMeterFont"),
    ("hud:meter:unit", "HUDMeterUnit"),
    ("hud:model", "HUDModel"),
    ("hud:text", "HUDText"),
    ("interaction:Ice Bridge", "InteractionIceBridge"),
    ("interaction:Launch", "InteractionLaunch"),
    ("interaction:Lift", "InteractionLift"),
    ("interaction:SwitchLever", "InteractionSwitchLever"),
    ("interaction:Turn", "InteractionTurn"),
    ("logic:Function Generator", "LogicFunctionGenerator"),
    ("logic:Mission", "LogicMission"),
    ("logic:Task", "LogicTask"),
    ("logic:reference", "LogicReference"),
    ("npc:CoverPoint", "NPCCoverPoint"),
    ("npc:NPC_Custom_AV", "NPCCustomAV"),
    ("npc:group", "NPCGroup"),
    ("pointer", "Pointer"),
    ("ui:box", "UserInterfaceBox"),
    ("ui:controller", "UserInterfaceController"),
    ("ui:image", "UserInterfaceImage"),
    ("ui:model", "UserInterfaceModel"),
    ("ui:text", "UserInterfaceText"),
];

/// Numbers of DYNA types with unknown names, and HipHopTool's folder for each.
const UNNAMED: [(u32, &str); 3] = [
    (0xEBC0_4E7B, "Unknown_EBC04E7B"),
    (0xFABD_B3B3, "SceneProperties"),
    (0xFB50_BACB, "UserInterfaceTextUserString"),
];

/// [`NAMED`] by number, then [`UNNAMED`].
const FOLDERS: [(u32, &str); NAMED.len() + UNNAMED.len()] = {
    let mut folders = [(0, ""); NAMED.len() + UNNAMED.len()];
    let mut index = 0;
    while index < NAMED.len() {
        folders[index] = (asset_id(NAMED[index].0.as_bytes()), NAMED[index].1);
        index += 1;
    }
    while index < folders.len() {
        folders[index] = UNNAMED[index - NAMED.len()];
        index += 1;
    }
    folders
};

/// Returns HipHopTool's folder for the DYNA type with this number, if there is
/// one.
pub(super) fn folder(hash: u32) -> Option<&'static str> {
    let &(_, folder) = FOLDERS.iter().find(|&&(number, _)| number == hash)?;
    Some(folder)
}

/// Returns the number of the DYNA type that has this folder.
pub(super) fn number(folder: &str) -> Option<u32> {
    let &(number, _) = FOLDERS.iter().find(|row| row.1 == folder)?;
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_the_hashes_in_archives() {
        for (hash, expected) in [
            (0x70AD_B7F9, "TeleportBox"),
            (0x8F01_2778, "BusStop"),
            (0x4DC4_49FC, "Taxi"),
            (0x2196_C135, "Pointer"),
            (0x204D_6ADB, "JSPExtraData"),
            (0x35F3_B22A, "CarryablePropertyGeneric"),
            (0xFABD_B3B3, "SceneProperties"),
        ] {
            assert_eq!(folder(hash), Some(expected));
        }
        assert_eq!(folder(0), None);
    }

    #[test]
    fn no_two_types_share_a_number_or_a_folder() {
        let numbers: std::collections::HashSet<_> = FOLDERS.iter().map(|row| row.0).collect();
        let folders: std::collections::HashSet<_> = FOLDERS.iter().map(|row| row.1).collect();
        assert_eq!(
            (numbers.len(), folders.len()),
            (FOLDERS.len(), FOLDERS.len())
        );
    }
}
