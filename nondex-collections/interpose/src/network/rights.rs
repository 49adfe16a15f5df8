//! Descriptors that another process sends with a message. A socket that is already in use may be
//! among them.

use ::std::ffi::c_int;

use nondex_core::NetworkMode;

use super::{Errno, network, socket};
use crate::libc;

/// Makes known the sockets that came with a message.
///
/// # Safety
/// `message` must have been written by `recvmsg`.
pub(super) unsafe fn received(message: *const libc::msghdr) {
    // SAFETY: as the caller promises; the kernel has set the length of the list.
    unsafe {
        if (*message).msg_control.is_null()
            || (*message).msg_controllen == 0
            || network::mode() == NetworkMode::Off
        {
            return;
        }
        let _errno = Errno::save();
        let mut header = libc::CMSG_FIRSTHDR(message);
        while let Some(entry) = header.as_ref() {
            if (entry.cmsg_level, entry.cmsg_type) == (libc::SOL_SOCKET, libc::SCM_RIGHTS) {
                let first = libc::CMSG_DATA(header).cast::<c_int>();
                let len = entry.cmsg_len - libc::CMSG_LEN(0) as usize;
                for i in 0..len / size_of::<c_int>() {
                    socket::know_datagrams(first.add(i).read_unaligned());
                }
            }
            header = libc::CMSG_NXTHDR(message, header);
        }
    }
}
