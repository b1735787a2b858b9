//! # Lenient: reading scalars as Jackson reads them
//!
//! Clients grew up with a Java server, which takes `"5"` for 5 and null for 0. For use in
//! `deserialize_with`; absent fields are not seen here, their default is the model's.
//! What would lose information (5.5 as an int, a number out of range) is refused.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::{Payload, Timestamp};

/// A primitive int: null and `""` mean 0.
pub fn int<'de, D: Deserializer<'de>, T: TryFrom<i128> + Default>(d: D) -> Result<T, D::Error> {
    Ok(boxed_int(d)?.unwrap_or_default())
}

/// An int whose null means 1, for windows and factors.
pub fn int_or_one<'de, D: Deserializer<'de>, T: TryFrom<i128> + From<u8>>(
    d: D,
) -> Result<T, D::Error> {
    Ok(boxed_int(d)?.unwrap_or_else(|| T::from(1)))
}

/// A boxed int: null and `""` mean none.
pub fn boxed_int<'de, D: Deserializer<'de>, T: TryFrom<i128>>(d: D) -> Result<Option<T>, D::Error> {
    let Some(whole) = Scalar::deserialize(d)?.whole(false)? else { return Ok(None) };
    let fitting = T::try_from(whole);
    let fitting = fitting
        .map_err(|_| D::Error::custom(format!("{whole} does not fit {}", type_name::<T>())))?;
    Ok(Some(fitting))
}

/// A time in epoch milliseconds: null means not yet, a fraction is cut off.
pub fn time<'de, D: Deserializer<'de>>(d: D) -> Result<Timestamp, D::Error> {
    let ms = Scalar::deserialize(d)?.whole(true)?.unwrap_or_default();
    let ms = i64::try_from(ms).map_err(|_| D::Error::custom(format!("{ms} is not a time")))?;
    Ok(Timestamp::from_ms(ms))
}

/// A primitive bool: null and `""` mean false.
pub fn flag<'de, D: Deserializer<'de>>(d: D) -> Result<bool, D::Error> {
    Ok(boxed_flag(d)?.unwrap_or_default())
}

/// A boxed bool: null and `""` mean none.
pub fn boxed_flag<'de, D: Deserializer<'de>>(d: D) -> Result<Option<bool>, D::Error> {
    match Scalar::deserialize(d)? {
        Scalar::Null => Ok(None),
        Scalar::Bool(flag) => Ok(Some(flag)),
        Scalar::Int(number) => Ok(Some(number != 0)),
        Scalar::Float(number) => Err(D::Error::custom(format!("{number} is not true or false"))),
        Scalar::Text(text) => match text.trim() {
            "" => Ok(None),
            "true" | "True" | "TRUE" => Ok(Some(true)),
            "false" | "False" | "FALSE" => Ok(Some(false)),
            other => Err(D::Error::custom(format!("{:?} is not true or false", shown(other)))),
        },
    }
}

/// Required text: null reads as empty, so that validation can say which one is missing.
pub fn text<'de, D: Deserializer<'de>>(d: D) -> Result<String, D::Error> {
    Ok(boxed_text(d)?.unwrap_or_default())
}

/// Optional text; numbers and bools are taken as their text.
pub fn boxed_text<'de, D: Deserializer<'de>>(d: D) -> Result<Option<String>, D::Error> {
    Ok(match Scalar::deserialize(d)? {
        Scalar::Null => None,
        Scalar::Bool(flag) => Some(flag.to_string()),
        Scalar::Int(number) => Some(number.to_string()),
        Scalar::Float(number) => Some(Value::from(number).to_string()),
        Scalar::Text(text) => Some(text),
    })
}

/// A list of texts; an explicit null is none, a null inside is an empty text.
pub fn texts<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Vec<String>>, D::Error> {
    let list = Option::<Vec<Text>>::deserialize(d)?;
    Ok(list.map(|list| list.into_iter().map(|Text(text)| text.unwrap_or_default()).collect()))
}

/// An object of texts; an explicit null is none, a null inside is as good as absent.
pub fn text_map<'de, D: Deserializer<'de>>(
    d: D,
) -> Result<Option<BTreeMap<String, String>>, D::Error> {
    let map = Option::<BTreeMap<String, Text>>::deserialize(d)?;
    Ok(map
        .map(|map| map.into_iter().filter_map(|(key, Text(value))| Some((key, value?))).collect()))
}

/// A payload that is an object and that `Payload::value` can read; null means `{}`.
pub fn object<'de, D: Deserializer<'de>>(d: D) -> Result<Payload, D::Error> {
    let payload = Payload::deserialize(d)?;
    if payload.text() == "null" {
        return Ok(Payload::empty());
    }
    if !payload.is_object() {
        return Err(D::Error::custom("expected an object"));
    }
    // Raw text is kept after a shallow look: it may still nest too deep or hold a number or an
    // escape nobody can read, and whoever looks inside later trusts that it was checked here.
    serde_json::from_str::<Readable>(payload.text()).map_err(D::Error::custom)?;
    Ok(payload)
}

fn type_name<T>() -> &'static str {
    std::any::type_name::<T>()
}

/// A wrong text is quoted in an error, and errors are logged: this much of it is enough.
const SHOWN_CHARS_MAX: usize = 100;

fn shown(text: &str) -> String {
    text.chars().take(SHOWN_CHARS_MAX).collect()
}

enum Scalar {
    Null,
    Bool(bool),
    Int(i128),
    Float(f64),
    Text(String),
}

impl Scalar {
    fn whole<E: Error>(self, cut: bool) -> Result<Option<i128>, E> {
        // Beyond this a double has no fraction left and no target of ours has room.
        const DOUBLE_MAX: f64 = 1e30;
        match self {
            Self::Null => Ok(None),
            Self::Bool(flag) => Err(E::custom(format!("{flag} is not a whole number"))),
            Self::Int(number) => Ok(Some(number)),
            Self::Float(number) if number.abs() < DOUBLE_MAX && (cut || number.fract() == 0.0) => {
                Ok(Some(number as i128))
            }
            Self::Float(number) => Err(E::custom(format!("{number} is not a whole number"))),
            Self::Text(text) => match text.trim() {
                "" => Ok(None),
                digits => digits
                    .parse()
                    .map(Some)
                    .map_err(|_| E::custom(format!("{:?} is not a whole number", shown(digits)))),
            },
        }
    }
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Any;
        impl Visitor<'_> for Any {
            type Value = Scalar;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text, a number, true, false or null")
            }

            fn visit_unit<E>(self) -> Result<Scalar, E> {
                Ok(Scalar::Null)
            }

            fn visit_bool<E>(self, flag: bool) -> Result<Scalar, E> {
                Ok(Scalar::Bool(flag))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Scalar, E> {
                Ok(Scalar::Int(number.into()))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Scalar, E> {
                Ok(Scalar::Int(number.into()))
            }

            fn visit_f64<E>(self, number: f64) -> Result<Scalar, E> {
                Ok(Scalar::Float(number))
            }

            fn visit_str<E>(self, text: &str) -> Result<Scalar, E> {
                Ok(Scalar::Text(text.to_owned()))
            }

            fn visit_string<E>(self, text: String) -> Result<Scalar, E> {
                Ok(Scalar::Text(text))
            }
        }
        d.deserialize_any(Any)
    }
}

struct Text(Option<String>);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        boxed_text(d).map(Self)
    }
}

/// Reads everything and keeps nothing.
struct Readable;

/// `serde_json` itself uses this key in passing, and would take an object that has it for text.
const RESERVED_KEY: &str = "$serde_json::private::RawValue";

impl<'de> Deserialize<'de> for Readable {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Readable {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self, A::Error> {
        while map.next_key_seed(Key)?.is_some() {
            map.next_value::<Self>()?;
        }
        Ok(self)
    }
}

struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<(), D::Error> {
        d.deserialize_str(self)
    }
}

impl Visitor<'_> for Key {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<(), E> {
        if key == RESERVED_KEY {
            return Err(E::custom(format!("the key {RESERVED_KEY} is reserved")));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[derive(Deserialize)]
    struct Shape {
        #[serde(default, deserialize_with = "int")]
        count: i32,
        #[serde(default, deserialize_with = "int")]
        size: i64,
        #[serde(default, deserialize_with = "boxed_int")]
        version: Option<i32>,
        #[serde(default, deserialize_with = "boxed_int")]
        fence: Option<u64>,
        #[serde(default, deserialize_with = "int_or_one")]
        factor: i32,
        #[serde(default, deserialize_with = "flag")]
        on: bool,
        #[serde(default, deserialize_with = "boxed_flag")]
        maybe: Option<bool>,
        #[serde(default, deserialize_with = "text")]
        name: String,
        #[serde(default, deserialize_with = "boxed_text")]
        note: Option<String>,
        #[serde(default, deserialize_with = "texts")]
        list: Option<Vec<String>>,
        #[serde(default, deserialize_with = "text_map")]
        map: Option<BTreeMap<String, String>>,
        #[serde(default, deserialize_with = "time")]
        at: Timestamp,
        #[serde(default, deserialize_with = "object")]
        payload: Payload,
    }

    fn read(json: Value) -> Shape {
        serde_json::from_str(&json.to_string()).unwrap()
    }

    fn refuse(json: &str) -> String {
        serde_json::from_str::<Shape>(json).err().unwrap().to_string()
    }

    #[test]
    fn ints_come_as_numbers_and_as_text() {
        let shape = read(json!({"count": "5", "size": 7, "version": " 8 ", "fence": "9"}));
        assert_eq!((shape.count, shape.size), (5, 7));
        assert_eq!((shape.version, shape.fence), (Some(8), Some(9)));
        assert_eq!(read(json!({"count": 5.0})).count, 5);
        assert_eq!(read(json!({"count": -3})).count, -3);
        assert_eq!(read(json!({"fence": u64::MAX})).fence, Some(u64::MAX));
    }

    #[test]
    fn null_is_zero_for_a_primitive_and_none_for_a_boxed_value() {
        let shape = read(json!({"count": null, "version": null, "on": null, "maybe": null,
            "name": null, "note": null, "list": null, "map": null, "at": null, "factor": null}));
        assert_eq!((shape.count, shape.version, shape.factor), (0, None, 1));
        assert_eq!((shape.on, shape.maybe), (false, None));
        assert_eq!((shape.name.as_str(), shape.note), ("", None));
        assert_eq!((shape.list, shape.map), (None, None));
        assert_eq!(shape.at, Timestamp::NOT_YET);
        let shape = read(json!({"count": "", "version": "", "on": "", "maybe": ""}));
        assert_eq!((shape.count, shape.version, shape.on, shape.maybe), (0, None, false, None));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert!(refuse(r#"{"count": 2147483648}"#).starts_with("2147483648 does not fit i32"));
        assert!(refuse(r#"{"count": 5.5}"#).starts_with("5.5 is not a whole number"));
        assert!(refuse(r#"{"size": 1e19}"#).contains("does not fit i64"));
        assert!(refuse(r#"{"size": 1e300}"#).contains("is not a whole number"));
        assert!(refuse(r#"{"fence": -1}"#).starts_with("-1 does not fit u64"));
        assert!(refuse(r#"{"count": "five"}"#).starts_with("\"five\" is not a whole number"));
        assert!(refuse(r#"{"count": true}"#).starts_with("true is not a whole number"));
        assert!(refuse(r#"{"count": [5]}"#).starts_with("invalid type: sequence"));
    }

    #[test]
    fn bools_come_as_text_too() {
        assert!(read(json!({"on": "true"})).on);
        assert!(read(json!({"on": true})).on);
        assert!(!read(json!({"on": "false"})).on);
        assert_eq!(read(json!({"maybe": "True"})).maybe, Some(true));
        assert!(refuse(r#"{"on": "maybe"}"#).starts_with("\"maybe\" is not true or false"));
    }

    #[test]
    fn texts_come_as_numbers_and_bools_too() {
        assert_eq!(read(json!({"name": 5})).name, "5");
        assert_eq!(read(json!({"name": 5.5})).name, "5.5");
        assert_eq!(read(json!({"note": true})).note.unwrap(), "true");
        assert_eq!(read(json!({"list": [1, "a"]})).list.unwrap(), ["1", "a"]);
        let map = read(json!({"map": {"a": 1, "b": null}})).map.unwrap();
        assert_eq!(map, BTreeMap::from([("a".to_owned(), "1".to_owned())]));
        assert!(refuse(r#"{"name": {}}"#).starts_with("invalid type: map"));
    }

    #[test]
    fn a_time_loses_its_fraction() {
        assert_eq!(read(json!({"at": 1794769871768_i64})).at, Timestamp::from_ms(1794769871768));
        assert_eq!(read(json!({"at": 1794769871.25})).at, Timestamp::from_ms(1794769871));
    }

    #[test]
    fn an_absent_or_null_payload_is_an_empty_object() {
        assert_eq!(read(json!({})).payload.text(), "{}");
        assert_eq!(read(json!({"payload": null})).payload.text(), "{}");
        assert_eq!(read(json!({"payload": {"a": null}})).payload.text(), r#"{"a":null}"#);
        assert!(refuse(r#"{"payload": [1]}"#).starts_with("expected an object"));
    }

    #[test]
    fn a_payload_nobody_could_read_is_refused() {
        let deep = format!(r#"{{"payload": {{"a": {}{} }}}}"#, "[".repeat(200), "]".repeat(200));
        assert!(refuse(&deep).contains("recursion limit"));
        assert!(refuse(r#"{"payload": {"a": 1e999}}"#).contains("number out of range"));
        assert!(refuse(r#"{"payload": {"a": "\ud800"}}"#).contains("hex escape"));
        let reserved = r#"{"payload": {"a": [{"\u0024serde_json::private::RawValue": "x"}]}}"#;
        assert!(refuse(reserved).contains("is reserved"));
    }
}
