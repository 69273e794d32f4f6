// SPDX-License-Identifier: GPL-2.0-only
//
// Memory for ns-3, which asks for some ten small pieces a packet: a third of a run was spent in malloc and free.
// Pieces of one size are cut from spans of their own, and one that is given back is the next to be given out.
// The span says how large a piece is, so pieces have no heads. What is large is malloc's.

#include "memory.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <sys/mman.h>

namespace ccperf
{

namespace
{

constexpr std::size_t STEP = 16; // a multiple of every alignment that is not asked for by name
constexpr std::size_t LARGEST = 2032;
constexpr std::size_t SIZES = LARGEST / STEP + 1;
constexpr std::size_t SPAN_BYTES = std::size_t{1} << 16;
// Reserved, not used: a page costs something when it is first written to.
constexpr std::size_t RESERVED_BYTES = std::size_t{1} << 36;
constexpr std::size_t SPANS = RESERVED_BYTES / SPAN_BYTES;

struct Piece
{
    Piece* next;
};

// A user's classes may have threads: each has its own pieces.
thread_local std::array<Piece*, SIZES> g_free{};
std::array<std::uint8_t, SPANS> g_sizeOfSpan;
std::atomic<std::size_t> g_spans{0};
std::atomic<bool> g_isPlain{false};

char*
Reserved()
{
    static char* const start = [] {
        void* const found = mmap(nullptr,
                                 RESERVED_BYTES,
                                 PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                                 -1,
                                 0);
        return found == MAP_FAILED ? nullptr : static_cast<char*>(found);
    }();
    return start;
}

// Null until the first span.
std::atomic<char*> g_start{nullptr};

void*
AllocatePlain(std::size_t bytes)
{
    void* const found = std::malloc(bytes);
    if (!found)
    {
        throw std::bad_alloc();
    }
    return found;
}

// Cut a span into pieces, and return the first.
[[gnu::noinline]] void*
CutSpan(std::size_t size)
{
    char* const start = g_isPlain ? nullptr : Reserved();
    const std::size_t number = start ? g_spans.fetch_add(1) : SPANS;
    if (number >= SPANS)
    {
        return AllocatePlain(size * STEP);
    }
    g_start = start;
    g_sizeOfSpan[number] = static_cast<std::uint8_t>(size);
    char* const span = start + number * SPAN_BYTES;
    Piece* next = nullptr;
    for (std::size_t i = SPAN_BYTES / (size * STEP); i-- > 1;)
    {
        next = ::new (span + i * size * STEP) Piece{next};
    }
    g_free[size] = next;
    return span;
}

} // namespace

void
UsePlainMemory()
{
    g_isPlain = true;
    g_free = {};
}

} // namespace ccperf

void*
operator new(std::size_t bytes)
{
    if (bytes > ccperf::LARGEST)
    {
        return ccperf::AllocatePlain(bytes);
    }
    const std::size_t size = bytes == 0 ? 1 : (bytes + ccperf::STEP - 1) / ccperf::STEP;
    ccperf::Piece* const piece = ccperf::g_free[size];
    if (!piece)
    {
        return ccperf::CutSpan(size);
    }
    ccperf::g_free[size] = piece->next;
    return piece;
}

void
operator delete(void* piece) noexcept
{
    const char* const start = ccperf::g_start.load(std::memory_order_relaxed);
    const auto offset = static_cast<std::size_t>(static_cast<char*>(piece) - start);
    if (!start || offset >= ccperf::RESERVED_BYTES)
    {
        std::free(piece);
    }
    else if (!ccperf::g_isPlain.load(std::memory_order_relaxed))
    {
        auto& free = ccperf::g_free[ccperf::g_sizeOfSpan[offset / ccperf::SPAN_BYTES]];
        free = ::new (piece) ccperf::Piece{free};
    }
}

void
operator delete(void* piece, std::size_t) noexcept
{
    operator delete(piece);
}
