//! The addresses of servers. Names that users did not choose, to which servers redirect,
//! do not lead to this computer or its link, where services may trust everyone.

use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::net::lookup_host;
use tokio::runtime::Handle;

use crate::sync::lock;

/// A redirect to a local address.
#[derive(Debug, thiserror::Error)]
#[error(
    "the server redirects to an address of this computer or its link, which only -o allowlocal \
     permits"
)]
pub(super) struct LocalAddress;

/// A resolver of names.
#[derive(Debug)]
pub(super) struct Resolver {
    /// The names that may have local addresses; `None` for all.
    local: Option<Mutex<HashSet<String>>>,
    /// The last addresses of each name. They are used when a name cannot be looked up any
    /// more: a confined thread does not see a resolv.conf that has replaced the first one.
    known: Arc<Mutex<HashMap<String, Vec<SocketAddr>>>>,
    /// The runtime whose threads look up names.
    names: Handle,
}

/// Maximum number of names whose addresses are kept.
const MAX_KNOWN: usize = 256;

impl Resolver {
    /// Creates a resolver that returns local addresses for these names (see
    /// `Access::hosts`), and, with `allows_local`, for all others.
    pub(super) fn new(hosts: &[String], allows_local: bool, names: Handle) -> Self {
        let local = (!allows_local).then(|| Mutex::new(hosts.iter().cloned().collect()));
        let known = Arc::default();
        Self {
            local,
            known,
            names,
        }
    }

    /// Permits a name to have local addresses: a local server redirects to it.
    pub(super) fn permit(&self, host: &str) {
        if let Some(local) = &self.local {
            lock(local).insert(host.to_ascii_lowercase());
        }
    }

    /// Returns whether a name may have local addresses: one that is permitted, or that is
    /// below one whose name begins with a dot.
    fn permits(&self, name: &str) -> bool {
        let Some(local) = &self.local else {
            return true;
        };
        let (name, local) = (name.to_ascii_lowercase(), lock(local));
        let mut dots = name.match_indices('.');
        local.contains(&name) || dots.any(|(dot, _)| local.contains(&name[dot..]))
    }
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let permits_local = self.permits(name.as_str());
        let known = self.known.clone();
        // In its own threads, which may use other sockets than those that connect.
        let found = self
            .names
            .spawn(async move { look_up(name.as_str(), &known).await });
        Box::pin(async move {
            let mut found = found.await??;
            let is_unknown = found.is_empty();
            found.retain(|address| permits_local || !is_local(address.ip()));
            match found.is_empty() && !is_unknown {
                true => Err(LocalAddress.into()),
                false => Ok(Box::new(found.into_iter()) as Addrs),
            }
        })
    }
}

/// Returns the addresses of a name, or the last known ones if it cannot be looked up.
async fn look_up(
    name: &str,
    known: &Mutex<HashMap<String, Vec<SocketAddr>>>,
) -> std::io::Result<Vec<SocketAddr>> {
    let found = lookup_host((name, 0)).await;
    let found = found.map(|found| found.collect::<Vec<_>>());
    let mut known = lock(known);
    match found {
        Ok(found) => {
            if !found.is_empty() && (known.len() < MAX_KNOWN || known.contains_key(name)) {
                known.insert(name.to_owned(), found.clone());
            }
            Ok(found)
        }
        Err(error) => known.get(name).cloned().ok_or(error),
    }
}

/// Returns whether an address is of this computer or its link.
pub(super) fn is_local(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => v4.is_loopback() || v4.is_link_local() || v4.is_unspecified(),
        IpAddr::V6(v6) => v6.is_loopback() || v6.is_unicast_link_local() || v6.is_unspecified(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_are_permitted_have_local_addresses() {
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().build().unwrap();
        let resolve = |resolver: &Resolver| {
            let found = resolver.resolve("localhost".parse().unwrap());
            runtime.block_on(found).map(Iterator::count)
        };
        let hosts = ["example.org", ".s3.example", "s3.example"].map(str::to_owned);
        let resolver = Resolver::new(&hosts, false, runtime.handle().clone());
        let refused = resolve(&resolver).unwrap_err();
        assert!(refused.is::<LocalAddress>(), "{refused}");
        resolver.permit("LocalHost");
        assert!(resolve(&resolver).unwrap() > 0);
        let any = Resolver::new(&[], true, runtime.handle().clone());
        assert!(resolve(&any).unwrap() > 0);
        for (name, is_permitted) in [
            ("Example.org", true),
            ("inside.example.org", false),
            ("s3.example", true),
            ("bucket.S3.example", true),
            ("buckets3.example", false),
            ("example", false),
        ] {
            assert_eq!(resolver.permits(name), is_permitted, "{name}");
        }
    }
    #[test]
    fn a_name_that_cannot_be_looked_up_any_more_keeps_its_addresses() {
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().build().unwrap();
        let known = Mutex::default();
        let look_up = |name: &str| runtime.block_on(super::look_up(name, &known));
        assert!(look_up("name.invalid").is_err());
        let address: SocketAddr = "192.0.2.1:0".parse().unwrap();
        lock(&known).insert("name.invalid".to_owned(), vec![address]);
        assert_eq!(look_up("name.invalid").unwrap(), [address]);
        let found = look_up("localhost").unwrap();
        assert_eq!(lock(&known).get("localhost"), Some(&found));
    }
}
