//! Small tables: lists of models, animations and lights, and paths of cameras
//! (FORMATS, HIP assets 8).

mod animation;
mod curves;
mod lists;
mod model_info;

pub use animation::{Animation, AnimationTable, Key, parse_animation, parse_animation_table};
pub use curves::{Flythrough, Jaw, JawCurve, parse_flythrough, parse_jaw};
pub use lists::{
    LightKit, List, Marker, Shrapnel, is_list, parse_light_kit, parse_list, parse_marker,
    parse_shrapnel,
};
pub use model_info::{ModelInfo, ModelParameter, parse_model_info};
