//! The in-process harness. The same sources are compiled with it and with libtest. Tests run alone,
//! in orders, and with seeds.

#![cfg(unix)]

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod allocators;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod clocks;
mod compile;
mod ends;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod entropy;
mod likeness;
mod pairs;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod processors;
mod states;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod statics;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod threads;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod waits;
