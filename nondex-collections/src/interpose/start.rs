//! The first instruction of ours in a process.

/// Reads the run's spec before `main`, while the process has one thread, so that no test sees our variable.
#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = {
    extern "C" fn start() {
        // SAFETY: the dynamic loader runs initialisers on the only thread of the process. (A library initialised
        // earlier could have started one; it would have to read the environment in this very moment.)
        let context = unsafe { nondex_core::context::take_global() };
        if let Some(context) = context {
            super::operations::observe(context);
            super::fork::prepare();
            #[cfg(feature = "network")]
            super::network::child::prepare(context);
        }
        super::own::stands();
    }
    start
};
