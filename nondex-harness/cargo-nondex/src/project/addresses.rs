//! What the return addresses of stacks are in the source.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, Mutex, PoisonError};

use addr2line::Context;
use camino::{Utf8Path, Utf8PathBuf};
use nondex_core::protocol::site::portable_path;
use nondex_core::{Event, Frame, TracedStack};
use object::{Object, ObjectSymbol};

use super::dwarf::{DebugInfo, Reader};
use super::moved::Moved;

/// Fills in the frames of the stacks that events of this executable, and of programs that it has
/// started, have as return addresses; their sources may have `moved`. Where there is no debug
/// information they stay without.
pub fn resolve(executable: &Utf8Path, moved: Option<&Moved>, events: &mut [Event]) {
    let mut programs: BTreeMap<Utf8PathBuf, Vec<Unread<'_>>> = BTreeMap::new();
    for stack in events.iter_mut().flat_map(unread) {
        let program = match &stack {
            Unread::Traced(_) => "",
            Unread::Frames(frames) => frames.first().map_or("", |frame| &frame.file),
        };
        let program = Some(Utf8Path::new(program)).filter(|program| *program != "");
        let program = program.unwrap_or(executable).to_owned();
        programs.entry(program).or_default().push(stack);
    }
    for (program, mut stacks) in programs {
        if look_up(&program, moved, &mut stacks).is_none() {
            for stack in stacks {
                stack.fill(|_, _| {});
            }
        }
    }
}

/// The frames of stacks that are return addresses of this executable, whose sources may have
/// `moved`. A stack is empty where there is no debug information.
pub fn frames_of(
    executable: &Utf8Path,
    moved: Option<&Moved>,
    stacks: &[Vec<u64>],
) -> Vec<Vec<Frame>> {
    if stacks.is_empty() {
        // As after nearly every run: the executable is not even looked at.
        return Vec::new();
    }
    let of =
        |addresses: &Vec<u64>| TracedStack { addresses: addresses.clone(), frames: Vec::new() };
    let mut traced: Vec<TracedStack> = stacks.iter().map(of).collect();
    let mut unread = traced.iter_mut().map(Unread::Traced).collect();
    // Without debug information, they stay without frames.
    let _ = look_up(executable, moved, &mut unread);
    traced.into_iter().map(|stack| stack.frames).collect()
}

/// A stack whose frames are not known.
enum Unread<'a> {
    Traced(&'a mut TracedStack),
    Frames(&'a mut Vec<Frame>),
}

impl Unread<'_> {
    /// Returns its addresses, the innermost first.
    fn addresses(&self) -> Vec<u64> {
        match self {
            Unread::Traced(stack) => stack.addresses.clone(),
            Unread::Frames(frames) => frames.iter().filter_map(Frame::address).collect(),
        }
    }

    /// Gives it the frames that `frames` adds for each of its addresses.
    fn fill(self, mut frames: impl FnMut(u64, &mut Vec<Frame>)) {
        let addresses = self.addresses();
        let found = match self {
            Unread::Traced(stack) => &mut stack.frames,
            Unread::Frames(frames) => frames,
        };
        found.clear();
        for address in addresses {
            frames(address, found);
        }
    }
}

/// The stacks of an event whose frames are not known.
fn unread(event: &mut Event) -> Vec<Unread<'_>> {
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
    let stacks = stacks.into_iter().filter(has_addresses);
    traced.into_iter().map(Unread::Traced).chain(stacks.map(Unread::Frames)).collect()
}

/// Frames of the addresses of a program that were looked up before.
type Known = BTreeMap<u64, Vec<Frame>>;

/// Identifies the contents of a program: what is built anew has another inode or another time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Version {
    program: Utf8PathBuf,
    inode: u64,
    size: u64,
    modified: (i64, i64),
}

impl Version {
    fn of(program: &Utf8Path) -> Option<Self> {
        let metadata = program.metadata().ok()?;
        Some(Version {
            program: program.to_owned(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
        })
    }

    /// Returns the frames of its addresses that are known in this process.
    fn known(self) -> Arc<Mutex<Known>> {
        static PROGRAMS: Mutex<BTreeMap<Version, Arc<Mutex<Known>>>> = Mutex::new(BTreeMap::new());
        let mut programs = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(programs.entry(self).or_default())
    }
}

/// Fills in the frames of stacks of a program; `None` without debug information.
fn look_up(program: &Utf8Path, moved: Option<&Moved>, stacks: &mut Vec<Unread<'_>>) -> Option<()> {
    let known = Version::of(program)?.known();
    // A run that asks for the same addresses at the same time waits for them.
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    let addresses = stacks.iter().flat_map(Unread::addresses);
    let unknown: BTreeSet<u64> = addresses.filter(|address| !known.contains_key(address)).collect();
    // Runs of a campaign take the same paths, and to read debug information takes longer than most
    // tests.
    if !unknown.is_empty() {
        add(program, moved, &unknown, &mut known)?;
    }
    for stack in stacks.drain(..) {
        stack.fill(|address, found| found.extend_from_slice(&known[&address]));
    }
    Some(())
}

/// Reads the frames of addresses of a program; `None` without debug information.
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
        // It is where the call returns to: the call is before it.
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

/// The end and the name of each function that the linker knows, by its start.
fn names<'a>(file: &object::File<'a>) -> BTreeMap<u64, (u64, &'a str)> {
    let functions = file.symbols().filter(|symbol| symbol.kind() == object::SymbolKind::Text);
    let named = functions.filter_map(|symbol| {
        let start = symbol.address();
        Some((start, (start + symbol.size(), symbol.name().ok()?)))
    });
    named.collect()
}

/// The functions that an address is in, the innermost of those that were inlined first. Those of
/// the engine are left out.
///
/// Debug information of lines only has no more than a function's last word, and nothing of a
/// function that nothing was inlined into: the linker knows its path.
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
        let function = format!("{:#}", rustc_demangle::demangle(&name));
        let is_own = ["nondex_core", "nondex_interpose"].iter().any(|own| function.contains(own));
        let file = portable_path(file).to_owned();
        (!is_own).then_some(Frame { function, file, line })
    });
    frames.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_of_a_program_is_not_known_of_the_one_that_takes_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        let program = folder.join("program");
        let known = || Version::of(&program).unwrap().known();
        std::fs::write(&program, "a").unwrap();
        known().lock().unwrap().insert(1, Vec::new());
        assert_eq!(known().lock().unwrap().len(), 1);
        // Of the same size, and written within the same tick of the clock.
        std::fs::write(folder.join("other"), "b").unwrap();
        std::fs::rename(folder.join("other"), &program).unwrap();
        assert!(known().lock().unwrap().is_empty());
    }
}
