//! Address-space randomisation of started processes.

#[cfg(target_os = "linux")]
use nix::sys::personality::{self, Persona};

/// Switches address-space randomisation off for processes that this thread, and threads it starts,
/// will start. Returns whether it is off: the policy of a container may forbid the change.
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
/// will start. Returns a warning for the user if it stays on.
pub fn without_randomisation() -> Option<String> {
    let why = "address-space randomisation could not be switched off: tests whose outcome depends \
               on addresses are not repeatable";
    (!disable_address_randomisation()).then(|| why.to_owned())
}

/// Returns whether processes that this thread starts have random addresses.
pub(in crate::campaign) fn are_addresses_random() -> bool {
    #[cfg(target_os = "linux")]
    {
        personality::get().is_ok_and(|now| !now.contains(Persona::ADDR_NO_RANDOMIZE))
    }
    #[cfg(not(target_os = "linux"))]
    true
}

/// Runs `action` with address-space randomisation on, as in plain runs. This applies to processes
/// that the action starts from this thread. Afterwards, restores the thread's previous setting.
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
