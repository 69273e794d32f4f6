//! Large tables lie in huge pages where Linux gives them to who asks for them ("madvise" in
//! `/sys/kernel/mm/transparent_hugepage/enabled`, the usual setting): to touch 20 MB for the first
//! time takes ten page faults in place of five thousand, and its addresses are found sooner.

#![cfg(target_os = "linux")]
#![allow(unsafe_code, reason = "an allocator, which is the only place to ask")]

use std::alloc::{GlobalAlloc, Layout};
use std::ptr::null_mut;

/// The C library's allocator; whole huge pages of what is large are asked for.  Their size is a
/// parameter so that Miri can follow every byte of blocks that are large to it.
pub struct HugePages<const HUGE_PAGE: usize = USUAL>;

/// Of Linux on x86-64 and, mostly, on ARM64.
const USUAL: usize = 2 << 20;
/// From so many huge pages on a block is a map of its own (glibc's largest `M_MMAP_THRESHOLD`, 32 MB).
const OF_ITS_OWN: usize = 16;
/// Of every block of `malloc` that has as many bytes; of smaller ones C promises less.
const ALIGNMENT: usize = 2 * size_of::<usize>();

/// Whether blocks of `malloc`'s family are aligned as is asked.
const fn is_usual(alignment: usize, size: usize) -> bool {
    alignment <= ALIGNMENT && alignment <= size
}

/// Asks for those huge pages that lie in a block as a whole. An answer is not waited for: where there
/// are none, pages are as small as they would have been.
fn ask(block: *mut u8, size: usize, huge_page: usize) {
    let start = block.addr().next_multiple_of(huge_page);
    let end = (block.addr() + size) / huge_page * huge_page;
    if !block.is_null() && start < end && !cfg!(miri) {
        let first = block.wrapping_add(start - block.addr());
        // SAFETY: whole pages of a block that is held; its bytes stay what they are.
        unsafe { libc::madvise(first.cast(), end - start, libc::MADV_HUGEPAGE) };
    }
}

fn aligned(size: usize, alignment: usize) -> *mut u8 {
    let mut block = null_mut();
    // SAFETY: the alignment is a power of two and at least a pointer's size.
    let failed = unsafe { libc::posix_memalign(&raw mut block, alignment, size) };
    if failed == 0 { block.cast() } else { null_mut() }
}

#[cold]
fn alloc_unusual(size: usize, alignment: usize, huge_page: usize) -> *mut u8 {
    if size < huge_page {
        return aligned(size, alignment);
    }
    let block = aligned(size, alignment.max(huge_page));
    ask(block, size, huge_page);
    block
}

// SAFETY: every block comes from `malloc`, `calloc`, `realloc` or `posix_memalign`, at least as aligned as
// was asked, and goes to `realloc` or `free`.
unsafe impl<const HUGE_PAGE: usize> GlobalAlloc for HugePages<HUGE_PAGE> {
    #[inline] // so that it is a comparison and a call of `malloc` where the layout is known
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let size = layout.size();
        if size < HUGE_PAGE && is_usual(layout.align(), size) {
            // SAFETY: a function without conditions.
            return unsafe { libc::malloc(size).cast() };
        }
        alloc_unusual(size, layout.align(), HUGE_PAGE)
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let size = layout.size();
        if !is_usual(layout.align(), size) {
            // SAFETY: the caller keeps the contract of `alloc`; a block has as many bytes.
            unsafe {
                let block = self.alloc(layout);
                if !block.is_null() {
                    block.write_bytes(0, size);
                }
                return block;
            }
        }
        // `calloc` does not touch fresh pages, which the system has filled with zeros.
        // SAFETY: a function without conditions.
        let block = unsafe { libc::calloc(1, size).cast() };
        if size >= HUGE_PAGE {
            ask(block, size, HUGE_PAGE);
        }
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, _: Layout) {
        // SAFETY: the block is one of those above.
        unsafe { libc::free(block.cast()) };
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if size < HUGE_PAGE && is_usual(layout.align(), size) {
            // SAFETY: the block is one of those above.
            return unsafe { libc::realloc(block.cast(), size).cast() };
        }
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { self.realloc_unusual(block, layout, size) }
    }
}

impl<const HUGE_PAGE: usize> HugePages<HUGE_PAGE> {
    /// As [`GlobalAlloc::realloc`], under the same contract.
    #[cold]
    unsafe fn realloc_unusual(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if is_usual(layout.align(), size) && layout.size() >= OF_ITS_OWN * HUGE_PAGE {
            // Pages of its own are put elsewhere, not copied.
            // SAFETY: the block is one of those of `alloc`.
            let block = unsafe { libc::realloc(block.cast(), size).cast() };
            if size >= HUGE_PAGE {
                ask(block, size, HUGE_PAGE);
            }
            return block;
        }
        // What is copied goes into huge pages.
        // SAFETY: the caller keeps the contract of `realloc`: `size` is above 0 and fits with this alignment.
        // The blocks are two, with this many bytes in each, and the first one is not used again.
        unsafe {
            let other = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !other.is_null() {
                other.copy_from_nonoverlapping(block, layout.size().min(size));
                self.dealloc(block, layout);
            }
            other
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// To Miri each byte is thousands of instructions.
    const HUGE_PAGE: usize = if cfg!(miri) { 1 << 8 } else { USUAL };
    const MEMORY: HugePages<HUGE_PAGE> = HugePages;

    /// Bytes of a block that stay what they are, whatever its size becomes.
    #[test]
    fn blocks_are_aligned_and_keep_their_bytes() {
        let sizes = [1, 100, HUGE_PAGE - 1, HUGE_PAGE, 3 * HUGE_PAGE + 5, 20 * HUGE_PAGE];
        for alignment in [1, 16, 64, HUGE_PAGE, 2 * HUGE_PAGE] {
            for size in sizes {
                let layout = Layout::from_size_align(size, alignment).unwrap();
                for next in sizes {
                    // SAFETY: sizes are above 0; bytes are read and written within them.
                    unsafe {
                        let zeroed = MEMORY.alloc_zeroed(layout);
                        assert_eq!(zeroed.addr() % alignment, 0);
                        assert_eq!((zeroed.read(), zeroed.add(size - 1).read()), (0, 0));
                        MEMORY.dealloc(zeroed, layout);
                        let block = MEMORY.alloc(layout);
                        assert_eq!(block.addr() % alignment, 0);
                        let common = size.min(next);
                        block.write_bytes(7, common);
                        let block = MEMORY.realloc(block, layout, next);
                        assert_eq!(block.addr() % alignment, 0);
                        assert!((0..common).all(|i| block.add(i).read() == 7));
                        let layout = Layout::from_size_align(next, alignment).unwrap();
                        MEMORY.dealloc(block, layout);
                    }
                }
            }
        }
    }
}
