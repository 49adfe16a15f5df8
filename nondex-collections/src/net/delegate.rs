//! What the types of this module do as std's do.

/// Methods that are std's own.
macro_rules! methods {
    ($type:ident: $(fn $name:ident(&self $(, $argument:ident: $of:ty)*) -> $result:ty;)+) => {
        impl $type {
            $(
                #[doc = concat!("As [`::std::net::", stringify!($type), "::", stringify!($name), "`].")]
                ///
                /// # Errors
                /// As std's.
                pub fn $name(&self $(, $argument: $of)*) -> $result {
                    self.inner.$name($($argument),*)
                }
            )+
        }

        impl ::std::fmt::Debug for $type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                self.inner.fmt(f)
            }
        }
    };
}

/// The conversions from and to what the system knows a socket by. Its `of` makes the type from std's.
macro_rules! conversions {
    ($type:ident) => {
        #[cfg(unix)]
        $crate::net::delegate::conversions! {
            $type, ::std::os::fd:
            AsFd as_fd BorrowedFd, OwnedFd,
            AsRawFd as_raw_fd, FromRawFd from_raw_fd, IntoRawFd into_raw_fd, RawFd
        }
        #[cfg(windows)]
        $crate::net::delegate::conversions! {
            $type, ::std::os::windows::io:
            AsSocket as_socket BorrowedSocket, OwnedSocket,
            AsRawSocket as_raw_socket, FromRawSocket from_raw_socket, IntoRawSocket into_raw_socket, RawSocket
        }
    };
    ($type:ident, $(:: $module:ident)+:
        $as:ident $as_fn:ident $borrowed:ident, $owned:ident,
        $as_raw:ident $as_raw_fn:ident, $from_raw:ident $from_raw_fn:ident, $into_raw:ident $into_raw_fn:ident, $raw:ident
    ) => {
        const _: () = {
            use $(::$module)+::{$as, $as_raw, $borrowed, $from_raw, $into_raw, $owned, $raw};

            impl $as for $type {
                fn $as_fn(&self) -> $borrowed<'_> {
                    self.inner.$as_fn()
                }
            }

            impl $as_raw for $type {
                fn $as_raw_fn(&self) -> $raw {
                    self.inner.$as_raw_fn()
                }
            }

            impl $from_raw for $type {
                #[expect(unsafe_code, reason = "std's function is unsafe, and so is its mirror")]
                unsafe fn $from_raw_fn(raw: $raw) -> $type {
                    // SAFETY: the caller owns it, as std's function asks.
                    $type::of(unsafe { <::std::net::$type>::$from_raw_fn(raw) })
                }
            }

            impl $into_raw for $type {
                fn $into_raw_fn(self) -> $raw {
                    self.inner.$into_raw_fn()
                }
            }

            impl From<$owned> for $type {
                fn from(owned: $owned) -> $type {
                    $type::of(<::std::net::$type>::from(owned))
                }
            }

            impl From<$type> for $owned {
                fn from(socket: $type) -> $owned {
                    socket.inner.into()
                }
            }
        };
    };
}

pub(super) use {conversions, methods};
