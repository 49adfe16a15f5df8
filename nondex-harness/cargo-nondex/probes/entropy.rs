//! Makes the random bytes of an ordinary program from a seed, from outside: a library that the
//! loader puts before libc.
//!
//! It is one file without dependencies, compiled by the project's own rustc, and is loaded by
//! `LD_PRELOAD` into Linux programs that are linked to glibc dynamically. The seed is in
//! `NONDEX_ENTROPY`. Before `main` both variables are put back to what they were, so the program
//! sees the environment that it would have, and its children are ordinary ones.
//!
//! With `NONDEX_ENTROPY_ONLY` the program is a build. The variables stay in the environment, but
//! only build scripts and the proc macros in rustc get such bytes; rustc itself does not. Their
//! seed is 0, except for the one that `NONDEX_ENTROPY_ONLY` names. When one of them takes bytes for
//! the first time, a file records how it was started, so that it can be run again with other bytes.
//! Another file does so when a build script reads the date, its process number or a random device,
//! which are what they are: such a program is run again to see whether it makes the same.
//!
//! Bytes depend on the seed, on the thread (numbered in the order of their first requests) and on
//! how many the thread took before.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_long, c_uint, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

/// The variable that has the seed.
const SEED: &str = "NONDEX_ENTROPY";

/// The variable that has the path of this library, and what else was to be loaded, after a colon.
const PRELOAD: &str = "LD_PRELOAD";

/// The variable that names the program of a build with the seed, or is empty.
const ONLY: &str = "NONDEX_ENTROPY_ONLY";

/// The variable that has the folder in which files say how programs were started that took random
/// bytes. Each program that cargo tells apart has a folder in it.
const DRAWN: &str = "NONDEX_ENTROPY_DRAWN";

/// The start of the file name of a build script, and the name of its file.
const BUILD_SCRIPT: &str = "build-script";

/// The name of the file of a build script that reads what no seed decides.
const BY_CHANCE: &str = "build-script-by-chance";

/// The devices whose bytes are random.
const DEVICES: [&CStr; 2] = [c"/dev/urandom", c"/dev/random"];

/// `CLOCK_REALTIME` and `CLOCK_REALTIME_COARSE` of time.h.
const DATES: [c_int; 2] = [0, 5];

/// `RTLD_NEXT` of dlfcn.h: after the calling library.
const NEXT: *mut c_void = usize::MAX as *mut c_void;

/// The number of the system call `getrandom`.
const SYS_GETRANDOM: Option<c_long> = if cfg!(target_arch = "x86_64") {
    Some(318)
} else if cfg!(any(target_arch = "aarch64", target_arch = "riscv64")) {
    Some(278)
} else {
    None
};

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dladdr(address: *const c_void, found: *mut Object) -> c_int;
    fn backtrace(addresses: *mut *mut c_void, len: c_int) -> c_int;
}

/// `Dl_info` of dlfcn.h.
#[repr(C)]
struct Object {
    path: *const c_char,
    base: *mut c_void,
    symbol: *const c_char,
    address: *mut c_void,
}

static THE_SEED: OnceLock<u64> = OnceLock::new();
static THREADS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// The number of this thread, and how many words it took.
    static TAKEN: Cell<Option<(u64, u64)>> = const { Cell::new(None) };
}

#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = {
    extern "C" fn start() {
        let Some(seed) = std::env::var(SEED).ok().and_then(|text| text.parse().ok()) else {
            return;
        };
        match std::env::var(ONLY) {
            // Cargo, and what it starts that starts a compiler, pass the variables on.
            Ok(only) => {
                if let Some(build) = Build::begin(only, seed) {
                    let _ = BUILD.set(build);
                }
            }
            Err(_) => {
                restore_environment();
                let _ = THE_SEED.set(seed);
            }
        }
    }
    start
};

/// Puts the environment back to what it was before this library was loaded.
fn restore_environment() {
    let others = std::env::var_os(PRELOAD).and_then(|value| {
        let text = value.into_string().ok()?;
        Some(text.split_once(':')?.1.to_owned())
    });
    // SAFETY: the loader runs initialisers on the only thread of the process.
    unsafe {
        std::env::remove_var(SEED);
        std::env::remove_var(ONLY);
        std::env::remove_var(DRAWN);
        match others {
            Some(others) => std::env::set_var(PRELOAD, others),
            None => std::env::remove_var(PRELOAD),
        }
    }
}

/// The build that this program is part of.
static BUILD: OnceLock<Build> = OnceLock::new();

/// A program that a build runs.
struct Build {
    /// What takes bytes in it.
    program: Program,
    /// The seed of the program that `only` names.
    seed: u64,
    /// The program that has the seed, as [`ONLY`] names it; empty for all.
    only: String,
    /// The folder in which files say what took bytes; `None` where there is no place for it.
    drawn: Option<PathBuf>,
    /// How the program was started: the folder, the program, the number of its arguments, these,
    /// and the variables that cargo set, each followed by NUL.
    start: Option<Vec<u8>>,
}

/// The programs of a build that take random bytes.
enum Program {
    /// A build script, whether it has taken any, and whether it has read what no seed decides.
    Script { has_drawn: AtomicBool, has_read_chance: AtomicBool },
    /// The proc macros in a compiler.
    Compiler {
        /// The folder of the compiler's own libraries.
        libraries: PathBuf,
        /// The objects that took bytes, by the address at which each begins, with their seeds.
        known: Mutex<Vec<(usize, Option<u64>)>>,
    },
}

impl Build {
    /// Forgets what this program took when it ran last, and notes how it is started now. Returns
    /// `None` in a process that is neither a build script nor a compiler.
    fn begin(only: String, seed: u64) -> Option<Self> {
        let executable = std::env::current_exe().ok()?;
        let name = executable.file_name()?.as_bytes();
        let (program, drawn) = if name.starts_with(BUILD_SCRIPT.as_bytes()) {
            let [has_drawn, has_read_chance] = [false, false].map(AtomicBool::new);
            (Program::Script { has_drawn, has_read_chance }, folder_of_script())
        } else if is_compiler() {
            let libraries = executable.parent()?.with_file_name("lib");
            let known = Mutex::default();
            (Program::Compiler { libraries, known }, folder_of_compiler())
        } else {
            return None;
        };
        restore_environment();
        let start = drawn.as_ref().and_then(|folder| {
            let _ = std::fs::remove_dir_all(folder);
            start_of_this_process()
        });
        Some(Build {
            program,
            seed,
            only,
            drawn,
            start,
        })
    }

    /// The seed of what takes bytes now; `None` for the compiler itself.
    fn seed(&self) -> Option<u64> {
        match &self.program {
            Program::Script { has_drawn, .. } => {
                if !has_drawn.swap(true, Ordering::Relaxed) {
                    self.write(BUILD_SCRIPT);
                }
                let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
                Some(self.seed_of(&format!("{BUILD_SCRIPT}:{folder}")))
            }
            Program::Compiler { libraries, known } => {
                let object = calling_object()?;
                let base = object.base.addr();
                let mut known = known.lock().ok()?;
                if let Some((_, seed)) = known.iter().find(|(known, _)| *known == base) {
                    return *seed;
                }
                let seed = name_of_macro(&object, libraries).map(|file| {
                    self.write(&file);
                    let name = file.strip_prefix("lib").unwrap_or(&file);
                    let name = name.rsplit_once('-').map_or(name, |(name, _)| name);
                    self.seed_of(&format!("proc-macro:{name}"))
                });
                known.push((base, seed));
                seed
            }
        }
    }

    /// Notes that the program reads what no seed decides, if it is a build script: a compiler does
    /// so for itself.
    fn reads_chance(&self) {
        if let Program::Script { has_read_chance, .. } = &self.program
            && !has_read_chance.swap(true, Ordering::Relaxed)
        {
            self.write(BY_CHANCE);
        }
    }

    /// The seed of the program with this name.
    fn seed_of(&self, name: &str) -> u64 {
        if self.only.is_empty() || self.only == name {
            self.seed
        } else {
            0
        }
    }

    /// Writes how this program was started. Without the file it is only not run again.
    fn write(&self, name: &str) {
        if let (Some(folder), Some(start)) = (&self.drawn, &self.start) {
            let _ = std::fs::create_dir_all(folder)
                .and_then(|()| std::fs::write(folder.join(name), start));
        }
    }
}

/// Whether this process is a compiler. rustup's proxies have its name, but only start one.
fn is_compiler() -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps");
    maps.is_ok_and(|maps| maps.contains("librustc_driver"))
}

/// The file name of an object if that is a proc macro: not one of the compiler, whose libraries are
/// in this folder, or of the system.
fn name_of_macro(object: &Object, libraries: &Path) -> Option<String> {
    if object.path.is_null() {
        return None;
    }
    // SAFETY: the loader's names end in NUL and live as long as the object.
    let path = unsafe { CStr::from_ptr(object.path) };
    let path = std::fs::canonicalize(path.to_str().ok()?).ok()?;
    let system = ["/lib", "/lib64", "/usr/lib", "/usr/lib64"].map(Path::new);
    let mut others = system.into_iter().chain([libraries]);
    let name = path.file_name()?.to_str()?;
    let is_macro = name.ends_with(".so") && !others.any(|other| path.starts_with(other));
    is_macro.then(|| name.to_owned())
}

impl Object {
    fn of(address: *const c_void) -> Option<Self> {
        let mut found = Object {
            path: std::ptr::null(),
            base: std::ptr::null_mut(),
            symbol: std::ptr::null(),
            address: std::ptr::null_mut(),
        };
        // SAFETY: `dladdr` takes any address, and writes to `found` only.
        (unsafe { dladdr(address, &raw mut found) } != 0).then_some(found)
    }
}

/// The object whose code called a function of this library.
fn calling_object() -> Option<Object> {
    let mut addresses = [std::ptr::null_mut(); 16];
    // SAFETY: there is room for this number of addresses.
    let len = unsafe { backtrace(addresses.as_mut_ptr(), 16) };
    let own = Object::of(calling_object as *const c_void)?.base;
    addresses[..usize::try_from(len).ok()?]
        .iter()
        .filter_map(|address| Object::of(*address))
        .find(|object| object.base != own)
}

/// The folder of the file of this build script. Cargo has a folder for each, with `OUT_DIR` in it.
fn folder_of_script() -> Option<PathBuf> {
    let out = PathBuf::from(std::env::var_os("OUT_DIR")?);
    Some(Path::new(&std::env::var_os(DRAWN)?).join(out.parent()?.file_name()?))
}

/// The folder of the files of the proc macros in this compiler, by what its output is called.
fn folder_of_compiler() -> Option<PathBuf> {
    let arguments: Vec<_> = std::env::args_os().collect();
    let name = arguments.iter().position(|argument| argument == "--crate-name")?;
    let name = arguments.get(name + 1)?.to_str()?;
    let extra = arguments.iter().find_map(|argument| {
        let argument = argument.to_str()?;
        let argument = argument.strip_prefix("-C").unwrap_or(argument);
        argument.strip_prefix("extra-filename=")
    });
    let name = format!("{name}{}", extra.unwrap_or_default());
    Some(Path::new(&std::env::var_os(DRAWN)?).join(name))
}

/// How this process was started; see `Build::start`. `None` where no cargo started it.
fn start_of_this_process() -> Option<Vec<u8>> {
    // What the user's environment has may be secret, and whoever runs the program again has it.
    let inherited = environment_of_cargo()?;
    let inherited: Vec<&[u8]> = inherited.split(|byte| *byte == 0).collect();
    let folder = std::env::current_dir().ok()?;
    let program = std::env::current_exe().ok()?;
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let mut start = Vec::new();
    let mut add = |text: &[u8]| {
        start.extend(text);
        start.push(0);
    };
    add(folder.as_os_str().as_bytes());
    add(program.as_os_str().as_bytes());
    add(arguments.len().to_string().as_bytes());
    for argument in &arguments {
        add(argument.as_bytes());
    }
    for (name, value) in std::env::vars_os() {
        let variable = [name.as_bytes(), value.as_bytes()].join(&b'=');
        if !inherited.contains(&variable.as_slice()) {
            add(&variable);
        }
    }
    Some(start)
}

/// The environment that the cargo which runs this build was started with.
fn environment_of_cargo() -> Option<Vec<u8>> {
    let mut process = std::os::unix::process::parent_id();
    // A few programs may stand between them.
    for _ in 0..8 {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        let (name, rest) = stat.rsplit_once(") ")?;
        if name.ends_with("(cargo") {
            return std::fs::read(format!("/proc/{process}/environ")).ok();
        }
        process = rest.split(' ').nth(1)?.parse().ok()?;
    }
    None
}

/// SplitMix64's output function (Steele, Lea and Flood, 2014).
fn mix(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// The next bytes of this thread; false without a seed.
fn fill(buffer: &mut [u8]) -> bool {
    let seed = match BUILD.get() {
        Some(build) => build.seed(),
        None => THE_SEED.get().copied(),
    };
    let Some(seed) = seed else {
        return false;
    };
    TAKEN
        .try_with(|taken| {
            let (thread, mut count) = taken
                .get()
                .unwrap_or_else(|| (THREADS.fetch_add(1, Ordering::Relaxed), 0));
            let key = mix(mix(seed.wrapping_add(1)).wrapping_add(thread));
            for bytes in buffer.chunks_mut(8) {
                count += 1;
                let word = mix(key.wrapping_add(count.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
                bytes.copy_from_slice(&word.to_le_bytes()[..bytes.len()]);
            }
            taken.set(Some((thread, count)));
        })
        .is_ok()
}

/// # Safety
/// `buffer` must be valid for writes of `len` bytes, or null.
unsafe fn fill_raw(buffer: *mut c_void, len: usize) -> bool {
    // SAFETY: bytes have no invalid values, and the caller vouches for the range.
    !buffer.is_null() && fill(unsafe { std::slice::from_raw_parts_mut(buffer.cast(), len) })
}

/// The next definition of a function after ours; null when there is none.
fn original(name: &CStr) -> *mut c_void {
    // SAFETY: `dlsym` takes any name that ends in NUL.
    unsafe { dlsym(NEXT, name.as_ptr()) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn getrandom(buffer: *mut c_void, len: usize, flags: c_uint) -> isize {
    // SAFETY: the caller gives a buffer of `len` bytes.
    if unsafe { fill_raw(buffer, len) } {
        return len as isize;
    }
    let original = original(c"getrandom");
    if original.is_null() {
        return -1;
    }
    // SAFETY: libc's function of this name has our signature.
    unsafe {
        let original: unsafe extern "C" fn(*mut c_void, usize, c_uint) -> isize =
            std::mem::transmute(original);
        original(buffer, len, flags)
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn getentropy(buffer: *mut c_void, len: usize) -> c_int {
    // SAFETY: the caller gives a buffer of `len` bytes.
    if len <= 256 && unsafe { fill_raw(buffer, len) } {
        return 0;
    }
    let original = original(c"getentropy");
    if original.is_null() {
        return -1;
    }
    // SAFETY: libc's function of this name has our signature.
    unsafe {
        let original: unsafe extern "C" fn(*mut c_void, usize) -> c_int =
            std::mem::transmute(original);
        original(buffer, len)
    }
}

/// Notes that this program reads what no seed decides.
fn note_chance() {
    if let Some(build) = BUILD.get() {
        build.reads_chance();
    }
}

/// The next definition of a function after ours, which is looked up once.
struct Original {
    name: &'static CStr,
    found: AtomicPtr<c_void>,
}

impl Original {
    const fn of(name: &'static CStr) -> Self {
        Original { name, found: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// Null when there is none.
    fn get(&self) -> *mut c_void {
        let mut found = self.found.load(Ordering::Relaxed);
        if found.is_null() {
            found = original(self.name);
            self.found.store(found, Ordering::Relaxed);
        }
        found
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn getpid() -> c_int {
    static GETPID: Original = Original::of(c"getpid");
    note_chance();
    let original = GETPID.get();
    if original.is_null() {
        return -1;
    }
    // SAFETY: libc's function of this name has our signature.
    unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> c_int>(original)() }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(clock: c_int, time: *mut c_void) -> c_int {
    static CLOCK_GETTIME: Original = Original::of(c"clock_gettime");
    if DATES.contains(&clock) {
        note_chance();
    }
    let original = CLOCK_GETTIME.get();
    if original.is_null() {
        return -1;
    }
    // SAFETY: libc's function of this name has our signature, and the caller gives its arguments.
    unsafe {
        let original: unsafe extern "C" fn(c_int, *mut c_void) -> c_int =
            std::mem::transmute(original);
        original(clock, time)
    }
}

/// Opens a file, by the function of libc with this name, and notes if it is a random device.
///
/// # Safety
/// The arguments must be valid for `open` of fcntl.h.
unsafe fn open_by(by: &Original, path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    // SAFETY: the caller gives a path that ends in NUL, or null.
    if !path.is_null() && DEVICES.contains(&unsafe { CStr::from_ptr(path) }) {
        note_chance();
    }
    let original = by.get();
    if original.is_null() {
        return -1;
    }
    // SAFETY: libc's function takes a mode, or ignores it, in the register of our third argument.
    unsafe {
        let original: unsafe extern "C" fn(*const c_char, c_int, c_uint) -> c_int =
            std::mem::transmute(original);
        original(path, flags, mode)
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn open(path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    static OPEN: Original = Original::of(c"open");
    // SAFETY: the caller gives the arguments of this function.
    unsafe { open_by(&OPEN, path, flags, mode) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn open64(path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    static OPEN64: Original = Original::of(c"open64");
    // SAFETY: the caller gives the arguments of this function.
    unsafe { open_by(&OPEN64, path, flags, mode) }
}

/// Older crates make the system call by number; all other calls pass through. libc's `syscall`
/// takes its variable arguments in the registers of a function with seven `long`s, on every 64-bit
/// Linux.
#[unsafe(no_mangle)]
unsafe extern "C" fn syscall(
    number: c_long,
    a: c_long,
    b: c_long,
    c: c_long,
    d: c_long,
    e: c_long,
    f: c_long,
) -> c_long {
    type Syscall =
        unsafe extern "C" fn(c_long, c_long, c_long, c_long, c_long, c_long, c_long) -> c_long;
    // Without a lock of std's: who waits for one makes a system call, and would come here again.
    static SYSCALL: Original = Original::of(c"syscall");
    if Some(number) == SYS_GETRANDOM {
        // SAFETY: the caller gives a buffer of `b` bytes.
        if unsafe {
            fill_raw(
                std::ptr::with_exposed_provenance_mut(a as usize),
                b as usize,
            )
        } {
            return b;
        }
    }
    let found = SYSCALL.get();
    if found.is_null() {
        return -1;
    }
    // SAFETY: libc's function of this name has this signature, see above; it is not null. The
    // caller's arguments are unchanged.
    unsafe {
        let original = std::mem::transmute::<*mut c_void, Syscall>(found);
        original(number, a, b, c, d, e, f)
    }
}
