//! A directory's order: the same test on another filesystem, or in a copy of its folder that was
//! made in another order.
//!
//! Which directory a test reads is not known, only that it must be one that the script can move:
//! below the temporary folder, below `CARGO_TARGET_TMPDIR`, or below the folder that the test is
//! started in.

use camino::{Utf8Path, Utf8PathBuf};

use super::outcome::ScriptOutcome;
use super::script::Script;
use super::{Reproduction, Subject};
use crate::error::Result;
use crate::shell::quote;

/// A filesystem in memory, which every Linux has. It lists what was created last first; others list
/// by a hash of the name.
const MEMORY: &str = "/dev/shm";

/// The largest folder that is copied into memory, in bytes.
const LARGEST: u64 = 64 << 20;

/// The folders that the test is run with.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Setting {
    /// Where it always is.
    Usual,
    /// With its temporary folders below this folder.
    Temporary(Utf8PathBuf),
    /// In a copy in memory of the folder it is started in, whose files are made in the order of
    /// their names, or in reverse.
    Copy { reverse: bool },
}

impl Setting {
    fn text(&self) -> String {
        match self {
            Setting::Usual => "where it always runs".to_owned(),
            Setting::Temporary(folder) => format!("with its temporary folders in {folder}"),
            Setting::Copy { reverse } => format!(
                "in a copy of its folder in {MEMORY}, with the files made in {} of their names",
                if *reverse { "reverse order" } else { "order" }
            ),
        }
    }
}

impl Subject<'_> {
    pub(super) fn directory(&self) -> Result<Reproduction> {
        let folder = self.folder("directory");
        let mut settings = vec![Setting::Usual];
        if Utf8Path::new(MEMORY).is_dir() {
            settings.push(Setting::Temporary(MEMORY.into()));
        }
        settings.push(Setting::Temporary(folder.clone()));
        if Utf8Path::new(MEMORY).is_dir() && is_small(&self.binary.cwd) {
            settings.extend([false, true].map(|reverse| Setting::Copy { reverse }));
        }
        let (mut failing, mut passing) = (None, None);
        for setting in settings {
            let script = Script::write(&folder, &self.script_in(&setting, None, "a trial run")?)?;
            match self.try_script(&script, &[])? {
                ScriptOutcome::Fails => failing = failing.or(Some(setting)),
                ScriptOutcome::Passes => passing = passing.or(Some(setting)),
                ScriptOutcome::Otherwise | ScriptOutcome::NotBuilt => {}
            }
            if let (Some(failing), Some(passing)) = (&failing, &passing) {
                let explanation = format!(
                    "the plain test {}; with the argument `other` it runs {}, and passes",
                    failing.text(),
                    passing.text()
                );
                let text = self.script_in(failing, Some(passing), &explanation)?;
                let script = Script::write(&folder, &text)?;
                if self.try_script(&script, &[])? == ScriptOutcome::Fails
                    && self.try_script(&script, &["other"])? == ScriptOutcome::Passes
                {
                    return Ok(Reproduction::Script(script.0, explanation));
                }
            }
        }
        Script::discard(&folder);
        Ok(Reproduction::Nothing(match (failing, passing) {
            (Some(_), None) => {
                "it fails on each filesystem that was tried: plain `cargo test` shows it".to_owned()
            }
            _ => format!(
                "no directory was found whose order on this machine makes it fail: it lists none \
                 below the temporary folder or \
                 the folder it is started in, or these are listed in an order that suits it, on \
                 their filesystem and in {MEMORY}"
            ),
        }))
    }

    /// The script that runs the test in one setting, and with the argument `other` in another.
    fn script_in(
        &self,
        setting: &Setting,
        other: Option<&Setting>,
        purpose: &str,
    ) -> Result<String> {
        let mut text = self.heading(&format!("{}: {purpose}", self.finding.test));
        text += &self.build_it();
        if let Some(other) = other {
            text += "if [ \"${1-}\" = other ]; then\n";
            text += &self.steps(other);
            text += "exit\nfi\n";
        }
        text += &self.steps(setting);
        Ok(text)
    }

    /// The lines that run the test at a setting.
    fn steps(&self, setting: &Setting) -> String {
        let run = self.run_it();
        match setting {
            Setting::Usual => format!("{run}\n"),
            Setting::Temporary(folder) => {
                let kept = self.project.target_dir.join("nondex/plain/tmp");
                // It is compiled into integration tests and benches, so what it names is another
                // one for a while.
                let is_compiled_in = matches!(self.binary.kind.as_str(), "test" | "bench");
                let (swap, restore) = if is_compiled_in {
                    let aside = format!("{kept}.aside");
                    let (kept, aside) = (quote(kept.as_str()), quote(&aside));
                    (
                        // What a run left that was killed is put in order first.
                        format!(
                            "[ -h {kept} ] && rm {kept}\n\
                             [ -e {aside} ] && mv {aside} {kept}\n\
                             mkdir -p {kept} && mv {kept} {aside} || exit\n\
                             ln -s \"$scratch\" {kept}\n"
                        ),
                        format!("rm {kept}; mv {aside} {kept}; "),
                    )
                } else {
                    (String::new(), String::new())
                };
                format!(
                    "scratch=$(mktemp -d {}/repro.XXXXXX) || exit\n\
                     {swap}\
                     trap '{restore}rm -rf \"$scratch\"' EXIT\n\
                     trap 'exit 130' INT TERM\n\
                     TMPDIR=$scratch {run}\n",
                    quote(folder.as_str()),
                )
            }
            Setting::Copy { reverse } => format!(
                "copy=$(mktemp -d {MEMORY}/repro.XXXXXX) || exit\n\
                 trap 'rm -rf \"$copy\"' EXIT\n\
                 trap 'exit 130' INT TERM\n\
                 find . \\( -name target -o -name .git \\) -prune -o \\( -type f -o -type l \\) \
                 -print | LC_ALL=C sort{} |\n    \
                 while IFS= read -r file; do\n        \
                 mkdir -p \"$copy/${{file%/*}}\" && cp -P \"$file\" \"$copy/$file\"\n    \
                 done\n\
                 cd \"$copy\" || exit\n\
                 CARGO_MANIFEST_DIR=$copy {run}\n",
                if *reverse { " -r" } else { "" },
            ),
        }
    }
}

/// Whether a folder, without what is built and version control, can be copied in no time.
fn is_small(folder: &Utf8Path) -> bool {
    let mut left = LARGEST;
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = folder.read_dir_utf8() else { continue };
        for entry in entries.flatten() {
            let Ok(data) = entry.metadata() else { continue };
            if !data.is_dir() {
                // An entry costs, too.
                let Some(rest) = left.checked_sub(data.len() + 4096) else { return false };
                left = rest;
            } else if !["target", ".git"].contains(&entry.file_name()) {
                folders.push(entry.into_path());
            }
        }
    }
    true
}
