// SPDX-License-Identifier: GPL-2.0-only
//
// A reader of JSON, because the Boost that the ns-3 wheel carries does not compile as C++20.

#ifndef CCPERF_JSON_H
#define CCPERF_JSON_H

#include <charconv>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ccperf
{

// One value. Numbers stay text until their type is known: a 64 bit integer does not fit a double.
struct Json
{
    enum class Kind
    {
        NOTHING,
        BOOLEAN,
        NUMBER,
        STRING,
        ARRAY,
        OBJECT
    };

    Kind kind{Kind::NOTHING};
    std::string text; // of a scalar
    // Elements of an array (with empty names) or members of an object, in order.
    std::vector<std::pair<std::string, Json>> items;

    bool IsNull() const
    {
        return kind == Kind::NOTHING;
    }

    // A member; throws std::runtime_error if there is none.
    const Json& operator[](std::string_view name) const;

    // The same, or `usual` if there is none.
    const Json& Get(std::string_view name, const Json& usual) const;

    // This scalar as a bool, a number or a string; throws std::runtime_error if it is not one.
    template <class T>
    T As() const
    {
        if constexpr (std::is_same_v<T, std::string>)
        {
            Require(Kind::STRING);
            return text;
        }
        else if constexpr (std::is_same_v<T, bool>)
        {
            Require(Kind::BOOLEAN);
            return text == "true";
        }
        else
        {
            Require(Kind::NUMBER);
            T value;
            const auto* end = text.data() + text.size();
            if (const auto [stop, error] = std::from_chars(text.data(), end, value);
                error != std::errc() || stop != end)
            {
                throw std::runtime_error("the scenario's number " + text + " is out of range");
            }
            return value;
        }
    }

  private:
    void Require(Kind wanted) const;
};

// Throws std::runtime_error if the text is not JSON.
Json ParseJson(std::string_view text);

} // namespace ccperf

#endif
