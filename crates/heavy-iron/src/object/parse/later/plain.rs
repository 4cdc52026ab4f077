//! Objects that are not entities and have no lists.

use super::super::sections::{
    COMMANDS, CUTSCENE_TIMES, LOLD_HEIGHT, PROPERTIES, SHAPE, SURFACE, Section, fields,
};
use super::super::types::{ENTITY, ENTITY_FLAGS};
use super::{Later, layouts_of};
use crate::games::{ALL, BFBB, LATER, SCOOBY};
use crate::parts::{self, PartKind, kinds};
use crate::record::layout;
use crate::words::{
    CAMERA_TRANSITIONS, DRIVING_SURFACES, EMITTER_FLAGS, HIT_SOURCES, SURFACE_FLAGS, VOLUMES,
};

/// The layouts, with the engine's field names where known.
pub(super) const LAYOUTS: &[Later] = layouts_of! {
    entity: false,
    b"CAM " SCOOBY [CAMERA, LENS, MARKERS]
    b"CAM " LATER [CAMERA, LENS, MARKERS]
    b"COND" SCOOBY [Section::First]
    b"CSNM" LATER [Section::First, fields!(subtitles: Id), CUTSCENE_TIMES]
    b"DUPC" SCOOBY [DUPLICATOR, OWN, FLAGS, PLACE, VILLAIN]
    b"DUPC" BFBB [
        DUPLICATOR, OWN, FLAGS, Section::Part("villain_entity", layout!(pad: Pad4)), PLACE, VILLAIN,
    ]
    b"DUPC" LATER [
        DUPLICATOR, OWN, FLAGS, PLACE, VILLAIN,
        Section::Part("villain", layout!(nav_mesh: Id, settings: Id)),
    ]
    b"ENV " SCOOBY [ENVIRONMENT]
    b"ENV " LATER [ENVIRONMENT, LOLD_HEIGHT, fields!(min: Vec3, max: Vec3)]
    b"LOBM" SCOOBY [LOB]
    b"LOBM" LATER [LOB]
    b"NAVM" ALL [Section::Unknown(usize::MAX)]
    b"PARE" SCOOBY [
        fields!(
            emit_flags: U8 / EMITTER_FLAGS, emit_type: U8, count: U8, count_variation: U8,
            interval: F32
        ),
        SHAPE,
        fields!(
            attach_to: Id, par_sys: Id, pos: Vec3, vel: Vec3, vel_angle_variation: F32,
            start_color: Color, end_color: Color, size_birth: F32, size_birth_variation: F32,
            size_death: F32, life: F32, life_variation: F32, pad: Pad2, cull_mode: U8,
            pad: Pad1, cull_dist_sqr: F32, max_emit: U8, pad: Pad3
        ),
    ]
    b"PARP" SCOOBY [Section::First, PROPERTIES, EMISSION]
    b"PARP" LATER [Section::First, PROPERTIES, EMISSION]
    b"PARS" SCOOBY [Section::First, Section::Commands(&[COMMANDS])]
    b"PARS" SCOOBY [Section::First, Section::Commands(&[LATER_COMMANDS, COMMANDS])]
    b"PARS" LATER [Section::First, SYSTEM_FLAGS, Section::Commands(&[COMMANDS])]
    b"PARS" LATER [Section::First, SYSTEM_FLAGS, Section::Commands(&[LATER_COMMANDS, COMMANDS])]
    b"SLID" ALL [Section::Unknown(usize::MAX)]
    b"SSET" ALL [Section::Unknown(usize::MAX)]
    b"SURF" SCOOBY [
        MATERIAL,
        Section::Items("uvfx", 2, layout!(
            mode: I32, rot: F32, rot_speed: F32, trans: Vec3, trans_speed: Vec3, scale: Vec3,
            scale_speed: Vec3
        )),
        fields!(on: U8, pad: Pad3),
    ]
    b"SURF" LATER [
        MATERIAL, SURFACE,
        fields!(
            impact_sound: Id, dash_impact_type: U8, pad: Pad3, dash_impact_throw_back: F32,
            dash_spray_magnitude: F32, dash_cool_rate: F32, dash_cool_amount: F32,
            dash_pass: F32, dash_ramp_max_distance: F32, dash_ramp_min_distance: F32,
            dash_ramp_key_speed: F32, dash_ramp_height: F32, dash_ramp_target: Id,
            damage_amount: I32, hit_source: U32 / HIT_SOURCES, off_surface_emitter: Id,
            off_surface_sound: Id, off_surface_texture: Id, off_surface_duration: F32,
            on_surface_emitter: Id, on_surface_sound: Id, on_surface_texture: Id,
            on_surface_duration: F32
        ),
        Section::Items("hit_decals", 3, layout!(texture: Id, size: Vec2)),
        fields!(
            off_surface_time: F32, swimmable: U8, dash_fall: U8, need_button_press: U8,
            dash_attach: U8, footstep_decals: U8, pad: Pad4,
            driving_surface: U8 / DRIVING_SURFACES, pad: Pad2
        ),
    ]
    b"TIMR" SCOOBY [Section::First]
    b"VOLU" ALL [
        fields!(volume_flags: U32, volume_type: U8 / VOLUMES, pad: Pad3), VOLUME,
        fields!(
            unknown_34: U32, unknown_38: U32, unknown_3c: U32, unknown_40: U32, rot: F32,
            x_pivot: F32, z_pivot: F32
        ),
    ]
    b"VOLU" ALL [
        fields!(volume_flags: U32),
        Section::Part("grid", layout!(
            unknown_0: U32, unknown_4: U32, min: Vec3, max: Vec3
        )),
        fields!(volume_type: U8 / VOLUMES, pad: Pad3), VOLUME,
        fields!(matrix: U32, rot: F32, x_pivot: F32, z_pivot: F32),
    ]
};

const ENVIRONMENT: Section = fields!(
    bsp: Id, start_camera: Id, climate_flags: U32, climate_min: F32, climate_max: F32,
    bsp_light_kit: Id, object_light_kit: Id, env_flags: I32, bsp_collision: Id, bsp_fx: Id,
    bsp_camera: Id, bsp_mapper: Id, bsp_mapper_collision: Id, bsp_mapper_fx: Id
);

const LOB: Section = fields!(
    lob_type: Id, projectile: Id, pos: Vec3, rot: Vec3, launch_speed: F32, speed_random: F32,
    scale: Vec3, lob_flags: U32, max_lifetime: F32, max_distance: F32, movepoint: Id,
    salvo_count: I32, ammo_count: I32, arc_factor: F32, debris_angle: I32, bounces: I32,
    powerup_type: I32, heavy_factor: F32, tumble: Vec3, collide_delay: F32, rest_period: F32,
    mode: I32
);

const EMISSION: Section = fields!(vel: Vec3, emit_limit: I32, emit_limit_reset_time: I32);

const MATERIAL: Section = Section::All(&[
    fields!(
        damage_type: U8, sticky: U8, damage_flags: U8, surf_type: U8, phys_pad: U8,
        slide_start: U8, slide_stop: U8, phys_flags: U8 / SURFACE_FLAGS, friction: F32,
        matfx_flags: U32, bump_map: Id, env_map: Id, shininess: F32, bumpiness: F32,
        dual_map: Id, color_flags: U16, color_mode: U16, color_speed: F32,
        texture_anim_flags: U32
    ),
    Section::Items(
        "texture_anim",
        2,
        layout!(padding: I16, mode: I16, group: Id, speed: F32),
    ),
    fields!(uvfx_flags: U32),
]);

const CAMERA: Section = fields!(
    pos: Vec3, at: Vec3, up: Vec3, right: Vec3, view_offset: Vec3, offset_start_frames: I16,
    offset_end_frames: I16, fov: F32, trans_time: F32, trans_type: U32 / CAMERA_TRANSITIONS,
    cam_flags: U32, fade_up: F32, fade_down: F32
);

/// The fields selected by the kind of a camera.
const LENS: Section = Section::Kind {
    name: parts::BODY,
    by: "cam_type",
    size: 24,
    kinds: &[kinds! { []
        0 "follow" {
            rotation: F32, distance: F32, height: F32, rubber_band: F32, start_speed: F32,
            end_speed: F32
        }
        1 "shoulder" {
            distance: F32, height: F32, realign_speed: F32, realign_delay: F32, unknown1: F32,
            unknown2: F32
        }
        2 "static" { u0: U32, u1: U32, u2: U32, u3: U32, u4: U32, u5: U32 }
        3 "path" { path: Id, time_end: F32, time_delay: F32 }
        4 "static_follow" { rubber_band: F32 }
    }],
    ahead: Some(0x84),
};

const MARKERS: Section = fields!(
    valid_flags: U32, marker0: Id, marker1: Id, cam_type: U8, pad: Pad3
);

const DUPLICATOR: Section = fields!(
    initial_spawn: I16, maximum_in_game: I16, maximum_to_spawn: I16, pad: Pad2,
    spawn_rate: F32, unknown_14: I32, unknown_18: I32, unknown_1c: I32, unknown_20: I32,
    unknown_24: I32, unknown_28: I32, nav_mesh: Id, unknown_30: I32
);

/// The header of the villain in a duplicator.
const OWN: Section = Section::Part(
    "villain",
    layout!(own_id: Id, base_type: U8, link_count: U8, flags: U16),
);
const FLAGS: Section = Section::Part("villain_entity", ENTITY_FLAGS);
const PLACE: Section = Section::Part("villain_entity", ENTITY);
const VILLAIN: Section = Section::Part(
    "villain",
    layout!(
        npc_flags: I32, npc_type: Id, npc_props: Id, movepoint: Id, task_prime: Id,
        task_second: Id
    ),
);

const SYSTEM_FLAGS: Section = fields!(system_flags: U32);

/// The commands with different fields in IndustrialPark, an editor.
const LATER_COMMANDS: &[PartKind] = kinds! {
    [type: U32, enabled: U8, mode: U8, pad: Pad2,]
    5 "5" {}
    14 "player_collision" { factor: Vec4 }
    16 "custom" { id: Id, value1: F32, value2: F32, value3: F32, value4: F32 }
    26 "clip_volumes" { unused: I32 }
    32 "size_in_out" {}
};

/// The shape of a volume.
const VOLUME: Section = Section::kind(
    "shape",
    "volume_type",
    36,
    &[kinds! { []
        0 "none" {}
        1 "sphere" { center: Vec3, radius: F32 }
        2 "box" { center: Vec3, max: Vec3, min: Vec3 }
        3 "cylinder" { center: Vec3, radius: F32, height: F32 }
        4 "none" {}
    }],
);
