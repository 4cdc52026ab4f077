//! Access control: token, Host and Origin (docs/SERVING.md, Security).

use std::net::{IpAddr, SocketAddr};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::answer::Refusal;
use super::head::Head;
use crate::sync::lock;

/// Shortest word that is accepted as a token.
const MIN_TOKEN: usize = 16;

/// Wrong tokens that are answered in a second; others wait.
const WRONG_PER_SECOND: u32 = 20;

/// The secret that a client must know.
#[derive(Debug, Clone)]
pub struct Token(String);

impl Token {
    /// Makes one of 128 random bits.
    pub fn random(bits: u128) -> Self {
        const DIGITS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
        let digits = (0..128).step_by(5);
        let digit = |shift| DIGITS[(bits >> shift) as usize % DIGITS.len()];
        Self(digits.map(|shift| char::from(digit(shift))).collect())
    }

    /// Uses a word.
    ///
    /// # Errors
    /// Returns a message if it is too short, or has characters that a URL cannot have as
    /// they are.
    pub fn new(word: &str) -> Result<Self, String> {
        let is_plain =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
        if word.len() < MIN_TOKEN {
            return Err(format!("a token has at least {MIN_TOKEN} characters"));
        }
        match word.bytes().all(is_plain) {
            true => Ok(Self(word.to_owned())),
            false => Err("a token has letters, digits, `-`, `.` and `_`".to_owned()),
        }
    }

    /// Returns its text, for URLs that are shown to whoever has started the server.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Compares in a time that does not depend on where the texts differ.
    pub(super) fn is(&self, other: &str) -> bool {
        let pairs = self.0.bytes().zip(other.bytes());
        let difference = pairs.fold(0, |all, (a, b)| all | (a ^ b));
        self.0.len() == other.len() && std::hint::black_box(difference) == 0
    }
}

/// A host that requests may name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostName {
    name: String,
    /// Its port; `None` for the one of the server, which may be left out.
    port: Option<u16>,
}

impl HostName {
    /// Parses `NAME[:PORT]`.
    ///
    /// # Errors
    /// Returns a message if it is none.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (name, port) = split_port(text).ok_or_else(|| format!("{text}: is no NAME[:PORT]"))?;
        Ok(Self {
            name: name.to_ascii_lowercase(),
            port,
        })
    }
}

/// A range of addresses, such as `192.168.1.0/24`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: u128,
    mask: u128,
}

impl Network {
    /// Parses an address with the length of its prefix, or an address alone.
    ///
    /// # Errors
    /// Returns a message if it is none.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text}: is no address with the length of a prefix");
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => (address, Some(length)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let length = length.map_or(Ok(most), str::parse::<u32>);
        let length = length
            .ok()
            .filter(|length| *length <= most)
            .ok_or_else(wrong)?;
        let mask = match length {
            0 if most == 128 => 0,
            // Addresses of version 4 are the last ones of a prefix of version 6.
            length => u128::MAX << (most - length),
        };
        let address = number(address);
        Ok(Self {
            address: address & mask,
            mask,
        })
    }

    fn has(self, address: IpAddr) -> bool {
        number(address) & self.mask == self.address
    }
}

/// Returns an address as one of version 6.
fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

/// Decides who is answered.
#[derive(Debug)]
pub struct Guard {
    /// `None` if nothing needs a token.
    token: Option<Token>,
    /// A token that is valid once, to open the page.
    start: Mutex<Option<Token>>,
    /// Hosts that are not loopback.
    hosts: Vec<HostName>,
    /// The clients that are answered; all if it is empty.
    networks: Vec<Network>,
    port: u16,
}

impl Guard {
    /// Creates a guard of a server at `port`.
    pub fn new(
        token: Option<Token>,
        hosts: Vec<HostName>,
        networks: Vec<Network>,
        port: u16,
    ) -> Self {
        Self {
            token,
            start: Mutex::default(),
            hosts,
            networks,
            port,
        }
    }

    /// Accepts another token too, for one request for the page.
    #[must_use]
    pub fn starting_with(self, start: Option<Token>) -> Self {
        Self {
            start: Mutex::new(start),
            ..self
        }
    }

    /// Returns the token, if one is needed.
    pub(super) fn token(&self) -> Option<&Token> {
        self.token.as_ref()
    }

    /// Returns whether a client at this address is answered at all.
    pub(super) fn accepts(&self, client: SocketAddr) -> bool {
        let address = client.ip().to_canonical();
        let mut networks = self.networks.iter();
        address.is_loopback()
            || self.networks.is_empty()
            || networks.any(|network| network.has(address))
    }

    /// Returns the name of the cookie with the token.
    pub(super) fn cookie(&self) -> String {
        format!("hpimount-{}", self.port)
    }

    /// Decides about a request. `of_path` is the token in front of its path.
    ///
    /// # Errors
    /// Returns why it is not answered.
    pub(super) fn check(&self, head: &Head, of_path: Option<&str>) -> Result<(), Refusal> {
        let host = head.header("host");
        if !host.is_some_and(|host| self.is_own(host)) {
            return Err(Refusal::OtherHost);
        }
        if let Some(origin) = head.header("origin")
            && !self.is_own_origin(origin)
        {
            return Err(Refusal::OtherSite);
        }
        // A click on the printed URL.
        let is_start = head.path == "/" && head.header("sec-fetch-mode") == Some("navigate");
        let site = head.header("sec-fetch-site");
        if matches!(site, Some("cross-site" | "same-site")) && !is_start {
            return Err(Refusal::OtherSite);
        }
        match self.knows_token(head, of_path) {
            true => Ok(()),
            false => Err(Refusal::NoToken),
        }
    }

    /// Returns whether a request has the token, in any of the places where it may be.
    fn knows_token(&self, head: &Head, of_path: Option<&str>) -> bool {
        let Some(token) = &self.token else {
            return true;
        };
        let cookie = || {
            let cookies = head.header("cookie")?.split([';', ',']);
            let mut pairs = cookies.filter_map(|cookie| cookie.trim().split_once('='));
            let name = self.cookie();
            pairs.find_map(|(known, value)| (known == name).then(|| value.to_owned()))
        };
        let found = of_path
            .map(str::to_owned)
            .or_else(|| head.parameter("token"))
            .or_else(|| authorized(head.header("authorization")?))
            .or_else(cookie);
        found.is_some_and(|found| token.is(&found) || self.starts(head, &found))
    }

    /// Returns whether a request opens the page with the token for that, and uses it up.
    fn starts(&self, head: &Head, token: &str) -> bool {
        let is_start =
            head.path == "/" && head.method == "GET" && head.parameter("token").is_some();
        let is_valid = |start: &mut Token| is_start && start.is(token);
        lock(&self.start).take_if(is_valid).is_some()
    }

    /// Returns whether a host is this server.
    fn is_own(&self, host: &str) -> bool {
        let Some((name, port)) = split_port(host) else {
            return false;
        };
        let name = name.to_ascii_lowercase();
        // Containers and ssh map their ports to any other one.
        if matches!(&*name, "localhost" | "127.0.0.1" | "[::1]") {
            return true;
        }
        self.hosts.iter().any(|known| {
            let is_port = match known.port {
                Some(_) => port == known.port,
                None => port.is_none_or(|port| port == self.port),
            };
            known.name == name && is_port
        })
    }

    fn is_own_origin(&self, origin: &str) -> bool {
        let host = origin.split_once("://");
        host.is_some_and(|(scheme, host)| matches!(scheme, "http" | "https") && self.is_own(host))
    }
}

/// Splits `NAME[:PORT]`; a name may be an address in brackets.
fn split_port(text: &str) -> Option<(&str, Option<u16>)> {
    let end = match text.strip_prefix('[') {
        Some(rest) => rest.find(']')? + 2,
        None => text.find(':').unwrap_or(text.len()),
    };
    let (name, port) = text.split_at(end);
    let is_name = !name.is_empty() && !name.contains(['/', '@', ' ', ',']);
    let port = match port {
        "" => None,
        port => Some(port.strip_prefix(':')?.parse().ok()?),
    };
    is_name.then_some((name, port))
}

/// Returns the token in a header `Authorization`: that of `Bearer`, or the password of
/// `Basic`.
fn authorized(header: &str) -> Option<String> {
    let (scheme, value) = header.split_once(' ')?;
    match scheme.to_ascii_lowercase().as_str() {
        "bearer" => Some(value.trim().to_owned()),
        "basic" => {
            let pair = STANDARD.decode(value.trim()).ok()?;
            let pair = String::from_utf8(pair).ok()?;
            pair.split_once(':')
                .map(|(_, password)| password.to_owned())
        }
        _ => None,
    }
}

/// Slows down those who try tokens.
#[derive(Debug)]
pub(super) struct Brake {
    /// When the next wrong token is answered.
    next: Instant,
}

impl Brake {
    /// Creates one that has seen nothing.
    pub(super) fn new(now: Instant) -> Self {
        Self { next: now }
    }

    /// Returns how long the answer to a wrong token waits.
    pub(super) fn delay(&mut self, now: Instant) -> Duration {
        let second = Duration::from_secs(1);
        let earliest = now.checked_sub(second).unwrap_or(now);
        self.next = self.next.max(earliest) + second / WRONG_PER_SECOND;
        self.next.saturating_duration_since(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORD: &str = "a-word-of-some-length";

    fn guard() -> Guard {
        let hosts = ["ta.example", "proxy.example:443"];
        let hosts = hosts.iter().map(|host| HostName::parse(host).unwrap());
        Guard::new(
            Some(Token::new(WORD).unwrap()),
            hosts.collect(),
            Vec::new(),
            8417,
        )
    }

    fn head(path: &str, query: &str, headers: &[(&'static str, &str)]) -> Head {
        let headers = headers.iter();
        Head {
            method: "GET".to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            headers: headers
                .map(|&(name, value)| (name, value.to_owned()))
                .collect(),
            ..Head::default()
        }
    }

    #[test]
    fn a_random_token_has_all_its_bits() {
        let token = Token::random(u128::MAX);
        assert_eq!(token.text().len(), 26);
        assert_ne!(Token::random(1).text(), Token::random(1 << 127).text());
        assert!(Token::new(token.text()).is_ok());
        assert!(Token::new("short").is_err() && Token::new("with blanks in the word").is_err());
    }

    #[test]
    fn other_hosts_are_not_this_server() {
        let with_host = |host: &str| guard().check(&head("/", "", &[("host", host)]), Some(WORD));
        for own in [
            "localhost",
            "127.0.0.1:1",
            "[::1]:8417",
            "LOCALHOST:80",
            "ta.example",
            "ta.example:8417",
            "proxy.example:443",
        ] {
            assert!(with_host(own).is_ok(), "{own}");
        }
        for other in [
            "evil.example",
            "ta.example:80",
            "proxy.example",
            "localhost.evil.example",
            "",
            "127.0.0.1:x",
            "localhost, evil.example",
            "[::1",
            "ta.example:8417:1",
        ] {
            assert!(
                matches!(with_host(other), Err(Refusal::OtherHost)),
                "{other}"
            );
        }
        let without = guard().check(&head("/", "", &[]), Some(WORD));
        assert!(matches!(without, Err(Refusal::OtherHost)));
    }

    #[test]
    fn other_sites_only_start_the_page() {
        let from = |path: &str, headers: &[(&'static str, &str)]| {
            let all = [&[("host", "localhost:8417")], headers].concat();
            guard().check(&head(path, "", &all), Some(WORD))
        };
        let cross = ("sec-fetch-site", "cross-site");
        let navigation = ("sec-fetch-mode", "navigate");
        assert!(from("/", &[cross, navigation]).is_ok());
        assert!(from("/files/a", &[cross, navigation]).is_err());
        assert!(from("/", &[cross]).is_err());
        assert!(from("/", &[("sec-fetch-site", "same-site")]).is_err());
        assert!(from("/api/list", &[("sec-fetch-site", "same-origin")]).is_ok());
        assert!(from("/api/list", &[("origin", "http://localhost:8417")]).is_ok());
        for origin in [
            "http://evil.example",
            "null",
            "file://localhost",
            "localhost",
        ] {
            assert!(
                from("/api/list", &[("origin", origin)]).is_err(),
                "{origin}"
            );
        }
    }

    #[test]
    fn a_token_is_found_where_it_may_be() {
        let with = |query: &str, headers: &[(&'static str, &str)], of_path| {
            let all = [&[("host", "localhost")], headers].concat();
            guard()
                .check(&head("/api/list", query, &all), of_path)
                .is_ok()
        };
        assert!(with("", &[], Some(WORD)));
        assert!(with("path=a&token=a-word-of-some-length", &[], None));
        assert!(with(
            "",
            &[("authorization", "Bearer a-word-of-some-length")],
            None
        ));
        // `x:a-word-of-some-length`
        let basic = "Basic eDphLXdvcmQtb2Ytc29tZS1sZW5ndGg=";
        assert!(with("", &[("authorization", basic)], None));
        let cookies = "a=b; hpimount-8417=a-word-of-some-length";
        assert!(with("", &[("cookie", cookies)], None));
        let other_port = "hpimount-8418=a-word-of-some-length";
        assert!(!with("", &[("cookie", other_port)], None));
        assert!(!with("token=a-word-of-some-lengthx", &[], None));
        assert!(!with("", &[], None) && !with("", &[], Some("")));
    }

    #[test]
    fn the_token_for_the_start_is_valid_once_and_for_the_page_alone() {
        let start = Token::new("another-word-of-some-length").unwrap();
        let guard = guard().starting_with(Some(start));
        let host = [("host", "localhost")];
        let asks = |path: &str, query: &str, of_path| {
            guard.check(&head(path, query, &host), of_path).is_ok()
        };
        let query = "token=another-word-of-some-length";
        assert!(!asks("/files/a", query, None) && !asks("/", "", Some(&query[6..])));
        assert!(!asks("/", "token=another-word-of-some-lengti", None));
        assert!(asks("/", query, None), "the first time");
        assert!(!asks("/", query, None), "the second time");
        assert!(asks("/", "token=a-word-of-some-length", None));
    }

    #[test]
    fn clients_are_in_one_of_the_networks() {
        let networks = ["192.168.1.0/24", "2001:db8::/32", "10.0.0.7"];
        let networks = networks.iter().map(|text| Network::parse(text).unwrap());
        let guard = Guard::new(None, Vec::new(), networks.collect(), 80);
        let accepts = |address: &str| guard.accepts(SocketAddr::new(address.parse().unwrap(), 1));
        for address in [
            "192.168.1.9",
            "2001:db8::7",
            "10.0.0.7",
            "127.0.0.1",
            "::ffff:192.168.1.9",
        ] {
            assert!(accepts(address), "{address}");
        }
        for address in ["192.168.2.9", "2001:db9::7", "10.0.0.8", "::c0a8:0109"] {
            assert!(!accepts(address), "{address}");
        }
        assert!(
            Network::parse("0.0.0.0/0")
                .unwrap()
                .has("9.9.9.9".parse().unwrap())
        );
        assert!(
            !Network::parse("0.0.0.0/0")
                .unwrap()
                .has("2001:db8::1".parse().unwrap())
        );
        for wrong in ["", "1.2.3.4/33", "1.2.3/8", "::/129", "::/x"] {
            assert!(Network::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn wrong_tokens_wait_after_the_first_ones() {
        let now = Instant::now();
        let mut brake = Brake::new(now);
        let delays: Vec<Duration> = (0..60).map(|_| brake.delay(now)).collect();
        assert!(delays[59] >= Duration::from_secs(2), "{:?}", delays[59]);
        assert_eq!(brake.delay(now + Duration::from_secs(60)), Duration::ZERO);
    }
}
