//! # The resolver: names become addresses the guard has seen
//!
//! The system's resolver is asked once per connection, and only addresses that may be spoken to are
//! passed on to be connected to: nobody can answer differently in between.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::guard::Guard;

pub(crate) struct Resolver(pub(crate) Arc<Guard>);

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = Arc::clone(&self.0);
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let mut allowed: Vec<SocketAddr> = Vec::new();
            let mut refused = None;
            for address in found {
                match guard.check(address.ip()) {
                    Ok(()) => allowed.push(address),
                    Err(why) => refused = refused.or(Some(why)),
                }
            }
            match refused {
                _ if !allowed.is_empty() => Ok(Box::new(allowed.into_iter()) as Addrs),
                Some(why) => Err(why.into()),
                None => Err(io::Error::other("the name has no address").into()),
            }
        })
    }
}
