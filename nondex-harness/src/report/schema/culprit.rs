//! A call that is responsible for a failure, as far as the search got: which call site, which of
//! its calls, which two elements.

use nondex_core::{Family, Kind, Model, NumberRecord, Site};
use serde::{Deserialize, Serialize};

use crate::judge::culprit::Position;

/// A call that is responsible for a failure: one call at a site when [`call`](Self::call) is known,
/// otherwise all of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Culprit {
    /// The std path of the API.
    pub api: String,
    /// The source file of the call, as in [`Site::file`]. A call that reached the API through a
    /// function pointer, inside std, or in C has no place of its own, only a [`site`](Self::site):
    /// then this is the nearest frame above it in the user's workspace, or else in a dependency, or
    /// else the test.
    pub file: String,
    /// Line, from 1; 0 when not known.
    pub line: u32,
    /// Column, from 1; 0 when not known.
    pub column: u32,
    /// The identity of a call that has no place of its own, `stack:` and a number that is the same
    /// for the same binary.
    #[serde(default)]
    pub site: Option<String>,
    /// What kind of freedom the API has.
    pub kind: Kind,
    /// The largest number of elements it had in the failing run; of a number, how far it may be
    /// from its base.
    pub len: u64,
    /// The two elements whose relative order decides, when known, by [`ElementReport::index`], the
    /// first in base order first.
    pub elements: Option<[u64; 2]>,
    /// Whether it was confirmed both ways: with only the confirmed culprits chosen by the seed the
    /// outcome changes every time, with all but them it never does. Otherwise it is suspected.
    pub confirmed: bool,
    /// The family it was switched with.
    pub family: Family,
    /// The file of the nearest frame in the user's workspace, when the call itself is in a
    /// dependency or in std.
    #[serde(default)]
    pub user_file: Option<String>,
    /// Line of that frame, from 1.
    #[serde(default)]
    pub user_line: Option<u32>,
    /// Which of the calls at the site, when the search got that far.
    #[serde(default)]
    pub call: Option<CallReport>,
    /// What is known of each of [`elements`](Self::elements).
    #[serde(default)]
    pub element_details: Vec<ElementReport>,
    /// Which position decides, when it is not the order of two elements but which one comes there.
    #[serde(default)]
    pub position: Option<Position>,
    /// Where the collection was created.
    #[serde(default)]
    pub created: Option<PlaceReport>,
    /// Of a number, from where on it decides.
    #[serde(default)]
    pub number: Option<NumberReport>,
}

impl Culprit {
    /// A suspected culprit: all calls at a site, of which nothing else is known.
    #[must_use]
    pub fn new(site: &Site) -> Self {
        Culprit {
            api: site.api.clone(),
            file: site.file.clone(),
            line: site.line,
            column: site.column,
            site: None,
            kind: Model::by_api(&site.api).map_or(Kind::Permute, |model| model.kind),
            len: 0,
            elements: None,
            confirmed: false,
            family: site.family,
            user_file: None,
            user_line: None,
            call: None,
            element_details: Vec::new(),
            position: None,
            created: None,
            number: None,
        }
    }

    /// The place to show: file, line and, where known, column. The user's own frame if the call is
    /// not in their code.
    #[must_use]
    pub fn place(&self) -> (&str, u32, Option<u32>) {
        match (&self.user_file, self.user_line) {
            (Some(file), Some(line)) => (file, line, None),
            _ => (
                &self.file,
                self.line,
                Some(self.column).filter(|&column| column > 0),
            ),
        }
    }
}

/// One of the calls at a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallReport {
    /// The logical path of the thread, as in
    /// [`PointRecord::thread`](nondex_core::PointRecord::thread): `0` is the test's own, `0.1` the
    /// second one that it starts.
    pub thread: String,
    /// Which call of that thread at the site, from 0.
    pub ordinal: u64,
    /// How many calls that thread made at the site in the failing run.
    pub of: u64,
}

/// A number that decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NumberReport {
    /// What it is in a clean run.
    pub base: u64,
    /// What it is when the outcome changes. One nearer to the base does not change it.
    pub value: u64,
}

impl From<NumberRecord> for NumberReport {
    fn from(NumberRecord { base, value }: NumberRecord) -> Self {
        NumberReport { base, value }
    }
}

/// One element of a collection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ElementReport {
    /// How many elements were inserted before it that were still there, for a collection; otherwise
    /// its index in base order, which is the order of names for directories and for the variables
    /// that a process was given. From 0.
    pub index: u64,
    /// The name of a directory's entry or of a variable.
    #[serde(default)]
    pub name: Option<String>,
    /// The source file of the call that inserted it, as in [`Site::file`], when known.
    #[serde(default)]
    pub file: Option<String>,
    /// Line of that call, from 1.
    #[serde(default)]
    pub line: Option<u32>,
}

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlaceReport {
    /// The file, as in [`Site::file`].
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1, when known.
    #[serde(default)]
    pub column: Option<u32>,
}
