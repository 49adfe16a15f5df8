//! The tests of this package have the feature `nondex`. A separate package tests what holds without
//! it.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

#[test]
fn without_the_feature_everything_is_std_and_code_written_over_it_compiles_and_means_the_same() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("feature-off");
    fs::create_dir_all(folder.join("tests")).unwrap();
    for test in ["off/reexports.rs", "dropin.rs"] {
        let from = here.join("tests").join(test);
        let name = from.file_name().unwrap();
        fs::copy(&from, folder.join("tests").join(name)).unwrap();
    }
    let manifest = format!(
        "[package]\nname = \"feature-off\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\nnondex-collections = {{ path = {here:?} }}\n",
    );
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    // With the versions of this workspace, cargo need not resolve anything.
    let lock = here.join("../Cargo.lock");
    if lock.is_file() {
        fs::copy(lock, folder.join("Cargo.lock")).unwrap();
    }
    let output = Command::new(env!("CARGO"))
        .args(["test", "--offline", "--target-dir"])
        .arg(folder.join("target"))
        .current_dir(&folder)
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{errors}");
    let passed = text.matches("test result: ok. ").count();
    assert_eq!(passed, 2, "{text}\n{errors}");
    assert!(!text.contains(" 0 passed"), "{text}");
}
