//! Debug information of an executable: its sections, and the paths of source files in it.

use std::borrow::Cow;

use camino::Utf8PathBuf;
use gimli::{Dwarf, EndianSlice, FileEntry, LineProgramHeader, RunTimeEndian, SectionId, Unit};
use object::{Object, ObjectSection};

/// Reader of debug information.
pub(super) type Reader<'a> = EndianSlice<'a, RunTimeEndian>;

/// Debug information of an executable.
#[derive(Debug)]
pub(super) struct DebugInfo<'a> {
    sections: gimli::DwarfSections<Cow<'a, [u8]>>,
    endian: RunTimeEndian,
}

impl<'a> DebugInfo<'a> {
    /// Returns the debug information of `file`. A missing section is empty.
    pub(super) fn of(file: &object::File<'a>) -> gimli::Result<Self> {
        let section = |id: SectionId| {
            let section = file.section_by_name(id.name());
            let data = section.and_then(|section| section.uncompressed_data().ok());
            Ok::<_, gimli::Error>(data.unwrap_or_default())
        };
        Ok(DebugInfo {
            sections: gimli::DwarfSections::load(section)?,
            endian: if file.is_little_endian() {
                RunTimeEndian::Little
            } else {
                RunTimeEndian::Big
            },
        })
    }

    /// Returns the parsed debug information.
    pub(super) fn read(&self) -> Dwarf<Reader<'_>> {
        self.sections.borrow(|section| EndianSlice::new(section, self.endian))
    }
}

/// Returns the path of a source file of a unit. The path is absolute if the compiler recorded an
/// absolute path or folder.
pub(super) fn path<'a>(
    dwarf: &Dwarf<Reader<'a>>,
    unit: &Unit<Reader<'a>>,
    header: &LineProgramHeader<Reader<'a>>,
    file: &FileEntry<Reader<'a>>,
) -> Option<Utf8PathBuf> {
    let text = |value| Some(dwarf.attr_string(unit, value).ok()?.to_string_lossy().into_owned());
    let base = unit.comp_dir.map(|folder| folder.to_string_lossy().into_owned());
    let folder = file.directory(header).and_then(text).unwrap_or_default();
    let name = text(file.path_name())?;
    Some(Utf8PathBuf::from(base.unwrap_or_default()).join(folder).join(name))
}
