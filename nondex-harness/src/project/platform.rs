//! The systems on which a whole program can be run over the shims.

use crate::error::{Error, Result};

/// Refuses a `target` whose C library is not glibc on Linux: whole-program mode takes the place of its functions.
///
/// # Errors
/// With what was found, what is needed, and what can be done there instead.
pub(super) fn check(target: &str) -> Result<()> {
    // `x86_64-unknown-linux-gnu`, `armv7-unknown-linux-gnueabihf`.
    let is_supported = target.contains("-linux-gnu");
    if is_supported {
        return Ok(());
    }
    Err(Error::setup(format!(
        "whole-program mode needs Linux with glibc, and the tests would be built for {target}: \
         depend on nondex-collections and use `--mode swap`"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_linux_with_glibc_is_accepted() {
        for target in [
            "x86_64-unknown-linux-gnu",
            "aarch64-unknown-linux-gnu",
            "armv7-unknown-linux-gnueabihf",
        ] {
            assert!(check(target).is_ok(), "{target}");
        }
        for target in [
            "x86_64-unknown-linux-musl",
            "aarch64-apple-darwin",
            "x86_64-pc-windows-gnu",
        ] {
            let message = check(target).unwrap_err().to_string();
            assert!(
                message.contains(target) && message.contains("--mode swap"),
                "{message}"
            );
        }
    }
}
