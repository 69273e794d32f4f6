//! Memory that is shared with the kernel: mmap(2).

use std::io::{Error, Result};
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::AtomicU32;

use libc::off_t;

#[derive(Debug)]
pub struct Shared {
    begin: NonNull<u8>,
    size: usize,
}

// SAFETY: the memory is this value's alone, and is used through references to it.
unsafe impl Send for Shared {}

impl Shared {
    /// `size` bytes of a file, from `offset` on.
    pub fn new(file: &OwnedFd, size: usize, offset: off_t) -> Result<Self> {
        let (access, shared) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
        // SAFETY: the kernel chooses the place.
        let made =
            unsafe { libc::mmap(null_mut(), size, access, shared, file.as_raw_fd(), offset) };
        if made == libc::MAP_FAILED {
            return Err(Error::last_os_error());
        }
        let begin = NonNull::new(made.cast()).expect("the kernel maps nothing at 0");
        Ok(Shared { begin, size })
    }

    /// Where `length` bytes are, `at` bytes from the beginning.
    pub fn place(&self, at: usize, length: usize) -> NonNull<u8> {
        assert!(at + length <= self.size, "it is in this memory");
        // SAFETY: it is, as was just seen.
        unsafe { self.begin.add(at) }
    }

    /// A word that the kernel writes, too.
    pub fn word(&self, at: usize) -> &AtomicU32 {
        assert!(at.is_multiple_of(4), "words are aligned, as the memory is");
        // SAFETY: it is in the memory, and aligned.
        unsafe { AtomicU32::from_ptr(self.place(at, 4).as_ptr().cast()) }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: nobody else has the memory.
        unsafe { libc::munmap(self.begin.as_ptr().cast(), self.size) };
    }
}
