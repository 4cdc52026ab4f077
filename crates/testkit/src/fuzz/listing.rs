//! Listings of buckets.

use hpimount::source::remote::pages::listed;

/// Maximum number of entries.
const LIMIT: usize = 100;

/// The folder that is listed.
const FOLDER: &str = "mods/";

/// The pages of the listing of a folder, between zero bytes. An accepted listing has names,
/// and at most as many entries as are allowed and as its bytes can hold.
pub fn listing(data: &[u8]) {
    let pages = || data.split(|&byte| byte == 0);
    match listed(FOLDER, LIMIT, pages()) {
        Ok(entries) => {
            assert!(!entries.is_empty() || pages().next().is_some_and(|page| !page.is_empty()));
            assert!(entries.len() <= LIMIT);
            let names: usize = entries.iter().map(|(name, _)| name.len()).sum();
            assert!(names <= data.len());
            for (name, _) in &entries {
                assert!(!name.is_empty() && name != "." && name != "..", "{name:?}");
                assert!(
                    !name.contains('/') && !name.contains(|c: char| c.is_ascii_control()),
                    "{name:?}"
                );
            }
            // The last page ends the listing.
            let more = pages().chain([&b"<ListBucketResult/>"[..]]);
            assert_eq!(listed(FOLDER, LIMIT, more).as_ref(), Ok(&entries));
        }
        Err(text) => {
            assert!(!text.contains(char::is_control), "{text:?}");
            assert!(text.len() < 3000, "{text}");
        }
    }
}

fn page(entries: &str, next: Option<&str>) -> String {
    let next = next.map_or(String::new(), |token| {
        format!("<NextContinuationToken>{token}</NextContinuationToken>")
    });
    format!("<?xml version=\"1.0\"?><ListBucketResult>{entries}{next}</ListBucketResult>")
}

fn object(key: &str, size: &str) -> String {
    format!(
        "<Contents><Key>{key}</Key><Size>{size}</Size><ETag>&quot;1a&quot;</ETag>\
         <LastModified>2020-02-01T03:04:05.000Z</LastModified></Contents>"
    )
}

fn folder(key: &str) -> String {
    format!("<CommonPrefixes><Prefix>{key}</Prefix></CommonPrefixes>")
}

/// Returns listings that are accepted, and others.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let usual = [object("mods/", "0"), object("mods/a&amp;b.hpi", "7")].concat();
    let mixed = [folder("mods/x/"), object("mods/y", "1"), folder("mods/z/")].concat();
    let pages = [
        page(&usual, Some("one")),
        page("", Some("two")),
        page(&mixed, None),
    ];
    let outside = [object("other/a", "1"), folder("mods/a/b/")];
    let huge = object("mods/huge", &u64::MAX.to_string());
    let mut seeds = vec![pages.join("\0")];
    seeds.extend(outside.map(|entry| page(&entry, None)));
    seeds.push(page(&huge, None));
    seeds.push(page(&object("mods/../a", "1"), None));
    seeds.into_iter().map(String::into_bytes).collect()
}
