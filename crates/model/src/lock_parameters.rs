//! # Parameters of lock tasks: which lock, and for how long
//!
//! ACQUIRE_LOCK and RELEASE_LOCK read them when they run, the registration reads what is written out.

use serde_json::Value;

use crate::IDEMPOTENCY_KEY_BYTES_MAX;

/// The names of locks are keys of records.
pub const LOCK_NAME_BYTES_MAX: usize = IDEMPOTENCY_KEY_BYTES_MAX;

/// The longest lease of a lock or an effect.
pub const LEASE_SECONDS_MAX: i64 = 7 * 24 * 3_600;

/// The name of the lock in the input of a task. The error is for people.
pub fn lock_name(input: &Value) -> Result<String, String> {
    let given = input.get("name").unwrap_or(&Value::Null);
    let name = match given {
        Value::String(name) => name.clone(),
        Value::Number(number) => number.to_string(),
        other @ (Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_)) => {
            return Err(format!("name must be the name of a lock, not {other}"));
        }
    };
    let fits = !name.trim().is_empty() && name.len() <= LOCK_NAME_BYTES_MAX && !name.contains('\0');
    match fits {
        true => Ok(name),
        false => Err(format!("name must be 1 to {LOCK_NAME_BYTES_MAX} bytes without NUL")),
    }
}

/// For how long the task wants the lock; none: until its run ends or gives it back.
pub fn lock_lease_seconds(input: &Value) -> Result<Option<i64>, String> {
    let Some(given) = input.get("leaseSeconds").filter(|given| !given.is_null()) else {
        return Ok(None);
    };
    let text = given.as_str().map(str::trim);
    let number = given.as_i64().or_else(|| text?.parse().ok());
    let fits = number.filter(|seconds| (1..=LEASE_SECONDS_MAX).contains(seconds));
    fits.map(Some).ok_or_else(|| {
        format!("leaseSeconds must be a number from 1 to {LEASE_SECONDS_MAX}, not {given}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_lock_has_a_name_and_perhaps_a_lease() {
        assert_eq!(lock_name(&json!({"name": 7})).unwrap(), "7");
        for wrong in [json!({}), json!({"name": " "}), json!({"name": [1]})] {
            assert!(lock_name(&wrong).unwrap_err().starts_with("name must be "), "{wrong}");
        }
        assert_eq!(lock_lease_seconds(&json!({})).unwrap(), None);
        assert_eq!(lock_lease_seconds(&json!({"leaseSeconds": " 30 "})).unwrap(), Some(30));
        for wrong in [json!(0), json!("soon"), json!(LEASE_SECONDS_MAX + 1)] {
            assert!(lock_lease_seconds(&json!({"leaseSeconds": wrong})).is_err());
        }
    }
}
