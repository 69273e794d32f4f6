// SPDX-License-Identifier: GPL-2.0-only

#ifndef CCPERF_CULPRIT_H
#define CCPERF_CULPRIT_H

#include <string>

namespace ccperf
{

// Where the code stands that a handler of a signal or of `std::terminate` was called for: the file name of the
// innermost library, or of this program, that is no part of the language's runtime, and the function as far as
// it has a name there: `libns3.44-internet.so: ns3::TcpTxBuffer::Add(...)`. Called by the handler itself.
std::string Culprit();

} // namespace ccperf

#endif
