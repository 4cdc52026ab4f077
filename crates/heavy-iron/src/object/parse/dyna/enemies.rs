//! DYNA types of enemies and other characters since The SpongeBob Movie.

use super::super::sections::{Section, fields};
use super::{DynaType, ENTITY_ASSET, types};
use crate::games::{INCREDIBLES, LATER, RATPROTO, SINCE_ROTU};
use crate::words::{ENEMY_FLAGS, RAT_FLAGS, SPAWN_MODES};

pub(super) const TYPES: &[DynaType] = types! {
    "Enemy:SB:BucketOTron" = 4 INCREDIBLES [
        ENTITY_ASSET,
        fields!(
            spawn_group: Id, spawn_mode: I32 / SPAWN_MODES, spawn_delay: F32,
            flag_buck_ass: U32, max_spawn: I32
        ),
    ]
    "Enemy:SB:CastNCrew" = 1 INCREDIBLES [ENTITY_ASSET]
    "Enemy:SB:Critter" = 2 INCREDIBLES [ENTITY_ASSET, fields!(move_point: Id, unknown_54: Id)]
    "Enemy:SB:Dennis" = 3 INCREDIBLES [
        ENTITY_ASSET,
        fields!(unknown_50: Id, unknown_54: Id, unknown_58: Id, unknown_5c: Id),
    ]
    "Enemy:SB:FrogFish" = 2 INCREDIBLES [ENTITY_ASSET, fields!(unknown: Id)]
    "Enemy:SB:Mindy" = 3 INCREDIBLES [
        ENTITY_ASSET,
        fields!(
            task_box: Id, clam_open_distance: F32, clam_close_distance: F32, text_box: Id,
            primary_character: I32, secondary_task_box: Id
        ),
    ]
    "Enemy:SB:Neptune" = 4 INCREDIBLES [ENTITY_ASSET, fields!(unknown_50: Id, unknown_54: Id)]
    "Enemy:SB:Standard" = 7 INCREDIBLES [
        ENTITY_ASSET,
        fields!(
            move_point: Id, move_point_group: Id,
            enemy_flags: U32 / ENEMY_FLAGS, unknown_5c: Id,
            unknown_60: Id, unknown_64: Id, unknown_68: Id
        ),
    ]
    "Enemy:SB:SupplyCrate" = 2 INCREDIBLES [ENTITY_ASSET, fields!(move_point: Id)]
    "Enemy:SB:Turret" = 4 INCREDIBLES [
        ENTITY_ASSET,
        fields!(
            rotation: F32, unknown_54: Id, target_player: I32, unknown_5c: Id, unknown_60: Id
        ),
    ]
    "npc:group" = 1 LATER { max_attackers: I32 }
    "npc:CoverPoint" = 1 LATER { pos: Vec3, yaw: F32, pitch: F32, roll: F32, obj: Id }
    "npc:NPC_Custom_AV" = 4 LATER {
        anim: Id, anim_delay: F32, sound_group: Id, sound_delay: F32, wait_on_sound: U8,
        pad: Pad3, loop_time: F32, face_target: Id, anim_blend_time: F32, speed_min: F32,
        speed_max: F32, random_start_time: U8, pad: Pad3
    }
    "Enemy:NPC Gate" = 3 RATPROTO {
        npc_walls_group: Id, gate_facing: U32, npcs_group: Id, flags: U32
    }
    "Enemy:NPC Walls" = 1 RATPROTO { npc_walls_group: Id, flags: U32 }
    "Enemy:RATS:LeftArm" = 1 RATPROTO [ENTITY_ASSET, RAT]
    "Enemy:RATS:RightArm" = 1 RATPROTO [ENTITY_ASSET, RAT]
    "Enemy:RATS:Swarm:Bug" = 1 RATPROTO [ENTITY_ASSET, RAT, SWARM]
    "Enemy:RATS:Swarm:Owl" = 1 RATPROTO [ENTITY_ASSET, RAT, SWARM]
    "Enemy:RATS:Thief" = 4 RATPROTO [
        ENTITY_ASSET, RAT, fields!(first_move_point: Id, attractor: Id, hide_circles_group: Id),
    ]
    "Enemy:RATS:Waiter" = 2 RATPROTO [ENTITY_ASSET, RAT, fields!(first_move_point: Id)]
    "Enemy:IN2:Bomber" = 1 SINCE_ROTU [ENTITY_ASSET, UNDERMINER]
    "Enemy:IN2:BossUnderminerDrill" = 1 SINCE_ROTU [ENTITY_ASSET, UNDERMINER]
    "Enemy:IN2:BossUnderminerUM" = 1 SINCE_ROTU [ENTITY_ASSET, UNDERMINER]
    "Enemy:IN2:Chicken" = 1 SINCE_ROTU [ENTITY_ASSET, UNDERMINER]
    "Enemy:IN2:Driller" = 1 SINCE_ROTU [ENTITY_ASSET, UNDERMINER]
    "Enemy:IN2:Enforcer" = 1 SINCE_ROTU [ENTITY_ASSET, UNDERMINER]
    "Enemy:IN2:Humanoid" = 1 SINCE_ROTU [ENTITY_ASSET, UNDERMINER]
    "Enemy:IN2:Rat" = 1 SINCE_ROTU [ENTITY_ASSET, UNDERMINER]
    "Enemy:IN2:RobotTank" = 1 SINCE_ROTU [ENTITY_ASSET, UNDERMINER, fields!(unknown_78: U32)]
    "Enemy:IN2:Scientist" = 1 SINCE_ROTU [ENTITY_ASSET, UNDERMINER]
    "Enemy:IN2:Shooter" = 1 SINCE_ROTU [ENTITY_ASSET, UNDERMINER, fields!(unknown_78: U32)]
};

/// The fields of all enemies of the prototype of Ratatouille.
const RAT: Section = fields!(
    light_kit: Id, npc_walls: Id, npc_perception: Id, update_distance: F32,
    flags: U32 / RAT_FLAGS
);

const SWARM: Section = fields!(
    member_number: I32, spawn_radius: F32, attractor: Id, repeller: Id, flags_swarm: U32,
    loop_sound: Id, one_shot_sound: Id, one_shot_sound_min_time: F32,
    one_shot_sound_max_time: F32
);

/// The fields of all enemies of Rise of the Underminer.
const UNDERMINER: Section = fields!(
    navigation_mesh: Id, npc_flags: U32, respawn_counter: Id, settings_hash: Id,
    interest_pointer: Id, light_kit: Id
);
