// SPDX-License-Identifier: GPL-2.0-only
//
// Writes python/ccperf/data/ns3_attributes.json: every class in ns-3's TypeId registry with its parent
// and the names of its own attributes, one class a line.
//
//   NS3=$(.venv/bin/python -c 'import importlib.util as u; print(u.find_spec("ns3").submodule_search_locations[0])')
//   LIBS=$(cd $NS3/lib64 && ls libns3.44-*.so | grep -vE 'test|visualizer|config-store' | sed 's/^lib/-l/; s/\.so$//')
//   c++ -std=c++20 -I $NS3/include tools/ns3_attributes.cc -L $NS3/lib64 -Wl,-rpath,$NS3/lib64 \
//       -Wl,--allow-shlib-undefined -Wl,--no-as-needed $LIBS -o /tmp/ns3_attributes
//   /tmp/ns3_attributes > python/ccperf/data/ns3_attributes.json

#include "ns3/core-module.h"

#include <iostream>
#include <map>
#include <sstream>

int
main()
{
    const auto shortName = [](const ns3::TypeId& type) { return type.GetName().substr(5); };
    std::map<std::string, std::string> lines;
    for (uint16_t i = 0; i < ns3::TypeId::GetRegisteredN(); ++i)
    {
        const auto type = ns3::TypeId::GetRegistered(i);
        std::ostringstream line;
        line << "[\"" << (type.HasParent() ? shortName(type.GetParent()) : "") << "\", [";
        for (std::size_t k = 0; k < type.GetAttributeN(); ++k)
        {
            line << (k ? ", " : "") << '"' << type.GetAttribute(k).name << '"';
        }
        line << "]]";
        lines[shortName(type)] = line.str();
    }
    std::cout << "{";
    const char* separator = "\n";
    for (const auto& [name, line] : lines)
    {
        std::cout << separator << '"' << name << "\": " << line;
        separator = ",\n";
    }
    std::cout << "\n}\n";
}
