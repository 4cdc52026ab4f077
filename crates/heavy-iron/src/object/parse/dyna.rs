//! Types of DYNA assets of Battle for Bikini Bottom, with the fields of their
//! bodies (FORMATS, HIP assets 6).

use crate::record::{Layout, layout};

/// A type of DYNA assets.
#[derive(Debug)]
pub struct DynaType {
    /// Its number in the asset, which is the id of its name.
    pub number: u32,
    /// Its name.
    pub name: &'static str,
    /// Length of the asset without its links.
    pub size: usize,
    /// The fields after the number of the type, the version and the handle.
    pub fields: Layout,
}

/// Returns the type with this number.
pub fn dyna_type(number: u32) -> Option<&'static DynaType> {
    TYPES.iter().find(|known| known.number == number)
}

macro_rules! types {
    ($($number:literal $name:literal $size:literal, { $($fields:tt)* })*) => {
        &[$(DynaType {
            number: $number,
            name: $name,
            size: $size,
            fields: layout!($($fields)*),
        }),*]
    };
}

const TYPES: &[DynaType] = types! {
    0x0934_B196 "game_object:talk_box" 72, {
        dialog_box: Id, prompt_box: Id, quit_box: Id, trap: U8, pause: U8, allow_quit: U8,
        trigger_pads: U8, page: U8, show: U8, hide: U8, audio_effect: U8, teleport: Id,
        wait_time: U8, wait_prompt: U8, wait_sound: U8, wait_event: U8, wait_delay: F32,
        which_event: I32, text_skip: Id, text_noskip: Id, text_quit: Id, text_noquit: Id,
        text_yesno: Id
    }
    0x2196_C135 "pointer" 40, {
        pos: Vec3, yaw: F32, pitch: F32, roll: F32
    }
    0x442E_1337 "game_object:text_box" 100, {
        text: Id, x: F32, y: F32, w: F32, h: F32, font: U32, char_w: F32, char_h: F32,
        space_x: F32, space_y: F32, color: Color, inset_l: F32, inset_t: F32, inset_r: F32,
        inset_b: F32, xjustify: U32, expand: U32, max_height: F32, backdrop_type: U32,
        backdrop_color: Color, backdrop_texture: Id
    }
    0x4DC4_49FC "game_object:Taxi" 48, {
        marker: Id, camera: Id, portal: Id, talk_box: Id, text: Id, taxi: Id, inv_delay: F32,
        portal_delay: F32
    }
    0x5747_49A4 "game_object:bungee_drop" 28, {
        marker: Id, set_view_angle: U32, view_angle: F32
    }
    0x57CF_B6F0 "game_object:bungee_hook" 140, {
        entity: Id, center: Vec3, attach_dist: F32, attach_time: F32, detach_dist: F32,
        detach_free_fall: F32, detach_accel: F32, turn_unused: Vec2, frequency: F32,
        gravity: F32, dive: F32, min_dist: F32, max_dist: F32, damp: F32,
        horizontal_max_dist: F32, camera_rest_dist: F32, camera_view_angle: F32,
        camera_offset: F32, camera_offset_dir: F32, camera_turn_speed: F32,
        camera_vel_scale: F32, camera_roll_speed: F32, camera_unused: Vec3, hit_loss: F32,
        damage_velocity: F32, hit_velocity: F32
    }
    0x687E_D0B0 "hud:text" 48, {
        loc: Vec3, size: Vec3, text_box: Id, text: Id
    }
    0x70AD_B7F9 "game_object:Teleport" 36, {
        marker: Id, opened: U32, launch_angle: U32, camera_angle: U32, target: Id
    }
    0x85BF_DF34 "game_object:Flythrough" 20, {
        fly: Id
    }
    0x8768_334A "game_object:NPCSettings" 44, {
        basis: I32, allow_detect: I8, allow_patrol: U8, allow_wander: U8, reduce_collide: U8,
        use_nav_splines: U8, pad: Pad1, pad: Pad2, allow_chase: I8, allow_attack: I8,
        assume_los: I8, assume_fov: I8, duplo_wave_mode: I32, duplo_spawn_delay: F32,
        duplo_spawn_life_max: I32
    }
    0x8B3E_732F "hud:meter:font" 116, {
        loc: Vec3, size: Vec3, start: F32, min: F32, max: F32, increment_time: F32,
        decrement_time: F32, sound_start_increment: Id, sound_increment: Id,
        sound_start_decrement: Id, sound_decrement: Id, font: Id, justify: I32,
        width: F32, height: F32, space: F32, drop_x: F32, drop_y: F32, color: Color,
        drop_color: Color, counter_mode: U8, pad: Pad1, pad: Pad2
    }
    0x8D40_B9AC "hud:meter:unit" 148, {
        loc: Vec3, size: Vec3, start: F32, min: F32, max: F32, increment_time: F32,
        decrement_time: F32, sound_start_increment: Id, sound_increment: Id,
        sound_start_decrement: Id, sound_decrement: Id, model0: Id, loc0: Vec3,
        size0: Vec3, model1: Id, loc1: Vec3, size1: Vec3, offset: Vec3, fill_forward: U32
    }
    0x8F01_2778 "game_object:BusStop" 36, {
        marker: Id, character: U32, camera: Id, bus: Id, delay: F32
    }
    0x9092_FB14 "game_object:Camera_Tweak" 32, {
        priority: I32, time: F32, pitch_adjust: F32, dist_adjust: F32
    }
    0xBB48_64D8 "game_object:BoulderGenerator" 72, {
        object: Id, offset: Vec3, offset_rand: F32, init_vel: Vec3, vel_angle_rand: F32,
        vel_mag_rand: F32, init_axis: Vec3, ang_vel: F32
    }
    0xE9D2_C1BB "game_object:task_box" 52, {
        persistent: U8, loop: U8, enable: U8, retry: U8, talk_box: Id, next_task: Id,
        stage0: Id, stage1: Id, stage2: Id, stage3: Id, stage4: Id, stage5: Id
    }
    0xFF56_91D2 "hud:model" 44, {
        loc: Vec3, size: Vec3, model: Id
    }
};
