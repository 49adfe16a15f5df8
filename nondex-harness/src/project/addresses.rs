//! What the return addresses of a trace are in the source.

use std::collections::BTreeMap;

use addr2line::Context;
use camino::Utf8Path;
use nondex_core::protocol::site::portable_path;
use nondex_core::{Event, Frame};

use super::dwarf::{DebugInfo, Reader};

/// Fills in the frames of the stacks that events of this executable have. Where there is no debug information they stay without.
pub fn resolve(executable: &Utf8Path, events: &mut [Event]) {
    let traces = events.iter_mut().filter_map(|event| match event {
        Event::Schedule { schedule, .. } => schedule.trace.as_mut(),
        _ => None,
    });
    let mut stacks: Vec<_> = traces.flat_map(|trace| &mut trace.stacks).collect();
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
    let mut known: BTreeMap<u64, Vec<Frame>> = BTreeMap::new();
    for stack in &mut stacks {
        stack.frames = Vec::new();
        for &address in &stack.addresses {
            // It is where the call returns to: the call is before it.
            let frames = known
                .entry(address)
                .or_insert_with(|| frames(&context, address.saturating_sub(1)));
            stack.frames.extend_from_slice(frames);
        }
    }
}

/// The functions that an address is in, the innermost of those that were inlined first. Those of the engine are left out.
fn frames(context: &Context<Reader<'_>>, address: u64) -> Vec<Frame> {
    let mut found = Vec::new();
    let Ok(mut frames) = context.find_frames(address).skip_all_loads() else {
        return found;
    };
    while let Ok(Some(frame)) = frames.next() {
        let name = frame
            .function
            .as_ref()
            .and_then(|name| name.raw_name().ok());
        let function = name.map_or_else(String::new, |name| {
            format!("{:#}", rustc_demangle::demangle(&name))
        });
        let place = frame
            .location
            .and_then(|place| Some((place.file?, place.line?)));
        let is_own = ["nondex_core", "nondex_interpose"]
            .iter()
            .any(|own| function.contains(own));
        if let (Some((file, line)), false) = (place, is_own) {
            found.push(Frame {
                function,
                file: portable_path(file).to_owned(),
                line,
            });
        }
    }
    found
}
