//! Serialisation of environment variables and arguments as text.

/// Serialisation of environment variables.
pub(super) mod map {
    use std::collections::BTreeMap;
    use std::ffi::OsString;

    use serde::{Deserialize, Deserializer, Serializer};

    /// Serialises the variables. Leaves out those that are not UTF-8.
    pub(in crate::project) fn serialize<S: Serializer>(
        variables: &BTreeMap<OsString, OsString>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let texts = variables.iter();
        serializer.collect_map(texts.filter_map(|(name, value)| name.to_str().zip(value.to_str())))
    }

    /// Deserialises the variables.
    pub(in crate::project) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<OsString, OsString>, D::Error> {
        let texts = BTreeMap::<String, String>::deserialize(deserializer)?.into_iter();
        Ok(texts.map(|(name, value)| (name.into(), value.into())).collect())
    }
}

/// Serialisation of arguments.
pub(super) mod list {
    use std::ffi::OsString;

    use serde::{Deserialize, Deserializer, Serializer};

    /// Serialises the arguments.
    ///
    /// # Errors
    /// Returns an error if an argument is not UTF-8.
    pub(in crate::project) fn serialize<S: Serializer>(
        arguments: &[OsString],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let texts = arguments
            .iter()
            .map(|text| text.to_str())
            .collect::<Option<Vec<&str>>>()
            .ok_or_else(|| serde::ser::Error::custom("an argument is not UTF-8"))?;
        serializer.collect_seq(texts)
    }

    /// Deserialises the arguments.
    pub(in crate::project) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<OsString>, D::Error> {
        Ok(Vec::<String>::deserialize(deserializer)?.into_iter().map(Into::into).collect())
    }
}
