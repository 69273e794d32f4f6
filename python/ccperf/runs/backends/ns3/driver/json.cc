// SPDX-License-Identifier: GPL-2.0-only

#include "json.h"

#include <algorithm>

namespace ccperf
{

namespace
{

class Parser
{
  public:
    explicit Parser(std::string_view text)
        : m_rest(text)
    {
    }

    Json Document()
    {
        Json value = Value();
        SkipSpace();
        if (!m_rest.empty())
        {
            Fail();
        }
        return value;
    }

  private:
    [[noreturn]] void Fail() const
    {
        throw std::runtime_error("the scenario is not JSON at `" + std::string(m_rest.substr(0, 20)) +
                                 "`");
    }

    void SkipSpace()
    {
        m_rest.remove_prefix(std::min(m_rest.find_first_not_of(" \t\r\n"), m_rest.size()));
    }

    // Skips white space; then takes `token` if it is next.
    bool Take(std::string_view token)
    {
        SkipSpace();
        if (!m_rest.starts_with(token))
        {
            return false;
        }
        m_rest.remove_prefix(token.size());
        return true;
    }

    void Expect(std::string_view token)
    {
        if (!Take(token))
        {
            Fail();
        }
    }

    Json Value()
    {
        Json value;
        if (Take("{"))
        {
            value.kind = Json::Kind::OBJECT;
            Items(value, "}");
        }
        else if (Take("["))
        {
            value.kind = Json::Kind::ARRAY;
            Items(value, "]");
        }
        else if (Take("\""))
        {
            value.kind = Json::Kind::STRING;
            value.text = String();
        }
        else if (Take("null"))
        {
            value.kind = Json::Kind::NOTHING;
        }
        else if (Take("true"))
        {
            value.kind = Json::Kind::BOOLEAN;
            value.text = "true";
        }
        else if (Take("false"))
        {
            value.kind = Json::Kind::BOOLEAN;
            value.text = "false";
        }
        else
        {
            value.kind = Json::Kind::NUMBER;
            const auto length =
                std::min(m_rest.find_first_not_of("+-.0123456789eE"), m_rest.size());
            if (length == 0)
            {
                Fail();
            }
            value.text = m_rest.substr(0, length);
            m_rest.remove_prefix(length);
        }
        return value;
    }

    void Items(Json& container, std::string_view end)
    {
        if (Take(end))
        {
            return;
        }
        do
        {
            std::string name;
            if (container.kind == Json::Kind::OBJECT)
            {
                Expect("\"");
                name = String();
                Expect(":");
            }
            container.items.emplace_back(std::move(name), Value());
        } while (Take(","));
        Expect(end);
    }

    // Behind the opening quote.
    std::string String()
    {
        std::string text;
        for (;;)
        {
            if (m_rest.empty())
            {
                Fail();
            }
            const char c = m_rest.front();
            m_rest.remove_prefix(1);
            if (c == '"')
            {
                return text;
            }
            text += c == '\\' ? Escaped() : std::string(1, c);
        }
    }

    // Behind a backslash.
    std::string Escaped()
    {
        constexpr std::string_view NAMES = "\"\\/bfnrt";
        constexpr std::string_view MEANINGS = "\"\\/\b\f\n\r\t";
        if (m_rest.empty())
        {
            Fail();
        }
        const char name = m_rest.front();
        if (const auto i = NAMES.find(name); i != std::string_view::npos)
        {
            m_rest.remove_prefix(1);
            return std::string(1, MEANINGS[i]);
        }
        if (name != 'u')
        {
            Fail();
        }
        m_rest.remove_prefix(1);
        std::uint32_t code = HexUnit();
        if (code >= 0xd800 && code < 0xdc00 && m_rest.starts_with("\\u"))
        {
            m_rest.remove_prefix(2);
            code = 0x10000 + ((code - 0xd800) << 10) + (HexUnit() - 0xdc00);
        }
        return Utf8(code);
    }

    std::uint32_t HexUnit()
    {
        std::uint32_t code = 0;
        const auto digits = m_rest.substr(0, 4);
        const auto* end = digits.data() + digits.size();
        if (digits.size() < 4 || std::from_chars(digits.data(), end, code, 16).ptr != end)
        {
            Fail();
        }
        m_rest.remove_prefix(4);
        return code;
    }

    static std::string Utf8(std::uint32_t code)
    {
        if (code < 0x80)
        {
            return std::string(1, static_cast<char>(code));
        }
        std::string bytes;
        const int tail = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
        constexpr int LEAD[] = {0, 0xc0, 0xe0, 0xf0};
        bytes += static_cast<char>(LEAD[tail] | code >> 6 * tail);
        for (int i = tail - 1; i >= 0; --i)
        {
            bytes += static_cast<char>(0x80 | (code >> 6 * i & 0x3f));
        }
        return bytes;
    }

    std::string_view m_rest;
};

} // namespace

const Json&
Json::operator[](std::string_view name) const
{
    for (const auto& [key, value] : items)
    {
        if (key == name)
        {
            return value;
        }
    }
    throw std::runtime_error("the scenario lacks `" + std::string(name) + "`");
}

const Json&
Json::Get(std::string_view name, const Json& usual) const
{
    const auto isIt = [name](const auto& item) { return item.first == name; };
    const auto found = std::find_if(items.begin(), items.end(), isIt);
    return found == items.end() ? usual : found->second;
}

void
Json::Require(Kind wanted) const
{
    if (kind != wanted)
    {
        throw std::runtime_error("the scenario has a value of another kind at `" + text + "`");
    }
}

Json
ParseJson(std::string_view text)
{
    return Parser(text).Document();
}

} // namespace ccperf
