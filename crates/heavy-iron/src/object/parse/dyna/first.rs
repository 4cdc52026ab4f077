//! DYNA types since Battle for Bikini Bottom.

use super::super::sections::{Section, fields};
use super::{DynaType, types};
use crate::games::{BFBB, LATER, SINCE_BFBB};
use crate::words::{EXPANSIONS, FONTS, NPC_BASES, PLAYERS, WAVE_MODES, X_JUSTIFY, Y_JUSTIFY};

pub(super) const TYPES: &[DynaType] = types! {
    "game_object:talk_box" = 11 SINCE_BFBB {
        dialog_box: Id, prompt_box: Id, quit_box: Id, trap: U8, pause: U8, allow_quit: U8,
        trigger_pads: U8, page: U8, show: U8, hide: U8, audio_effect: U8, teleport: Id,
        wait_time: U8, wait_prompt: U8, wait_sound: U8, wait_event: U8, wait_delay: F32,
        which_event: I32, text_skip: Id, text_noskip: Id, text_quit: Id, text_noquit: Id,
        text_yesno: Id
    }
    "pointer" = 1 SINCE_BFBB { pos: Vec3, yaw: F32, pitch: F32, roll: F32 }
    "game_object:text_box" = 1 SINCE_BFBB {
        text: Id, x: F32, y: F32, w: F32, h: F32, font: U32 / FONTS, char_w: F32, char_h: F32,
        space_x: F32, space_y: F32, color: Color, inset_l: F32, inset_t: F32, inset_r: F32,
        inset_b: F32, xjustify: U32 / X_JUSTIFY, expand: U32 / EXPANSIONS, max_height: F32,
        backdrop_type: U32, backdrop_color: Color, backdrop_texture: Id
    }
    "game_object:text_box" = 3 LATER {
        text: Id, x: F32, y: F32, w: F32, h: F32, font: U32 / FONTS, char_w: F32, char_h: F32,
        space_x: F32, space_y: F32, color: Color, inset_l: F32, inset_t: F32, inset_r: F32,
        inset_b: F32, xjustify: U32 / X_JUSTIFY, yjustify: U32 / Y_JUSTIFY,
        expand: U32 / EXPANSIONS, max_height: F32, backdrop_type: U32, backdrop_color: Color,
        backdrop_texture: Id, backdrop_border_u: F32, backdrop_border_v: F32,
        backdrop_border_width: F32, backdrop_border_height: F32, shadow_color: Color,
        shadow_offset: Vec2
    }
    "game_object:text_box" = 4 LATER {
        text: Id, x: F32, y: F32, w: F32, h: F32, y_as_bottom: U8, auto_center: U8, pad: Pad2,
        font: U32 / FONTS, char_w: F32, char_h: F32, space_x: F32, space_y: F32, color: Color,
        inset_l: F32, inset_t: F32, inset_r: F32, inset_b: F32, xjustify: U32 / X_JUSTIFY,
        yjustify: U32 / Y_JUSTIFY, expand: U32 / EXPANSIONS, max_height: F32,
        backdrop_type: U32, backdrop_color: Color, backdrop_texture: Id, backdrop_border_u: F32,
        backdrop_border_v: F32, backdrop_border_width: F32, backdrop_border_height: F32,
        shadow_color: Color, shadow_offset: Vec2
    }
    "game_object:Taxi" = 1 SINCE_BFBB {
        marker: Id, camera: Id, portal: Id, talk_box: Id, text: Id, taxi: Id, inv_delay: F32,
        portal_delay: F32
    }
    "game_object:bungee_drop" = 1 SINCE_BFBB { marker: Id, set_view_angle: U32, view_angle: F32 }
    "game_object:bungee_hook" = 13 BFBB [fields!(entity: Id, center: Vec3), BUNGEE]
    "game_object:bungee_hook" = 13 LATER [
        fields!(entity: Id, enter_x: I32, enter_y: I32, enter_z: I32), BUNGEE,
    ]
    "hud:text" = 1 SINCE_BFBB { loc: Vec3, size: Vec3, text_box: Id, text: Id }
    "game_object:Teleport" = 2 BFBB {
        marker: Id, opened: U32, launch_angle: U32, camera_angle: U32, target: Id
    }
    "game_object:Teleport" = 2 LATER { marker: Id, opened: U32, launch_angle: U32, target: Id }
    "game_object:Teleport" = 1 LATER { marker: Id, opened: U32, launch_angle: U32, target: Id }
    "game_object:Flythrough" = 1 SINCE_BFBB { fly: Id }
    "game_object:NPCSettings" = 2 SINCE_BFBB {
        basis: I32 / NPC_BASES, allow_detect: I8, allow_patrol: U8, allow_wander: U8,
        reduce_collide: U8, use_nav_splines: U8, pad: Pad3, allow_chase: I8, allow_attack: I8,
        assume_los: I8, assume_fov: I8, duplo_wave_mode: I32 / WAVE_MODES,
        duplo_spawn_delay: F32, duplo_spawn_life_max: I32
    }
    "hud:meter:font" = 3 BFBB [METER, fields!(font: Id), DIGITS, COUNTER_MODE]
    "hud:meter:font" = 3 LATER [METER, fields!(font: I32 / FONTS), DIGITS, COUNTER_MODE]
    "hud:meter:font" = 2 LATER [METER, fields!(font: I32 / FONTS), DIGITS]
    "hud:meter:unit" = 3 SINCE_BFBB [
        METER,
        fields!(
            model0: Id, loc0: Vec3, size0: Vec3, model1: Id, loc1: Vec3, size1: Vec3,
            offset: Vec3, fill_forward: U32
        ),
    ]
    "game_object:BusStop" = 2 SINCE_BFBB {
        marker: Id, character: U32 / PLAYERS, camera: Id, bus: Id, delay: F32
    }
    "game_object:Camera_Tweak" = 1 SINCE_BFBB {
        priority: I32, time: F32, pitch_adjust: F32, dist_adjust: F32
    }
    "game_object:Camera_Tweak" = 2 LATER {
        priority: I32, time: F32, pitch_adjust: F32, dist_adjust: F32, pivot_height_adjust: F32,
        fov_adjust: F32
    }
    "game_object:BoulderGenerator" = 1 BFBB {
        object: Id, offset: Vec3, offset_rand: F32, init_vel: Vec3, vel_angle_rand: F32,
        vel_mag_rand: F32, init_axis: Vec3, ang_vel: F32
    }
    "game_object:BoulderGenerator" = 1 LATER {
        object: Id, offset: Vec3, offset_rand: F32, init_vel: Vec3, vel_angle_rand: F32,
        vel_mag_rand: F32, rotation: Vec3, flags: U32
    }
    "game_object:task_box" = 2 SINCE_BFBB {
        persistent: U8, loop: U8, enable: U8, retry: U8, talk_box: Id, next_task: Id,
        stage0: Id, stage1: Id, stage2: Id, stage3: Id, stage4: Id, stage5: Id
    }
    "hud:model" = 1 SINCE_BFBB { loc: Vec3, size: Vec3, model: Id }
};

const BUNGEE: Section = fields!(
    attach_dist: F32, attach_time: F32, detach_dist: F32, detach_free_fall: F32,
    detach_accel: F32, turn_unused: Vec2, frequency: F32, gravity: F32, dive: F32,
    min_dist: F32, max_dist: F32, damp: F32, horizontal_max_dist: F32, camera_rest_dist: F32,
    camera_view_angle: F32, camera_offset: F32, camera_offset_dir: F32, camera_turn_speed: F32,
    camera_vel_scale: F32, camera_roll_speed: F32, camera_unused: Vec3, hit_loss: F32,
    damage_velocity: F32, hit_velocity: F32
);

const METER: Section = fields!(
    loc: Vec3, size: Vec3, start: F32, min: F32, max: F32, increment_time: F32,
    decrement_time: F32, sound_start_increment: Id, sound_increment: Id,
    sound_start_decrement: Id, sound_decrement: Id
);

const DIGITS: Section = fields!(
    justify: I32, width: F32, height: F32, space: F32, drop_x: F32, drop_y: F32, color: Color,
    drop_color: Color
);

const COUNTER_MODE: Section = fields!(counter_mode: U8, pad: Pad3);
