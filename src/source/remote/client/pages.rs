//! The pages of the listing of a folder of a bucket.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures_util::FutureExt;
use object_store::aws::AmazonS3Builder;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpRequest, HttpResponse, HttpService,
};
use object_store::{ClientOptions, RetryConfig};

use super::answer::checked;
use super::store::{Failure, ListingEntry, Page, Store};
use crate::sync::lock;

/// Maximum number of consecutive empty pages of a listing.
const MAX_EMPTY_PAGES: u32 = 100;

/// The pages of a listing that have come so far.
#[derive(Default)]
pub(super) struct Listing {
    entries: Vec<ListingEntry>,
    /// The number of empty pages since the last entry.
    empty_pages: u32,
}

impl Listing {
    /// Adds a page, and returns the token of the next one.
    ///
    /// # Errors
    /// Returns an error if there are more than `limit` entries, or no end.
    pub(super) fn add(&mut self, page: Page, limit: usize) -> Result<Option<String>, Failure> {
        let (entries, next) = page;
        self.empty_pages = if entries.is_empty() {
            self.empty_pages + 1
        } else {
            0
        };
        self.entries.extend(entries);
        if self.entries.len() > limit {
            return Err(Failure::lasting(format!("has more than {limit} entries")));
        }
        if self.empty_pages > MAX_EMPTY_PAGES {
            let text = "is listed in pages without entries, and without end";
            return Err(Failure::lasting(text));
        }
        Ok(next)
    }

    /// Returns all entries of the folder `prefix`. It exists if there is an object with its
    /// prefix, or in an empty bucket.
    ///
    /// # Errors
    /// Returns an error if the folder does not exist.
    pub(super) fn whole(self, prefix: &str) -> Result<Vec<ListingEntry>, Failure> {
        match self.entries.is_empty() && !prefix.is_empty() {
            true => Err(Failure::missing("nothing is in this folder of the bucket")),
            false => Ok(self.entries),
        }
    }
}

/// Returns the entries of the folder `prefix`, with the lengths of objects, from the answers
/// of a server, one for each page, for fuzzers.
///
/// # Errors
/// Returns the message about a listing that is refused.
pub fn listed<'a>(
    prefix: &str,
    limit: usize,
    answers: impl Iterator<Item = &'a [u8]>,
) -> Result<Vec<(String, Option<u64>)>, String> {
    let answers = answers.map(<[u8]>::to_vec).collect();
    let built = AmazonS3Builder::new()
        .with_bucket_name("bucket")
        .with_skip_signature(true)
        .with_http_connector(Answers(Arc::new(Mutex::new(answers))))
        .with_retry(RetryConfig {
            max_retries: 0,
            ..RetryConfig::default()
        })
        .build();
    let store = Store::from(built.map_err(|error| error.to_string())?);
    let mut listing = Listing::default();
    let mut token = None;
    let entries = loop {
        let page = store.list(prefix, token).now_or_never();
        let page = page.ok_or("an answer is waited for")?;
        match page.and_then(|page| listing.add(page, limit)) {
            Ok(None) => break listing.whole(prefix),
            Ok(next) => token = next,
            Err(failure) => break Err(failure),
        }
    };
    let shown = entries.map_err(|failure| failure.text)?.into_iter();
    let shown = shown.filter_map(|entry| match entry {
        ListingEntry::Marker => None,
        ListingEntry::Folder(name) => Some((name, None)),
        ListingEntry::Object { name, pin } => Some((name, Some(pin.len()))),
    });
    Ok(shown.collect())
}

/// The bodies of answers, in their order.
#[derive(Debug, Clone)]
struct Answers(Arc<Mutex<VecDeque<Vec<u8>>>>);

#[async_trait]
impl HttpService for Answers {
    async fn call(&self, _: HttpRequest) -> Result<HttpResponse, HttpError> {
        let body = lock(&self.0).pop_front().unwrap_or_default();
        checked(HttpResponse::new(body.into()), None).await
    }
}

impl HttpConnector for Answers {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(prefix: &str, entries: &str) -> Result<Vec<(String, Option<u64>)>, String> {
        let page = format!("<ListBucketResult>{entries}</ListBucketResult>");
        listed(prefix, 9, [page.as_bytes()].into_iter())
    }

    fn object(key: &str) -> String {
        format!(
            "<Contents><Key>{key}</Key><Size>3</Size>\
             <LastModified>2020-02-01T03:04:05.000Z</LastModified></Contents>"
        )
    }

    fn folder(key: &str) -> String {
        format!("<CommonPrefixes><Prefix>{key}</Prefix></CommonPrefixes>")
    }

    #[test]
    fn only_entries_of_the_folder_itself_are_listed() {
        let own = [object("mods/"), folder("mods/a/"), object("mods/b")].concat();
        let entries = [("a".to_owned(), None), ("b".to_owned(), Some(3))];
        assert_eq!(listing("mods/", &own), Ok(entries.to_vec()));
        // A folder that contained itself would have no end.
        assert_eq!(listing("mods/", &folder("mods/")), Ok(Vec::new()));
        for (prefix, entry) in [
            ("mods/", object("b")),
            ("mods/", object("other/b")),
            ("mods/", object("mods/a/b")),
            ("mods/", folder("mods/a/b/")),
            ("", object("mods/b")),
        ] {
            let refused = listing(prefix, &entry).unwrap_err();
            assert!(refused.contains("a key of another folder"), "{refused}");
        }
    }

    #[test]
    fn messages_about_keys_are_short_and_control_no_terminal() {
        let hostile = format!("mods/a&#x1b;[2J{}", "b".repeat(9000));
        for key in [hostile.clone(), hostile.replace("&#x1b;", "&#x9b;/")] {
            let refused = listing("mods/", &object(&key)).unwrap_err();
            assert!(refused.contains("key") && refused.len() < 600, "{refused}");
            assert!(!refused.contains(char::is_control), "{refused:?}");
        }
    }
}
