//! Objects with lists of records.

use super::super::sections::{Section, UI_COMMANDS, fields};
use super::super::types::ID;
use super::{Later, layouts_of};
use crate::games::{ALL, LATER, SCOOBY, SINCE_ROTU};
use crate::record::{layout, layouts};
use crate::words::SOUND_GROUP_FLAGS;

/// The layouts, with the engine's field names where known.
pub(super) const LAYOUTS: &[Later] = layouts_of! {
    entity: false,
    b"CCRV" ALL [
        fields!(
            version: U8, pad: Pad3, camera_type: I32, curve_flags: U32,
            transition_type: I32, transition_time: F32, player_curve: Id, camera_curve: Id,
            bead_count: U32
        ),
        Section::Rows("beads", "bead_count", 0, layout!(
            player_u: F32, camera_u: F32, distance_adjust: F32, pitch_offset: F32,
            target_radius: F32, target_margin_angle: F32, lead_offset: F32, y_offset: F32,
            near_wall_adjust: F32, far_wall_adjust: F32
        )),
    ]
    b"DTRK" ALL [
        fields!(
            vertex_count: U32, triangle_count: U32, landable_start: U32, leavable_start: U32,
            unknown_18: Id, unknown_1c: Id, unknown_20: Id
        ),
        Section::Rows("vertices", "vertex_count", 0, layout!(pos: Vec3)),
        Section::Rows("triangles", "triangle_count", 0, layout!(
            vertex0: U16, vertex1: U16, vertex2: U16, triangle_flags: U16, u: Vec3, v: Vec3
        )),
        Section::Rows("portals", "triangle_count", 0, CORNERS),
        fields!(last_triangle: U32, last_x: F32, last_y: F32),
    ]
    b"GRSM" ALL [
        fields!(vertex_count: U32, triangle_count: U32, min: Vec3, max: Vec3),
        Section::Rows("vertices", "vertex_count", 0, layout!(
            pos: Vec3, height: F32, normal: Vec3, color: Color
        )),
        Section::Rows("triangles", "triangle_count", 0, CORNERS),
    ]
    b"MVPT" SCOOBY [
        fields!(
            pos: Vec3, weight: U16, on: U8, bez_index: U8, props: U8, pad: Pad1,
            point_count: U16, zone_radius: F32
        ),
        Section::Ids("point_count"),
    ]
    b"MVPT" SCOOBY [Section::First, Section::Ids("point_count")]
    b"PGRS" ALL [
        fields!(event_count: U32),
        Section::Rows("events", "event_count", 0, layout!(
            percent: F32, event_flags: I32, target: Id, event: U32, param0: Word, param1: Word,
            param2: Word, param3: Word, param_asset: Id
        )),
    ]
    b"RANM" ALL [
        VERSIONED,
        Section::Rows("animations", "entry_count", 0, layout!(
            model: Id, bound_model: Id, lod_distance: F32, idle_anim: Id, move_through_anim: Id,
            hit_anim: Id, idle_sound_group: Id, move_through_sound_group: Id,
            hit_sound_group: Id, burn_model: Id, burn_anim: Id, burn_fuel: F32,
            burn_flame_size: F32, burn_emit_scale: F32, move_through_radius: F32
        )),
    ]
    b"SCRP" ALL [SCRIPT, EVENTS]
    b"SCRP" LATER [SCRIPT, fields!(loop: U8, pad: Pad3), EVENTS]
    b"SCRP" LATER [
        SCRIPT,
        fields!(loop: U8, pad: Pad3),
        Section::Rows("events", "event_count", 0, layout!(
            time: F32, target: Id, event: U32, param0: Word, param1: Word, param2: Word,
            param3: Word, param_asset: Id, enabled: U8, pad: Pad3
        )),
    ]
    b"SGRP" ALL [
        fields!(
            played_mask: I32, sound_count: U8, set_bits: U8, max_plays: U8, priority: U8,
            group_flags: U8 / SOUND_GROUP_FLAGS, sound_category: U8, play_rule: U8, last_selected: U8,
            inner_radius: F32, outer_radius: F32, group_name: I32
        ),
        Section::Rows("sounds", "sound_count", 0, layout!(
            sound: Id, volume: F32, min_pitch: F32, max_pitch: F32
        )),
    ]
    b"SPLN" ALL [
        fields!(
            degree: U32, last_knot: U32, last_point: U32, unknown_14: Id, unknown_18: Id
        ),
        Section::Rows("points", "last_point", 1, layout!(pos: Vec3)),
        Section::Rows("knots", "last_knot", 1, layout!(knot: F32)),
    ]
    b"SPLP" ALL [
        fields!(
            exclusive: U8, used: U8, has_hover: U8, pad: Pad1, forward_count: U16,
            backward_count: U16, speed: F32, hover_time: F32
        ),
        Section::LittleEndian(layout!(hover_point: Vec3)),
        fields!(spline: Id, forward_path: Id, backward_path: Id),
        Section::Rows("forward", "forward_count", 0, ID),
        Section::Rows("backward", "backward_count", 0, ID),
    ]
    b"SUBT" SINCE_ROTU [
        fields!(line_count: U16, text_bytes: U16),
        Section::Rows("lines", "line_count", 0, layout!(
            start_time: F32, stop_time: F32, text_offset: U32
        )),
        Section::Unknown(usize::MAX),
    ]
    b"TPIK" ALL [
        VERSIONED,
        Section::Rows("pickups", "entry_count", 0, layout!(
            pickup: Id, model: Id, pulse_model: Id, pulse_time: F32, pulse_add_scale: F32,
            pulse_move_down: F32, red: F32, green: F32, blue: F32, color: Id,
            flying_sound_group: Id, pickup_sound_group: Id, denied_sound_group: Id, health: U8,
            power: U8, save_flag: U8, initialized: U8
        )),
    ]
    b"TRWT" ALL [
        VERSIONED,
        Section::Rows("throwables", "entry_count", 0, layout!(
            model: Id, kind: I32, shrapnel: Id, damage: I32, damage_radius: F32
        )),
    ]
    b"UIM " ALL [
        fields!(
            cmd_count: U8, in: U8, pad: Pad2, cmd_size: U32, total_time: F32, loop_time: F32
        ),
        Section::Commands(&[UI_COMMANDS]),
    ]
};

layouts! {
    /// The numbers of three vertices.
    CORNERS { vertex0: U16, vertex1: U16, vertex2: U16 }
}

/// The beginning of tables that have versions.
const VERSIONED: Section = fields!(version: U32, entry_count: U32);

/// The beginning of scripts.
const SCRIPT: Section = fields!(start_time: F32, event_count: U32);

/// Timed events, before Rise of the Underminer.
const EVENTS: Section = Section::Rows(
    "events",
    "event_count",
    0,
    layout!(
        time: F32, target: Id, event: U32, param0: Word, param1: Word, param2: Word,
        param3: Word, param_asset: Id
    ),
);
