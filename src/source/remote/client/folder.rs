//! A folder of a bucket: the objects with a common prefix.

use std::io;
use std::sync::{Arc, OnceLock};

use super::RemoteEntry;
use super::kept::Remote;
use super::network::endpoint;
use super::object::RemoteFile;
use super::pages::Listing;
use super::store::{ListingEntry, Pin, Store};
use super::url::RemoteUrl;

/// A folder of a bucket.
#[derive(Clone)]
pub struct RemoteFolder {
    remote: Arc<Remote>,
    store: Store,
    /// The prefix: empty, or ending in a slash.
    prefix: String,
    /// The URL of the bucket with a slash at its end, and the identity of its
    /// server.
    bucket: Arc<(String, String)>,
}

/// An object of a folder, as it was when the folder was listed.
pub struct ListedFile {
    /// The last part of its key.
    pub name: String,
    /// Its length in bytes.
    pub len: u64,
    /// Modification time in seconds since 1970 UTC.
    pub modified: i64,
    pin: Pin,
    folder: Arc<RemoteFolder>,
    file: OnceLock<RemoteFile>,
}

impl ListedFile {
    /// Returns the object as a source. Nothing is requested before it is read.
    pub fn source(&self) -> &RemoteFile {
        self.file.get_or_init(|| {
            let folder = &self.folder;
            let (url, endpoint) = &*folder.bucket;
            let url = format!("{url}{}", self.pin.key());
            RemoteFile::listed(&folder.remote, &folder.store, endpoint, &url, &self.pin)
        })
    }

    /// Returns a text that differs if the bytes may differ.
    pub fn stamp(&self) -> String {
        self.pin.stamp()
    }
}

impl RemoteFolder {
    /// Returns the folder at `url`; sends no request.
    ///
    /// # Errors
    /// Returns an error if the environment is contradictory.
    pub fn open(remote: &Arc<Remote>, url: &RemoteUrl) -> io::Result<Self> {
        let (network, owned_url) = (remote.network.clone(), url.clone());
        let opened = remote
            .network
            .wait(async move { network.store(&owned_url) });
        let (store, _) = opened.map_err(io::Error::from)?;
        let (bucket, prefix) = url.bucket_and_key();
        Ok(Self {
            remote: remote.clone(),
            store,
            prefix: prefix.to_owned(),
            bucket: Arc::new((format!("s3://{bucket}/"), endpoint(url))),
        })
    }

    /// Returns the subfolder `name`.
    pub fn subfolder(&self, name: &str) -> Self {
        Self {
            prefix: format!("{}{name}/", self.prefix),
            ..self.clone()
        }
    }

    /// Returns the URL of the folder.
    pub fn shown(&self) -> String {
        format!("{}{}", self.bucket.0, self.prefix)
    }

    /// Lists the direct entries of the folder, at most `limit`, with one
    /// request for each thousand of them.
    ///
    /// # Errors
    /// Returns an error if the folder does not exist, or the bucket cannot be
    /// listed, has more, or has a key that cannot be a path in the folder.
    pub fn list(&self, limit: usize) -> io::Result<Vec<RemoteEntry>> {
        let this = self.clone();
        let listed = self.remote.network.wait(async move {
            let mut listing = Listing::default();
            let mut token = None;
            loop {
                let network = &this.remote.network;
                let page = network.list(&this.store, &this.prefix, token).await?;
                token = listing.add(page, limit)?;
                if token.is_none() {
                    return listing.whole(&this.prefix);
                }
            }
        });
        let folder = Arc::new(self.clone());
        let entry = |listed| match listed {
            ListingEntry::Marker => None,
            ListingEntry::Folder(name) => Some(RemoteEntry::Folder(name)),
            ListingEntry::Object { name, pin } => Some(RemoteEntry::File(ListedFile {
                name,
                len: pin.len(),
                modified: pin.modified(),
                pin,
                folder: folder.clone(),
                file: OnceLock::new(),
            })),
        };
        Ok(listed
            .map_err(io::Error::from)?
            .into_iter()
            .filter_map(entry)
            .collect())
    }
}
