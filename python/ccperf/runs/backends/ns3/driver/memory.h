// SPDX-License-Identifier: GPL-2.0-only

#ifndef CCPERF_MEMORY_H
#define CCPERF_MEMORY_H

namespace ccperf
{

// From here on memory comes from the C library, as in any program of ns-3's: for the benchmark.
void UsePlainMemory();

} // namespace ccperf

#endif
