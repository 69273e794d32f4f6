// SPDX-License-Identifier: GPL-2.0-only

#include "attributes.h"

#include <stdexcept>

namespace ccperf
{

ns3::TypeId
FindType(const std::string& name)
{
    ns3::TypeId type;
    if (name.starts_with("::")) // the whole name: a user's class may be called like one of ns-3's
    {
        return ns3::TypeId::LookupByName(name.substr(2));
    }
    for (const char* prefix : {"ns3::", "ccperf::", ""})
    {
        if (ns3::TypeId::LookupByNameFailSafe(prefix + name, &type))
        {
            return type;
        }
    }
    throw std::runtime_error("ns-3 has no class `" + name + "`");
}

ScopedDefaults::~ScopedDefaults()
{
    for (auto saved = m_saved.rbegin(); saved != m_saved.rend(); ++saved)
    {
        saved->type.SetAttributeInitialValue(saved->attribute, saved->value);
    }
}

void
ScopedDefaults::Set(const std::vector<ns3::TypeId>& types,
                    const std::string& name,
                    const std::string& value)
{
    for (ns3::TypeId type : types)
    {
        for (;; type = type.GetParent())
        {
            for (std::size_t i = 0; i < type.GetAttributeN(); ++i)
            {
                const auto attribute = type.GetAttribute(i);
                if (attribute.name != name)
                {
                    continue;
                }
                const auto parsed = attribute.checker->CreateValidValue(ns3::StringValue(value));
                if (!parsed)
                {
                    throw std::runtime_error("`" + value + "` is not a value of " +
                                             type.GetAttributeFullName(i));
                }
                m_saved.push_back({type, i, attribute.initialValue});
                type.SetAttributeInitialValue(i, parsed);
                return;
            }
            if (!type.HasParent())
            {
                break;
            }
        }
    }
    throw std::runtime_error(types.front().GetName() + " has no attribute `" + name + "`");
}

} // namespace ccperf
