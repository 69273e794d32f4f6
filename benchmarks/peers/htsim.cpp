// SPDX-License-Identifier: Apache-2.0
//
// A network and its flows, read from standard input, on htsim: queues and pipes in a row, as its own programs make
// them. Prints packets through all pipes and the seconds of its event loop. htsim.py says what the lines mean.

#include <ctime>
#include <iostream>
#include <memory>
#include <vector>

#include "dctcp.h"
#include "ecnqueue.h"
#include "pipe.h"
#include "queue.h"
#include "tcp.h"

namespace {

uint64_t hops = 0;

class CountedPipe : public Pipe {
public:
    using Pipe::Pipe;
    void receivePacket(Packet& packet) override {
        ++hops;
        Pipe::receivePacket(packet);
    }
};

struct Link {
    Queue* queue;
    Pipe* pipe;
};

Route* read_route(const std::vector<Link>& links) {
    size_t length = 0;
    std::cin >> length;
    auto* route = new Route();
    for (size_t i = 0; i < length; ++i) {
        size_t link = 0;
        std::cin >> link;
        route->push_back(links.at(link).queue);
        route->push_back(links.at(link).pipe);
    }
    return route;
}

}  // namespace

int main() {
    EventList& events = EventList::getTheEventList();
    int packet_bytes = 0, is_dctcp = 0;
    simtime_picosec stop = 0;
    size_t links_count = 0, flows_count = 0;
    std::cin >> packet_bytes >> is_dctcp >> stop >> links_count;
    Packet::set_packet_size(packet_bytes);
    EventList::setEndtime(stop);

    std::vector<Link> links;
    for (size_t i = 0; i < links_count; ++i) {
        linkspeed_bps rate = 0;
        simtime_picosec delay = 0;
        mem_b limit = 0, mark = 0;
        std::cin >> rate >> delay >> limit >> mark;
        Queue* queue = mark > 0 ? new ECNQueue(rate, limit, events, nullptr, mark)
                                : new Queue(rate, limit, events, nullptr);
        links.push_back({queue, new CountedPipe(delay, events)});
    }

    TcpRtxTimerScanner timers(timeFromMs(10), events);
    std::cin >> flows_count;
    for (size_t i = 0; i < flows_count; ++i) {
        simtime_picosec start = 0;
        uint64_t bytes = 0;
        std::cin >> start >> bytes;
        Route* out = read_route(links);
        Route* back = read_route(links);
        TcpSrc* source = is_dctcp ? new DCTCPSrc(nullptr, nullptr, events)
                                  : new TcpSrc(nullptr, nullptr, events);
        auto* sink = new TcpSink();
        if (bytes > 0) {
            source->_flow_size = bytes;
        }
        timers.registerTcp(*source);
        out->push_back(sink);
        back->push_back(source);
        source->connect(*out, *back, *sink, start);
    }
    if (!std::cin) {
        std::cerr << "the description ends too early\n";
        return 2;
    }

    std::cout.setstate(std::ios::failbit);  // it tells of each flow
    const auto begin = std::clock();
    while (EventList::doNextEvent()) {
    }
    const double took = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    std::cout.clear();
    std::cout << hops << ' ' << took << '\n';
    // Without its destructors: packets are still under way.
    std::cout.flush();
    std::_Exit(0);
}
