//! The catalogue: APIs whose specification leaves a choice open, their treatment at each level, and
//! the recommended alternative.

pub mod family;
pub mod level;
pub mod model;

pub use family::Family;
pub use level::Level;
pub use model::{Kind, Model};
