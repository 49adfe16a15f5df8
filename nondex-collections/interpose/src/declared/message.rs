//! Messages of sockets, and the control messages in them.

use ::std::ffi::{c_int, c_uchar, c_uint, c_void};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct iovec {
    pub iov_base: *mut c_void,
    pub iov_len: usize,
}

#[repr(C)]
pub struct msghdr {
    pub msg_name: *mut c_void,
    pub msg_namelen: u32,
    pub msg_iov: *mut iovec,
    pub msg_iovlen: usize,
    pub msg_control: *mut c_void,
    pub msg_controllen: usize,
    pub msg_flags: c_int,
}

#[repr(C)]
pub struct mmsghdr {
    pub msg_hdr: msghdr,
    pub msg_len: c_uint,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct cmsghdr {
    pub cmsg_len: usize,
    pub cmsg_level: c_int,
    pub cmsg_type: c_int,
}

/// The first of the control messages of a message.
///
/// # Safety
/// `message` must have been written by `recvmsg`.
pub unsafe fn CMSG_FIRSTHDR(message: *const msghdr) -> *mut cmsghdr {
    // SAFETY: as the caller promises.
    let message = unsafe { &*message };
    if message.msg_controllen < size_of::<cmsghdr>() {
        return ::std::ptr::null_mut();
    }
    message.msg_control.cast()
}

/// What follows the header of a control message.
pub fn CMSG_DATA(header: *const cmsghdr) -> *mut c_uchar {
    header.wrapping_add(1).cast_mut().cast()
}

/// The length of a control message with a number of bytes after its header.
pub const fn CMSG_LEN(len: c_uint) -> c_uint {
    size_of::<cmsghdr>() as c_uint + len
}

/// The control message after this one.
///
/// # Safety
/// As for [`CMSG_FIRSTHDR`], and the header must be one of its.
pub unsafe fn CMSG_NXTHDR(message: *const msghdr, header: *const cmsghdr) -> *mut cmsghdr {
    // SAFETY: as the caller promises.
    let (message, len) = unsafe { (&*message, (*header).cmsg_len) };
    let step = len.next_multiple_of(size_of::<usize>());
    let used = header.addr() - message.msg_control.addr();
    if len < size_of::<cmsghdr>()
        || step.saturating_add(used + size_of::<cmsghdr>()) > message.msg_controllen
    {
        return ::std::ptr::null_mut();
    }
    header.wrapping_byte_add(step).cast_mut()
}
