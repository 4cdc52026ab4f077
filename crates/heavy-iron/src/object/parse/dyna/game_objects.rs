//! DYNA types of things in levels since The SpongeBob Movie.

use super::super::sections::{Section, fields};
use super::super::types::ID;
use super::{DynaType, ENTITY_ASSET, types};
use crate::games::{INCREDIBLES, LATER, SINCE_ROTU};
use crate::words::{COLOR_ANIMATIONS, FLAME_FLAGS, LAND_EFFECTS, RING_PLAYERS, VENT_FLAGS};

pub(super) const TYPES: &[DynaType] = types! {
    "game_object:Grapple" = 1 LATER { object: Id, offset: Vec3, grap_flags: U32 }
    "game_object:Hangable" = 1 LATER {
        object: Id, pivot: Vec3, handle: Vec3, on_gravity: F32, off_gravity: F32,
        max_ang_vel: F32, min_arc_degrees: F32, hang_flags: U32
    }
    "game_object:IN_Pickup" = 1 LATER { type_hash: Id, pos: Vec3 }
    "game_object:RaceTimer" = 2 LATER {
        count_down: U8, pad: Pad3, start_time: I32, victory_time: I32, warn_time1: F32,
        warn_time2: F32, warn_time3: F32
    }
    "game_object:Ring" = 2 LATER {
        pos: Vec3, yaw: F32, pitch: F32, roll: F32, offset_x: I32, offset_y: I32, offset_z: I32,
        scale: Vec3, trigger_bounds_type: I32, radius: F32, width: F32, height: F32,
        normal_timer: F32, red_timer: F32, driver_platform: Id
    }
    "game_object:RingControl" = 3 LATER [
        fields!(
            player_type: I32 / RING_PLAYERS, ring_model: Id,
            default_warning_time: F32, rings_count: I32, unused_offset: I32,
            ring_sound_group1: Id, ring_sound_group2: Id, ring_sound_group3: Id,
            ring_sound_group4: Id, num_next_rings_to_show: I32
        ),
        ids("rings", "rings_count"),
    ]
    "game_object:RubbleGenerator" = 5 LATER [
        fields!(
            flags: U32, spawn_from: Id, spawn_to: Id, models_count: U32, pad: Pad4,
            spawn_rate: F32, spawn_limit: I32, min_velocity: F32, max_velocity: F32,
            min_rotations: U32, max_rotations: U32, land_effect_type: I32 / LAND_EFFECTS,
            repeat_type: U32, launch_sound_group: Id, land_sound_group: Id
        ),
        ids("models", "models_count"),
    ]
    "game_object:RubbleGenerator" = 8 LATER [
        fields!(
            flags: U32, spawn_from_marker: Id, spawn_to_marker: Id, models_count: U32,
            pad: Pad4, spawn_rate: F32, spawn_limit: I32, min_launch_angle: F32,
            max_launch_angle: F32, min_bounces_dist_ratio: F32, max_bounces_dist_ratio: F32,
            min_rotations: U32, max_rotations: U32, land_effect_type: I32 / LAND_EFFECTS,
            repeat_type: U32, launch_sound_group: Id, land_sound_group: Id
        ),
        ids("models", "models_count"),
    ]
    "game_object:Turret" = 7 LATER {
        base_object: Id, gun_object: Id, yaw_range: F32, yaw_speed: F32, pitch_range: F32,
        pitch_speed: F32, recovery_time: F32, overheat_fraction: F32, cooling_speed: F32,
        overheat_time: F32, hit_points: I16, damage: I16, camera_offset: Vec3,
        final_pointer: Id, laser_color: Color, offsets: Vec3, offsets_1: Vec3,
        laser_length: F32, laser_thickness: F32, laser_speed: F32, laser_sound_group: Id,
        target_texture: Id, target_texture_size: Vec2
    }
    "game_object:Vent" = 1 INCREDIBLES [VENT]
    "game_object:Vent" = 1 SINCE_ROTU [VENT, fields!(damage_points: I32)]
    "game_object:VentType" = 1 LATER {
        idle_emitter: Id, idle_sound: Id, warn_emitter: Id, warn_sound: Id, damage_emitter: Id,
        damage_sound: Id
    }
    "game_object:camera_param_asset" = 1 LATER {
        x: F32, y: F32, z: F32, blend_time: F32, fovfilter_period: F32, start_fov: F32,
        end_fov: F32
    }
    "game_object:dash_camera_spline" = 2 LATER { spline: Id }
    "game_object:flame_emitter" = 4 INCREDIBLES [FLAME, fields!(damage: F32, knockback: F32)]
    "game_object:flame_emitter" = 4 INCREDIBLES [
        FLAME, fields!(damage: F32, knockback: F32, unknown_44: U32),
    ]
    "game_object:flame_emitter" = 4 SINCE_ROTU [
        FLAME,
        fields!(
            damage: F32, damage_box_height_ratio: F32, knockback: F32, sound: Id, driver: Id
        ),
    ]
    "game_object:laser_beam" = 2 INCREDIBLES [
        LASER, LASER_MOTION, fields!(damage_player: F32, damage_npc: F32, damage_other: F32),
        LASER_BEAM,
    ]
    "game_object:laser_beam" = 2 SINCE_ROTU [
        LASER, fields!(target_offset: Vec3), LASER_MOTION,
        fields!(damage_player: F32, damage_other: F32), LASER_BEAM,
    ]
    "game_object:train_car" = 7 LATER [
        ENTITY_ASSET,
        fields!(
            parent_car: Id, start_spline: Id, initial_u: F32, front_axle_dist: F32,
            rear_axle_dist: F32, front_hitch_dist: F32, rear_hitch_dist: F32, axle_width: F32,
            have_sparks: U8, destructible: U8, pad: Pad2, nav_mesh: Id,
            nav_mesh_group_index: U8, pad: Pad3
        ),
    ]
    "game_object:train_junction" = 1 LATER {
        in_spline: Id, in_is_from_forward: U8, pad: Pad3, out1_spline: Id, out1_is_forward: U8,
        pad: Pad3, out2_spline: Id, out2_is_forward: U8, pad: Pad3
    }
    "game_object:bullet_mark" = 1 LATER { texture: Id, size: F32, lifetime: F32 }
    "game_object:bullet_time" = 1 LATER {
        frequency: F32, fadeout: F32, originaltimer: F32, originalscale: F32, global: U8,
        pad: Pad3
    }
    "game_object:rband_camera_asset" = 1 LATER {
        spring_len: F32, spring_const: F32, damp_const: F32, vertical_offset: F32
    }
};

/// A list of ids with the length in a field.
const fn ids(name: &'static str, count: &'static str) -> Section {
    Section::Rows(name, count, 0, ID)
}

const FLAME: Section = fields!(
    flags: U32 / FLAME_FLAGS, pos: Vec3, dir: Vec3, scale: Vec3, heat_random: F32
);

const VENT: Section = fields!(
    vent_type: Id, pos: Vec3, yaw: F32, pitch: F32, roll: F32, damage_box_lower_left: Vec3,
    damage_box_upper_right: Vec3, boulder_influence: F32, vent_flags: U32 / VENT_FLAGS,
    idle_time: F32, warn_time: F32, damage_time: F32
);

const LASER: Section = fields!(
    flags: U32, attach_to: Id, target: Id, origin_emitter: Id, strike_emitter: Id,
    origin: Vec3
);

const LASER_MOTION: Section = fields!(
    speed: F32, segment_dist: F32, knockback: F32, movement: U8, attach_bone: U8,
    target_bone: U8, color_anim_type: U8 / COLOR_ANIMATIONS, fade_in_type: U8,
    fade_out_type: U8, pad: Pad2, fade_in_time: F32, fade_out_time: F32
);

const LASER_BEAM: Section = fields!(
    beam_texture: Id, beam_thickness: F32, beam_fade_dist: F32, beam_max_dist: F32,
    beam_taper: F32, beam_volume: U8, beam_blend_mode: U8, pad: Pad2, beam_color: Color,
    ribbon_texture: Id, ribbon_life_time: F32, ribbon_scale: F32, ribbon_orient: U8,
    ribbon_response_curve: U8, ribbon_blend_mode: U8, ribbon_glow: U8,
    color_anim_pulse_frequency: F32, color_anim_pulse_intensity_min: F32,
    color_anim_pulse_intensity_max: F32, color_anim_pulse_glow_min: F32,
    color_anim_pulse_glow_max: F32
);
