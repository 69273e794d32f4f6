// SPDX-License-Identifier: GPL-2.0-only

#include "table.h"

#include <cstdio>
#include <fstream>
#include <stdexcept>

namespace ccperf
{

namespace
{

std::string
Quoted(const std::string& text)
{
    std::string quoted = "\"";
    for (const char c : text)
    {
        if (c == '"' || c == '\\')
        {
            quoted += '\\';
            quoted += c;
        }
        else if (static_cast<unsigned char>(c) < 0x20)
        {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", c);
            quoted += escape;
        }
        else
        {
            quoted += c;
        }
    }
    return quoted + '"';
}

std::string
Describe(const Table& table, const Table::Column& column)
{
    const std::string head = "{\"table\":" + Quoted(table.name) + ",\"column\":" + Quoted(column.name);
    const auto end = [&](const char* kind, std::size_t rows, const std::string& words) {
        return head + ",\"kind\":\"" + kind + "\",\"rows\":" + std::to_string(rows) +
               ",\"words\":[" + words + "]}";
    };
    if (const auto* integers = std::get_if<Integers>(&column.values))
    {
        return end("int", integers->size(), "");
    }
    if (const auto* reals = std::get_if<Reals>(&column.values))
    {
        return end("float", reals->size(), "");
    }
    const auto& strings = std::get<Strings>(column.values);
    std::string words;
    for (const auto& word : strings.words)
    {
        words += (words.empty() ? "" : ",") + Quoted(word);
    }
    return end("str", strings.codes.size(), words);
}

template <class T>
void
WriteRaw(std::ofstream& out, const std::vector<T>& values)
{
    static_assert(sizeof(T) == 8);
    out.write(reinterpret_cast<const char*>(values.data()),
              static_cast<std::streamsize>(values.size() * sizeof(T)));
}

} // namespace

void
Strings::push_back(const std::string& word)
{
    const auto [found, isNew] = index.emplace(word, static_cast<std::int64_t>(words.size()));
    if (isNew)
    {
        words.push_back(word);
    }
    codes.push_back(found->second);
}

void
WriteTables(const std::string& path, const std::vector<const Table*>& tables)
{
    std::ofstream out(path, std::ios::binary);
    std::string header;
    for (const Table* table : tables)
    {
        for (const auto& column : table->columns)
        {
            header += (header.empty() ? "[" : ",") + Describe(*table, column);
        }
    }
    out << header << "]\n";
    for (const Table* table : tables)
    {
        for (const auto& column : table->columns)
        {
            if (const auto* integers = std::get_if<Integers>(&column.values))
            {
                WriteRaw(out, *integers);
            }
            else if (const auto* reals = std::get_if<Reals>(&column.values))
            {
                WriteRaw(out, *reals);
            }
            else
            {
                WriteRaw(out, std::get<Strings>(column.values).codes);
            }
        }
    }
    out.flush();
    if (!out)
    {
        throw std::runtime_error("cannot write " + path);
    }
}

} // namespace ccperf
