// SPDX-License-Identifier: GPL-2.0-only

#ifndef CCPERF_TABLE_H
#define CCPERF_TABLE_H

#include <concepts>
#include <cstdint>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
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

    std::string name;
    std::vector<Column> columns;
};

// One value of a row. None has a default, so that a row that leaves one out does not compile.
struct Integer
{
    using Values = Integers;

    template <std::integral T>
    Integer(T number)
        : value(static_cast<std::int64_t>(number))
    {
    }

    std::int64_t value;
};

struct Real
{
    using Values = Reals;

    Real(double number)
        : value(number)
    {
    }

    double value;
};

struct Text
{
    using Values = Strings;

    template <std::convertible_to<std::string> T>
    Text(const T& text)
        : value(text)
    {
    }

    std::string value;
};

// A table of rows of one of the types in rows.h, which is generated.
template <class Row>
struct TableOf : Table
{
    TableOf()
        : Table{Row::TABLE, {}}
    {
        using Types = decltype(std::declval<Row>().Values());
        AddColumns(static_cast<Types*>(nullptr));
    }

    void Append(const Row& row)
    {
        auto column = columns.begin();
        std::apply(
            [&column](const auto&... values) {
                (Push<typename std::decay_t<decltype(values)>::Values>((column++)->values,
                                                                       values.value),
                 ...);
            },
            row.Values());
    }

  private:
    template <class... Types>
    void AddColumns(std::tuple<const Types&...>*)
    {
        auto column = Row::COLUMNS.begin();
        (columns.push_back({*column++, typename Types::Values{}}), ...);
    }

    template <class Values, class Value>
    static void Push(std::variant<Integers, Reals, Strings>& column, const Value& value)
    {
        std::get<Values>(column).push_back(value);
    }
};

// Writes the tables to one file: a line of JSON,
//   [{"table": ..., "column": ..., "kind": "int" | "float" | "str", "rows": n, "words": [...]}, ...]
// and then every column in that order as n little-endian 64 bit values (of "str": indices into words).
// Throws std::runtime_error if that fails.
void WriteTables(const std::string& path, const std::vector<const Table*>& tables);

} // namespace ccperf

#endif
