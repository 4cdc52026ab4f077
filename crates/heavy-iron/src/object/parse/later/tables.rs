//! Tables without the header and the links of objects.

use super::super::sections::{Count, Section, fields};
use super::{Later, layouts_of};
use crate::games::{ALL, INCREDIBLES, LATER, SINCE_ROTU};
use crate::record::{Layout, layout, layouts};
use crate::words::{CUTSCENE_DATA, ONE_LINER_PLAYERS};

/// The layouts, with the engine's field names where known.
pub(super) const LAYOUTS: &[Later] = layouts_of! {
    entity: false,
    b"ATKT" LATER [
        fields!(
            section_count: I16, entry_count: I16, transition_count: I16, state_count: I16
        ),
        Section::Rows("sections", "section_count", 0, layout!(
            section: Id, start: U16, count: U16
        )),
        Section::Rows("entries", "entry_count", 0, layout!(
            animation_state_id: Id, animation_state: U32, animation_start: U16,
            animation_count: U16, start: U16, count: U16, on_flags: U16, off_flags: U16,
            input: U8, power: U8, pad: Pad2, start_time: F32
        )),
        Section::Rows("transitions", "transition_count", 0, layout!(
            source_state: Id, destination_state: Id, source_time: F32, through_time: F32,
            destination_time: F32, blend_time: F32, flags: U32
        )),
        Section::Rows("states", "state_count", 0, ATTACK),
    ]
    b"CSN " ALL [CUTSCENE, fields!(sound_left: Text16, sound_right: Text16), SCENES]
    b"CSN " ALL [CUTSCENE, Section::Items("tracks", TRACKS, SHORT_TRACK), SCENES]
    b"CSN " ALL [CUTSCENE, Section::Items("tracks", TRACKS, LONG_TRACK), SCENES]
    b"CTOC" ALL [
        fields!(cutscene_count: I32),
        Section::Rows("headers", "cutscene_count", 0, layout!(
            magic: U32, own: Id, data_count: U32, time_count: U32, max_model: U32,
            max_buffer_even: U32, max_buffer_odd: U32, header_size: U32, visibility_count: U32,
            visibility_size: U32, break_count: U32, pad: Pad4, sound_left: Text16,
            sound_right: Text16
        )),
    ]
    b"CTOC" ALL [fields!(cutscene_count: I32), contents(SHORT_TRACK)]
    b"CTOC" ALL [fields!(cutscene_count: I32), contents(LONG_TRACK)]
    b"DEST" INCREDIBLES [
        fields!(
            model_info: Id, state_count: I32, hit_points: U32, hit_filter: U32,
            launch_flag: U32, behaviour: U32, dest_flags: U32, sound_group_idle: Id,
            respawn: F32, target_priority: U8, pad: Pad3
        ),
        STATES, Section::Unknown(FILL),
    ]
    b"DEST" SINCE_ROTU [
        fields!(
            model_info: Id, state_count: I32, hit_points: U32, hit_filter: U32,
            hit_filter_excluded: U32, health_points: U32, exp_points: U32, health_chance: F32,
            exp_chance: F32, launch_flag: U32, behaviour: U32, dest_flags: U32,
            sound_group_idle: Id, respawn: F32, target_priority: U8, pad: Pad3
        ),
        STATES, Section::Unknown(FILL),
    ]
    b"ONEL" LATER [
        fields!(one_liner_count: I32),
        Section::Rows("one_liners", "one_liner_count", 0, layout!(
            sound_group_name_hash: Id, sound_start_delay: F32, time_span: F32,
            time_last_played: F32, num_plays: U32, delay_between_plays: F32, probability: F32,
            default_duration: F32, last_duration: F32, max_plays: U32, sound_group_handle: I32,
            ol_manager: Id, event_type: I16, plays_in_music_channel: I16, data: Id,
            player_type: I32 / ONE_LINER_PLAYERS, tester_data_first: I32,
            tester_data_second: F32
        )),
        Section::Unknown(ONE_LINER_TAIL),
    ]
    b"WIRE" LATER [
        fields!(size: U32, point_count: I32, line_count: I32, hash0: Id, hash1: Id),
        Section::Rows("points", "point_count", 0, layout!(pos: Vec3)),
        Section::Rows("lines", "line_count", 0, layout!(vertex0: U16, vertex1: U16)),
    ]
};

/// Length of the filler after the states of a DEST.
const FILL: usize = 4;

/// Length of what follows one liners.
const ONE_LINER_TAIL: usize = 67;

layouts! {
    /// A state of an attack.
    ATTACK {
        state: Id, move_distance_z: F32, move_distance_y: F32, move_time: F32, attack_start: F32,
        attack_end: F32, attack_radius: F32, hit_bone1: I16, pad: Pad2, bone_offset1: Vec3,
        hit_atomic1: I16, pad: Pad2, hit_bone2: I16, pad: Pad2, bone_offset2: Vec3,
        hit_atomic2: I16, pad: Pad2, hit_bone3: I16, pad: Pad2, bone_offset3: Vec3,
        hit_atomic3: I16, pad: Pad2, hit_bone4: I16, pad: Pad2, bone_offset4: Vec3,
        hit_atomic4: I16, pad: Pad2, damage: I16, source: U16, effect: U16, hit_effect: U16,
        effect_start: F32, effect_end: F32, effect_bone_outside1: I16, pad: Pad2,
        effect_position_outside1: I32, effect_bone_outside2: I16, pad: Pad2,
        effect_position_outside2: I32, effect_bone_inside1: I16, pad: Pad2,
        effect_position_inside1: I32, effect_bone_inside2: I16, pad: Pad2,
        effect_position_inside2: I32, bone_position0: Id, bone_position1: Id,
        rumble_start_time: F32, rumble_emitter: Id, shrapnel: Id, shrapnel_asset: Id,
        shrapnel_start_time: F32, velocity_up: F32, velocity_away: F32, flags: U32, hold_time: F32,
        jump_break_time: F32, crouch_break_time: F32, turn_lock_start: F32, turn_lock_stop: F32,
        climax_time: F32, climax_offset: Vec3, drain_rate: F32, blur_start: F32, blur_end: F32,
        blur_life: F32, blur_alpha: F32, blur_fade_in_time: F32, blur_fade_out_time: F32,
        flash_alpha: I16, pad: Pad2, flash_time: F32, combo_bonus: F32, combo_type: I16,
        power_bonus: I16
    }
}

/// The states of a destructible thing.
const STATES: Section = Section::Lists {
    name: "states",
    count: "state_count",
    layout: layout!(
        percent: I32, model: Id, shrapnel_destroy: Id, shrapnel_hit: Id, sound_group_idle: Id,
        sound_group_fx: Id, sound_group_hit: Id, sound_group_fx_switch: Id,
        sound_group_hit_switch: Id, rumble_hit: Id, rumble_switch: Id, fx_flags: U32,
        animation_count: I32
    ),
    list: "animations",
    list_count: Count::Field("animation_count"),
    list_layout: layout!(animation: Id),
};

/// The beginning of a cutscene.
const CUTSCENE: Section = Section::Body(CUTSCENE_FIELDS);

layouts! {
    CUTSCENE_FIELDS {
        magic: U32, own: Id, data_count: U32, time_count: U32, max_model: U32, max_buffer_even: U32,
        max_buffer_odd: U32, header_size: U32, visibility_count: U32, visibility_size: U32,
        break_count: U32, pad: Pad4
    }
}

/// Number of a cutscene's sound tracks since The Incredibles.
const TRACKS: u16 = 32;

layouts! {
    SHORT_TRACK { sound_left_id: Id, sound_right_id: Id, sound_left: Text28, sound_right: Text28 }
    LONG_TRACK { sound_left_id: Id, sound_right_id: Id, sound_left: Text60, sound_right: Text60 }
}

/// The part of a cutscene between its tracks and its data.
const SCENES: Section = Section::All(&[
    Section::Rows(
        "data",
        "data_count",
        0,
        layout!(data_type: U32 / CUTSCENE_DATA, asset: Id, chunk_size: U32, file_offset: U32),
    ),
    Section::Rows("time_offsets", "time_count", 0, layout!(offset: U32)),
    fields!(end: U32),
    Section::Rows("visibility", "visibility_size", 0, layout!(bits: U32)),
    Section::Rows("breaks", "break_count", 0, layout!(time: F32, index: I32)),
    Section::EndsAt("header_size"),
    Section::Unknown(usize::MAX),
]);

/// The headers of cutscenes with these tracks.
const fn contents(list_layout: Layout) -> Section {
    Section::Lists {
        name: "headers",
        count: "cutscene_count",
        layout: CUTSCENE_FIELDS,
        list: "tracks",
        list_count: Count::Fixed(TRACKS as usize),
        list_layout,
    }
}
