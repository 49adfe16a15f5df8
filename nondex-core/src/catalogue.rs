//! The catalogue: which specifications leave a choice open, how each level treats them, and what
//! code should do instead.

pub mod family;
pub mod level;
pub mod model;

pub use family::Family;
pub use level::Level;
pub use model::{Kind, Model};
