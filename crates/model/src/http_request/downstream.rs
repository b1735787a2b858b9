//! # Downstream: what is known of the service a request goes to
//!
//! A key protects from a second effect only where the service looks at it. Most do not, so that has
//! to be known: the step says so, a preset names a service that does, the effect says for how long the
//! service remembers keys, or the server knows the host.

use std::collections::BTreeSet;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::HttpRequest;
use crate::{Payload, WorkflowTask, effective_effect, lenient};

/// What a step says of the service it speaks to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct Downstream {
    /// A request that comes again under the same key is not done again.
    #[serde(deserialize_with = "lenient::boxed_flag", skip_serializing_if = "Option::is_none")]
    pub honours_keys: Option<bool>,
}

/// Hosts that are known to honour keys: `api.example.com`, `api.example.com:8443` or
/// `*.example.com`, in lower case.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KeyHosts(Arc<BTreeSet<String>>);

impl KeyHosts {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The one that the address of a request is covered by.
    pub fn find(&self, uri: &str) -> Option<&str> {
        if self.is_empty() {
            return None;
        }
        let (host, whole) = host_of(uri)?;
        self.0.iter().map(String::as_str).find(|known| match known.strip_prefix("*.") {
            Some(domain) => host.strip_suffix(domain).is_some_and(|sub| sub.ends_with('.')),
            None => *known == host || *known == whole,
        })
    }

    /// Copies the one that covers an address from another list; true: there is one.
    pub fn take(&mut self, from: &Self, uri: &str) -> bool {
        let Some(found) = from.find(uri) else { return false };
        if self.find(uri).is_none() {
            Arc::make_mut(&mut self.0).insert(found.to_owned());
        }
        true
    }
}

impl FromIterator<String> for KeyHosts {
    fn from_iter<T: IntoIterator<Item = String>>(hosts: T) -> Self {
        Self(Arc::new(hosts.into_iter().map(|host| host.to_ascii_lowercase()).collect()))
    }
}

/// The host of an address, and the host with its port.
fn host_of(uri: &str) -> Option<(String, String)> {
    let (_, rest) = uri.trim().split_once("://")?;
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let authority = rest[..end].rsplit('@').next()?.to_ascii_lowercase();
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if is_port(port) => host.to_owned(),
        Some(_) | None => authority.clone(),
    };
    Some((host, authority))
}

impl HttpRequest {
    /// The request of a task at a step, with all that is said about the other side by the step, its
    /// task definition and its effect. What the server knows of hosts is not known here.
    pub fn of_step(input: &Payload, step: &WorkflowTask) -> Result<Self, String> {
        let mut request = Self::read(input)?;
        let definition = step.task_definition.as_deref();
        let assumed = definition.and_then(|definition| definition.assume_idempotent);
        request.is_assumed_idempotent |= assumed == Some(true);
        let remembers = definition
            .and_then(|definition| effective_effect(definition, step))
            .and_then(|policy| policy.downstream_retention_seconds);
        request.honours_keys |= remembers.is_some_and(|seconds| seconds > 0);
        if let Some(said) = step.downstream.as_ref().and_then(|said| said.honours_keys) {
            request.honours_keys = said;
        }
        Ok(request)
    }

    /// As [`HttpRequest::of_step`]; a host counts where the step does not say.
    pub fn of_step_at(
        input: &Payload,
        step: &WorkflowTask,
        hosts: &KeyHosts,
    ) -> Result<Self, String> {
        let mut request = Self::of_step(input, step)?;
        let is_said = step.downstream.as_ref().is_some_and(|said| said.honours_keys.is_some());
        request.honours_keys |= !is_said && hosts.find(&request.uri).is_some();
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::HttpClass;

    fn hosts(hosts: &[&str]) -> KeyHosts {
        hosts.iter().map(|host| (*host).to_owned()).collect()
    }

    #[test]
    fn a_host_is_the_whole_host() {
        let known = hosts(&["api.bank.example", "*.pay.example", "local:8443"]);
        for uri in [
            "https://api.bank.example/charges",
            "https://API.bank.example:444?x",
            "https://user:word@api.bank.example/",
            "https://eu.pay.example",
            "http://local:8443/x",
        ] {
            assert!(known.find(uri).is_some(), "{uri}");
        }
        for uri in [
            "https://api.bank.example.evil.test/",
            "https://api.bank.example@evil.test/",
            "https://evil.test/https://api.bank.example/",
            "https://evil.test\\@api.bank.example/",
            "https://pay.example",
            "https://xpay.example",
            "http://local:8444/x",
            "http://local/x",
            "api.bank.example",
        ] {
            assert_eq!(known.find(uri), None, "{uri}");
        }
    }

    #[test]
    fn the_step_is_asked_before_the_host() {
        let known = hosts(&["bank.example"]);
        let input = |more: Value| {
            let mut request = json!({"uri": "https://bank.example/x", "method": "POST"});
            request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            Payload::from_value(&json!({"http_request": request}))
        };
        let class = |step: Value, more: Value, hosts: &KeyHosts| {
            let step: WorkflowTask = serde_json::from_value(step).unwrap();
            HttpRequest::of_step_at(&input(more), &step, hosts).unwrap().class()
        };
        let (none, plain) = (KeyHosts::default(), json!({}));
        assert_eq!(class(json!({}), plain.clone(), &none), HttpClass::Unsafe);
        assert_eq!(class(json!({}), plain.clone(), &known), HttpClass::Keyed);
        let says = |honours: bool| json!({"downstream": {"honoursKeys": honours}});
        assert_eq!(class(says(true), plain.clone(), &none), HttpClass::Keyed);
        assert_eq!(class(says(false), plain.clone(), &known), HttpClass::Unsafe);
        let preset = json!({"idempotency": {"preset": "stripe"}});
        assert_eq!(class(json!({}), preset.clone(), &none), HttpClass::Keyed);
        assert_eq!(class(says(false), preset, &none), HttpClass::Unsafe);
        let without = json!({"idempotency": {"enabled": false}});
        assert_eq!(class(says(true), without, &known), HttpClass::Unsafe, "there is no key");
        let remembers = json!({"effect": {"downstreamRetentionSeconds": 60},
            "taskDefinition": {"name": "charge"}});
        assert_eq!(class(remembers, plain.clone(), &none), HttpClass::Keyed);
        let assumed = json!({"taskDefinition": {"name": "charge", "assumeIdempotent": true}});
        assert_eq!(class(assumed, plain, &none), HttpClass::IdempotentMethod);
    }

    #[test]
    fn what_was_looked_up_can_be_looked_up_again() {
        let known = hosts(&["a.example", "b.example"]);
        let mut used = KeyHosts::default();
        assert!(
            used.take(&known, "https://a.example/x") && !used.take(&known, "https://c.example")
        );
        assert_eq!(used, hosts(&["a.example"]));
        assert_eq!(serde_json::to_value(&used).unwrap(), json!(["a.example"]));
    }
}
