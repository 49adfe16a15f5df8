//! Macros that define the JSON of a type once: [`object!`], [`words!`], [`variants!`] and
//! [`tagged!`].
//!
//! The compiler compares the listed fields and variants with those of the type: a missing or
//! additional one is an error. Reading and writing are `#[inline]`, so that the runtime contains
//! only the half that it needs.

use super::{Data, Error, Value};

/// The fields of an object that is being read.
pub(crate) struct Fields {
    of: &'static str,
    fields: Vec<(String, Value)>,
}

impl Fields {
    pub(crate) fn new(of: &'static str, value: Value) -> Result<Self, Error> {
        match value {
            Value::Object(fields) => Ok(Fields { of, fields }),
            other => Err(Error(format!("invalid type: {}, expected {of}", other.kind()))),
        }
    }

    /// Takes a field. An absent field takes its default, if it has one.
    pub(crate) fn field<T: Data>(
        &mut self,
        name: &str,
        default: Option<fn() -> T>,
    ) -> Result<T, Error> {
        match (self.take(name), default) {
            (Some(value), _) => T::from_value(value).map_err(|e| self.wrong(name, &e)),
            (None, Some(default)) => Ok(default()),
            (None, None) => Err(Error(format!("missing field `{name}`"))),
        }
    }

    fn take(&mut self, name: &str) -> Option<Value> {
        let at = self.fields.iter().position(|(field, _)| field == name)?;
        Some(self.fields.remove(at).1)
    }

    fn wrong(&self, name: &str, error: &Error) -> Error {
        Error(format!("`{name}` of {}: {error}", self.of))
    }

    /// Checks that each of the `names` occurred at most once. If `strict`, also checks that there
    /// are no unknown fields.
    pub(crate) fn end(self, strict: bool, names: &[&str]) -> Result<(), Error> {
        let of = self.of;
        for (name, _) in self.fields {
            if names.contains(&name.as_str()) {
                return Err(Error(format!("duplicate field `{name}` of {of}")));
            }
            if strict {
                let known = names.join("`, `");
                return Err(Error(format!(
                    "unknown field `{name}` of {of}, expected one of `{known}`"
                )));
            }
        }
        Ok(())
    }
}

/// The fields of an object that is being written.
#[derive(Default)]
pub(crate) struct Written(Vec<(String, Value)>);

impl Written {
    pub(crate) fn append(&mut self, name: &str, value: Value) {
        self.0.push((name.to_owned(), value));
    }

    pub(crate) fn end(self) -> Value {
        Value::Object(self.0)
    }
}

pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Returns the value of a variant: its name, or an object with one field of that name.
pub fn variant(name: &str, value: Option<Value>) -> Value {
    match value {
        None => Value::String(name.to_owned()),
        Some(value) => Value::Object(vec![(name.to_owned(), value)]),
    }
}

/// Returns the name of a variant, and the value that it holds.
pub(crate) fn name_and_value(of: &str, value: Value) -> Result<(String, Option<Value>), Error> {
    match value {
        Value::String(name) => Ok((name, None)),
        Value::Object(mut fields) if fields.len() == 1 => {
            let (name, value) = fields.remove(0);
            Ok((name, Some(value)))
        }
        other => Err(Error(format!("invalid type: {}, expected a variant of {of}", other.kind()))),
    }
}

/// Returns the error for a name that is none of the `known` ones.
pub fn unknown(name: &str, known: &[&str]) -> Error {
    let known = known.join("`, `");
    Error(format!("unknown variant `{name}`, expected one of `{known}`"))
}

/// Defines a struct as an object: `object!(Site { api, line as "l", stack = optional })`. An
/// `optional` field is omitted if it has its type's default. A `defaulted` field is always written,
/// and may be absent. `object!(strict …)` rejects unknown fields.
macro_rules! object {
    (strict $type:ident { $($fields:tt)* }) => {
        $crate::json::define::object!(@ true, $type { $($fields)* });
    };
    ($type:ident { $($fields:tt)* }) => {
        $crate::json::define::object!(@ false, $type { $($fields)* });
    };
    (@ $strict:literal, $type:ident {
        $($field:ident $(as $name:literal)? $(= $kind:ident)?),* $(,)?
    }) => {
        impl $crate::json::Data for $type {
            #[inline]
            fn to_value(&self) -> $crate::json::Value {
                use $crate::json::define;
                let $type { $($field),* } = self;
                let mut fields = define::Written::default();
                $(if !define::is_left_out!($field $($kind)?) {
                    fields.append(define::name!($field $($name)?),
                        $crate::json::Data::to_value($field));
                })*
                fields.end()
            }

            #[inline]
            fn from_value(value: $crate::json::Value) -> Result<Self, $crate::json::Error> {
                use $crate::json::define;
                let mut fields = define::Fields::new(stringify!($type), value)?;
                let value = $type {
                    $($field: fields.field(define::name!($field $($name)?),
                        define::default!($($kind)?))?,)*
                };
                fields.end($strict, &[$(define::name!($field $($name)?)),*])?;
                Ok(value)
            }
        }

        $crate::json::define::bridge!($type);
    };
}

/// Defines an enum without values by names: `words!(Threads { Each = "each", One = "one" })`. Adds
/// `ALL` and `name`; without the list, the type must have them.
#[macro_export]
macro_rules! words {
    ($type:ident { $($variant:ident = $name:literal),* $(,)? }) => {
        impl $type {
            /// All variants, in the order of their declaration.
            pub const ALL: [$type; [$($name),*].len()] = [$($type::$variant),*];

            /// Returns the name on the command line, in specs, records and reports.
            pub const fn name(self) -> &'static str {
                match self {
                    $($type::$variant => $name,)*
                }
            }
        }

        $crate::words!($type);
    };
    ($type:ident) => {
        impl $crate::json::Data for $type {
            #[inline]
            fn to_value(&self) -> $crate::json::Value {
                $crate::json::variant(self.name(), None)
            }

            #[inline]
            fn from_value(value: $crate::json::Value) -> Result<Self, $crate::json::Error> {
                let name: String = $crate::json::Data::from_value(value)?;
                $type::ALL.into_iter().find(|known| known.name() == name).ok_or_else(|| {
                    $crate::json::unknown(&name, &$type::ALL.map($type::name))
                })
            }
        }

        $crate::bridge!($type);
    };
}

/// Defines an enum with values: each variant is a name, or an object with one field. Example:
/// `variants!(Outcome { Passed = "passed", Exited(code) = "exited" })`.
macro_rules! variants {
    ($type:ident { $($variant:ident $(($held:ident))? = $name:literal),* $(,)? }) => {
        impl $crate::json::Data for $type {
            #[inline]
            fn to_value(&self) -> $crate::json::Value {
                use $crate::json::define;
                match self {
                    $($type::$variant $(($held))? => {
                        let value = None $(.or_else(|| Some($crate::json::Data::to_value($held))))?;
                        define::variant($name, value)
                    })*
                }
            }

            #[inline]
            fn from_value(value: $crate::json::Value) -> Result<Self, $crate::json::Error> {
                use $crate::json::define;
                let (name, value) = define::name_and_value(stringify!($type), value)?;
                match (name.as_str(), value) {
                    $(($name, define::held!($($held)?)) => {
                        Ok($type::$variant $(($crate::json::Data::from_value($held)?))?)
                    })*
                    (name, _) => Err(define::unknown(name, &[$($name),*])),
                }
            }
        }

        $crate::json::define::bridge!($type);
    };
}

/// Defines an enum of structs as an object whose field `tag` names the variant:
/// `tagged!(Event by "event" { End = "end" { test } })`.
macro_rules! tagged {
    ($type:ident by $tag:literal {
        $($variant:ident = $variant_name:literal {
            $($field:ident $(= $kind:ident)?),* $(,)?
        }),* $(,)?
    }) => {
        impl $crate::json::Data for $type {
            #[inline]
            fn to_value(&self) -> $crate::json::Value {
                use $crate::json::define;
                match self {
                    $($type::$variant { $($field),* } => {
                        let mut fields = define::Written::default();
                        fields.append($tag, define::variant($variant_name, None));
                        $(if !define::is_left_out!($field $($kind)?) {
                            fields.append(stringify!($field), $crate::json::Data::to_value($field));
                        })*
                        fields.end()
                    })*
                }
            }

            #[inline]
            fn from_value(value: $crate::json::Value) -> Result<Self, $crate::json::Error> {
                use $crate::json::define;
                let mut fields = define::Fields::new(stringify!($type), value)?;
                let name: String = fields.field($tag, None)?;
                match name.as_str() {
                    $($variant_name => {
                        let value = $type::$variant {
                            $($field: fields.field(stringify!($field),
                                define::default!($($kind)?))?,)*
                        };
                        fields.end(false, &[$tag, $(stringify!($field)),*])?;
                        Ok(value)
                    })*
                    name => Err(define::unknown(name, &[$($variant_name),*])),
                }
            }
        }

        $crate::json::define::bridge!($type);
    };
}

/// Expands to the JSON name of a field: that of the Rust field, or the given one.
macro_rules! name {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $name:literal) => {
        $name
    };
}

/// Expands to whether a field is omitted.
macro_rules! is_left_out {
    ($field:ident optional) => {
        $crate::json::define::is_default($field)
    };
    ($field:ident $(defaulted)?) => {
        false
    };
}

/// Expands to the default of an absent field.
macro_rules! default {
    () => {
        None
    };
    ($kind:ident) => {
        Some(Default::default)
    };
}

/// Expands to the pattern of the value that a variant holds.
macro_rules! held {
    () => {
        None
    };
    ($held:ident) => {
        Some($held)
    };
}

/// Implements serde's traits for a type that is [`Data`].
#[cfg(feature = "serde")]
#[doc(hidden)]
#[macro_export]
macro_rules! bridge {
    ($type:ident) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serde::Serialize::serialize(&$crate::json::Data::to_value(self), serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let value: $crate::json::Value = serde::Deserialize::deserialize(deserializer)?;
                $crate::json::Data::from_value(value).map_err(serde::de::Error::custom)
            }
        }
    };
}

/// Does nothing: only the driver needs serde's traits.
#[cfg(not(feature = "serde"))]
#[doc(hidden)]
#[macro_export]
macro_rules! bridge {
    ($type:ident) => {};
}

pub(crate) use {bridge, default, held, is_left_out, name, object, tagged, variants, words};
