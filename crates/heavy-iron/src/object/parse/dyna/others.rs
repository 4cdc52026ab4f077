//! DYNA types of scenes, cameras, interactions and logic since The SpongeBob Movie.

use super::super::sections::{Section, fields};
use super::super::types::ID;
use super::{DynaType, types};
use crate::games::{INCREDIBLES, LATER, RATPROTO, ROTU};
use crate::words::{AVAILABILITIES, MISSION_STATES, SPRINGBOARDS};

pub(super) const TYPES: &[DynaType] = types! {
    "audio:conversation" = 1 LATER { sound_group: Id }
    "Checkpoint" = 1 LATER {
        number: U32, trigger: Id, script: Id, camera: Id, pointer_mr_incredible: Id,
        pointer_frozone: Id
    }
    "camera:preset" = 1 LATER {
        flags: U32, checkpoint: Id, pos: Vec3, dir_yaw: F32, dir_pitch: F32, dir_roll: F32
    }
    "Incredibles:Icon" = 1 LATER {
        pos: Vec3, yaw: F32, pitch: F32, roll: F32, radius: F32, flags: U32
    }
    "JSP Extra Data" = 1 LATER { jsp: Id, group: Id }
    "Scene Properties" 0xFABD_B3B3 = 1 LATER [SCENE, SCENE_MEMORY, IDLES3, IDLES4]
    "Scene Properties" 0xFABD_B3B3 = 1 LATER [SCENE, IDLES3, IDLES4]
    "interaction:Launch" = 2 LATER {
        launch_type: I32, launch_object: Id, target_asset: Id, gravity: F32, height: F32,
        leaves_bone: I32, launch_flags: U32
    }
    "interaction:Lift" = 1 INCREDIBLES [
        LIFT, fields!(button_freq: F32), LIFT_SPEEDS, fields!(lift_flags: U32),
    ]
    "interaction:Lift" = 1 ROTU [LIFT, fields!(pointer: Id), LIFT_SPEEDS]
    "interaction:Lift" = 1 RATPROTO [LIFT, LIFT_SPEEDS]
    "interaction:Turn" = 1 LATER {
        forward_script: Id, backward_script: Id, turn_object: Id, increment: F32,
        turn_rate: F32, restore_rate: F32, goal_increment: I32, min_increment: I32,
        max_increment: I32, turn_flags: U32
    }
    "logic:reference" = 1 LATER { initial: Id }
    "logic:Function Generator" = 1 LATER {
        start_cycle_width: F32, middle_cycle_width: F32, end_cycle_width: F32,
        start_pulse_width: F32, middle_pulse_width: F32, end_pulse_width: F32, middle_time: F32,
        end_time: F32, middle_enabled: U8, end_enabled: U8, pad: Pad2
    }
    "Interest_Pointer" = 1 LATER { pos: Vec3, yaw: F32, pitch: F32, roll: F32, interest_type: U32 }
    "camera:binary_poi" = 1 LATER {
        version: U16, flags: U16, target: Id, target_margin_angle: F32,
        target_radius_scale: F32, distance_scale: F32, phi_offset: F32, yaw_offset: F32,
        near_wall_scale: F32, far_wall_scale: F32
    }
    "Analog Deflection" = 1 RATPROTO { stick: Id, axis: U32, output_id1: Id, output_id2: Id }
    "Analog Direction" = 1 RATPROTO { stick: Id, output_id1: Id, output_id2: Id }
    "Camera:transition_time" = 1 LATER {
        version: U32, type: I32, flags: U32, dest_camera: Id, time: F32, accel: F32, decel: F32
    }
    "Carrying:Carryable Property:Generic Use Property" = 1 RATPROTO [
        CARRYABLE, fields!(use_anim_code: Id),
    ]
    "Carrying:Carryable Property:Use Property Attract" = 1 RATPROTO [CARRYABLE]
    "Carrying:Carryable Property:Use Property Repel" = 1 RATPROTO [CARRYABLE]
    "Carrying:Carryable Property:Use Property Swipe" = 1 RATPROTO [
        CARRYABLE, fields!(use_anim_code: Id),
    ]
    "Context Object:Pole Swing" = 1 RATPROTO { pole: Id, length: F32 }
    "Context Object:SpringBoard" = 4 RATPROTO {
        pos: Vec3, yaw: F32, pitch: F32, roll: F32, model: Id, adjustment: F32, top: U8,
        springboard_type: U8 / SPRINGBOARDS, size: U8, pad: Pad1
    }
    "Context Object:Tightrope" = 3 RATPROTO {
        curve: Id, object: Id, fall_below: U8, flags: U8, pad: Pad2
    }
    "logic:Mission" = 2 RATPROTO [
        Section::Items("required_mission", 4, ID),
        fields!(
            initial_lock_status: U32 / MISSION_STATES, once_only: U8, load_in_slot: U8,
            pad: Pad2
        ),
        Section::Items("task", 16, ID),
        fields!(external_load: Id),
    ]
    "logic:Task" = 2 RATPROTO [
        fields!(
            checkpoint: Id, required: U8, pad: Pad3,
            initial_availability: U32 / AVAILABILITIES
        ),
        Section::Items("required_task", 16, ID),
    ]
    "Pour Widget" = 2 RATPROTO {
        volume: F32, fill_input: Id, fill_input_type: U32, fill_input_min: F32,
        fill_input_max: F32, fill_flow_rate: F32, tilt_input: Id, tilt_input_type: U32,
        tilt_input_min: F32, tilt_input_max: F32, fill_weight: F32, spill_weight: F32,
        foam_weight: F32, score_counter: Id, flow_output: Id, fill_output: Id
    }
    "Twiddler" = 2 RATPROTO {
        twiddlee: Id, twiddler_type: U32, axis: U32, input_min: F32, input_max: F32,
        output_min: F32, output_max: F32, default_value: F32
    }
};

const SCENE: Section = fields!(
    idle03_count: U32, idle03_offset: U32, idle04_count: U32, idle04_offset: U32,
    bomb_count: U8, extra_idle_delay: U8, hdr_glow: U8, hdr_darken: U8, background_music: Id,
    scene_properties_flags: I32, water_tile_width: F32, lod_fade_distance: F32
);

/// The fields that The SpongeBob Movie lacks.
const SCENE_MEMORY: Section = fields!(
    water_tile_offset: Vec2, num_checkpoints: U8, pad: Pad3, grass_dist_fade: F32,
    grass_dist_cull: F32, piggy_bank: U32, max_animation_mem: U32, max_art_mem: U32,
    max_design_mem: U32, max_programming_mem: U32
);

const IDLES3: Section = Section::IdsAt("idle03", "idle03_count", "idle03_offset");
const IDLES4: Section = Section::IdsAt("idle04", "idle04_count", "idle04_offset");

const LIFT: Section = fields!(
    forward_script: Id, backward_script: Id, lift_object: Id, stand_pointer: Id
);

const LIFT_SPEEDS: Section = fields!(
    progress_speed: F32, slip_speed: F32, final_pos: F32, toss_speed: F32, drop_gravity: F32
);

const CARRYABLE: Section = fields!(shrapnel: Id, anim_code: Id, flags: U32);
