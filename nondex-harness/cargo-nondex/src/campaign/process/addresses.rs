//! Whether the processes that are started have their parts at the same addresses each time.

#[cfg(target_os = "linux")]
use nix::sys::personality::{self, Persona};

/// Switches address-space randomisation off for processes that this thread, and threads it starts,
/// will start. Whether it is off: a container's policy may forbid it.
fn disable_address_randomisation() -> bool {
    #[cfg(target_os = "linux")]
    {
        personality::get()
            .and_then(|now| personality::set(now | Persona::ADDR_NO_RANDOMIZE))
            .is_ok()
    }
    #[cfg(not(target_os = "linux"))]
    false
}

/// Switches address-space randomisation off for processes that this thread, and threads it starts,
/// will start. Returns what the user should know where it stays on.
pub fn without_randomisation() -> Option<String> {
    let why = "address-space randomisation could not be switched off: tests whose outcome depends \
               on addresses are not repeatable";
    (!disable_address_randomisation()).then(|| why.to_owned())
}

/// Does `action`, which starts processes from this thread: they are at random addresses, as plain
/// runs are. What was set for this thread holds again afterwards.
pub fn at_random_addresses<T>(action: impl FnOnce() -> T) -> T {
    #[cfg(target_os = "linux")]
    {
        let before = personality::get();
        let _ = before.and_then(|now| personality::set(now & !Persona::ADDR_NO_RANDOMIZE));
        let result = action();
        let _ = before.and_then(personality::set);
        result
    }
    #[cfg(not(target_os = "linux"))]
    action()
}
