//! DYNA types of effects since The SpongeBob Movie.

use super::super::sections::{Section, fields};
use super::{DynaType, types};
use crate::games::{INCREDIBLES, LATER, SINCE_ROTU};
use crate::parts::{Kinds, PartKind, kinds};
use crate::words::{
    ATTACH_TYPES, EFFECT_LIGHTS, EMITTER_VOLUMES, MOTION_TYPES, PARTICLE_SYSTEMS, WARP_FLAGS,
};

pub(super) const TYPES: &[DynaType] = types! {
    "effect:Waterhose" INCREDIBLES {
        start_pos: Vec3, end_pos: Vec3, color: Color, sound: Id, sound_hit: Id
    }
    "effect:Rumble Box Emitter" = 1 LATER {
        effect: Id, min_corner: Vec3, max_corner: Vec3, only_on_floor: U8, pad: Pad3
    }
    "effect:Flamethrower" = 3 LATER {
        pos: Vec3, rotation_x: F32, rotation_y: F32, rotation_z: F32, visible: U8, pad: Pad3,
        on_length: F32, off_length: F32, color: Color, damage: I32, knockback: F32,
        damage_radius: F32
    }
    "effect:Lens Flare Element" = 3 LATER {
        texture_asset: Id, texture: Id, position: F32, width: F32, height: F32, uv_0: F32,
        uv_1: F32, uv_2: F32, uv_3: F32, color: I32, mode: I32
    }
    "effect:Lens Flare Source" = 3 LATER {
        object: Id, element: Id, element_array: Id, num_elements: Id, size: F32, intensity: F32,
        cone_angle: F32, distance_attenuation_mode: Id
    }
    "effect:Lightning" = 2 LATER {
        start: Vec3, end: Vec3, color: Color, thickness: F32, branch_speed: F32,
        main_texture: Id, branch_texture: Id, damage: I32, knock_back_speed: F32, sound: Id,
        sound_hit1: Id, sound_hit2: Id, follow_start: Id, follow_end: Id, collision_enabled: U32
    }
    "effect:Rumble" = 3 LATER {
        time: F32, intensity: F32, id: Id, priority: U8, type: U8, rumble_in_pause: U8,
        pad: Pad1, param1: F32, param2: F32, shake_magnitude: F32, shake_cycle_max: F32,
        shake_rotational_magnitude: F32, shake_y: U8, pad: Pad3
    }
    "effect:Rumble Spherical Emitter" = 1 LATER {
        effect: Id, radius: F32, pos: Vec3, only_rumble_on_y: U8, fall_off: U8,
        only_on_floor: U8, pad: Pad1
    }
    "effect:ScreenFade" = 1 LATER {
        dest: Color, fade_down_time: F32, wait_time: F32, fade_up_time: F32
    }
    "effect:Splash" = 2 LATER { pos: Vec3, motion_type: U32, soundgroup: Id }
    "effect:grass" = 2 LATER {
        orient: U8, pad: Pad1, flags: U16, mesh: Id, model: Id, width_scale: F32,
        height_scale: F32, density_scale: F32, width_min: F32, height_min: F32, animate: F32
    }
    "effect:smoke_emitter" = 1 LATER {
        flags: U32, region_attach_to: Id, region_loc: Vec3, region_dir_x: F32,
        region_dir_y: F32, region_dir_z: F32, region_scale: Vec3, texture: Id,
        texture_rows: U16, texture_columns: U16, rate: F32, life_min: F32, life_max: F32,
        size_min: F32, size_max: F32, vel_min: F32, vel_max: F32, growth: F32, vel_dir: Vec3,
        vel_dir_vary: F32, wind: F32, color_birth: Color, color_death: Color
    }
    "effect:spark_emitter" = 6 LATER {
        update_distance: F32, texture: Id, flags: U32, attach_obj: Id, pos: Vec3,
        num_sparks: I32, period: F32, period_random: F32, lifetime_min: F32,
        lifetime_random: F32, yaw: F32, pitch: F32, direction_vary: F32, velocity_min: F32,
        velocity_random: F32, gravity: F32, size_min: F32, size_random: F32, texture_glint: Id,
        length_min: F32, length_random: F32, length_max: F32, light_color: Vec4, radius: F32,
        up: F32, max: F32, down: F32, sound_asset: Id
    }
    "effect:spotlight" = 2 LATER {
        flags: U32, attach_to: Id, target: Id, attach_bone: U8, target_bone: U8, pad: Pad2,
        radius: F32, view_angle: F32, max_dist: F32, light_color: Color, aura_color: Color,
        flare_texture: Id, flare_color: Color, flare_size_min: F32, flare_size_max: F32,
        flare_glow_min: U8, flare_glow_max: U8, pad: Pad2
    }
    "effect:uber_laser" = 1 LATER { marker_start: Id, marker_end: Id, time: F32 }
    "effect:water_body" = 1 LATER {
        flags: U32, motion_type: Id, body: Id, facade_refract: Id, facade_reflect: Id,
        light_dir: Id
    }
    "effect:Light Effect Flicker" = 1 LATER {
        red_mult: F32, green_mult: F32, blue_mult: F32, see_thru: F32, flicker_rate: F32,
        random_flicker_rate: F32, blend_time: F32, flags: U32
    }
    "effect:Light Effect Strobe" = 1 LATER {
        red_mult: F32, green_mult: F32, blue_mult: F32, see_thru: F32, fade_up_time: F32,
        fade_down_time: F32, time_max: F32, time_min: F32, random_time_max: F32,
        random_time_min: F32
    }
    "effect:Screen Warp" = 1 LATER {
        effect_type: U32, flags: U32 / WARP_FLAGS, pos: Vec3, radius: F32,
        duration: F32, repeat_delay: F32, intensity: F32, frequency: F32, trigger_distance: F32
    }
    "effect:light" = 2 LATER {
        light_type: U32 / EFFECT_LIGHTS, light_effect: Id, light_effect_speed: F32,
        light_flags: U32, red_mult: F32, green_mult: F32, blue_mult: F32, see_thru: F32,
        pos: Vec3, radius: F32, attach: Id, light_card: Id, light_card_scale: F32
    }
    "Effect:particle_generator" = 1 INCREDIBLES [
        GENERATOR, GENERATOR_TYPES, ATTACH, GENERATOR_MOTION, volume(&[VOLUMES]), SYSTEM,
    ]
    "Effect:particle_generator" = 1 SINCE_ROTU [
        GENERATOR, fields!(emit_distance: F32), GENERATOR_TYPES, ATTACH, GENERATOR_MOTION,
        volume(&[LATER_VOLUMES, VOLUMES]), SYSTEM,
    ]
};

const GENERATOR: Section = fields!(
    generator_flags: U8, attach_flags: U8, motion_flags: U8, volume_flags: U8, rate: F32,
    texture: Id
);

const GENERATOR_TYPES: Section = fields!(
    attach_type: U8 / ATTACH_TYPES, motion_type: U8 / MOTION_TYPES,
    volume_type: U8 / EMITTER_VOLUMES, system_type: U8 / PARTICLE_SYSTEMS, pos: Vec3,
    yaw: F32, pitch: F32, roll: F32, entity: Id
);

const ATTACH: Section = Section::kind(
    "attach",
    "attach_type",
    12,
    &[kinds! { []
        0 "fixed" { bone: U8 }
        1 "entity" { bone: U8 }
        2 "entity_tag" { tag: Vec3 }
    }],
);

const GENERATOR_MOTION: Section = fields!(
    spiral_flags: U8, spiral_points: U8, pad: Pad2, radius_inner: F32, radius_outer: F32,
    duration: F32, frequency: F32
);

/// The fields selected by the shape of a generator.
const fn volume(kinds: Kinds) -> Section {
    Section::kind("volume", "volume_type", 12, kinds)
}

const VOLUMES: &[PartKind] = kinds! { []
    0 "point" {}
    1 "sphere" { radius: F32, circle_arc_length: F32 }
    2 "circle" { radius: F32, circle_arc_length: F32 }
    3 "line" { line_flags: U8, pad: Pad3, line_radius: F32, line_length: F32 }
    4 "model" { model_flags: U8, model_exclude: U8, pad: Pad2, model_expand: F32 }
    5 "box" { dimensions: Vec3 }
};

/// The shapes with different fields since Rise of the Underminer.
const LATER_VOLUMES: &[PartKind] = kinds! { []
    1 "sphere" { radius: F32, circle_arc_length: F32, height: F32 }
    2 "circle" { radius: F32, circle_arc_length: F32, height: F32 }
};

const SYSTEM: Section = Section::kind(
    "system",
    "system_type",
    76,
    &[kinds! { []
        0 "dummy" {}
        1 "waterfall" {
            flags: U32, width_min: F32, width_max: F32, velocity_min: F32, velocity_max: F32,
            velocity_direction_yaw: F32, velocity_direction_pitch: F32,
            velocity_direction_roll: F32, velocity_direction_vary: F32, height_start_min: F32,
            height_start_max: F32, height_velocity: F32, height_acceleration: F32, height_max: F32,
            intensity_min: F32, intensity_max: F32, color: Color, gravity: F32, kill_y_offset: F32
        }
        2 "waterfall_mist" {
            life_min: F32, life_max: F32, size_birth: F32, size_death: F32, size_vary: F32,
            velocity_min: F32, velocity_max: F32, velocity_pitch_max: F32,
            rotation_velocity_min: F32, rotation_velocity_max: F32, intensity_min: F32,
            intensity_max: F32, color: Color
        }
        3 "waterfall_splash" {
            life_min: F32, life_max: F32, size_birth: F32, size_death: F32, size_vary: F32,
            velocity_min: F32, velocity_max: F32, velocity_pitch_min: F32, velocity_pitch_max: F32,
            intensity_min: F32, intensity_max: F32, color: Color, gravity: F32, kill_y_offset: F32
        }
        4 "snow" {
            gravity: F32, drift_force: F32, max_drift_speed: F32, max_drift_dist: F32,
            min_scale: F32, max_scale: F32, max_rot_speed: F32
        }
        5 "rain" { gravity: F32, drop_width: F32, drop_length: F32 }
        6 "earth_dust" {
            gravity: F32, drift: F32, size: F32, rot_speed: F32, lifetime: F32, birth_alpha: F32,
            death_alpha: F32, shrap: Id, shrap_emit_rate: F32, init_down_velocity: F32,
            rand_velocity: F32
        }
        7 "pop" {
            gravity: F32, drift: F32, out_velocity: F32, size: F32, rot_speed: F32, lifetime: F32,
            max_alpha: F32
        }
        8 "burrow_kickup" {
            gravity: F32, size: F32, rot_speed: F32, lifetime: F32, max_alpha: F32,
            init_up_velocity: F32, rand_out_velocity: F32, shrap: Id, shrap_emit_rate: F32,
            init_down_velocity: F32, rand_velocity: F32
        }
        9 "puffer" {
            min_time_on: F32, max_time_on: F32, min_time_off: F32, max_time_off: F32, gravity: F32,
            size: F32, rot_speed: F32, lifetime: F32, max_alpha: F32, init_up_velocity: F32,
            rand_out_velocity: F32, shrap: Id, shrap_emit_rate: F32, init_down_velocity: F32,
            rand_velocity: F32
        }
    }],
);
