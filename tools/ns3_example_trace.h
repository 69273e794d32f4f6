// SPDX-License-Identifier: GPL-2.0-only
//
// Included by tools/ns3_examples.py into ns-3's example programs: writes what starts to be sent, arrives
// and gets lost on every point-to-point device to the file that the environment's PACKETS names.
// One line each: time in ns, node, its how manieth such device, event, sequence and acknowledgement number,
// payload, bytes on the wire, flags, ECN. Fragments but the first have numbers and flags of their packet's header, which
// the first has.

#include "ns3/internet-module.h"
#include "ns3/point-to-point-module.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <map>
#include <tuple>

namespace
{

class PacketLines
{
  public:
    PacketLines()
    {
        for (std::uint32_t node = 0; node < ns3::NodeList::GetNNodes(); ++node)
        {
            Connect(ns3::NodeList::GetNode(node));
        }
    }

  private:
    void Connect(ns3::Ptr<ns3::Node> node)
    {
        unsigned number = 0;
        for (std::uint32_t i = 0; i < node->GetNDevices(); ++i)
        {
            const auto device = ns3::DynamicCast<ns3::PointToPointNetDevice>(node->GetDevice(i));
            if (!device)
            {
                continue;
            }
            const auto where = std::to_string(node->GetId()) + "," + std::to_string(number++);
            for (const auto& [source, event] : {std::pair{"PhyTxBegin", "tx"},
                                                std::pair{"PhyRxEnd", "rx"},
                                                std::pair{"PhyRxDrop", "lost"}})
            {
                device->TraceConnectWithoutContext(
                    source,
                    ns3::Callback<void, ns3::Ptr<const ns3::Packet>>(
                        [this, start = where + "," + event](auto packet) { Write(start, packet); }));
            }
        }
    }

    void Write(const std::string& start, ns3::Ptr<const ns3::Packet> packet)
    {
        static const std::array flags = {"FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR"};
        static const std::array ecn = {"NotECT", "ECT1", "ECT0", "CE"};
        std::array<std::uint8_t, 2 + 20 + 20> bytes{};
        packet->CopyData(bytes.data(), bytes.size());
        const std::uint8_t* ip = bytes.data() + 2;
        const std::uint8_t* transport = ip + 20;
        const auto number = [](const std::uint8_t* at, int size) {
            std::uint32_t value = 0;
            for (int i = 0; i < size; ++i)
            {
                value = value << 8 | at[i];
            }
            return value;
        };
        const std::uint32_t place = number(ip + 6, 2);
        const bool isFirst = (place & 0x1fff) == 0;
        const bool isPiece = place & 0x2000 || !isFirst;
        const Cut key{number(ip + 12, 4), number(ip + 16, 4), ip[9], number(ip + 4, 2)};
        if (isPiece && isFirst)
        {
            std::copy_n(transport, m_cut[key].size(), m_cut[key].begin());
        }
        else if (isPiece)
        {
            transport = m_cut.at(key).data();
        }
        const bool isTcp = ip[9] == 6;
        const bool isError = ip[9] == 1 && (transport[0] == 3 || transport[0] == 11);
        // Datagrams are told apart by the identification of their IP header, echoes by their sequence number.
        const std::uint32_t untold = ip[9] == 17     ? number(ip + 4, 2)
                                     : isError       ? 0
                                                     : number(transport + 6, 2);
        const std::uint32_t header = !isFirst ? 0 : isTcp ? 4 * (transport[12] >> 4) : 8;
        std::string words;
        for (unsigned bit = 0; isTcp && bit < flags.size(); ++bit)
        {
            if (transport[13] >> bit & 1)
            {
                words += (words.empty() ? "" : "|") + std::string(flags[bit]);
            }
        }
        const bool hasAck = isTcp && transport[13] & 16;
        File() << ns3::Simulator::Now().GetNanoSeconds() << ',' << start << ','
               << (isTcp ? number(transport + 4, 4) : untold) << ','
               << (hasAck ? number(transport + 8, 4) : 0) << ',' << packet->GetSize() - 22 - header
               << ',' << packet->GetSize() << ',' << words << ',' << ecn[ip[1] & 3] << '\n';
    }

    // Of the whole program: it may simulate more than once, and its last lines are to be written where it ends by
    // exit(1), as one does that finds another number of drops than it was written for.
    static std::ofstream& File()
    {
        static std::ofstream file(std::getenv("PACKETS"), std::ios::app);
        return file;
    }

    // Source, destination, protocol, identification.
    using Cut = std::tuple<std::uint32_t, std::uint32_t, std::uint8_t, std::uint32_t>;

    std::map<Cut, std::array<std::uint8_t, 20>> m_cut; // the transport's header
};

} // namespace
