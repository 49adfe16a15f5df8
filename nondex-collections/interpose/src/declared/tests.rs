//! What is declared here, compared with the crate `libc`.

use ::std::mem::{align_of, offset_of, size_of};

use super as ours;

/// The same constants, of the same type.
macro_rules! equal {
    ($($name:ident)*) => {
        $({
            let mut value = libc::$name;
            assert_eq!(value, libc::$name);
            value = ours::$name;
            assert_eq!(value, libc::$name, stringify!($name));
        })*
    };
}

#[test]
fn every_constant_has_its_value_in_libc() {
    equal! {
        AF_UNIX AF_INET AF_INET6 AI_NUMERICHOST AT_FDCWD CLD_EXITED CLD_KILLED CLD_DUMPED
        CLOCK_MONOTONIC CLOCK_MONOTONIC_RAW CLOCK_REALTIME_COARSE CLOCK_MONOTONIC_COARSE
        CLOCK_BOOTTIME CLOCK_TAI EPOLLIN EPOLL_CTL_DEL MAP_SHARED
        MAP_ANONYMOUS MSG_ERRQUEUE NI_NUMERICHOST O_RDONLY O_WRONLY O_RDWR O_CREAT O_TRUNC
        O_CLOEXEC O_PATH O_NOFOLLOW PATH_MAX PROT_NONE PROT_READ PROT_WRITE PR_SET_PDEATHSIG
        PR_SET_CHILD_SUBREAPER PR_GET_CHILD_SUBREAPER SCM_RIGHTS SEEK_CUR SIG_BLOCK SIG_SETMASK
        SIGILL SIGTRAP SIGBUS SIGFPE SIGKILL SIGSEGV SIGCHLD SA_SIGINFO SA_ONSTACK PR_SET_TSC
        PR_TSC_ENABLE PR_TSC_SIGSEGV AT_SYSINFO_EHDR SYS_clock_gettime SA_RESTART SA_NODEFER
        PR_SET_PTRACER __WALL
        PTRACE_POKEUSER PTRACE_DETACH PTRACE_SEIZE PTRACE_INTERRUPT SYS_gettid SYS_tgkill
        SYS_process_vm_readv SYS_waitid SYS_readlinkat SYS_getcwd
        SOCK_STREAM SOCK_DGRAM SOCK_NONBLOCK SOCK_CLOEXEC SOL_SOCKET SO_TYPE SO_ERROR SO_DOMAIN
        WNOHANG WEXITED WNOWAIT X_OK
        EPERM ENOENT EINTR EIO ENXIO E2BIG ENOEXEC EBADF ECHILD EAGAIN ENOMEM EACCES EFAULT EBUSY
        EEXIST ENODEV ENOTDIR EISDIR EINVAL
        ENFILE EMFILE ETXTBSY EFBIG ENOSPC EROFS EPIPE ERANGE ENAMETOOLONG ENOSYS ELOOP ENOTSOCK
        EDESTADDRREQ EMSGSIZE
        EPROTOTYPE EAFNOSUPPORT EADDRINUSE EADDRNOTAVAIL ENETDOWN ENETUNREACH ENETRESET
        ECONNABORTED ECONNRESET ENOBUFS EISCONN
        ENOTCONN ETIMEDOUT ECONNREFUSED EHOSTDOWN EHOSTUNREACH EALREADY EINPROGRESS EDQUOT
        EAI_BADFLAGS EAI_NONAME EAI_AGAIN EAI_FAIL EAI_NODATA EAI_FAMILY EAI_SOCKTYPE EAI_SERVICE
        EAI_MEMORY EAI_SYSTEM
        POLLIN POLLRDNORM PT_LOAD PT_INTERP PT_NOTE PT_GNU_RELRO PF_W PROC_SUPER_MAGIC
        SIG_DFL SIG_IGN RLIM_INFINITY SO_ACCEPTCONN S_IXGRP S_ISGID S_ISUID S_IFSOCK S_IFLNK
        S_IFMT P_ALL P_PIDFD
        MAP_FAILED RTLD_DEFAULT RTLD_NEXT
        SYS_connect SYS_fstat SYS_sendto SYS_recvfrom SYS_sendmsg SYS_recvmsg SYS_getsockopt
        SYS_getdents64 SYS_recvmmsg SYS_sendmmsg
        SYS_getrandom SYS_execveat SYS_pidfd_open SYS_rt_sigaction SYS_prctl SYS_seccomp
        PR_SET_SECCOMP
        SYS_getpid SYS_getppid SYS_getpgid SYS_getsid SYS_sched_setaffinity SYS_sched_getaffinity
        SYS_getcpu
    }
}

/// The same size, alignment and places of fields.
macro_rules! alike {
    ($($name:ident { $($field:ident)* })*) => {
        $(
            assert_eq!(size_of::<ours::$name>(), size_of::<libc::$name>(), stringify!($name));
            assert_eq!(align_of::<ours::$name>(), align_of::<libc::$name>(), stringify!($name));
            $(assert_eq!(
                offset_of!(ours::$name, $field),
                offset_of!(libc::$name, $field),
                concat!(stringify!($name), ".", stringify!($field))
            );)*
        )*
    };
}

#[test]
fn every_type_is_laid_out_as_in_libc() {
    alike! {
        clockid_t {} dev_t {} gid_t {} id_t {} ino64_t {} mode_t {} nfds_t {} off64_t {} pid_t {}
        pthread_t {} sa_family_t {} size_t {}
        socklen_t {} uid_t {}
        in_addr { s_addr }
        in6_addr { s6_addr }
        sockaddr { sa_family sa_data }
        sockaddr_in { sin_family sin_port sin_addr sin_zero }
        sockaddr_in6 { sin6_family sin6_port sin6_flowinfo sin6_addr sin6_scope_id }
        sockaddr_un { sun_family sun_path }
        sockaddr_storage { ss_family }
        addrinfo { ai_flags ai_family ai_socktype ai_protocol ai_addrlen ai_addr ai_canonname
        ai_next }
        iovec { iov_base iov_len }
        msghdr { msg_name msg_namelen msg_iov msg_iovlen msg_control msg_controllen msg_flags }
        mmsghdr { msg_hdr msg_len }
        cmsghdr { cmsg_len cmsg_level cmsg_type }
        pollfd { fd events revents }
        epoll_event { events u64 }
        fd_set {}
        sigset_t {}
        sigaction { sa_sigaction sa_mask sa_flags sa_restorer }
        timespec { tv_sec tv_nsec }
        timeval { tv_sec tv_usec }
        siginfo_t { si_signo si_errno si_code }
        dirent64 { d_ino d_off d_reclen d_type d_name }
        statfs64 { f_type }
        stat64 { st_dev st_ino st_nlink st_mode st_uid st_gid }
        Elf64_Ehdr {
            e_ident e_type e_machine e_version e_entry e_phoff e_shoff e_flags e_ehsize
            e_phentsize e_phnum e_shentsize e_shnum
            e_shstrndx
        }
        Elf64_Phdr { p_type p_flags p_offset p_vaddr p_paddr p_filesz p_memsz p_align }
        rlimit { rlim_cur rlim_max }
        dl_phdr_info { dlpi_addr dlpi_name dlpi_phdr dlpi_phnum dlpi_adds dlpi_subs dlpi_tls_modid
        dlpi_tls_data }
        Dl_info { dli_fname dli_fbase dli_sname dli_saddr }
    }
}

#[test]
fn what_became_of_a_child_is_read_as_by_libc() {
    for status in [0, 1, 9, 0x80 | 6, 0x0300, 0xff00, 0x137f, 0xffff] {
        assert_eq!(ours::WIFEXITED(status), libc::WIFEXITED(status));
        assert_eq!(ours::WEXITSTATUS(status), libc::WEXITSTATUS(status));
        assert_eq!(ours::WIFSIGNALED(status), libc::WIFSIGNALED(status));
        assert_eq!(ours::WTERMSIG(status), libc::WTERMSIG(status));
    }
    let bytes: Vec<u8> = (0..128).collect();
    // SAFETY: any bytes are such a structure, and there are enough.
    unsafe {
        let theirs = bytes.as_ptr().cast::<libc::siginfo_t>().read_unaligned();
        let ours = bytes.as_ptr().cast::<ours::siginfo_t>().read_unaligned();
        assert_eq!(ours.si_pid(), theirs.si_pid());
        assert_eq!(ours.si_addr(), theirs.si_addr());
        assert_eq!(ours.si_status(), theirs.si_status());
    }
}

#[test]
fn control_messages_are_walked_as_by_libc() {
    let size = size_of::<libc::cmsghdr>();
    // Two whole messages, one with padding; what is left is too short for a third, just enough, or
    // none.
    let lens = [size + 4, size + 8];
    for room in (0..size * 4).step_by(8) {
        let mut control = vec![0_usize; 64];
        control[0] = lens[0];
        control[lens[0].div_ceil(8)] = lens[1];
        let walk = |first: usize, next: &dyn Fn(usize) -> usize| {
            let mut found = vec![first];
            while found.last() != Some(&0) && found.len() < 3 {
                found.push(next(*found.last().unwrap()));
            }
            found
        };
        let address = control.as_mut_ptr();
        // SAFETY: the messages are as `recvmsg` writes them.
        let (theirs, ours) = unsafe {
            let mut theirs = ::std::mem::zeroed::<libc::msghdr>();
            theirs.msg_control = address.cast();
            theirs.msg_controllen = room;
            let theirs = &raw const theirs;
            let same = theirs.cast::<ours::msghdr>();
            let at = |place: usize| address.with_addr(place);
            (
                walk(libc::CMSG_FIRSTHDR(theirs).addr(), &|place| {
                    libc::CMSG_NXTHDR(theirs, at(place).cast()).addr()
                }),
                walk(ours::CMSG_FIRSTHDR(same).addr(), &|place| {
                    ours::CMSG_NXTHDR(same, at(place).cast()).addr()
                }),
            )
        };
        assert_eq!(ours, theirs, "{room}");
    }
    // SAFETY: nothing is read.
    unsafe {
        let header = ::std::ptr::dangling::<libc::cmsghdr>();
        assert_eq!(ours::CMSG_DATA(header.cast()), libc::CMSG_DATA(header));
        assert_eq!(ours::CMSG_LEN(5), libc::CMSG_LEN(5));
    }
}
