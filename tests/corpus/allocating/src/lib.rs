//! Tests of threads over allocators: see `tests/`.
