//! Memory that will be needed soon, so that it is near by then.

use std::ops::Range;

/// Asks for `what`, and goes on without waiting.
#[inline(always)]
pub fn fetch<T>(what: &T) {
    fetch_first(what, size_of::<T>());
}

/// The same for its first `bytes`.
#[inline(always)]
pub fn fetch_first<T>(what: &T, bytes: usize) {
    fetch_range(what, 0..bytes);
}

/// The same for these of its bytes.
#[inline(always)]
pub fn fetch_range<T>(what: &T, bytes: Range<usize>) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        const LINE: usize = 64;
        let start = std::ptr::from_ref(what).cast::<i8>();
        // From the beginning of a line on, where `what` begins with one.
        let begin = bytes.start / LINE * LINE;
        for offset in (begin..bytes.end.min(size_of::<T>())).step_by(LINE) {
            // SAFETY: a hint that reads nothing, of an address within `what`.
            #[allow(unsafe_code, reason = "no safe function for it is stable yet")]
            unsafe {
                _mm_prefetch::<_MM_HINT_T0>(start.add(offset));
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (what, bytes);
}
