//! Finds the poison flags of std's locks in the bytes of a static, by the static's type.

use gimli::{AttributeValue, Dwarf, EntriesTreeNode, Unit, UnitOffset};

use super::dwarf::Reader;

/// Maximum depth to which nested types are searched.
const MAX_DEPTH: usize = 12;

/// Returns the offsets of the poison flags in a value of the type at `place`, in bytes. Leaves out
/// flags in types that cannot be read.
pub(super) fn poison_flags<'a>(
    dwarf: &Dwarf<Reader<'a>>,
    unit: &Unit<Reader<'a>>,
    place: UnitOffset,
) -> Vec<usize> {
    let mut found = Vec::new();
    let walk = Walk { dwarf, unit };
    // An error ends the search, but flags that were found before are right.
    let _ = walk.of_type(place, 0, 0, &mut found);
    found.sort_unstable();
    found.dedup();
    found
}

/// Search through the types of a unit.
struct Walk<'w, 'a> {
    dwarf: &'w Dwarf<Reader<'a>>,
    unit: &'w Unit<Reader<'a>>,
}

impl<'a> Walk<'_, 'a> {
    fn of_type(
        &self,
        place: UnitOffset,
        at: u64,
        depth: usize,
        found: &mut Vec<usize>,
    ) -> gimli::Result<()> {
        if depth > MAX_DEPTH {
            return Ok(());
        }
        let mut tree = self.unit.entries_tree(Some(place))?;
        self.members(tree.root()?, at, depth, found)
    }

    /// Searches the members of a structure, a union, or a variant of an `enum`, which is at the
    /// offset `at`.
    fn members(
        &self,
        node: EntriesTreeNode<'_, '_, Reader<'a>>,
        at: u64,
        depth: usize,
        found: &mut Vec<usize>,
    ) -> gimli::Result<()> {
        let mut children = node.children();
        while let Some(child) = children.next()? {
            let entry = child.entry();
            match entry.tag() {
                gimli::DW_TAG_variant_part | gimli::DW_TAG_variant => {
                    self.members(child, at, depth + 1, found)?;
                }
                gimli::DW_TAG_member => {
                    let within = entry.attr_value(gimli::DW_AT_data_member_location);
                    let at = at + within.and_then(|within| within.udata_value()).unwrap_or(0);
                    let Some(AttributeValue::UnitRef(place)) = entry.attr_value(gimli::DW_AT_type)
                    else {
                        continue;
                    };
                    let of_type = self.name(self.unit.entry(place)?.attr_value(gimli::DW_AT_name));
                    if of_type == "Flag"
                        && self.name(entry.attr_value(gimli::DW_AT_name)) == "poison"
                    {
                        found.extend(usize::try_from(at));
                    } else {
                        self.of_type(place, at, depth + 1, found)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn name(&self, value: Option<AttributeValue<Reader<'a>>>) -> String {
        let name = value.and_then(|value| self.dwarf.attr_string(self.unit, value).ok());
        name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }
}
