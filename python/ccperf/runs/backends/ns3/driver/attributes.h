// SPDX-License-Identifier: GPL-2.0-only

#ifndef CCPERF_ATTRIBUTES_H
#define CCPERF_ATTRIBUTES_H

#include "scenario.h"

#include "ns3/object-factory.h"
#include "ns3/string.h"
#include "ns3/type-id.h"

#include <vector>

namespace ccperf
{

// The type of this class name: one of ns-3's, of this driver's or of the user's own code.
// Throws std::runtime_error if there is none.
ns3::TypeId FindType(const std::string& name);

template <class T>
ns3::Ptr<T>
CreateWithAttributes(const Algorithm& algorithm)
{
    ns3::ObjectFactory factory;
    factory.SetTypeId(FindType(algorithm.type));
    for (const auto& [name, value] : algorithm.attributes)
    {
        factory.Set(name, ns3::StringValue(value));
    }
    return factory.Create<T>();
}

// Default values of attributes, for as long as this object lives: what is created meanwhile is configured
// as by Config::SetDefault in an ns-3 script, before its constructor has run to the end.
class ScopedDefaults
{
  public:
    ScopedDefaults() = default;
    ~ScopedDefaults();
    ScopedDefaults(const ScopedDefaults&) = delete;
    ScopedDefaults& operator=(const ScopedDefaults&) = delete;

    // Throws std::runtime_error if neither one of `types` nor a base class of it has the attribute.
    void Set(const std::vector<ns3::TypeId>& types, const std::string& name, const std::string& value);

  private:
    struct Saved
    {
        ns3::TypeId type;
        std::size_t attribute;
        ns3::Ptr<const ns3::AttributeValue> value;
    };

    std::vector<Saved> m_saved;
};

} // namespace ccperf

#endif
