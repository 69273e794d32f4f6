/* ccperf.h - a congestion control, queue discipline or load balancer of your own, as a shared library.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Fill in one table of functions, export it under the name below, and build a shared library:
 *
 *     static int64_t ssthresh(void *self, ccperf_tcb *tcb, int64_t bytes_in_flight) { ... }
 *     static void cong_avoid(void *self, ccperf_tcb *tcb, int64_t segments_acked) { ... }
 *
 *     CCPERF_EXPORT const ccperf_cca ccperf_cca_v1 = {
 *         CCPERF_CCA_HEADER,
 *         .ssthresh = ssthresh,
 *         .cong_avoid = cong_avoid,
 *     };
 *
 *     cc -shared -fPIC -O2 -I"$(python -m ccperf.include)" -o libmycca.so mycca.c
 *     ccperf run aqm --cc ./libmycca.so
 *
 * Amounts are bytes and times nanoseconds of simulated time, all signed 64-bit, so that a mistake shows
 * as what it is. Every function is called from one thread at a time; a simulation has one object per
 * end of a connection (the receiver has one, too), one per device for a queue discipline, and one per
 * switch for a load balancer.
 *
 * Compatibility: within one CCPERF_ABI_VERSION structures only grow at their end. A library says by
 * the sizes in its header how much of them it knows; an older one runs on a newer ccperf.
 */
#ifndef CCPERF_H
#define CCPERF_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CCPERF_ABI_VERSION 1

#if defined(_WIN32)
#define CCPERF_SYMBOL __declspec(dllexport)
#else
#define CCPERF_SYMBOL __attribute__((visibility("default")))
#endif
#ifdef __cplusplus
#define CCPERF_EXPORT extern CCPERF_SYMBOL
#else
#define CCPERF_EXPORT CCPERF_SYMBOL
#endif

/* "Never", or "no sample yet". */
#define CCPERF_TIME_MAX INT64_MAX

/* What a scenario says of the algorithm: attributes in the order of their names, as text. */
typedef struct ccperf_attribute {
    const char *name;
    const char *value;
} ccperf_attribute;

typedef struct ccperf_config {
    const ccperf_attribute *attributes;
    int64_t attribute_count;
    int64_t seed; /* the run's, for algorithms that draw random numbers */
    /* Set it to a text to refuse the configuration; it must stay valid after `create` returns. */
    const char *error;
} ccperf_config;

/* --- congestion control ------------------------------------------------------------------------ */

/* The congestion state machine (Linux's tcp_ca_state, ns-3's TcpCongState_t). */
enum ccperf_cong_state {
    CCPERF_OPEN = 0,
    CCPERF_DISORDER = 1,
    CCPERF_CWR = 2,
    CCPERF_RECOVERY = 3,
    CCPERF_LOSS = 4
};

/* Linux's tcp_ca_event. */
enum ccperf_ca_event {
    CCPERF_EVENT_TX_START = 0,     /* first transmission when nothing was in flight */
    CCPERF_EVENT_COMPLETE_CWR = 1, /* a CWR episode has ended */
    CCPERF_EVENT_LOSS = 2,         /* the retransmission timer has fired */
    CCPERF_EVENT_ECN_NO_CE = 3,    /* a segment arrived with ECT set and no CE mark */
    CCPERF_EVENT_ECN_IS_CE = 4,    /* a segment arrived with a CE mark */
    CCPERF_EVENT_DELAYED_ACK = 5,
    CCPERF_EVENT_NON_DELAYED_ACK = 6
};

enum ccperf_use_ecn { CCPERF_ECN_OFF = 0, CCPERF_ECN_ON = 1, CCPERF_ECN_ACCEPT_ONLY = 2 };
enum ccperf_ecn_mode { CCPERF_ECN_CLASSIC = 0, CCPERF_ECN_DCTCP = 1 };
enum ccperf_ecn_state {
    CCPERF_ECN_DISABLED = 0,
    CCPERF_ECN_IDLE = 1,
    CCPERF_ECN_CE_RCVD = 2,
    CCPERF_ECN_SENDING_ECE = 3,
    CCPERF_ECN_ECE_RCVD = 4,
    CCPERF_ECN_CWR_SENT = 5
};
/* The two bits of the IP header (RFC 3168 section 5). */
enum ccperf_ecn { CCPERF_NOT_ECT = 0, CCPERF_ECT1 = 1, CCPERF_ECT0 = 2, CCPERF_CE = 3 };

/* The connection's state: a view that is made for each call. */
typedef struct ccperf_tcb {
    int64_t now_ns;
    /* Set it to a text to end the run; it must stay valid after the call returns. */
    const char *error;

    /* Yours to change. cwnd: at least one segment; pacing_rate_bps: at least 1. */
    int64_t cwnd;
    int64_t ssthresh;
    int64_t pacing_rate_bps;
    int32_t pacing; /* 0 or 1 */
    int32_t pacing_ss_ratio; /* percent of cwnd / sRTT, in slow start */
    int32_t pacing_ca_ratio; /* the same in congestion avoidance */
    int32_t use_ecn;
    int32_t ecn_mode;
    int32_t ecn_state;
    int32_t ect; /* the code point of data segments, CCPERF_ECT0 or CCPERF_ECT1 */

    /* To read. */
    int32_t cong_state;
    int32_t is_cwnd_limited; /* the window, not the application, limited the last transmission */
    int32_t is_retrans_data_acked;
    int32_t pace_initial_window;
    int32_t reserved;
    int64_t segment_size;
    int64_t initial_cwnd;
    int64_t initial_ssthresh;
    int64_t bytes_in_flight; /* sent, neither acknowledged nor SACKed nor deemed lost (RFC 6675) */
    int64_t last_acked_sacked; /* newly acknowledged or SACKed by the present ACK */
    int64_t last_rtt_ns;
    int64_t srtt_ns;    /* 0 before the first sample */
    int64_t min_rtt_ns; /* CCPERF_TIME_MAX before the first sample */
    int64_t max_pacing_rate_bps;
    uint32_t last_acked_seq;
    uint32_t next_tx_seq;
    uint32_t high_tx_mark;
    uint32_t next_rx_seq;
    uint32_t rcv_timestamp; /* TSval of the last segment received, in ms */
    uint32_t rcv_timestamp_echo;
} ccperf_tcb;

/* The delivery rate sample of one ACK (draft-cheng-iccrg-delivery-rate-estimation). */
typedef struct ccperf_rate_sample {
    int64_t delivery_rate_bps;
    int64_t interval_ns;
    int64_t delivered;       /* bytes over the interval; -1 without timing information */
    int64_t prior_delivered; /* total_delivered when the sampled segment was sent */
    int64_t prior_time_ns;
    int64_t send_elapsed_ns;
    int64_t ack_elapsed_ns;
    int64_t bytes_loss;
    int64_t prior_in_flight;
    int64_t acked_sacked;
    int64_t total_delivered; /* bytes delivered since the connection's start */
    int64_t delivered_time_ns;
    int64_t first_sent_time_ns;
    int64_t app_limited; /* total_delivered at which the application-limited phase ends, or 0 */
    int32_t is_app_limited;
    int32_t reserved;
} ccperf_rate_sample;

/* An acknowledgement to be sent before the receiver goes on (RFC 8257 section 3.2). */
typedef struct ccperf_early_ack {
    int32_t send; /* 0 or 1 */
    int32_t ece;
    uint32_t ack;
    uint32_t reserved;
} ccperf_early_ack;

/* The calls are those of Linux's tcp_congestion_ops. All but ssthresh may be left out. */
typedef struct ccperf_cca {
    uint32_t abi_version;
    uint32_t table_size;
    uint32_t view_size;
    uint32_t reserved;

    /* Makes the object that the other functions get as `self`; without it `self` is NULL. */
    void *(*create)(ccperf_config *config);
    void (*destroy)(void *self);

    /* The connection opens, before its first segment. */
    void (*init)(void *self, ccperf_tcb *tcb);
    /* The new slow start threshold, at least one segment; on entering Recovery, CWR or Loss. */
    int64_t (*ssthresh)(void *self, ccperf_tcb *tcb, int64_t bytes_in_flight);
    /* Grow the window: for each ACK of new data in Open and Loss. */
    void (*cong_avoid)(void *self, ccperf_tcb *tcb, int64_t segments_acked);
    /* An ACK has acknowledged full segments. `rtt_ns` is the smoothed RTT, as in ns-3 (Linux: this ACK's
     * sample); the last sample is tcb->last_rtt_ns. */
    void (*pkts_acked)(void *self, ccperf_tcb *tcb, int64_t segments_acked, int64_t rtt_ns);
    /* The state is about to become `state`; tcb->cong_state is still the old one. */
    void (*set_state)(void *self, ccperf_tcb *tcb, int32_t state);
    /* `early` comes zeroed. */
    void (*cwnd_event)(void *self, ccperf_tcb *tcb, int32_t event, ccperf_early_ack *early);
    /* Present: the algorithm sets cwnd and pacing rate itself on every ACK and gets no window
     * management from the socket (BBR). has_cong_control, if present, says 0 or 1 at run time. */
    void (*cong_control)(void *self, ccperf_tcb *tcb, const ccperf_rate_sample *sample);
    int32_t (*has_cong_control)(void *self);
} ccperf_cca;

#define CCPERF_CCA_HEADER CCPERF_ABI_VERSION, sizeof(ccperf_cca), sizeof(ccperf_tcb), 0

/* --- queue discipline -------------------------------------------------------------------------- */

/* A packet; valid during the call, its id until the packet is dequeued or dropped. */
typedef struct ccperf_packet {
    uint32_t id;
    uint32_t source; /* IPv4 addresses, host byte order */
    uint32_t destination;
    uint16_t source_port;
    uint16_t destination_port;
    int64_t bytes;       /* of the IP packet */
    int64_t payload;     /* of the TCP segment */
    int64_t enqueued_ns; /* when it was accepted */
    int32_t ecn;
    int32_t protocol;
} ccperf_packet;

/* The queue and what can be done to it during a call. Use the functions below; the pointer, and `host`
 * in it, are worth nothing once the call has returned, nor in another thread. */
typedef struct ccperf_queue {
    int64_t now_ns;
    /* Set it to a text to end the run; it must stay valid after the call returns. */
    const char *error;
    int64_t packets; /* in the discipline, without the one that arrives */
    int64_t bytes;
    int64_t rate_bps; /* of the link */
    void *host;
    int32_t (*mark)(void *host, uint32_t id, const char *reason);
    void (*drop)(void *host, uint32_t id, const char *reason);
    void (*set_timer)(void *host, int64_t delay_ns, uint32_t tag);
} ccperf_queue;

/* Sets the CE mark if the packet is ECN capable; returns 1 if it is marked now, otherwise 0. */
static inline int32_t ccperf_mark(ccperf_queue *queue, uint32_t id, const char *reason) {
    return queue->mark(queue->host, id, reason);
}

/* Drops a packet of the queue; the arriving one, if `enqueue` then returns 0. A reason is one of a few
 * texts, by which drops are counted. */
static inline void ccperf_drop(ccperf_queue *queue, uint32_t id, const char *reason) {
    queue->drop(queue->host, id, reason);
}

/* Calls `timer` with this tag once, `delay_ns` from now. */
static inline void ccperf_set_timer(ccperf_queue *queue, int64_t delay_ns, uint32_t tag) {
    queue->set_timer(queue->host, delay_ns, tag);
}

typedef struct ccperf_qdisc {
    uint32_t abi_version;
    uint32_t table_size;
    uint32_t view_size;
    uint32_t reserved;

    void *(*create)(ccperf_config *config);
    void (*destroy)(void *self);

    /* A packet arrives: nonzero keeps it, 0 drops it. */
    int32_t (*enqueue)(void *self, ccperf_queue *queue, const ccperf_packet *packet);
    /* The device has room: the id of a packet that was kept, or -1. */
    int64_t (*dequeue)(void *self, ccperf_queue *queue);
    /* Optional. Nonzero: there may be a packet to send now. */
    int32_t (*timer)(void *self, ccperf_queue *queue, uint32_t tag);
} ccperf_qdisc;

#define CCPERF_QDISC_HEADER CCPERF_ABI_VERSION, sizeof(ccperf_qdisc), sizeof(ccperf_queue), 0

/* --- load balancer ----------------------------------------------------------------------------- */

/* A packet at a switch; valid during the call. Nodes are numbered as the scenario lists them, from 0. */
typedef struct ccperf_hop {
    uint32_t flow;    /* a number for what a switch would know by addresses and ports, */
    int32_t backward; /* and 1 from the flow's destination to its source */
    uint64_t hash;    /* of addresses, protocol and ports in this direction: each bit depends on all */
    uint32_t source;  /* the hosts, */
    uint32_t destination;
    uint32_t source_leaf; /* and the switches that they are behind */
    uint32_t destination_leaf;
    int64_t bytes;   /* of the IP packet */
    int64_t payload; /* of the TCP segment */
    uint32_t seq;
    uint32_t ack;
    uint32_t flags; /* the TCP header's, e.g. 0x10 for ACK */
    int32_t ecn;
    /* Yours to change: the switches behind this one read them. 0 when a host sends the packet. */
    uint32_t notes[3];
    uint32_t reserved;
} ccperf_hop;

/* The switch, and what can be asked of its ports during a call. Use the functions below; the pointers
 * in it are worth nothing once the call has returned, nor in another thread. */
typedef struct ccperf_switch {
    int64_t now_ns;
    /* Set it to a text to end the run; it must stay valid after the call returns. */
    const char *error;
    uint32_t node;
    uint32_t reserved;
    /* Numbers of ports, in the order of links: in `pick` those to choose from, in `tick` all. A port
     * keeps its number when links fail. */
    int64_t port_count;
    const uint32_t *ports;
    void *host;
    int64_t (*waiting_bytes)(void *host, uint32_t port);
    int64_t (*sent_bytes)(void *host, uint32_t port);
    int64_t (*rate_bps)(void *host, uint32_t port);
} ccperf_switch;

/* Bytes that wait at a port: IP packets in its queue discipline, and frames in its device. */
static inline int64_t ccperf_waiting_bytes(ccperf_switch *at, uint32_t port) {
    return at->waiting_bytes(at->host, port);
}

/* Bytes of the transmissions that a port has begun so far. */
static inline int64_t ccperf_sent_bytes(ccperf_switch *at, uint32_t port) {
    return at->sent_bytes(at->host, port);
}

/* The rate of a port at present. */
static inline int64_t ccperf_rate_bps(ccperf_switch *at, uint32_t port) {
    return at->rate_bps(at->host, port);
}

typedef struct ccperf_balancer {
    uint32_t abi_version;
    uint32_t table_size;
    uint32_t view_size;
    uint32_t reserved;

    void *(*create)(ccperf_config *config);
    void (*destroy)(void *self);

    /* A packet has several ways to go: the position in `ports`, from 0, of the one that it takes. */
    int64_t (*pick)(void *self, ccperf_switch *at, ccperf_hop *packet);
    /* Optional. Nonzero: packets with one way come to `pick` as well. Asked once. */
    int32_t (*sees_every_hop)(void *self);
    /* Optional, with `tick`: how often that is called; 0 is never. Asked once. */
    int64_t (*period_ns)(void *self);
    void (*tick)(void *self, ccperf_switch *at);
} ccperf_balancer;

#define CCPERF_BALANCER_HEADER \
    CCPERF_ABI_VERSION, sizeof(ccperf_balancer), sizeof(ccperf_switch), 0

#ifdef __cplusplus
}
#endif

#endif
