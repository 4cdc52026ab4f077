//! Types of object assets, with the fields of their bodies (FORMATS, HIP assets
//! 6).
//!
//! The fields are from Battle for Bikini Bottom. [`sections`](super::sections) has the
//! data after them in some types.

use crate::record::{Layout, layout, layouts};
use crate::words::{
    ACT_FLAGS, ACT_METHODS, BOULDER_FLAGS, CAMERA_TRANSITIONS, COLLISION_TYPES, DELEGATIONS,
    EMITTER_FLAGS, FONT_FLAGS, FONTS, GENERATOR_FLAGS, GUST_FLAGS, HIT_MASK, LIGHT_EFFECTS,
    LIGHT_FLAGS, LIGHTS, PICKUP_FLAGS, PLATFORM_FLAGS, SOLIDITY, SOUND_FLAGS, SURFACE_FLAGS,
    UI_FLAGS, VISIBILITY,
};

/// A type of object assets.
#[derive(Debug)]
pub struct ObjectType {
    /// Code.
    pub code: [u8; 4],
    /// The number of the type in the header, if known.
    pub base_type: Option<u8>,
    /// True if the body begins with the fields of an entity.
    pub is_entity: bool,
    /// The fields of the body, after the fields of an entity.
    pub fields: Layout,
    /// Length of the asset without links in Battle for Bikini Bottom, if it is fixed.
    pub size: Option<usize>,
}

/// Returns the type with this code, or `None` if its fields are not fixed.
pub fn object_type(code: [u8; 4]) -> Option<&'static ObjectType> {
    TYPES.iter().find(|known| known.code == code)
}

layouts! {
    /// The first fields of every entity, after the object header. In Battle for Bikini
    /// Bottom, a padding word follows.
    pub(super) ENTITY_FLAGS {
        flags: U8 / VISIBILITY, subtype: U8, pflags: U8, more_flags: U8 / SOLIDITY
    }

    /// The fields of every entity after its flags.
    pub(super) ENTITY {
        surface: Id, ang: Vec3, pos: Vec3, scale: Vec3, red: F32, green: F32, blue: F32, alpha: F32,
        alpha_speed: F32, model: Id, anim_list: Id
    }

    /// An id in a list.
    pub(super) ID { id: Id }
}

macro_rules! types {
    ($($code:literal $base:expr, entity: $entity:literal, size: $size:expr, { $($fields:tt)* })*) => {
        &[$(ObjectType {
            code: *$code,
            base_type: $base,
            is_entity: $entity,
            fields: layout!($($fields)*),
            size: $size,
        }),*]
    };
}

/// The known types.
pub(super) const TYPES: &[ObjectType] = types! {
    b"BOUL" Some(47), entity: true, size: Some(156), {
        gravity: F32, mass: F32, bounce: F32, friction: F32, stat_fric: F32, max_vel: F32,
        max_ang_vel: F32, stickiness: F32, bounce_damp: F32, boulder_flags: U32 / BOULDER_FLAGS,
        kill_timer: F32, hitpoints: U32, sound: Id, volume: F32, min_sound_vel: F32,
        max_sound_vel: F32, inner_radius: F32, outer_radius: F32
    }
    b"BUTN" Some(24), entity: true, size: Some(156), {
        pressed_model: Id, act_method: U32 / ACT_METHODS, init_state: I32, is_reset: I32,
        reset_delay: F32, act_flags: U32 / ACT_FLAGS
    }
    b"CAM " Some(7), entity: false, size: Some(136), {
        pos: Vec3, at: Vec3, up: Vec3, right: Vec3, view_offset: Vec3, offset_start_frames: I16,
        offset_end_frames: I16, fov: F32, trans_time: F32, trans_type: U32 / CAMERA_TRANSITIONS,
        cam_flags: U32, fade_up: F32, fade_down: F32, u0: U32, u1: U32, u2: U32, u3: U32,
        u4: U32, u5: U32, valid_flags: U32, marker0: Id, marker1: Id, cam_type: U8, pad: Pad1,
        pad: Pad1, pad: Pad1
    }
    b"CNTR" Some(22), entity: false, size: Some(12), {
        count: I16, pad: Pad2
    }
    b"COND" Some(31), entity: false, size: Some(24), {
        const: U32, variable: Id, op: U32
    }
    b"CSNM" Some(40), entity: false, size: Some(200), {
        cutscene: Id, cs_flags: U32, interp_speed: F32
    }
    b"DPAT" Some(30), entity: false, size: Some(8), {
    }
    b"DSCO" Some(0), entity: false, size: None, {
        floor_flags: U32, transition_time: F32, state_time: F32, off_prefix: U32,
        transition_prefix: U32, on_prefix: U32, state_mask_size: U32, states_offset: U32,
        state_count: U32
    }
    b"DSTR" Some(27), entity: true, size: Some(140), {
        anim_speed: F32, init_anim_state: U32, health: U32, spawn_item: Id,
        d_flags: U32 / HIT_MASK, coll_type: U8, fx_type: U8, pad: Pad2, blast_radius: F32,
        blast_strength: F32
    }
    b"DYNA" Some(0), entity: false, size: None, {
        dyna_type: U32, version: U16, handle: U16
    }
    b"EGEN" Some(41), entity: true, size: Some(108), {
        src_dpos: Vec3, damage_type: U8, gen_flags: U8 / GENERATOR_FLAGS, pad: Pad2,
        on_time: F32, on_anim: Id
    }
    b"ENV " Some(5), entity: false, size: Some(68), {
        bsp: Id, start_camera: Id, climate_flags: U32, climate_min: F32, climate_max: F32,
        bsp_light_kit: Id, object_light_kit: Id, pad: Pad4, bsp_collision: Id, bsp_fx: Id,
        bsp_camera: Id, bsp_mapper: Id, bsp_mapper_collision: Id, bsp_mapper_fx: Id
    }
    b"FOG " Some(36), entity: false, size: Some(36), {
        background: Color, color: Color, density: F32, start: F32, stop: F32,
        transition_time: F32, fog_type: U8, pad: Pad1, pad: Pad1, pad: Pad1
    }
    b"GUST" Some(28), entity: false, size: Some(40), {
        gust_flags: U32 / GUST_FLAGS, volume: Id, effect: Id, vel: Vec3, fade: F32,
        part_mod: F32
    }
    b"LITE" Some(37), entity: false, size: Some(68), {
        light_type: U8 / LIGHTS, light_effect: U8 / LIGHT_EFFECTS, pad: Pad2,
        light_flags: U32 / LIGHT_FLAGS, color: Vec4, direction: Vec3, cone_angle: F32,
        pos: Vec3, radius: F32, attach: Id
    }
    b"LOBM" Some(35), entity: false, size: Some(128), {
        lob_type: U32, projectile: Id, pos: Vec3, rot: Vec3, launch_speed: F32,
        speed_random: F32, scale: Vec3, lob_flags: U32, max_lifetime: F32, max_distance: F32,
        movepoint: Id, salvo_count: I32, ammo_count: I32, arc_factor: F32, debris_angle: I32,
        bounces: I32, powerup_type: I32, heavy_factor: F32, tumble: Vec3, collide_delay: F32,
        rest_period: F32, mode: I32
    }
    b"PRJT" Some(34), entity: false, size: Some(68), {
        effect_type: I32, model: Id, anim: Id, rest_model: Id, rest_anim: Id, destruct: I32,
        destruct_time: F32, destruct_dist: F32, oriented: I32, unused0: I32, unused1: I32,
        unused2: I32, unused3: I32, unused4: I32, unused5: I32
    }
    b"SDFX" None, entity: false, size: Some(32), {
        sound_group: Id, emitter: Id, pos: Vec3, sdfx_flags: U32 / SOUND_FLAGS
    }
    b"ZLIN" Some(64), entity: false, size: Some(44), {
        dismount_type: U8, pad: Pad1, pad: Pad2, pos: Vec3, hang_length: F32, spline: Id,
        entity: Id, speed: F32, zip_flags: U32
    }
    b"GRUP" Some(17), entity: false, size: None, {
        item_count: U16, delegation: U16 / DELEGATIONS
    }
    b"MVPT" Some(13), entity: false, size: None, {
        pos: Vec3, weight: U16, on: U8, bez_index: U8, props: U8, pad: Pad1, point_count: U16,
        delay: F32, zone_radius: F32, arena_radius: F32
    }
    b"PARE" Some(38), entity: false, size: Some(84), {
        emit_flags: U8 / EMITTER_FLAGS, emit_type: U8, pad: Pad2, props: Id
    }
    b"PARP" Some(46), entity: false, size: Some(312), {
        par_sys: Id
    }
    b"PARS" Some(39), entity: false, size: None, {
        sys_type: U32, parent: Id, texture: Id, par_flags: U8, priority: U8, max_par: U16,
        render_func: U8, src_blend: U8, dst_blend: U8, cmd_count: U8, cmd_size: U32
    }
    b"PKUP" Some(4), entity: true, size: Some(92), {
        pickup: Id, pickup_flags: U16 / PICKUP_FLAGS, pickup_value: U16
    }
    b"PLAT" Some(6), entity: true, size: Some(192), {
        plat_type: U8, pad: Pad1, plat_flags: U16 / PLATFORM_FLAGS
    }
    b"PLYR" Some(3), entity: true, size: Some(88), {
    }
    b"PORT" Some(16), entity: false, size: Some(24), {
        camera: Id, marker: Id, angle: F32, scene: Code
    }
    b"SFX " Some(19), entity: false, size: Some(48), {
        sfx_flags: U16, freq: U16, freqm: F32, sound: Id, attach: Id, loop_count: U8,
        priority: U8, volume: U8, pad: Pad1, pos: Vec3, inner_radius: F32, outer_radius: F32
    }
    b"SIMP" Some(11), entity: true, size: Some(96), {
        anim_speed: F32, init_anim_state: U32, coll_type: U8 / COLLISION_TYPES, simp_flags: U8,
        pad: Pad2
    }
    b"SURF" Some(26), entity: false, size: Some(300), {
        damage_type: U8, sticky: U8, damage_flags: U8, surf_type: U8, pad: Pad1,
        slide_start: U8, slide_stop: U8, phys_flags: U8 / SURFACE_FLAGS, friction: F32,
        matfx_flags: U32, bump_map: Id, env_map: Id, shininess: F32, bumpiness: F32,
        dual_map: Id, color_flags: U16, color_mode: U16, color_speed: F32,
        texture_anim_flags: U32
    }
    b"TIMR" Some(14), entity: false, size: Some(16), {
        seconds: F32
    }
    b"TRIG" Some(1), entity: true, size: Some(148), {
        p0: Vec3, p1: Vec3, p2: Vec3, p3: Vec3, direction: Vec3, trig_flags: U32
    }
    b"UI  " Some(32), entity: true, size: Some(128), {
        ui_flags: U32 / UI_FLAGS, width: U16, height: U16, texture: Id, uv_tl: Vec2,
        uv_tr: Vec2, uv_bl: Vec2, uv_br: Vec2
    }
    b"UIFT" Some(33), entity: true, size: Some(164), {
        ui_flags: U32 / UI_FLAGS, width: U16, height: U16, texture: Id, uv_tl: Vec2,
        uv_tr: Vec2, uv_bl: Vec2, uv_br: Vec2, font_flags: U16 / FONT_FLAGS, mode: U8,
        font: U8 / FONTS, text: Id, back_color: Color, color: Color, inset_t: U16, inset_b: U16,
        inset_l: U16, inset_r: U16, space_x: U16, space_y: U16, char_w: U16, char_h: U16
    }
    b"VIL " Some(43), entity: true, size: Some(108), {
        npc_flags: I32, npc_type: Id, npc_props: Id, movepoint: Id, task_prime: Id,
        task_second: Id
    }
};
