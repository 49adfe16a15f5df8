//! Memory use of the collections.

use super::operations::{keys, mirror, of_std};

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the C library reports how much memory is in use")]
fn in_use() -> usize {
    #[repr(C)]
    struct Info([usize; 10]);
    unsafe extern "C" {
        safe fn mallinfo2() -> Info;
    }
    let Info(info) = mallinfo2();
    info[4] + info[7]
}

/// Returns how many bytes of memory the result of `make` uses.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn bytes<T>(make: impl Fn() -> T) -> f64 {
    let before = in_use();
    let made = make();
    let bytes = in_use() - before;
    drop(made);
    bytes as f64
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
/// Prints a table of ratios.
pub(super) fn print() {
    println!("\n| memory of 100,000 | ratio |\n|---|---|");
    macro_rules! row {
        ($name:literal, $collection:ident<$($of:ty),+>, $entry:expr) => {
            let of_std = bytes(|| {
                            keys(100_000).map($entry).collect::<of_std::$collection<$($of),+>>()
                        });
            let own = bytes(|| {
                            keys(100_000).map($entry).collect::<mirror::$collection<$($of),+>>()
                        });
            println!("| {} | {:.2} |", $name, own / of_std);
        };
    }
    row!("`HashSet<u32>`", HashSet<u32>, |key| key as u32);
    row!("`HashSet<u64>`", HashSet<u64>, |key| key);
    row!("`HashMap<u64, u64>`", HashMap<u64, u64>, |key| (key, key));
    row!("`HashMap<u64, [u8; 64]>`", HashMap<u64, [u8; 64]>, |key| (key, [0; 64]));
}

/// Does nothing: only the GNU C library is measured.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(super) fn print() {}
