//! Programs as they are written every day, with threads and time, and without a mistake: whatever is late, each passes.
