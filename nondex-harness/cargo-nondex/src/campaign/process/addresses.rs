//! Address-space randomisation of started processes.

use std::cell::Cell;

#[cfg(target_os = "linux")]
use nix::sys::personality::{self, Persona};

thread_local! {
    /// Whether this thread is to start processes with random addresses.
    static ARE_RANDOM: Cell<bool> = const { Cell::new(false) };
}

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

/// Returns whether this thread is to start processes at random addresses. Where the system does not
/// allow to switch randomisation off, all processes have them.
pub(in crate::campaign) fn are_addresses_random() -> bool {
    ARE_RANDOM.get()
}

/// Runs `action` with address-space randomisation on, as in plain runs. This applies to processes
/// that the action starts from this thread. Afterwards, restores the thread's previous setting.
pub fn at_random_addresses<T>(action: impl FnOnce() -> T) -> T {
    let outer = ARE_RANDOM.replace(true);
    #[cfg(target_os = "linux")]
    let before = personality::get();
    #[cfg(target_os = "linux")]
    let _ = before.and_then(|now| personality::set(now & !Persona::ADDR_NO_RANDOMIZE));
    let result = action();
    #[cfg(target_os = "linux")]
    let _ = before.and_then(personality::set);
    ARE_RANDOM.set(outer);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_random_during_an_action_that_asks_for_it() {
        let within = || {
            at_random_addresses(|| ());
            are_addresses_random()
        };
        assert!(at_random_addresses(within));
        assert!(!are_addresses_random());
    }
}
