//! Structure of objects, and the parts after the first fields of some types in Battle
//! for Bikini Bottom (FORMATS, HIP assets 6).

use crate::parts::{Kinds, PartKind, kinds};
use crate::record::{Layout, layout, layouts};
use crate::words::{AXES, MECHANISM_FLAGS, MOTION_FLAGS, MOVEMENTS, SPRING_FLAGS};

/// A contiguous part of an object, after the fields of its type.
#[derive(Debug, Clone, Copy)]
pub(super) enum Section {
    /// Several sections.
    All(&'static [Section]),
    /// The fields of the type in Battle for Bikini Bottom.
    First,
    /// The sections after them in Battle for Bikini Bottom.
    FirstSections,
    /// More fields of the type.
    Body(Layout),
    /// Fields with a name of their own.
    Part(&'static str, Layout),
    /// A list of a fixed number of parts.
    Items(&'static str, u16, Layout),
    /// Fields selected by the value of the field `by`, in `size` bytes. A value without
    /// fields leaves the bytes unused.
    Kind {
        name: &'static str,
        by: &'static str,
        size: usize,
        kinds: Kinds,
        /// Offset of the field in the asset, if it is a byte after these fields.
        ahead: Option<usize>,
    },
    /// The fields of one kind, with its number.
    Always(&'static str, u32, Kinds),
    /// A list with this name, with as many records as the field with the second name
    /// says, plus this number.
    Rows(&'static str, &'static str, usize, Layout),
    /// Like rows, each followed by its own list.
    Lists {
        name: &'static str,
        count: &'static str,
        layout: Layout,
        list: &'static str,
        list_count: Count,
        list_layout: Layout,
    },
    /// The trailing ids of a GRUP and an MVPT, with their number in a field.
    Ids(&'static str),
    /// A list of ids with this name at the offset in the last field, counted from the
    /// end of the header of a DYNA. The field between is their number.
    IdsAt(&'static str, &'static str, &'static str),
    /// Further fields of the type, which are little-endian in every archive.
    LittleEndian(Layout),
    /// As many commands as the field `cmd_count` says, of these kinds. The first list
    /// with the number of a command has its kind.
    Commands(Kinds),
    /// The end, at the offset in a field.
    EndsAt(&'static str),
    /// Up to this many trailing bytes without a known meaning.
    Unknown(usize),
    /// The texts and states of a disco floor.
    Floor,
}

/// A number of elements.
#[derive(Debug, Clone, Copy)]
pub(super) enum Count {
    /// The field with this name has it.
    Field(&'static str),
    /// It is always the same.
    Fixed(usize),
}

impl Section {
    /// Returns a section of fields selected by an earlier field.
    pub(super) const fn kind(
        name: &'static str,
        by: &'static str,
        size: usize,
        kinds: Kinds,
    ) -> Self {
        let ahead = None;
        Self::Kind {
            name,
            by,
            size,
            kinds,
            ahead,
        }
    }
}

/// Declares more fields of a type.
macro_rules! fields {
    ($($fields:tt)*) => {
        $crate::object::parse::sections::Section::Body($crate::record::layout!($($fields)*))
    };
}
pub(super) use fields;

/// Returns the sections of a type, in order.
pub(super) fn sections(code: [u8; 4]) -> &'static [Section] {
    match &code {
        b"COND" => const { &[fields!(value_asset: Id)] },
        b"CSNM" => const { &[CUTSCENE_TIMES] },
        b"DSTR" => const { &[SHRAPNEL] },
        b"ENV " => const { &[LOLD_HEIGHT] },
        b"TIMR" => const { &[fields!(random_range: F32)] },
        b"UIFT" => const { &[fields!(max_height: U32)] },
        b"BUTN" => const { &[MOTION_HEAD, MOTION] },
        b"DSCO" => &[Section::Floor],
        b"PARE" => PARE,
        b"PARP" => PARP,
        b"GRUP" => &[Section::Ids("item_count")],
        b"MVPT" => &[Section::Ids("point_count")],
        b"PARS" => const { &[Section::Commands(&[COMMANDS])] },
        b"PLAT" => const { &[PLATFORM, MOTION_HEAD, MOTION] },
        b"SURF" => const { &[SURFACE_TEXTURES, SURFACE] },
        _ => &[],
    }
}

/// Length of the fields of a platform of any kind, in bytes.
const PLATFORM_SIZE: usize = 56;

/// Length of the fields of a motion of any kind, in bytes.
const MOTION_SIZE: usize = 44;

/// Length of the shape of an emitter, in bytes.
const SHAPE_SIZE: usize = 28;

const PLATFORM: Section = Section::kind("platform", "plat_type", PLATFORM_SIZE, &[PLATFORMS]);

pub(super) const MOTION_HEAD: Section = Section::Part(
    "motion",
    layout!(motion_type: U8, use_banking: U8, motion_flags: U16 / MOTION_FLAGS),
);

const MOTION: Section = Section::kind("motion", "motion_type", MOTION_SIZE, &[MOTIONS]);

/// Platform kinds. The first six move like the motions with the same numbers.
pub(super) const PLATFORMS: &[PartKind] = kinds! { []
    0 "extend_retract" {}
    1 "orbit" {}
    2 "spline" {}
    3 "movepoint" {}
    4 "mechanism" {}
    5 "pendulum" {}
    6 "conveyor" { speed: F32 }
    7 "falling" { speed: F32, bust_model: Id }
    8 "forward_return" {
        forward_speed: F32, return_speed: F32, ret_delay: F32, post_ret_delay: F32
    }
    9 "breakaway" { delay: F32, bust_model: Id, reset_delay: F32, break_flags: U32 }
    10 "springboard" {
        jump_height: Vec3, bounce: F32, anim0: Id, anim1: Id, anim2: Id, direction: Vec3,
        spring_flags: U32 / SPRING_FLAGS
    }
    11 "teeter_totter" { initial_tilt: F32, max_tilt: F32, inverse_mass: F32 }
    12 "paddle" {
        start_orient: I32, orient_count: I32, orient_loop: F32, orient0: F32, orient1: F32,
        orient2: F32, orient3: F32, orient4: F32, orient5: F32, paddle_flags: U32,
        rotate_speed: F32, accel_time: F32, decel_time: F32, hub_radius: F32
    }
    13 "full_manipulator" { unused: I32 }
};

pub(super) const MOTIONS: &[PartKind] = kinds! { []
    0 "extend_retract" {
        ret_pos: Vec3, ext_dpos: Vec3, ext_time: F32, ext_wait: F32, ret_time: F32,
        ret_wait: F32
    }
    1 "orbit" { center: Vec3, width: F32, height: F32, period: F32 }
    2 "spline" { unknown: I32 }
    3 "movepoint" { mp_flags: U32, movepoint: Id, speed: F32 }
    4 "mechanism" {
        mech_type: U8 / MOVEMENTS, mech_flags: U8 / MECHANISM_FLAGS, slide_axis: U8 / AXES,
        rotate_axis: U8 / AXES, slide_dist: F32, slide_time: F32, slide_acc: F32,
        slide_dec: F32, rotate_dist: F32, rotate_time: F32, rotate_acc: F32, rotate_dec: F32,
        ret_delay: F32, post_ret_delay: F32
    }
    5 "pendulum" {
        pen_flags: U8, plane: U8, pad: Pad2, length: F32, range: F32, period: F32, phase: F32
    }
    6 "none" {}
};

/// The shapes that emitters emit from.
const SHAPES: &[PartKind] = kinds! { []
    0 "point" {}
    1 "circle_edge" { radius: F32, deflection: F32, dir: Vec3 }
    2 "circle" { radius: F32, deflection: F32, dir: Vec3 }
    3 "rect_edge" { x_len: F32, z_len: F32 }
    4 "rect" { x_len: F32, z_len: F32 }
    5 "line" { pos1: Vec3, pos2: Vec3, radius: F32 }
    6 "volume" { volume: Id }
    7 "sphere_edge_1" { radius: F32 }
    8 "sphere" { radius: F32 }
    9 "offset_point" { offset: Vec3 }
    10 "sphere_edge_2" { radius: F32 }
    11 "sphere_edge_3" { radius: F32 }
    12 "cylinder_edge" { height: F32, radius: F32, deflection: F32 }
    13 "oriented_circle_edge" { radius: F32, deflection: F32, dir: Vec3 }
    14 "oriented_circle" { radius: F32, deflection: F32, dir: Vec3 }
    15 "entity_bone" {
        bone_flags: U8, bone_type: U8, bone: U8, pad: Pad1, offset: Vec3, radius: F32,
        deflection: F32
    }
    16 "entity_bound" {
        bound_flags: U8, bound_type: U8, pad: Pad2, expand: F32, deflection: F32
    }
};

pub(super) const SHAPE: Section = Section::kind("shape", "emit_type", SHAPE_SIZE, &[SHAPES]);

const PARE: &[Section] = &[
    SHAPE,
    Section::Body(layout!(
        attach_to: Id, pos: Vec3, vel: Vec3, vel_angle_variation: F32, cull_mode: U32,
        cull_dist_sqr: F32
    )),
];

layouts! {
    /// A property of particles between two values.
    BETWEEN { val: Vec2, interp: U32, freq: F32, oofreq: F32 }
}

/// The properties of particles.
pub(super) const PROPERTIES: Section = Section::All(&[
    Section::Part("rate", BETWEEN),
    Section::Part("life", BETWEEN),
    Section::Part("size_birth", BETWEEN),
    Section::Part("size_death", BETWEEN),
    Section::Part("red_birth", BETWEEN),
    Section::Part("green_birth", BETWEEN),
    Section::Part("blue_birth", BETWEEN),
    Section::Part("alpha_birth", BETWEEN),
    Section::Part("red_death", BETWEEN),
    Section::Part("green_death", BETWEEN),
    Section::Part("blue_death", BETWEEN),
    Section::Part("alpha_death", BETWEEN),
    Section::Part("vel_scale", BETWEEN),
    Section::Part("vel_angle", BETWEEN),
]);

const PARP: &[Section] = &[
    PROPERTIES,
    Section::Body(layout!(vel: Vec3, emit_limit: U32, emit_limit_reset_time: F32)),
];

/// The texture animations of a surface.
pub(super) const SURFACE_TEXTURES: Section = Section::All(&[
    Section::Items(
        "texture_anim",
        2,
        layout!(pad: Pad2, mode: U16, group: Id, speed: F32),
    ),
    Section::Body(layout!(uvfx_flags: U32)),
]);

/// The end of a surface's fields.
pub(super) const SURFACE: Section = Section::All(&[
    Section::Items(
        "uvfx",
        2,
        layout!(
            mode: I32, rot: F32, rot_speed: F32, trans: Vec3, trans_speed: Vec3, scale: Vec3,
            scale_speed: Vec3, min: Vec3, max: Vec3, minmax_speed: Vec3
        ),
    ),
    Section::Body(layout!(
        on: U8, pad: Pad1, pad: Pad2, oob_delay: F32, walljump_scale_xz: F32,
        walljump_scale_y: F32
    )),
    Section::Body(layout!(damage_timer: F32, damage_bounce: F32)),
]);

/// The shrapnel, the sounds and the damaged model of a destructible object.
pub(super) const SHRAPNEL: Section = fields!(
    shrapnel_destroy: Id, shrapnel_hit: Id, sfx_destroy: Id, sfx_hit: Id, hit_model: Id,
    destroy_model: Id
);

/// The height below which level models are shown with low detail.
pub(super) const LOLD_HEIGHT: Section = fields!(lold_height: F32);

/// The times of the emitters in a cutscene.
pub(super) const CUTSCENE_TIMES: Section = fields!(
    start_time0: F32, start_time1: F32, start_time2: F32, start_time3: F32, start_time4: F32,
    start_time5: F32, start_time6: F32, start_time7: F32, start_time8: F32, start_time9: F32,
    start_time10: F32, start_time11: F32, start_time12: F32, start_time13: F32,
    start_time14: F32, end_time0: F32, end_time1: F32, end_time2: F32, end_time3: F32,
    end_time4: F32, end_time5: F32, end_time6: F32, end_time7: F32, end_time8: F32,
    end_time9: F32, end_time10: F32, end_time11: F32, end_time12: F32, end_time13: F32,
    end_time14: F32, emitter0: Id, emitter1: Id, emitter2: Id, emitter3: Id, emitter4: Id,
    emitter5: Id, emitter6: Id, emitter7: Id, emitter8: Id, emitter9: Id, emitter10: Id,
    emitter11: Id, emitter12: Id, emitter13: Id, emitter14: Id
);

/// The commands of a particle system.
pub(super) const COMMANDS: &[PartKind] = kinds! {
    [type: U32, enabled: U8, mode: U8, pad: Pad2,]
    0 "move" { dir: Vec3 }
    1 "move_random" { dim: Vec3 }
    2 "accelerate" { acc: Vec3 }
    3 "velocity_apply" {}
    4 "jet" { center: Vec3, acc: Vec3, gravity: F32, epsilon: F32, radius_sqr: F32 }
    5 "5" { unknown: I32 }
    6 "kill_slow" { speed_limit_sqr: F32, less_than: U32 }
    7 "follow" { gravity: F32, epsilon: F32 }
    8 "orbit_point" { center: Vec3, gravity: F32, epsilon: F32, max_radius_sqr: F32 }
    9 "orbit_line" { p: Vec3, axis: Vec3, gravity: F32, epsilon: F32, max_radius_sqr: F32 }
    10 "move_random_par" { dim: Vec3 }
    11 "scale_3rd_poly" { factor: Vec4 }
    12 "tex" {
        x1: F32, y1: F32, x2: F32, y2: F32, birth_mode: U8, rows: U8, cols: U8, unit_count: U8,
        unit_width: F32, unit_height: F32
    }
    13 "tex_anim" {
        anim_mode: U8, wrap_mode: U8, pad: Pad1, throttle_less_than: U8,
        throttle_speed_sqr: F32, throttle_time: F32, elapsed: F32
    }
    14 "player_collision" {}
    15 "random_velocity" { dim: Vec3 }
    16 "custom" { unknown: U32 }
    17 "kill_distance" { dist_sqr: F32, greater_than: U32 }
    18 "age" { rate: F32 }
    19 "alpha_3rd_poly" { factor: Vec4 }
    20 "apply_wind" { unknown: F32 }
    21 "rotate" { min: Vec3, max: Vec3 }
    22 "apply_camera" { apply: Vec3 }
    23 "rotate_around" { pos: Vec3, unused: F32, radius_growth: F32, yaw: F32 }
    24 "smoke_alpha" { unknown: I32 }
    25 "scale" { unknown: I32 }
    26 "clip_volumes" {}
    27 "animal_magnetism" { unknown: F32 }
    28 "damage_player" { damage: I32, granular: I32 }
    29 "collide_fall" { y: F32, bounce: F32 }
    30 "shaper" { alpha: Vec4, size: Vec4, damp_speed: F32, gravity: F32 }
    31 "alpha_in_out" { alpha: Vec4 }
    32 "size_in_out" { size: Vec4 }
    33 "dampen_speed" { damp_speed: F32 }
    34 "collide_fall_sticky" { y: F32, bounce: F32, sticky: F32 }
};

/// Length of the smallest command, in bytes.
pub(super) const COMMAND: usize = 8;

/// The commands that move a menu element.
pub(super) const UI_COMMANDS: &[PartKind] = kinds! {
    [
        type: U32, start_time: F32, end_time: F32, accel_time: F32, decel_time: F32,
        enabled: U8, pad: Pad3,
    ]
    0 "move" { distance: Vec2 }
    1 "scale" {
        amount: Vec2, center_pivot: U8, pad: Pad3, center_offset: Vec2
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

#[cfg(test)]
mod tests {
    use super::super::{dyna, later, types};
    use super::*;
    use crate::record::tests::check_ways_back;

    /// Returns the layouts of sections. The layouts of a type are found elsewhere.
    fn layouts(sections: &[Section]) -> Vec<Layout> {
        let of_kinds = |kinds: Kinds| -> Vec<Layout> {
            let kinds = kinds.iter().copied().flatten();
            kinds.map(|kind| kind.fields).collect()
        };
        let all = sections.iter().flat_map(|section| match *section {
            Section::All(sections) => layouts(sections),
            Section::Body(fields)
            | Section::LittleEndian(fields)
            | Section::Part(_, fields)
            | Section::Items(_, _, fields)
            | Section::Rows(_, _, _, fields) => vec![fields],
            Section::Lists {
                layout,
                list_layout,
                ..
            } => vec![layout, list_layout],
            Section::Kind { kinds, .. } | Section::Always(_, _, kinds) => of_kinds(kinds),
            Section::Commands(kinds) => of_kinds(kinds),
            Section::First
            | Section::FirstSections
            | Section::Ids(_)
            | Section::IdsAt(..)
            | Section::EndsAt(_)
            | Section::Unknown(_)
            | Section::Floor => Vec::new(),
        });
        all.collect()
    }

    #[test]
    fn records_of_every_layout_are_edited_into_others() {
        let types = types::TYPES.iter();
        let mut all: Vec<_> = types.clone().map(|kind| kind.fields).collect();
        all.extend(types.flat_map(|kind| layouts(sections(kind.code))));
        all.extend(later::all().flat_map(|later| layouts(later.sections)));
        all.extend(dyna::all_dyna_types().flat_map(|dyna| layouts(dyna.sections)));
        assert!(all.len() > 300, "{}", all.len());
        all.into_iter().for_each(check_ways_back);
    }
}
