//! # Conversion: what a script gave, as JSON
//!
//! Reading a value may run more of the script (getters, proxies), on the same budget. A value that
//! contains itself is found by its depth: going down comes before going on.

use rquickjs::object::Filter;
use rquickjs::{Atom, Function, Object, Value};

use super::Stop;
use crate::budget::DEPTH_MAX;
use crate::reason;
use crate::result_text::ResultText;

/// Built-ins as they were before the script could lay hands on them.
pub(super) struct Conversion<'js> {
    plain: Function<'js>,
    whole: Function<'js>,
}

impl<'js> Conversion<'js> {
    pub(super) fn new(tools: &Object<'js>) -> rquickjs::Result<Self> {
        Ok(Self { plain: tools.get("plain")?, whole: tools.get("whole")? })
    }

    pub(super) fn write(
        &self,
        value: Value<'js>,
        depth: usize,
        text: &mut ResultText<'_>,
    ) -> Result<(), Stop> {
        if let Some(number) = value.as_number() {
            return Ok(text.push_number(number)?);
        }
        if let Some(truth) = value.as_bool() {
            return Ok(text.push(if truth { "true" } else { "false" })?);
        }
        if let Some(string) = value.as_string() {
            return self.write_string(string, text);
        }
        if value.is_big_int() {
            return Err(reason::failed("a BigInt has no JSON: make it a number or a text").into());
        }
        let Some(object) = value.as_object() else {
            return Ok(text.push("null")?); // null, undefined and symbols
        };
        if depth == DEPTH_MAX {
            return Err(reason::too_deep_a_result().into());
        }
        if value.is_function() {
            Ok(text.push("{}")?)
        } else if value.is_array() {
            self.write_list(object, depth, text)
        } else {
            let plain: Value = self.plain.call((value.clone(),))?;
            match plain.as_object() {
                Some(object) if plain.is_array() => self.write_list(object, depth, text),
                Some(object) => self.write_object(object, depth, text),
                None => self.write(plain, depth, text),
            }
        }
    }

    fn write_list(
        &self,
        list: &Object<'js>,
        depth: usize,
        text: &mut ResultText<'_>,
    ) -> Result<(), Stop> {
        text.push("[")?;
        for index in 0..list.get::<_, f64>("length")? as u32 {
            if index > 0 {
                text.push(",")?;
            }
            self.write(list.get(index)?, depth + 1, text)?;
        }
        Ok(text.push("]")?)
    }

    fn write_object(
        &self,
        object: &Object<'js>,
        depth: usize,
        text: &mut ResultText<'_>,
    ) -> Result<(), Stop> {
        text.push("{")?;
        for (at, key) in object.own_keys::<Atom>(Filter::default()).enumerate() {
            let key = key?;
            if at > 0 {
                text.push(",")?;
            }
            self.write_string(&key.to_js_string()?, text)?;
            text.push(":")?;
            self.write(object.get(key)?, depth + 1, text)?;
        }
        Ok(text.push("}")?)
    }

    /// Half a character, which JavaScript allows and JSON does not, is written as one that is lost.
    fn write_string(
        &self,
        string: &rquickjs::String<'js>,
        text: &mut ResultText<'_>,
    ) -> Result<(), Stop> {
        let string = match string.to_string() {
            Err(rquickjs::Error::Utf8(_)) => self.whole.call((string.clone(),))?,
            other => other?,
        };
        Ok(text.push_text(&string)?)
    }
}
