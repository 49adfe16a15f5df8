//! Correct everyday programs with threads and time: each passes, with any delays.
