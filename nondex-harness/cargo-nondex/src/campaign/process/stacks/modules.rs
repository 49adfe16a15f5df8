//! Program and libraries of a process, and the data with which its stacks are unwound.

use std::cell::OnceCell;
use std::path::PathBuf;

use gimli::{BaseAddresses, EhFrame, EhFrameHdr, NativeEndian, UnwindContext, UnwindSection};
use nix::unistd::Pid;
use object::{Object, ObjectSection, ObjectSegment, SegmentFlags};

/// Rules that give a caller's registers from those of the called function, at one instruction.
pub(super) type UnwindRow = gimli::UnwindTableRow<usize>;

/// Size of the largest pages, in bytes.
const MAX_PAGE: u64 = 64 << 10;

/// Program and libraries of a process.
pub(super) struct Modules {
    mappings: Vec<Mapping>,
    /// Path of the program.
    program: PathBuf,
}

/// Executable part of a file that is mapped into memory.
struct Mapping {
    start: u64,
    end: u64,
    offset: u64,
    file: PathBuf,
    loaded: OnceCell<Option<Loaded>>,
}

/// Unwinding data of a file.
struct Loaded {
    /// Difference between addresses in memory and in the file.
    base: u64,
    bases: BaseAddresses,
    eh_frame: Vec<u8>,
    eh_frame_hdr: Vec<u8>,
}

impl Modules {
    /// Reads what a process has loaded. Returns `None` if the system does not show it.
    pub(super) fn of(process: Pid) -> Option<Self> {
        let program = std::fs::read_link(format!("/proc/{process}/exe")).ok()?;
        let maps = std::fs::read_to_string(format!("/proc/{process}/maps")).ok()?;
        Some(Modules { mappings: maps.lines().filter_map(Mapping::parse).collect(), program })
    }

    /// Returns the mapping that contains an address, with its data.
    fn at(&self, address: u64) -> Option<(&Mapping, &Loaded)> {
        let mut mappings = self.mappings.iter();
        let mapping = mappings.find(|one| (one.start..one.end).contains(&address))?;
        Some((mapping, mapping.loaded.get_or_init(|| mapping.load()).as_ref()?))
    }

    /// Returns an address relative to the program's load address, or `None` if it is not in the
    /// program.
    pub(super) fn in_program(&self, address: u64) -> Option<u64> {
        let (mapping, loaded) = self.at(address)?;
        (mapping.file == self.program).then(|| address - loaded.base)
    }

    /// Returns the rules for the caller's registers at this address.
    pub(super) fn row(&self, address: u64) -> Option<UnwindRow> {
        let (_, loaded) = self.at(address)?;
        let bases = &loaded.bases;
        let header = EhFrameHdr::new(&loaded.eh_frame_hdr, NativeEndian).parse(bases, 8).ok()?;
        let frames = EhFrame::new(&loaded.eh_frame, NativeEndian);
        let mut context = UnwindContext::new();
        let found = header.table()?.unwind_info_for_address(
            &frames,
            bases,
            &mut context,
            address - loaded.base,
            EhFrame::cie_from_offset,
        );
        found.ok().cloned()
    }
}

impl Mapping {
    /// Reads a line of `/proc/…/maps`: `start-end rwxp offset device inode   /file`.
    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.splitn(6, ' ');
        let (start, end) = fields.next()?.split_once('-')?;
        fields.next().filter(|allowed| allowed.contains('x'))?;
        let number = |text| u64::from_str_radix(text, 16).ok();
        let offset = number(fields.next()?)?;
        let file = fields.nth(2)?.trim_start();
        file.starts_with('/').then_some(Mapping {
            start: number(start)?,
            end: number(end)?,
            offset,
            file: file.into(),
            loaded: OnceCell::new(),
        })
    }

    /// Reads the unwinding data of the mapped file.
    fn load(&self) -> Option<Loaded> {
        let bytes = std::fs::read(&self.file).ok()?;
        let file = object::File::parse(&*bytes).ok()?;
        let mut segments = file.segments();
        let segment = segments.find(|segment| {
            let (start, size) = segment.file_range();
            let is_executable = matches!(
                segment.flags(),
                SegmentFlags::Elf { p_flags, .. } if p_flags.0 & object::elf::PF_X.0 != 0
            );
            is_executable && (start & !(MAX_PAGE - 1)..start + size).contains(&self.offset)
        })?;
        // The mapping begins at the page that contains the segment's first byte.
        let first = self.start + segment.file_range().0 - self.offset;
        let base = first.checked_sub(segment.address())?;
        let section = |name| {
            let section = file.section_by_name(name)?;
            Some((section.address(), section.data().ok()?.to_vec()))
        };
        let (eh_frame_at, eh_frame) = section(".eh_frame")?;
        let (eh_frame_hdr_at, eh_frame_hdr) = section(".eh_frame_hdr")?;
        let bases =
            BaseAddresses::default().set_eh_frame(eh_frame_at).set_eh_frame_hdr(eh_frame_hdr_at);
        Some(Loaded { base, bases, eh_frame, eh_frame_hdr })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_be_executed_of_a_file_is_a_mapping() {
        let line =
            "55e1c6a2f000-55e1c6b00000 r-xp 0002f000 fe:00 1234      /a folder/t-1 (deleted)";
        let mapping = Mapping::parse(line).unwrap();
        assert_eq!((mapping.start, mapping.offset), (0x55e1_c6a2_f000, 0x2f000));
        assert_eq!(mapping.file, PathBuf::from("/a folder/t-1 (deleted)"));
        for other in [
            "7ffd1000-7ffd2000 r-xp 00000000 00:00 0                          [vdso]",
            "55e1c6a2f000-55e1c6b00000 rw-p 0002f000 fe:00 1234               /bin/t",
            "55e1c6a2f000-55e1c6b00000 r-xp 00000000 00:00 0",
            "",
        ] {
            assert!(Mapping::parse(other).is_none(), "{other}");
        }
    }
}
