//! Work of the reading threads: they answer requests from the tree.

use std::sync::Arc;

use super::answer::Answer;
use super::head::Head;
use super::route::Call;
use super::site::Site;
use super::{dav, file, list, page, place, search, thumb, zip};

/// Returns the answer to a request.
pub(super) fn answer(site: &Arc<Site>, head: &Head, call: &Call) -> Answer {
    let answer = match call {
        Call::Page => Ok(page::page(site, head)),
        Call::Plain { path, after } => page::plain(site, path, *after),
        Call::Asset(name) => page::asset(head, name),
        Call::File {
            tree,
            path,
            is_download,
        } => file::answer(site, head, &tree.in_mount(path), *is_download),
        Call::Options => Ok(dav::options()),
        Call::Properties { path, depth, body } => {
            dav::properties(site, head, path.as_deref(), *depth, body)
        }
        Call::List {
            path,
            after,
            limit,
            all,
        } => list::answer(site, path, *after, *limit, *all),
        Call::Thumbnail { path, size } => thumb::answer(site, head, path, *size),
        Call::Zip(path) => zip::answer(site, path),
        Call::Search(query) => search::answer(site, query),
        Call::Where(path) => place::place(site, path),
        Call::Diff(paths) => place::diff(site, paths),
        Call::State => Ok(site.state(search::state(site))),
        Call::Licences => Ok(page::licences()),
    };
    // Looking up entries gives numbers to directories.
    site.vfs().trim_numbers();
    answer.unwrap_or_else(|refusal| refusal.answer(head))
}
