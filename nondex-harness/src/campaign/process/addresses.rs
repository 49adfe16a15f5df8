//! Whether the processes that are started have their parts at the same addresses each time.

#[cfg(target_os = "linux")]
use nix::sys::personality::{self, Persona};

/// Switches address-space randomisation off for processes that this thread, and threads it starts, will start. Whether
/// it is off: a container's policy may forbid it.
#[must_use]
pub fn disable_address_randomisation() -> bool {
    #[cfg(target_os = "linux")]
    {
        personality::get()
            .and_then(|now| personality::set(now | Persona::ADDR_NO_RANDOMIZE))
            .is_ok()
    }
    #[cfg(not(target_os = "linux"))]
    false
}

/// Undoes [`disable_address_randomisation`], for processes that this thread, and threads it starts, will start.
pub fn enable_address_randomisation() {
    #[cfg(target_os = "linux")]
    {
        let _ =
            personality::get().and_then(|now| personality::set(now & !Persona::ADDR_NO_RANDOMIZE));
    }
}
