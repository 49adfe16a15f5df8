//! The judge of `cargo nondex`: what follows from the runs of one test, as a pure function of
//! records.
//!
//! [`isolation::conclude`] gives the [`conclusion`], or the runs that must be made first.
//! A [`Question`] is a test with its options and its runs; most functions answer one.
//! [`evidence`] is the runs that were made, and [`missing`] those that are not, for [`plan`].
//! [`equivalence`] decides which runs are needless, [`patience`] how long they may take, and
//! [`exhaustive`] which show all there is. [`sampling`] decides which tests need few seeds,
//! [`further`] which need many, [`certainty`] how sure a test is stable, and `latent` what a
//! passing test writes. [`culprit`] searches the call that is responsible, [`bisect`] the commit,
//! [`change`] whether a change is to blame. [`prerequisite`] knows which failures concern the
//! machine only, [`circumstance`] what may change between runs, [`plain`] what runs without this
//! tool show, [`threads`] what is judged with real threads. [`isolation`] ensures that tests which
//! disturb each other are judged from runs on their own, where more than [`chance`] tells them
//! apart, and [`verdict`] gives the verdict.
//! [`ending`] asks only how a test ends when all choices are those of one [`world`].
//! Nothing here runs anything.

pub mod bisect;
pub mod certainty;
pub mod chance;
pub mod change;
pub mod circumstance;
pub mod clock_start;
pub mod conclusion;
pub mod culprit;
pub mod deadlock;
pub mod ending;
pub mod equivalence;
pub mod evidence;
pub mod exhaustive;
mod exploration;
pub mod further;
pub mod isolation;
mod latent;
pub mod missing;
pub mod options;
pub mod order;
pub mod patience;
pub mod plain;
pub mod plan;
pub mod prerequisite;
pub mod question;
pub mod reruns;
pub mod run;
pub mod sampling;
pub mod slots;
mod specs;
pub mod systematic;
pub mod threads;
pub mod timing;
pub mod unexplored;
mod unseen;
pub mod verdict;
pub mod world;

pub use options::{Options, TestOptions};
pub use question::Question;

pub mod simulation;
