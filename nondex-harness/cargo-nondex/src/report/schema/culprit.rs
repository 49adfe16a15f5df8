//! Calls that are responsible for a failure, as far as the search got: the call site, the call at
//! that site, and the two elements.

use nondex_core::{Family, Kind, Model, NumberRecord, Site};
use serde::{Deserialize, Serialize};

use crate::judge::culprit::Position;

/// Responsible call: one call at a site if [`call`](Self::call) is known, otherwise all of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Culprit {
    /// std path of the API.
    pub api: String,
    /// Source file of the call, as in [`Site::file`]. A call through a function pointer, inside std
    /// or in C has only a [`site`](Self::site). Then this is the nearest frame of the workspace,
    /// else of a dependency, else the test.
    pub file: String,
    /// Line, from 1; 0 if unknown.
    pub line: u32,
    /// Column, from 1; 0 if unknown.
    pub column: u32,
    /// Identity of a call without a place: `stack:` and a number that is the same for the same
    /// binary.
    pub site: Option<String>,
    /// Kind of freedom of the API.
    pub kind: Kind,
    /// Largest number of elements in the failing run; for a number, its largest distance from the
    /// canonical value.
    pub len: u64,
    /// The two elements whose order decides, by [`ElementReport::index`], in canonical order, if
    /// known.
    pub elements: Option<[u64; 2]>,
    /// Whether it was confirmed both ways: with only the confirmed culprits the outcome always
    /// changes, without them never. Otherwise it is suspected.
    pub confirmed: bool,
    /// Family of the model.
    pub family: Family,
    /// File of the nearest frame in the workspace, if the call is in a dependency or in std.
    pub user_file: Option<String>,
    /// Line of that frame, from 1.
    pub user_line: Option<u32>,
    /// Which call at the site, if the search got that far.
    pub call: Option<CallReport>,
    /// Details of each of [`elements`](Self::elements).
    #[serde(default)]
    pub element_details: Vec<ElementReport>,
    /// Decisive position, if the order of two elements is not what decides.
    pub position: Option<Position>,
    /// Where the collection was created.
    pub created: Option<PlaceReport>,
    /// For a number: threshold from which it decides.
    pub number: Option<NumberReport>,
}

impl Culprit {
    /// Creates a suspected culprit: all calls at a site, without details.
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

    /// Returns the place to show: file, line and, if known, column. It is the nearest frame of the
    /// user's code if the call is in a library.
    pub fn place(&self) -> (&str, u32, Option<u32>) {
        match (&self.user_file, self.user_line) {
            (Some(file), Some(line)) => (file, line, None),
            _ => (&self.file, self.line, Some(self.column).filter(|&column| column > 0)),
        }
    }

    /// Describes the call: `std::fs::read_dir at src/lib.rs:4`.
    pub fn text(&self) -> String {
        let (file, line, _) = self.place();
        format!("{} at {file}:{line}", self.api)
    }
}

/// One call at a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallReport {
    /// Logical path of the thread, as in [`PointRecord::thread`](nondex_core::PointRecord::thread):
    /// `0` is the test's own, `0.1` the second one that it starts.
    pub thread: String,
    /// Index among that thread's calls at the site, from 0.
    pub ordinal: u64,
    /// Number of that thread's calls at the site in the failing run.
    pub of: u64,
}

/// Decisive number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NumberReport {
    /// Value in a clean run.
    pub base: u64,
    /// Value at which the outcome changes. A value nearer to `base` does not change it.
    pub value: u64,
}

impl From<NumberRecord> for NumberReport {
    fn from(NumberRecord { base, value }: NumberRecord) -> Self {
        NumberReport { base, value }
    }
}

/// Element of a collection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ElementReport {
    /// For a collection, number of elements inserted before it that were still there. Otherwise its
    /// index in canonical order, from 0.
    pub index: u64,
    /// Name of a directory entry or of a variable.
    pub name: Option<String>,
    /// Source file of the call that inserted it, as in [`Site::file`], if known.
    pub file: Option<String>,
    /// Line of that call, from 1.
    pub line: Option<u32>,
}

/// Place in the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlaceReport {
    /// File, as in [`Site::file`].
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1, if known.
    pub column: Option<u32>,
}
