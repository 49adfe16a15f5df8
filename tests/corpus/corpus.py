"""Functions that the scripts in this folder share: crates' sources, cargo without a network, and
tables."""

import ctypes
import fcntl
import json
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TOOLCHAIN = os.environ.get("RUSTUP_TOOLCHAIN", "stable")
CLONE_NEWNET, CLONE_NEWUSER = 0x40000000, 0x10000000
# The findings must not depend on the speed of the machine. An empty value counts as unset.
os.environ.setdefault("NONDEX_THOROUGH", "true")
ADDR_NO_RANDOMIZE, ASK_PERSONALITY = 0x0040000, 0xffffffff
SIOCSIFFLAGS, IFF_UP, IFF_RUNNING = 0x8914, 0x1, 0x40


def without_network():
    """Moves this process into a separate network namespace, with the loopback interface up."""
    flags = CLONE_NEWNET if os.getuid() == 0 else CLONE_NEWNET | CLONE_NEWUSER
    if ctypes.CDLL(None, use_errno=True).unshare(flags) != 0:
        raise OSError(ctypes.get_errno(), "unshare: no network namespace can be made here")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        fcntl.ioctl(s, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP | IFF_RUNNING))


def without_randomisation():
    """Switches address-space randomisation off for child processes, as the tool does.
    `parking_lot` finds locks by their addresses."""
    libc = ctypes.CDLL(None)
    libc.personality(libc.personality(ASK_PERSONALITY) | ADDR_NO_RANDOMIZE)


# Fixtures without verdicts, or with tests that take minutes by design.
WITHOUT_VERDICTS = {"does-not-compile", "no-tests", "libtest", "slow", "filterset"}


def fixtures():
    """Returns the folders of the projects in tests/fixtures that have verdicts, relative to it."""
    root = ROOT / "tests/fixtures"
    found = (path.parent for path in root.rglob("Cargo.toml") if "[workspace" in path.read_text())
    found = (path.relative_to(root) for path in found if "target" not in path.parts)
    return sorted(str(path) for path in found if path.parts[0] not in WITHOUT_VERDICTS
                  and path.name != "dependency")


def copy_fixture(source, directory):
    """Copies a fixture without its builds. Its paths lead to the crates of this repository."""
    shutil.copytree(source, directory, dirs_exist_ok=True, ignore=shutil.ignore_patterns("target"))
    for manifest in directory.rglob("Cargo.toml"):
        text = manifest.read_text()
        manifest.write_text(text.replace('path = "../../../', f'path = "{ROOT}/'))


def cargo(arguments, directory, offline=False, **environment):
    env = {key: value for key, value in os.environ.items() if key != "RUST_BACKTRACE"}
    env.update({"CARGO_TERM_COLOR": "never", "RUSTUP_TOOLCHAIN": TOOLCHAIN}, **environment)
    return subprocess.run(arguments, cwd=directory, env=env, capture_output=True, text=True, errors="replace",
                          preexec_fn=without_network if offline else None)


def least(repeat, measured, prepare=lambda: None):
    """Returns the least time of some runs, in seconds."""
    times = []
    for _ in range(repeat):
        prepare()
        start = time.monotonic()
        measured()
        times.append(time.monotonic() - start)
    return min(times)


TARGETS = {"--lib", "--bins", "--bin", "--examples", "--example", "--tests", "--test", "--benches", "--bench", "--doc",
           "--all-targets"}


def without_doctests(arguments):
    """Adds a selection of targets to the arguments, because doctests are not compared."""
    return arguments if TARGETS.intersection(arguments) else arguments + ["--tests"]


def driver():
    """Builds cargo-nondex in release mode."""
    built = cargo(["cargo", "build", "--release", "--package", "cargo-nondex"], ROOT)
    if built.returncode != 0:
        sys.exit(built.stderr)
    return ROOT / "target/release/cargo-nondex"


def unpack(name, version, directory):
    """Copies the published source out of cargo's registry cache."""
    if directory.exists():
        return
    probe = directory.parent / f".probe-{name}"
    (probe / "src").mkdir(parents=True)
    (probe / "src/lib.rs").touch()
    (probe / "Cargo.toml").write_text(
        f'[package]\nname = "probe"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\n"{name}" = "={version}"\n[workspace]\n')
    fetched = cargo(["cargo", "fetch", "--quiet"], probe)
    metadata = cargo(["cargo", "metadata", "--format-version=1", "--offline"], probe)
    shutil.rmtree(probe)
    if metadata.returncode != 0:
        sys.exit(f"{name} {version} cannot be fetched: {fetched.stderr}{metadata.stderr}")
    package = next((p for p in json.loads(metadata.stdout)["packages"] if p["name"] == name), None)
    # A crate without a library is fetched, but is not a package of the dependency graph.
    cached = pathlib.Path(os.environ.get("CARGO_HOME", pathlib.Path.home() / ".cargo"), "registry/src").glob(f"*/{name}-{version}")
    shutil.copytree(pathlib.Path(package["manifest_path"]).parent if package else next(cached), directory)
    (directory / ".cargo-ok").unlink(missing_ok=True)
    for pinned in ("rust-toolchain", "rust-toolchain.toml"):
        (directory / pinned).unlink(missing_ok=True)
    manifest = (directory / "Cargo.toml").read_text()
    if "[workspace]" not in manifest:
        (directory / "Cargo.toml").write_text(manifest + "\n[workspace]\n")
    cargo(["cargo", "fetch", "--quiet"], directory)


def nondex(binary, directory, arguments, command="run", **environment):
    """Runs a command without a network. Returns its report or None, its duration, and its output
    for people."""
    start = time.monotonic()
    done = cargo([binary, "nondex", command, "--offline", "--message-format", "json"] + arguments, directory,
                 offline=True, **environment)
    seconds = time.monotonic() - start
    try:
        return json.loads(done.stdout), seconds, done.stderr
    except json.JSONDecodeError:
        return None, seconds, done.stderr


def build(binary, directory, extra, **environment):
    """Builds the tests, with a network if dependencies have to be fetched."""
    cargo([binary, "nondex", "list", "--quiet"] + extra, directory, **environment)


CLOCKS = {"std::time::Instant::now", "std::time::SystemTime::now", "std::fs::Metadata::modified"}


def fails_in_base_order(test):
    return any(failure["level"] is None for failure in test["failures"])


def is_advice(test):
    """Returns whether a finding is advice, which does not fail the run, like
    `TestReport::advice`."""
    level = test.get("delay_level") or test["weakest_level"]
    is_dependent = test["verdict"] == "ID" or test.get("reason") or (test["verdict"] == "ND" and level)
    if not is_dependent or fails_in_base_order(test):
        return False
    culprits = test["culprits"]
    is_timed = bool(test.get("reason")) or test["verdict"] == "ND" or any(c["family"] in ("schedule", "time") for c in culprits)
    is_seen = bool(test.get("plain")) and test["plain"][0] > 0
    if is_timed and not is_seen and not any(c["confirmed"] for c in culprits):
        return (test.get("scheduled") or {}).get("end") != "deadlock"
    is_clock = bool(culprits) and all(c["family"] == "time" and c["api"] in CLOCKS for c in culprits)
    is_delay = test.get("reason") and not is_clock
    is_fixed = bool(culprits) and all(c["confirmed"] and c["family"] == "fixed_hasher" for c in culprits)
    may_be_delay = not test.get("reason") and any(not c["confirmed"] and c["family"] in ("schedule", "time") for c in culprits)
    return level == "FULL" or (level == "ID" and (is_delay or may_be_delay)) or (level in ("EQ", "ID") and is_fixed)


def table(header, rows):
    rows = [header] + [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(header))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in rows]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)
