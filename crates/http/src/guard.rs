//! # The guard: which addresses a task may speak to
//!
//! A definition is written by many hands; the network a server stands in is not theirs. Private and
//! special addresses are refused unless the operator opens a range. Judged is the address that will
//! be connected to, never the name: a name can point anywhere, and elsewhere the next moment.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

/// What every range is called that is not for everybody.
const V4: [(Ipv4Net, &str); 18] = [
    (v4([0, 0, 0, 0], 8), "unspecified"),
    (v4([10, 0, 0, 0], 8), "private"),
    (v4([100, 64, 0, 0], 10), "carrier-grade NAT"),
    (v4([127, 0, 0, 0], 8), "loopback"),
    (v4([168, 63, 129, 16], 32), "cloud metadata"),
    (v4([169, 254, 0, 0], 16), "link-local or cloud metadata"),
    (v4([172, 16, 0, 0], 12), "private"),
    (v4([192, 0, 0, 0], 24), "reserved"),
    (v4([192, 0, 2, 0], 24), "documentation"),
    (v4([192, 88, 99, 0], 24), "reserved"),
    (v4([192, 168, 0, 0], 16), "private"),
    (v4([198, 18, 0, 0], 15), "benchmarking"),
    (v4([198, 51, 100, 0], 24), "documentation"),
    (v4([203, 0, 113, 0], 24), "documentation"),
    (v4([224, 0, 0, 0], 4), "multicast"),
    (v4([233, 252, 0, 0], 24), "documentation"),
    (v4([240, 0, 0, 0], 4), "reserved"),
    (v4([255, 255, 255, 255], 32), "broadcast"),
];

const V6: [(Ipv6Net, &str); 15] = [
    (v6([0, 0, 0, 0, 0, 0, 0, 0], 128), "unspecified"),
    (v6([0, 0, 0, 0, 0, 0, 0, 1], 128), "loopback"),
    (v6([0, 0, 0, 0, 0, 0, 0, 0], 96), "IPv4-compatible"),
    (v6([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48), "local NAT64"),
    (v6([0x100, 0, 0, 0, 0, 0, 0, 0], 64), "discard"),
    (v6([0x100, 0, 0, 1, 0, 0, 0, 0], 64), "reserved"),
    (v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23), "reserved"),
    (v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32), "documentation"),
    (v6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20), "documentation"),
    (v6([0x5f00, 0, 0, 0, 0, 0, 0, 0], 16), "segment routing"),
    (v6([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7), "unique-local or cloud metadata"),
    (v6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10), "link-local"),
    (v6([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10), "site-local"),
    (v6([0xff00, 0, 0, 0, 0, 0, 0, 0], 8), "multicast"),
    (v6([0, 0, 0, 0, 0xffff, 0, 0, 0], 96), "IPv4-translated"),
];

const fn v4([a, b, c, d]: [u8; 4], bits: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), bits)
}

const fn v6([a, b, c, d, e, f, g, h]: [u16; 8], bits: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, d, e, f, g, h), bits)
}

/// Whom tasks may speak to: everybody out there, and what the operator has opened.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    allow: Vec<IpNet>,
}

/// An address that is not for tasks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{address} is {range}, which HTTP tasks may not speak to unless http_allow opens it: \
     start the server with --http-allow {opens} or SEMEL_HTTP_ALLOW={opens} (docs/http.md#addresses)"
)]
pub struct Refused {
    pub address: IpAddr,
    pub range: &'static str,
    /// What the operator would have to open, as the setting takes it.
    pub opens: String,
}

impl Guard {
    pub fn new(allow: Vec<IpNet>) -> Self {
        Self { allow }
    }

    pub fn check(&self, address: IpAddr) -> Result<(), Refused> {
        let inner = embedded(address);
        let is_open = |ip: IpAddr| self.allow.iter().any(|range| range.contains(&ip));
        if is_open(address) || inner.is_some_and(|inner| is_open(inner.into())) {
            return Ok(());
        }
        let judged = match (address, inner) {
            (_, Some(inner)) => IpAddr::V4(inner),
            (address, None) => address,
        };
        match special(judged) {
            None => Ok(()),
            Some((net, range)) => Err(Refused { address, range, opens: opens(judged, net, range) }),
        }
    }
}

/// The range that is not for everybody, and what it is called.
fn special(address: IpAddr) -> Option<(IpNet, &'static str)> {
    match address {
        IpAddr::V4(address) => {
            let found = V4.iter().find(|(range, _)| range.contains(&address));
            found.map(|(range, name)| (IpNet::V4(*range), *name))
        }
        IpAddr::V6(address) => {
            let found = V6.iter().find(|(range, _)| range.contains(&address));
            found.map(|(range, name)| (IpNet::V6(*range), *name))
        }
    }
}

/// A whole range where its addresses are alike. Where a machine's credentials may be among them, the
/// one address: nobody should open those by the way.
fn opens(address: IpAddr, net: IpNet, range: &str) -> String {
    match range.contains("metadata") {
        true => address.to_string(),
        false => net.to_string(),
    }
}

/// The address of the other family that this one leads to: mapped, NAT64 or 6to4.
fn embedded(address: IpAddr) -> Option<Ipv4Addr> {
    let IpAddr::V6(address) = address else { return None };
    let [a, b, c, d, e, f, g, h] = address.segments();
    let of = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        Ipv4Addr::new(a, b, c, d)
    };
    match (a, b) {
        (0, 0) if (c, d, e, f) == (0, 0, 0, 0xffff) => Some(of(g, h)),
        (0x64, 0xff9b) if (c, d, e, f) == (0, 0, 0, 0) => Some(of(g, h)),
        (0x2002, high) => Some(of(high, c)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(guard: &Guard, text: &str) -> bool {
        guard.check(text.parse().unwrap()).is_err()
    }

    #[test]
    fn a_refusal_names_the_setting_and_the_range_that_it_would_open() {
        for (address, range) in [
            ("10.1.2.3", "10.0.0.0/8"),
            ("192.168.1.1", "192.168.0.0/16"),
            ("127.0.0.1", "127.0.0.0/8"),
            ("::ffff:172.16.0.9", "172.16.0.0/12"),
            ("fe80::1", "fe80::/10"),
            ("169.254.169.254", "169.254.169.254"),
            ("fd00:ec2::254", "fd00:ec2::254"),
        ] {
            let address: IpAddr = address.parse().unwrap();
            let said = Guard::default().check(address).unwrap_err().to_string();
            assert!(said.contains(&format!("--http-allow {range} or")), "{said}");
            assert!(said.contains(&format!("SEMEL_HTTP_ALLOW={range} (")), "{said}");
            let opened = range.parse().or_else(|_| range.parse::<IpAddr>().map(IpNet::from));
            Guard::new(vec![opened.unwrap()]).check(address).unwrap();
        }
    }

    #[test]
    fn special_addresses_are_refused_in_every_form() {
        let guard = Guard::default();
        for address in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.100.100.200",
            "127.0.0.1",
            "127.255.0.3",
            "168.63.129.16",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.192",
            "192.0.2.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.7",
            "203.0.113.9",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "::ffff:10.1.1.1",
            "64:ff9b::7f00:1",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "2002:a00:1::5",
            "3fff::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "::ffff:0:7f00:1",
        ] {
            assert!(refused(&guard, address), "{address}");
        }
    }

    #[test]
    fn the_world_may_be_spoken_to() {
        let guard = Guard::default();
        for address in [
            "1.1.1.1",
            "8.8.8.8",
            "100.63.255.255",
            "100.128.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "193.168.1.1",
            "223.255.255.255",
            "2606:4700::1111",
            "2a00::1",
            "::ffff:8.8.8.8",
            "64:ff9b::808:808",
            "2002:808:808::1",
        ] {
            assert!(!refused(&guard, address), "{address}");
        }
    }

    #[test]
    fn an_open_range_is_open_in_every_form_and_nothing_else_is() {
        let ranges = ["127.0.0.0/8", "fd00::/8"].map(|range| range.parse().unwrap());
        let guard = Guard::new(ranges.to_vec());
        for address in ["127.0.0.1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "fd12::1"] {
            assert!(!refused(&guard, address), "{address}");
        }
        for address in ["10.0.0.1", "169.254.169.254", "::1", "fc00::1"] {
            assert!(refused(&guard, address), "{address}");
        }
        let why = guard.check("169.254.169.254".parse().unwrap()).unwrap_err().to_string();
        assert!(why.starts_with("169.254.169.254 is link-local or cloud metadata"), "{why}");
        assert!(why.contains("http_allow") && why.contains("SEMEL_HTTP_ALLOW"), "{why}");
    }
}
