//! What a test that fails alone comes to behind the others of its binary: evidence besides its own runs.

use std::sync::Arc;

use nondex_core::RunSpec;

use super::roles;
use crate::judge::conclusion::Conclusion;

/// What came of a test that fails alone behind the others of its binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Behind {
    /// What is concluded from that.
    pub conclusion: roles::Conclusion,
    /// The names of the binary's tests, by number.
    pub names: Arc<[String]>,
    /// So many processes were made for it.
    pub processes: u64,
}

impl Conclusion {
    /// This, or what the tests before it make of a test that fails alone; `clean` is the spec of its clean run.
    pub(in crate::judge) fn behind(self, clean: RunSpec, behind: Option<&Behind>) -> Self {
        let (Conclusion::Broken, Some(behind)) = (&self, behind) else {
            return self;
        };
        match &behind.conclusion {
            roles::Conclusion::Dependent(found) => Conclusion::OrderDependent(found.clone().into()),
            roles::Conclusion::NonDeterministic { before, .. } => {
                let before = before.iter().map(|test| behind.names[*test].clone());
                Conclusion::NonDeterministic {
                    spec: Box::new(RunSpec {
                        before: before.collect(),
                        ..clean
                    }),
                }
            }
            roles::Conclusion::Independent | roles::Conclusion::Unknown => self,
        }
    }
}
