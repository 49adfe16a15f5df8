//! What the return addresses of a trace are in the source.

use std::cell::LazyCell;
use std::collections::BTreeMap;

use addr2line::Context;
use camino::Utf8Path;
use nondex_core::protocol::site::portable_path;
use nondex_core::{Event, Frame};
use object::{Object, ObjectSymbol};

use super::dwarf::{DebugInfo, Reader};

/// Fills in the frames of the stacks that events of this executable have. Where there is no debug
/// information they stay without.
pub fn resolve(executable: &Utf8Path, events: &mut [Event]) {
    let schedules = events.iter_mut().filter_map(|event| match event {
        Event::Schedule { schedule, .. } => Some(schedule),
        _ => None,
    });
    let mut stacks: Vec<_> = schedules
        .flat_map(|schedule| {
            let sleep = schedule
                .longest_sleep
                .as_mut()
                .map(|sleep| &mut sleep.stack);
            let trace = schedule
                .trace
                .iter_mut()
                .flat_map(|trace| &mut trace.stacks);
            sleep.into_iter().chain(trace)
        })
        .collect();
    if stacks.is_empty() {
        return;
    }
    let Ok(bytes) = std::fs::read(executable) else {
        return;
    };
    let Ok(file) = object::File::parse(&*bytes) else {
        return;
    };
    let Ok(info) = DebugInfo::of(&file) else {
        return;
    };
    let Ok(context) = Context::from_dwarf(info.read()) else {
        return;
    };
    let names = LazyCell::new(|| names(&file));
    let mut known: BTreeMap<u64, Vec<Frame>> = BTreeMap::new();
    for stack in &mut stacks {
        stack.frames = Vec::new();
        for &address in &stack.addresses {
            // It is where the call returns to: the call is before it.
            let frames = known
                .entry(address)
                .or_insert_with(|| frames(&context, || &*names, address.saturating_sub(1)));
            stack.frames.extend_from_slice(frames);
        }
    }
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
