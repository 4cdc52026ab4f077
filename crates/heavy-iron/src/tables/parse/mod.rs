//! Small tables: lists of models, animations and lights, and camera paths (FORMATS, HIP
//! assets 8).

mod animation;
mod animation_table;
mod curves;
mod lists;
mod model_info;
mod shrapnel;

pub use animation::{Animation, Key, parse_animation};
pub(crate) use animation_table::SOUND_EFFECT;
pub use animation_table::{AnimationTable, Effect, parse_animation_table};
pub use curves::{Flythrough, Jaw, JawCurve, parse_flythrough, parse_jaw};
pub use lists::{LightKit, List, Marker, is_list, parse_light_kit, parse_list, parse_marker};
pub use model_info::{ModelInfo, ModelParameter, parse_model_info};
pub(crate) use shrapnel::FRAGMENT;
pub use shrapnel::{Fragment, Shrapnel, parse_shrapnel};
