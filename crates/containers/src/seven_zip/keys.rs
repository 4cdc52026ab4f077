//! The keys of encrypted streams.

use std::sync::{Mutex, PoisonError};

use crate::crypt::{NEEDS_PASSWORD, Password, SevenZipKey, SevenZipParameters};
use crate::io::{Error, Result};

/// Maximum number of keys that are kept: archives have one.
const MAX_KEYS: usize = 4;

/// The keys that were derived from a password, which takes long.
pub(super) struct Keys {
    password: Option<Password>,
    known: Mutex<Vec<(SevenZipParameters, SevenZipKey)>>,
}

impl Keys {
    pub(super) fn new(password: Option<Password>) -> Self {
        Self {
            password,
            known: Mutex::default(),
        }
    }

    /// Returns whether there is a password.
    pub(super) fn has_password(&self) -> bool {
        self.password.is_some()
    }

    /// Returns the key for these parameters.
    ///
    /// # Errors
    /// Returns an error if there is no password.
    pub(super) fn of(&self, parameters: &SevenZipParameters) -> Result<SevenZipKey> {
        let password = self.password.as_ref();
        let password = password.ok_or_else(|| Error::Encrypted(NEEDS_PASSWORD.to_owned()))?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known
            .iter()
            .find(|(known, _)| known.has_same_key(parameters));
        if let Some((_, key)) = found {
            return Ok(*key);
        }
        let key = parameters.key(password);
        if known.len() == MAX_KEYS {
            known.remove(0);
        }
        known.push((parameters.clone(), key));
        Ok(key)
    }
}
