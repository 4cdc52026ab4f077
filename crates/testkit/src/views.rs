//! The files of views.

use hpimount_assets::view::{Alone, View};

/// Returns the bytes of the file of a view with this index.
pub fn rendering(view: &dyn View, index: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    view.render(index, &Alone, &mut bytes).unwrap();
    bytes
}
