// SPDX-License-Identifier: GPL-2.0-only

#include "culprit.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <memory>

namespace ccperf
{

namespace
{

std::string
FileOf(const Dl_info& place)
{
    const std::string path = place.dli_fname;
    return path.substr(path.rfind('/') + 1);
}

bool
IsRuntime(const std::string& file)
{
    constexpr std::array RUNTIME{"libc.", "libc-", "libstdc++", "libc++", "libgcc", "libm.", "ld-", "linux-vdso"};
    return std::any_of(RUNTIME.begin(), RUNTIME.end(), [&](const char* name) { return file.rfind(name, 0) == 0; });
}

std::string
Readable(const char* symbol)
{
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> name(
        abi::__cxa_demangle(symbol, nullptr, nullptr, &status),
        std::free);
    return status == 0 ? name.get() : symbol;
}

} // namespace

std::string
Culprit()
{
    std::array<void*, 64> frames{};
    const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
    // The handler is called by the runtime, which was entered by whom this is about.
    bool isBelowHandler = false;
    for (int i = 0; i < count; ++i)
    {
        Dl_info place{};
        if (dladdr(frames[i], &place) == 0)
        {
            continue;
        }
        const std::string file = FileOf(place);
        const bool isRuntime = IsRuntime(file);
        if (isBelowHandler && !isRuntime)
        {
            return place.dli_sname ? file + ": " + Readable(place.dli_sname) : file;
        }
        isBelowHandler = isBelowHandler || isRuntime;
    }
    return "";
}

} // namespace ccperf
