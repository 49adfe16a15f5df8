//! Resolves the return addresses of stacks to functions and lines of the source.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, Mutex};

use addr2line::Context;
use camino::{Utf8Path, Utf8PathBuf};
use nondex_core::protocol::site::portable_path;
use nondex_core::{Event, Frame, TracedStack};
use object::{Object, ObjectSymbol};

use super::dwarf::{DebugInfo, Reader};
use super::suite::Moved;
use crate::locked::Locked;

/// Resolves the stacks of events that only have return addresses. The events are from `executable`
/// and from programs that it started, whose sources may have `moved`. A stack of a program without
/// debug information has no frames afterwards.
pub fn resolve(executable: &Utf8Path, moved: Option<&Moved>, events: &mut [Event]) {
    let mut programs: BTreeMap<Utf8PathBuf, Vec<Unresolved<'_>>> = BTreeMap::new();
    for stack in events.iter_mut().flat_map(unresolved) {
        // The file of an unresolved frame is the path of its program, or empty for the executable.
        let path = match &stack {
            Unresolved::Traced(_) => "",
            Unresolved::Frames(frames) => frames.first().map_or("", |frame| &frame.file),
        };
        let program = if path.is_empty() { executable } else { Utf8Path::new(path) };
        programs.entry(program.to_owned()).or_default().push(stack);
    }
    for (program, mut stacks) in programs {
        if look_up(&program, moved, &mut stacks).is_none() {
            for stack in stacks {
                stack.fill(|_, _| {});
            }
        }
    }
}

/// Returns the frames of stacks of return addresses of this executable, whose sources may have
/// `moved`. A stack is empty if there is no debug information.
pub fn frames_of(
    executable: &Utf8Path,
    moved: Option<&Moved>,
    stacks: &[Vec<u64>],
) -> Vec<Vec<Frame>> {
    if stacks.is_empty() {
        // Nearly all runs end without stacks, and opening the executable takes time.
        return Vec::new();
    }
    let of =
        |addresses: &Vec<u64>| TracedStack { addresses: addresses.clone(), frames: Vec::new() };
    let mut traced: Vec<TracedStack> = stacks.iter().map(of).collect();
    let mut unresolved = traced.iter_mut().map(Unresolved::Traced).collect();
    // Without debug information, the stacks stay empty.
    let _ = look_up(executable, moved, &mut unresolved);
    traced.into_iter().map(|stack| stack.frames).collect()
}

/// Stack whose frames are not known yet.
enum Unresolved<'a> {
    Traced(&'a mut TracedStack),
    Frames(&'a mut Vec<Frame>),
}

impl Unresolved<'_> {
    /// Returns the addresses of the stack, innermost first.
    fn addresses(&self) -> Vec<u64> {
        match self {
            Unresolved::Traced(stack) => stack.addresses.clone(),
            Unresolved::Frames(frames) => frames.iter().filter_map(Frame::address).collect(),
        }
    }

    /// Replaces the frames of the stack with those that `frames` adds for each of its addresses.
    fn fill(self, mut frames: impl FnMut(u64, &mut Vec<Frame>)) {
        let addresses = self.addresses();
        let found = match self {
            Unresolved::Traced(stack) => &mut stack.frames,
            Unresolved::Frames(frames) => frames,
        };
        found.clear();
        for address in addresses {
            frames(address, found);
        }
    }
}

/// Returns the stacks of an event whose frames are not known yet.
fn unresolved(event: &mut Event) -> Vec<Unresolved<'_>> {
    let mut traced: Vec<&mut TracedStack> = Vec::new();
    let mut stacks: Vec<&mut Vec<Frame>> = Vec::new();
    match event {
        Event::Site { point, .. } => stacks.push(&mut point.stack),
        Event::Points { points, .. } => {
            stacks.extend(points.iter_mut().map(|point| &mut point.stack));
        }
        Event::Step { step, .. } => {
            let elements = step.exchanged.iter_mut();
            stacks.extend(elements.map(|element| &mut element.stack));
            stacks.push(&mut step.created);
        }
        Event::Network { network, .. } => stacks.push(&mut network.stack),
        Event::Operation { operation, .. } => stacks.push(&mut operation.stack),
        Event::Access { access, .. } => stacks.push(&mut access.stack),
        Event::Schedule { schedule, .. } => {
            let sleeps = schedule.longest_sleep.iter_mut();
            traced.extend(sleeps.map(|sleep| &mut sleep.stack));
            let traces = schedule.trace.iter_mut();
            traced.extend(traces.flat_map(|trace| &mut trace.stacks));
            let ends = schedule.end.iter_mut();
            stacks.extend(ends.flat_map(|end| &mut end.waits).map(|wait| &mut wait.stack));
        }
        Event::Panic { .. }
        | Event::Received { .. }
        | Event::Sources { .. }
        | Event::End { .. }
        | Event::States { .. }
        | Event::Written { .. }
        | Event::Covered { .. }
        | Event::Forked { .. }
        | Event::Unforked { .. } => {}
    }
    let has_addresses =
        |stack: &&mut Vec<Frame>| stack.iter().any(|frame| frame.address().is_some());
    let addressed = stacks.into_iter().filter(has_addresses).map(Unresolved::Frames);
    traced.into_iter().map(Unresolved::Traced).chain(addressed).collect()
}

/// Frames of a program that were looked up before, by return address.
type Known = BTreeMap<u64, Vec<Frame>>;

/// Identity of a program's contents: a rebuilt program has another inode, size or time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Version {
    program: Utf8PathBuf,
    inode: u64,
    size: u64,
    modified: (i64, i64),
}

impl Version {
    /// Returns the version of the program at this path, or `None` if there is none.
    fn of(program: &Utf8Path) -> Option<Self> {
        let metadata = program.metadata().ok()?;
        Some(Version {
            program: program.to_owned(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
        })
    }

    /// Returns the frames of this version that this process has looked up.
    fn known(self) -> Arc<Mutex<Known>> {
        static PROGRAMS: Mutex<BTreeMap<Version, Arc<Mutex<Known>>>> = Mutex::new(BTreeMap::new());
        Arc::clone(PROGRAMS.locked().entry(self).or_default())
    }
}

/// Resolves stacks of a program and takes them out of `stacks`. Returns `None`, with the stacks
/// left, if there is no debug information.
fn look_up(
    program: &Utf8Path,
    moved: Option<&Moved>,
    stacks: &mut Vec<Unresolved<'_>>,
) -> Option<()> {
    let known = Version::of(program)?.known();
    // Held until all addresses are known: a concurrent run with the same addresses waits instead of
    // reading them again.
    let mut known = known.locked();
    let unknown: BTreeSet<u64> = stacks
        .iter()
        .flat_map(Unresolved::addresses)
        .filter(|address| !known.contains_key(address))
        .collect();
    // Runs of a campaign share most addresses, and reading debug information takes longer than most
    // tests.
    if !unknown.is_empty() {
        add(program, moved, &unknown, &mut known)?;
    }
    for stack in stacks.drain(..) {
        stack.fill(|address, found| found.extend_from_slice(&known[&address]));
    }
    Some(())
}

/// Reads the frames of addresses of a program into `known`. Returns `None` if there is no debug
/// information.
fn add(
    program: &Utf8Path,
    moved: Option<&Moved>,
    addresses: &BTreeSet<u64>,
    known: &mut Known,
) -> Option<()> {
    let bytes = std::fs::read(program).ok()?;
    let file = object::File::parse(&*bytes).ok()?;
    let info = DebugInfo::of(&file).ok()?;
    let context = Context::from_dwarf(info.read()).ok()?;
    let names = LazyCell::new(|| names(&file));
    for address in addresses {
        // The call is the instruction before the return address.
        let mut found = frames(&context, || &*names, address.saturating_sub(1));
        for frame in &mut found {
            if let Some(moved) = moved {
                frame.file = moved.now(&frame.file);
            }
        }
        known.insert(*address, found);
    }
    Some(())
}

/// Returns the end and the name of each function in the symbol table, by its start.
fn names<'a>(file: &object::File<'a>) -> BTreeMap<u64, (u64, &'a str)> {
    file.symbols()
        .filter(|symbol| symbol.kind() == object::SymbolKind::Text)
        .filter_map(|symbol| {
            let start = symbol.address();
            Some((start, (start + symbol.size(), symbol.name().ok()?)))
        })
        .collect()
}

/// Returns the functions that contain an address, the innermost inlined one first. Leaves out
/// functions of this tool's runtime.
///
/// Debug information with lines only has the last segment of a function's path, and no entry for a
/// function without inlined calls. The outermost function then gets its path from the symbol table.
fn frames<'n>(
    context: &Context<Reader<'_>>,
    names: impl FnOnce() -> &'n BTreeMap<u64, (u64, &'n str)>,
    address: u64,
) -> Vec<Frame> {
    let Ok(mut frames) = context.find_frames(address).skip_all_loads() else { return Vec::new() };
    let mut found = Vec::new();
    while let Ok(Some(frame)) = frames.next() {
        let name =
            frame.function.as_ref().and_then(|name| Some(name.raw_name().ok()?.into_owned()));
        let place = frame.location.and_then(|place| Some((place.file?, place.line?)));
        found.push((name, place));
    }
    let is_path = |name: &str| rustc_demangle::try_demangle(name).is_ok();
    if let Some((name, _)) = found.last_mut()
        && !name.as_deref().is_some_and(is_path)
        && let Some((_, (end, known))) = names().range(..=address).next_back()
        && address < *end
    {
        *name = Some((*known).to_owned());
    }
    let frames = found.into_iter().filter_map(|(name, place)| {
        let (file, line) = place?;
        let name = name.unwrap_or_default();
        let function = path_of(&format!("{:#}", rustc_demangle::demangle(&name)));
        let is_own = ["nondex_core", "nondex_interpose"].iter().any(|own| function.contains(own));
        let file = portable_path(file).to_owned();
        (!is_own).then_some(Frame { function, file, line })
    });
    frames.collect()
}

/// Returns the path of a function, as older toolchains mangle it: `krate::Type<T>::method`. The v0
/// form is `<krate::Type<T>>::method::<U>`.
fn path_of(function: &str) -> String {
    const IMPL: &str = "impl ";
    let mut path = match bracketed(function) {
        Some((inner, rest)) if !inner.contains(" as ") && !inner.starts_with(IMPL) => {
            format!("{inner}{rest}")
        }
        _ => function.to_owned(),
    };
    let mut from = 0;
    // The arguments of a call, but no block of the older form: `slice::<impl [T]>::iter`.
    let arguments = |text: &str| {
        let (inner, _) = bracketed(text).filter(|(inner, _)| !inner.starts_with(IMPL))?;
        Some(inner.len() + 2)
    };
    while let Some(start) = path[from..].find("::<").map(|start| from + start) {
        match arguments(&path[start + 2..]) {
            Some(length) => path.replace_range(start..start + 2 + length, ""),
            None => from = start + 1,
        }
    }
    path
}

/// Splits a text that begins with `<` into what the brackets contain, and what comes after them.
fn bracketed(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    let mut before = ' ';
    for (place, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            // Not the arrow of a function's type.
            '>' if before != '-' => depth = depth.checked_sub(1)?,
            _ if depth == 0 => return None,
            _ => {}
        }
        if depth == 0 && place > 0 {
            return Some((&text[1..place], &text[place + 1..]));
        }
        before = c;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_has_the_same_path_in_both_manglings() {
        for (v0, path) in [
            ("<std::sync::Condvar>::wait::<bool>", "std::sync::Condvar::wait"),
            ("<std::sync::Mutex<a::B<u8>>>::lock", "std::sync::Mutex<a::B<u8>>::lock"),
            ("<a::B as c::D<u8>>::e", "<a::B as c::D<u8>>::e"),
            ("a::b::<fn(u8) -> u8>::{closure#0}", "a::b::{closure#0}"),
            ("a::b::<u8>::c::<d::E<u8>>", "a::b::c"),
            ("a::b", "a::b"),
            ("<impl a::B for c::D>::e", "<impl a::B for c::D>::e"),
            ("a::<impl [T]>::b::<u8>", "a::<impl [T]>::b"),
            ("", ""),
            ("a::<", "a::<"),
            ("<a", "<a"),
        ] {
            assert_eq!(path_of(v0), path, "{v0}");
        }
    }

    #[test]
    fn what_is_known_of_a_program_is_not_known_of_the_one_that_takes_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        let program = folder.join("program");
        let known = || Version::of(&program).unwrap().known();
        std::fs::write(&program, "a").unwrap();
        known().lock().unwrap().insert(1, Vec::new());
        assert_eq!(known().lock().unwrap().len(), 1);
        // The other file has the same size, and may have the same time.
        std::fs::write(folder.join("other"), "b").unwrap();
        std::fs::rename(folder.join("other"), &program).unwrap();
        assert!(known().lock().unwrap().is_empty());
    }
}
