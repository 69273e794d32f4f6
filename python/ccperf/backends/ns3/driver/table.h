// SPDX-License-Identifier: GPL-2.0-only

#ifndef CCPERF_TABLE_H
#define CCPERF_TABLE_H

#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <variant>
#include <vector>

namespace ccperf
{

using Integers = std::vector<std::int64_t>;
using Reals = std::vector<double>; // NaN: no value yet

// Strings as indices into the list of the different ones.
struct Strings
{
    Integers codes;
    std::vector<std::string> words;
    std::unordered_map<std::string, std::int64_t> index;

    void push_back(const std::string& word);
};

// Columns by name, in order.
struct Table
{
    struct Column
    {
        std::string name;
        std::variant<Integers, Reals, Strings> values;
    };

    explicit Table(std::string tableName);

    // Adds columns of one type.
    template <class Values>
    void Add(std::initializer_list<const char*> names)
    {
        for (const char* column : names)
        {
            columns.push_back({column, Values{}});
        }
    }

    // One value for each column, in order: integers, doubles or strings.
    template <class... Values>
    void Append(const Values&... values)
    {
        auto column = columns.begin();
        (Push((column++)->values, values), ...);
    }

    std::string name;
    std::vector<Column> columns;

  private:
    template <class Value>
    static void Push(std::variant<Integers, Reals, Strings>& column, const Value& value)
    {
        if constexpr (std::is_integral_v<Value>)
        {
            std::get<Integers>(column).push_back(static_cast<std::int64_t>(value));
        }
        else if constexpr (std::is_floating_point_v<Value>)
        {
            std::get<Reals>(column).push_back(value);
        }
        else
        {
            std::get<Strings>(column).push_back(value);
        }
    }
};

// Writes the tables to one file: a line of JSON,
//   [{"table": ..., "column": ..., "kind": "int" | "float" | "str", "rows": n, "words": [...]}, ...]
// and then every column in that order as n little-endian 64 bit values (of "str": indices into words).
// Throws std::runtime_error if that fails.
void WriteTables(const std::string& path, const std::vector<const Table*>& tables);

} // namespace ccperf

#endif
