//! DYNA types of screens since The SpongeBob Movie.

use super::super::sections::{Section, fields};
use super::{DynaType, types};
use crate::games::{LATER, RATPROTO};
use crate::record::layout;

pub(super) const TYPES: &[DynaType] = types! {
    "hud:image" = 1 LATER { loc: Vec3, size: Vec3, image: Id }
    "ui:box" = 2 LATER [
        UI,
        Section::Items("parts", 9, layout!(
            texture: Id, color: Color, uv1u: F32, uv1v: F32, uv2u: F32, uv2v: F32, uv3u: F32,
            uv3v: F32, uv4u: F32, uv4v: F32, rotation: I32, enabled: U8, pad: Pad3
        )),
        fields!(
            border_width: F32, border_height: F32, width_per_uv: F32, height_per_uv: F32,
            center_width_per_uv: F32, center_height_per_uv: F32, scale_h_side: U8,
            scale_v_side: U8, scale_center: U8, stretch_u_vs_on_motion_scale: U8,
            force_alpha_write: U8, pad: Pad3
        ),
    ]
    "ui:controller" = 0 LATER [UI]
    "ui:image" = 1 LATER [UI, UI_IMAGE]
    "ui:image" = 1 LATER [UI, UI_IMAGE, fields!(unknown_8c: U32)]
    "ui:model" = 2 LATER [UI, fields!(model: Id, animation_list: Id, surface: Id)]
    "ui:text" = 2 LATER [UI, UI_TEXT]
    "ui:text:user string" = 1 LATER [UI, UI_TEXT, USER_STRING]
    "ui:text:user string" = 2 LATER [UI, UI_TEXT, USER_STRING]
    "HUD_Compass_Object" = 1 RATPROTO {
        object: Id, position: Vec3, texture: Id, compass_system: Id
    }
    "HUD_Compass_System" = 3 RATPROTO {
        radius: F32, center_y: F32, center_x: F32, texture: Id, max_distance: F32,
        min_bead_size: F32, max_bead_size: F32, system_opacity: U32, bead_opacity: U32
    }
};

/// The fields of everything on a screen.
const UI: Section = fields!(
    position: Vec3, width: F32, height: F32, flags: U32, color: Color, selected_motion: Id,
    unselected_motion: Id, brightness: U8, pad: Pad3, auto_menu_up: Id, auto_menu_down: Id,
    auto_menu_left: Id, auto_menu_right: Id, custom: Id, custom_widget: Id
);

/// The fields of a picture.
const UI_IMAGE: Section = fields!(
    image: Id, u1: F32, v1: F32, u2: F32, v2: F32, u3: F32, v3: F32, u4: F32, v4: F32,
    rotation: F32, image_flags: U16, address_mode_u: U8, address_mode_v: U8, color1: Color,
    color2: Color, color3: Color, color4: Color
);

/// The fields of a text.
const UI_TEXT: Section = fields!(
    text: Id, font: U8, font_size_w: U8, font_size_h: U8, font_spacing_x: U8,
    font_spacing_y: U8, text_box_inset_top: U8, text_box_inset_left: U8,
    text_box_inset_right: U8, text_box_inset_bottom: U8, justify_x: U8, justify_y: U8,
    text_flags: U8, shadow_color: Color, shadow_offset: Vec2, shadow_scale: Vec2
);

const USER_STRING: Section = fields!(hard_max_chars: U8, soft_max_chars: U8, pad: Pad2);
