//! Entities whose further fields differ between games.

use super::super::sections::{MOTION_HEAD, MOTIONS, PLATFORMS, SHRAPNEL, Section, fields};
use super::{Later, layouts_of};
use crate::games::{ALL, INCREDIBLES, LATER, SCOOBY, SINCE_ROTU};
use crate::parts::{PartKind, kinds};
use crate::record::layout;
use crate::words::{
    ACT_FLAGS, ACT_METHODS, AXES, BOULDER_FLAGS, HIT_MASK, MECHANISM_FLAGS, MOVEMENTS,
};

/// The layouts, with the engine's field names where known.
pub(super) const LAYOUTS: &[Later] = layouts_of! {
    entity: true,
    b"BOUL" SCOOBY [BOULDER]
    b"BOUL" INCREDIBLES [BOULDER]
    b"BOUL" SINCE_ROTU [BOULDER, fields!(non_collide_time: F32)]
    b"BUTN" SCOOBY [
        fields!(
            act_method: U32 / ACT_METHODS, init_state: I32, is_reset: I32, reset_delay: F32,
            act_flags: U32 / ACT_FLAGS
        ),
        MOTION_HEAD, Section::Always("motion", MECHANISM, &[MOTIONS]),
    ]
    b"BUTN" LATER [Section::First, MOTION_HEAD, Section::Always("motion", MECHANISM, &[LATER_MOTIONS])]
    b"DSTR" SCOOBY [DESTRUCTIBLE]
    b"DSTR" LATER [DESTRUCTIBLE, SHRAPNEL]
    b"HANG" ALL [fields!(
        hang_flags: U32, pivot_offset: F32, lever_arm: F32, gravity: F32, acceleration: F32,
        decay: F32, grab_delay: F32, stop_deceleration: F32
    )]
    b"NPC " ALL [fields!(
        activate_radius: F32, activate_fov: F32, detect_height: F32, detect_height_offset: F32,
        speed_movement: F32, speed_pursue: F32, speed_turn: F32, pursuit_range: F32,
        dazed_time: I16, gloat_time: I16, gummed_time: I16, bubble_time: I16, hitpoints: U8,
        behavior_state: U8, pad: Pad2, npc_flags: U32, lob_speed: F32, lob_reload_time: F32,
        lob_range: F32, lob_salvo: I32, projectile_type: Id, bullseye_move_point: Id,
        lob_arcness: F32, lob_heavy: F32, extender_range: F32, extender_width: F32,
        extender_duration: F32, extender_rate: F32, extender_reload_time: F32, movepoint: Id,
        path: Id, min_player_powerups: I32, min_game_difficulty: I32
    )]
    b"PEND" ALL [
        MOTION_HEAD,
        Section::Always("motion", PENDULUM, &[MOTIONS]),
        Section::Part("motion", layout!(
            pad: Pad4, pad: Pad4, pad: Pad4, lt: I32, q1t: I32, q3t: I32
        )),
    ]
    b"PLAT" SCOOBY [
        Section::First,
        Section::kind("platform", "plat_type", 36, &[FIRST_PLATFORMS, PLATFORMS]),
        MOTION_HEAD,
        Section::kind("motion", "plat_type", 44, &[FIRST_MOTIONS, MOTIONS]),
    ]
    b"PLAT" LATER [
        Section::First,
        Section::kind("platform", "plat_type", 56, &[LATER_PLATFORMS, PLATFORMS]),
        MOTION_HEAD,
        Section::kind("motion", "plat_type", 56, &[LATER_MOTIONS, MOTIONS]),
    ]
    b"PLYR" SCOOBY []
    b"UIFT" SCOOBY [Section::First]
    b"VIL " LATER [Section::First, fields!(nav_mesh: Id, settings: Id)]
};

const DESTRUCTIBLE: Section = fields!(
    anim_speed: I32, init_anim_state: I32, health: I32, spawn_item: Id, d_flags: U32 / HIT_MASK,
    coll_type: U8, fx_type: U8, pad: Pad2, blast_radius: F32, blast_strength: F32
);

const BOULDER: Section = fields!(
    gravity: F32, mass: F32, bounce: F32, friction: F32, max_vel: F32, max_ang_vel: F32,
    stickiness: F32, bounce_damp: F32, boulder_flags: U32 / BOULDER_FLAGS, kill_timer: F32,
    hitpoints: U32, sound: Id, min_sound_vel: F32, max_sound_vel: F32, sphere_radius: F32,
    pad: Pad3, bone: U8
);

/// The number of the motion of buttons.
const MECHANISM: u32 = 4;

/// The number of the motion of pendulums.
const PENDULUM: u32 = 5;

/// The platform kinds with different fields in Scooby-Doo.
const FIRST_PLATFORMS: &[PartKind] = kinds! { []
    10 "springboard" { jump_height: Vec3, anim0: Id, anim1: Id, anim2: Id, direction: Vec3 }
    12 "paddle" {
        start_orient: I32, orient_count: I32, orient_loop: F32, orient0: F32, orient1: F32,
        orient2: F32, orient3: F32, orient4: F32, orient5: F32
    }
    13 "full_manipulator" {}
};

/// The platform kinds with different fields since The SpongeBob Movie.
const LATER_PLATFORMS: &[PartKind] = kinds! { []
    9 "breakaway" { delay: F32, reset_delay: F32, break_flags: U32, unknown: F32 }
    13 "full_manipulator" {}
};

/// The motions of platforms in Scooby-Doo.
const FIRST_MOTIONS: &[PartKind] = kinds! { []
    2 "spline" { spline: I32, speed: F32, lean_modifier: F32 }
    6 "none" {}
    7 "none" {}
    8 "none" {}
    9 "none" {}
    10 "none" {}
    11 "none" {}
    12 "paddle" { rotate_speed: F32, accel_time: F32, decel_time: F32, hub_radius: F32 }
    13 "none" {}
};

/// The platform motions since The SpongeBob Movie.
const LATER_MOTIONS: &[PartKind] = kinds! { []
    2 "spline" { spline: I32, speed: F32, lean_modifier: F32 }
    4 "mechanism" {
        mech_type: U8 / MOVEMENTS, mech_flags: U8 / MECHANISM_FLAGS, slide_axis: U8 / AXES,
        rotate_axis: U8 / AXES, scale_axis: U8 / AXES, pad: Pad3, slide_dist: F32,
        slide_time: F32, slide_acc: F32, slide_dec: F32, rotate_dist: F32, rotate_time: F32,
        rotate_acc: F32, rotate_dec: F32, ret_delay: F32, post_ret_delay: F32,
        scale_amount: F32, scale_duration: F32
    }
    6 "none" {}
    7 "none" {}
    8 "none" {}
    9 "none" {}
    10 "none" {}
    11 "none" {}
    12 "none" {}
    13 "none" {}
};
