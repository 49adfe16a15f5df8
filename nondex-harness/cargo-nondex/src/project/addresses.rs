//! What the return addresses of stacks are in the source.

use std::cell::LazyCell;
use std::collections::BTreeMap;

use addr2line::Context;
use camino::{Utf8Path, Utf8PathBuf};
use nondex_core::protocol::site::portable_path;
use nondex_core::{Event, Frame, TracedStack};
use object::{Object, ObjectSymbol};

use super::dwarf::{DebugInfo, Reader};

/// Fills in the frames of the stacks that events of this executable, and of programs that it has
/// started, have as return addresses. Where there is no debug information they stay without.
pub fn resolve(executable: &Utf8Path, events: &mut [Event]) {
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
        if look_up(&program, &mut stacks).is_none() {
            for stack in stacks {
                stack.fill(|_, _| {});
            }
        }
    }
}

/// A stack whose frames are not known.
enum Unread<'a> {
    Traced(&'a mut TracedStack),
    Frames(&'a mut Vec<Frame>),
}

impl Unread<'_> {
    /// Gives it the frames that `frames` adds for each of its addresses.
    fn fill(self, mut frames: impl FnMut(u64, &mut Vec<Frame>)) {
        let (addresses, found) = match self {
            Unread::Traced(stack) => (stack.addresses.clone(), &mut stack.frames),
            Unread::Frames(frames) => {
                let addresses = frames.iter().filter_map(Frame::address).collect();
                (addresses, frames)
            }
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
            stacks.extend(
                ends.flat_map(|end| &mut end.waits)
                    .map(|wait| &mut wait.stack),
            );
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
    let traced = traced.into_iter().map(Unread::Traced);
    traced.chain(stacks.map(Unread::Frames)).collect()
}

/// Fills in the frames of stacks of a program; `None` without debug information.
fn look_up(program: &Utf8Path, stacks: &mut Vec<Unread<'_>>) -> Option<()> {
    let bytes = std::fs::read(program).ok()?;
    let file = object::File::parse(&*bytes).ok()?;
    let info = DebugInfo::of(&file).ok()?;
    let context = Context::from_dwarf(info.read()).ok()?;
    let names = LazyCell::new(|| names(&file));
    let mut known: BTreeMap<u64, Vec<Frame>> = BTreeMap::new();
    for stack in stacks.drain(..) {
        // It is where the call returns to: the call is before it.
        stack.fill(|address, found| {
            let frames = || frames(&context, || &*names, address.saturating_sub(1));
            found.extend_from_slice(known.entry(address).or_insert_with(frames));
        });
    }
    Some(())
}

/// The end and the name of each function that the linker knows, by its start.
fn names<'a>(file: &object::File<'a>) -> BTreeMap<u64, (u64, &'a str)> {
    let functions = file
        .symbols()
        .filter(|symbol| symbol.kind() == object::SymbolKind::Text);
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
    let Ok(mut frames) = context.find_frames(address).skip_all_loads() else {
        return Vec::new();
    };
    let mut found = Vec::new();
    while let Ok(Some(frame)) = frames.next() {
        let name = frame
            .function
            .as_ref()
            .and_then(|name| Some(name.raw_name().ok()?.into_owned()));
        let place = frame
            .location
            .and_then(|place| Some((place.file?, place.line?)));
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
        let is_own = ["nondex_core", "nondex_interpose"]
            .iter()
            .any(|own| function.contains(own));
        let file = portable_path(file).to_owned();
        (!is_own).then_some(Frame {
            function,
            file,
            line,
        })
    });
    frames.collect()
}
