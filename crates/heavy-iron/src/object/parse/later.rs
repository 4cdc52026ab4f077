//! Types of objects that Battle for Bikini Bottom does not have (FORMATS, HIP
//! assets 6).
//!
//! No file of a game confirms these layouts. An object is read by one only if
//! that ends where the object ends; otherwise its body stays undecoded.

use super::sections::{MOTION, MOTION_HEAD, Section};
use super::types::{ENTITY, ENTITY_FLAGS, ID};
use crate::parts::{PartKind, kinds};
use crate::record::{Layout, layout};

/// A layout of a type.
#[derive(Debug)]
pub(super) struct Later {
    /// The code of the type.
    code: [u8; 4],
    /// Whether the body begins with the fields of an entity.
    pub(super) is_entity: bool,
    /// The rest of the body.
    pub(super) sections: &'static [Section],
}

/// Returns the layouts of a type: games have different ones.
pub(super) fn layouts(code: [u8; 4]) -> impl Iterator<Item = &'static Later> {
    LATER.iter().filter(move |layout| layout.code == code)
}

macro_rules! later {
    ($($code:literal entity: $entity:literal, [$($section:expr),* $(,)?])*) => {
        &[$(Later {
            code: *$code,
            is_entity: $entity,
            sections: const { &[$($section),*] },
        }),*]
    };
}

/// An event of a script at a time or at a percentage.
const EVENT: Layout = layout!(
    time: F32, target: Id, event: U32, param0: F32, param1: F32, param2: F32, param3: F32,
    param_asset: Id
);

/// The layouts, with the fields of the engine where they are known.
const LATER: &[Later] = later! {
    b"CCRV" entity: false, [
        Section::Body(layout!(
            version: U8, pad: Pad1, pad: Pad2, camera_type: I32, curve_flags: U32,
            transition_type: I32, transition_time: F32, player_curve: Id, camera_curve: Id,
            bead_count: U32
        )),
        Section::Rows("beads", "bead_count", 0, layout!(
            player_u: F32, camera_u: F32, distance_adjust: F32, pitch_offset: F32,
            target_radius: F32, target_margin_angle: F32, lead_offset: F32, y_offset: F32,
            near_wall_adjust: F32, far_wall_adjust: F32
        )),
    ]
    b"DTRK" entity: false, [
        Section::Body(layout!(
            vertex_count: U32, triangle_count: U32, landable_start: U32, leavable_start: U32,
            unknown_18: Id, unknown_1c: Id, unknown_20: Id
        )),
        Section::Rows("vertices", "vertex_count", 0, layout!(pos: Vec3)),
        Section::Rows("triangles", "triangle_count", 0, layout!(
            vertex0: U16, vertex1: U16, vertex2: U16, triangle_flags: U16, u: Vec3, v: Vec3
        )),
        Section::Rows("portals", "triangle_count", 0, CORNERS),
        Section::Body(layout!(last_triangle: U32, last_x: F32, last_y: F32)),
    ]
    b"DUPC" entity: false, [
        Section::Body(layout!(
            initial_spawn: U16, maximum_in_game: U16, maximum_to_spawn: U16, pad: Pad2,
            spawn_rate: F32, unknown_14: U32, unknown_18: U32, unknown_1c: U32, unknown_20: U32,
            unknown_24: U32, unknown_28: U32, nav_mesh: Id, unknown_30: U32
        )),
        Section::Part("villain", layout!(own_id: Id, base_type: U8, link_count: U8, flags: U16)),
        Section::Part("villain_entity", ENTITY_FLAGS),
        Section::Part("villain_entity", ENTITY),
        Section::Part("villain", layout!(
            npc_flags: I32, npc_type: Id, npc_props: Id, movepoint: Id, task_prime: Id,
            task_second: Id, nav_mesh: Id, settings: Id
        )),
    ]
    b"GRSM" entity: false, [
        Section::Body(layout!(vertex_count: U32, triangle_count: U32, min: Vec3, max: Vec3)),
        Section::Rows("vertices", "vertex_count", 0, layout!(
            pos: Vec3, height: F32, normal: Vec3, color: Color
        )),
        Section::Rows("triangles", "triangle_count", 0, CORNERS),
    ]
    b"HANG" entity: true, [Section::Body(layout!(
        hang_flags: U32, pivot_offset: F32, lever_arm: F32, gravity: F32, acceleration: F32,
        decay: F32, grab_delay: F32, stop_deceleration: F32
    ))]
    b"NPC " entity: true, [Section::Body(layout!(
        unknown_50: F32, unknown_54: F32, unknown_58: F32, unknown_5c: F32, unknown_60: F32,
        unknown_64: F32, unknown_68: F32, unknown_6c: F32, unknown_70: I16, unknown_72: I16,
        unknown_74: I16, unknown_76: I16, unknown_78: U8, unknown_79: U8, unknown_7a: U8,
        unknown_7b: U8, unknown_7c: U8, unknown_7d: U8, unknown_7e: U8, unknown_7f: U8,
        unknown_80: F32, unknown_84: F32, unknown_88: F32, unknown_8c: I32, unknown_90: I32,
        unknown_94: I32, unknown_98: F32, unknown_9c: F32, unknown_a0: F32, unknown_a4: F32,
        unknown_a8: F32, unknown_ac: F32, unknown_b0: F32, movepoint: Id, unknown_b8: Id,
        unknown_bc: I32, unknown_c0: I32
    ))]
    b"PEND" entity: true, [MOTION_HEAD, MOTION]
    b"PGRS" entity: false, [
        Section::Body(layout!(event_count: U32)),
        Section::Rows("events", "event_count", 0, layout!(
            percent: F32, event_flags: I32, target: Id, event: U32, param0: F32, param1: F32,
            param2: F32, param3: F32, param_asset: Id
        )),
    ]
    b"RANM" entity: false, [
        Section::Body(VERSIONED),
        Section::Rows("animations", "entry_count", 0, layout!(
            model: Id, bound_model: Id, lod_distance: F32, idle_anim: Id, move_through_anim: Id,
            hit_anim: Id, idle_sound_group: Id, move_through_sound_group: Id,
            hit_sound_group: Id, burn_model: Id, burn_anim: Id, burn_fuel: F32,
            burn_flame_size: F32, burn_emit_scale: F32, move_through_radius: F32
        )),
    ]
    b"SCRP" entity: false, [
        Section::Body(layout!(start_time: F32, event_count: U32)),
        Section::Rows("events", "event_count", 0, EVENT),
    ]
    b"SCRP" entity: false, [
        Section::Body(LOOPED),
        Section::Rows("events", "event_count", 0, EVENT),
    ]
    b"SCRP" entity: false, [
        Section::Body(LOOPED),
        Section::Rows("events", "event_count", 0, layout!(
            time: F32, target: Id, event: U32, param0: F32, param1: F32, param2: F32,
            param3: F32, param_asset: Id, enabled: U8, pad: Pad1, pad: Pad2
        )),
    ]
    b"SGRP" entity: false, [
        Section::Body(layout!(
            played_mask: U32, sound_count: U8, set_bits: U8, max_plays: I8, priority: U8,
            group_flags: U8, sound_category: U8, play_rule: U8, last_selected: U8,
            inner_radius: F32, outer_radius: F32, group_name: U32
        )),
        Section::Rows("sounds", "sound_count", 0, layout!(
            sound: Id, volume: F32, min_pitch: F32, max_pitch: F32
        )),
    ]
    b"SPLN" entity: false, [
        Section::Body(layout!(
            degree: U32, last_knot: U32, last_point: U32, unknown_14: Id, unknown_18: Id
        )),
        Section::Rows("points", "last_point", 1, layout!(pos: Vec3)),
        Section::Rows("knots", "last_knot", 1, layout!(knot: F32)),
    ]
    b"SPLP" entity: false, [
        Section::Body(layout!(
            exclusive: U8, used: U8, has_hover: U8, pad: Pad1, forward_count: U16,
            backward_count: U16, speed: F32, hover_time: F32
        )),
        Section::LittleEndian(layout!(hover_point: Vec3)),
        Section::Body(layout!(spline: Id, forward_path: U32, backward_path: U32)),
        Section::Rows("forward", "forward_count", 0, ID),
        Section::Rows("backward", "backward_count", 0, ID),
    ]
    b"TPIK" entity: false, [
        Section::Body(VERSIONED),
        Section::Rows("pickups", "entry_count", 0, layout!(
            pickup: Id, model: Id, ring_model: Id, unknown_0c: F32, unknown_10: F32,
            unknown_14: F32, ring_color: Vec3, unknown_24: Id, unknown_28: Id,
            pickup_sound_group: Id, denied_sound_group: Id, health: U8, power: U8, bonus: U8,
            unknown_37: U8
        )),
    ]
    b"TRWT" entity: false, [
        Section::Body(VERSIONED),
        Section::Rows("throwables", "entry_count", 0, layout!(
            model: Id, kind: I32, shrapnel: Id, damage: I32, damage_radius: F32
        )),
    ]
    b"UIM " entity: false, [
        Section::Body(layout!(
            cmd_count: U8, in: U8, pad: Pad2, cmd_size: U32, total_time: F32, loop_time: F32
        )),
        Section::Commands(UI_COMMANDS),
    ]
    b"VOLU" entity: false, [
        Section::Body(layout!(volume_flags: U32, volume_type: U8, pad: Pad1, pad: Pad2)),
        VOLUME,
        Section::Body(layout!(
            unknown_34: U32, unknown_38: U32, unknown_3c: U32, unknown_40: U32, rot: F32,
            x_pivot: F32, z_pivot: F32
        )),
    ]
    b"VOLU" entity: false, [
        Section::Body(layout!(volume_flags: U32)),
        Section::Part("grid", layout!(
            unknown_0: U32, unknown_4: U32, min: Vec3, max: Vec3
        )),
        Section::Body(layout!(volume_type: U8, pad: Pad1, pad: Pad2)),
        VOLUME,
        Section::Body(layout!(matrix: U32, rot: F32, x_pivot: F32, z_pivot: F32)),
    ]
};

/// The numbers of three vertices.
const CORNERS: Layout = layout!(vertex0: U16, vertex1: U16, vertex2: U16);

/// The beginning of tables that have versions.
const VERSIONED: Layout = layout!(version: U32, entry_count: U32);

/// The beginning of scripts since The Incredibles.
const LOOPED: Layout = layout!(
    start_time: F32, event_count: U32, loop: U8, pad: Pad1, pad: Pad2
);

/// The shape of a volume.
const VOLUME: Section = Section::Kind {
    name: "shape",
    by: "volume_type",
    size: 36,
    kinds: VOLUMES,
};

const VOLUMES: &[PartKind] = kinds! { []
    0 "none" {}
    1 "sphere" { center: Vec3, radius: F32 }
    2 "box" { center: Vec3, max: Vec3, min: Vec3 }
    3 "cylinder" { center: Vec3, radius: F32, height: F32 }
};

/// The commands that move a part of a menu.
const UI_COMMANDS: &[PartKind] = kinds! {
    [
        type: U32, start_time: F32, end_time: F32, accel_time: F32, decel_time: F32,
        enabled: U8, pad: Pad1, pad: Pad2,
    ]
    0 "move" { distance: Vec2 }
    1 "scale" {
        amount: Vec2, center_pivot: U8, pad: Pad1, pad: Pad2, center_offset: Vec2
    }
    2 "rotate" { rotation: F32, center_offset: Vec2 }
    3 "opacity" { start_opacity: U8, end_opacity: U8, pad: Pad2 }
    4 "absolute_scale" {
        start_scale: Vec2, end_scale: Vec2, center_pivot: U8, text_scale: U8, pad: Pad2
    }
    5 "brightness" { start_brightness: U8, end_brightness: U8, pad: Pad2 }
    6 "color" {
        start_red: U8, start_green: U8, start_blue: U8, end_red: U8, end_green: U8,
        end_blue: U8, pad: Pad2
    }
    7 "uv_scroll" { amount: Vec2 }
};
