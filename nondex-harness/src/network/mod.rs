//! Failures that only say that there is no network.
//!
//! The runtime records every operation on another machine ([`NetworkRecord`](nondex_core::NetworkRecord)). [`judge`] decides
//! from the records whether a failure is explained by the network's absence, as a pure function; [`canary`] answers its one
//! question about the machine. [`policy`] is what a run was asked to do, [`limit`] how many such failures it accepts.

pub mod canary;
pub mod evidence;
pub mod judge;
pub mod limit;
pub mod policy;

pub use canary::Canary;
pub use limit::Limit;
pub use policy::Policy;
