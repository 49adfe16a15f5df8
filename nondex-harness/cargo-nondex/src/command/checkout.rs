//! Checkouts of other commits, for `deflake` and `bisect`.

use camino::Utf8Path;

use crate::error::Result;
use crate::project::{self, BuildPlan};
use crate::repository::{Copy, Git};

/// Prepares a checkout of the repository in the user's cache, and returns it before any commit is
/// checked out. `plan` builds the project at `workspace_root` with this target directory; `use_of`
/// names what the checkout is for.
///
/// # Errors
/// Returns a set-up error if there is no cache, or no copy can be made.
pub(super) fn prepare(
    git: &Git,
    plan: &BuildPlan,
    [workspace_root, target_dir]: [&Utf8Path; 2],
    use_of: &str,
) -> Result<Copy> {
    let folder = Copy::folder(&project::cache_dir()?, target_dir, use_of);
    let outside = project::packages_outside(plan, git.root());
    Copy::of(git, workspace_root, &folder, &outside)
}
