//! Link-time optimisation (LTO), which a build over the runtime does not use. The runtime's
//! libraries have no bitcode, which would be a quarter of their size. No outcome of a test depends
//! on LTO.

use std::ffi::OsString;

/// Returns the arguments of a call of rustc without those that request LTO.
pub(super) fn without(arguments: &[OsString]) -> Vec<&OsString> {
    let mut kept: Vec<&OsString> = Vec::with_capacity(arguments.len());
    for argument in arguments {
        let Some(text) = argument.to_str() else {
            kept.push(argument);
            continue;
        };
        let is_value = kept.last().is_some_and(|flag| *flag == "-C" || *flag == "--codegen");
        if is_value && is_lto(text) {
            kept.pop();
            continue;
        }
        let option = text.strip_prefix("--codegen=").or_else(|| text.strip_prefix("-C"));
        if !is_value && option.is_some_and(is_lto) {
            continue;
        }
        kept.push(argument);
    }
    kept
}

fn is_lto(option: &str) -> bool {
    let name = option.trim_start().split('=').next().unwrap_or_default();
    matches!(name.replace('_', "-").as_str(), "lto" | "linker-plugin-lto")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(arguments: &str) -> String {
        let arguments: Vec<OsString> = arguments.split(' ').map(OsString::from).collect();
        let kept: Vec<_> =
            without(&arguments).into_iter().map(|argument| argument.to_str().unwrap()).collect();
        kept.join(" ")
    }

    #[test]
    fn whatever_way_it_is_asked_for_it_is_left_out_and_nothing_else_is() {
        for asked in [
            "-C lto",
            "-C lto=fat",
            "-Clto=thin",
            "--codegen lto=yes",
            "--codegen=lto",
            "-C linker-plugin-lto",
            "-Clinker_plugin_lto=y",
        ] {
            assert_eq!(
                kept(&format!("--crate-name a -C opt-level=3 {asked} -C panic=abort src/lib.rs")),
                "--crate-name a -C opt-level=3 -C panic=abort src/lib.rs",
                "{asked}"
            );
        }
        for other in [
            "--crate-name lto lto.rs",
            "-C embed-bitcode=no -C link-arg=-flto",
            "--cfg lto -C metadata=lto",
            "-C link-args=lto",
        ] {
            assert_eq!(kept(other), other);
        }
    }
}
