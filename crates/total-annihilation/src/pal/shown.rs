//! Assets with the palette that they are shown with.

use get_size2::GetSize;

use super::colors::Colors;
use crate::view::partial_view;
use hpimount_assets::view::View;
use hpimount_assets::view::listed::{Listed, ListedView};
use hpimount_containers::io::Error;

/// A parsed asset, and the palette that it is shown with.
#[derive(GetSize)]
pub(crate) struct Shown<M> {
    pub(crate) asset: M,
    pub(crate) colors: Colors,
}

impl<M: GetSize + Send + Sync + 'static> Shown<M> {
    /// Returns the view with these files.
    pub(crate) fn view(self, files: Vec<Listed<Self>>) -> Box<dyn View> {
        Box::new(ListedView { model: self, files })
    }

    /// Returns the view with these files, which show the parts of the asset
    /// before the error, if there was one.
    pub(crate) fn partial_view(
        self,
        files: Vec<Listed<Self>>,
        error: Option<Error>,
    ) -> Box<dyn View> {
        partial_view(self, files, error)
    }
}
