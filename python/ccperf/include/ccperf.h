/* ccperf.h - a congestion control, queue discipline or load balancer of your own, as a shared library.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Fill in one table of functions, export it under the name below, and build a shared library:
 *
 *     static int64_t ssthresh(void *self, ccperf_tcb *tcb, int64_t bytes_in_flight) { ... }
 *     static void cong_avoid(void *self, ccperf_tcb *tcb, int64_t segments_acked) { ... }
 *
 *     CCPERF_EXPORT const ccperf_cca ccperf_cca_v2 = {
 *         CCPERF_CCA_HEADER,
 *         .ssthresh = ssthresh,
 *         .cong_avoid = cong_avoid,
 *     };
 *
 *     cc -shared -fPIC -O2 -I"$(python -m ccperf.include)" -o libmycca.so mycca.c
 *     ccperf run aqm --cc ./libmycca.so
 *
 * In C++20 the same, with functions in the order of the table; before it, all of them by place.
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

/* generated: version (make docs) */
#define CCPERF_ABI_VERSION 2
/* end: version */

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
enum ccperf_ecn_mode { CCPERF_ECN_CLASSIC = 0, CCPERF_ECN_DCTCP = 1, CCPERF_ECN_ACCURATE = 2 };
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
/* generated: tcb (make docs) */
typedef struct ccperf_tcb {
    /* The time of the call. */
    int64_t now_ns;
    /* Set it to a text to end the run; it must stay valid after the call returns. */
    const char *error;
    /* Yours to change, up to `ect`. */
    /* At least one segment. */
    int64_t cwnd;
    int64_t ssthresh;
    /* At least 1. */
    int64_t pacing_rate_bps;
    /* Whether segments are spaced. */
    int32_t pacing;
    /* Percent of cwnd / sRTT, in slow start. */
    int32_t pacing_ss_ratio;
    /* The same in congestion avoidance. */
    int32_t pacing_ca_ratio;
    int32_t use_ecn;
    int32_t ecn_mode;
    int32_t ecn_state;
    /* The code point of data segments, ECT(0) or ECT(1). */
    int32_t ect;
    int32_t cong_state;
    /* The window, not the application, limited the last transmission. */
    int32_t is_cwnd_limited;
    /* The present ACK covers data that had been retransmitted; set in Recovery only. */
    int32_t is_retrans_data_acked;
    int32_t pace_initial_window;
    int32_t reserved;
    int64_t segment_size;
    /* In segments. */
    int64_t initial_cwnd;
    int64_t initial_ssthresh;
    /* Sent, neither acknowledged nor SACKed nor deemed lost (RFC 6675's pipe). */
    int64_t bytes_in_flight;
    /* Newly acknowledged or SACKed by the present ACK. */
    int64_t last_acked_sacked;
    /* The sample of the last ACK that gave one, in whole ms if timestamps are on, as in ns-3; in
     * whole us under the profile `linux`. 0 before the first sample. */
    int64_t last_rtt_ns;
    /* 0 before the first sample. */
    int64_t srtt_ns;
    /* CCPERF_TIME_MAX before the first sample. */
    int64_t min_rtt_ns;
    int64_t max_pacing_rate_bps;
    uint32_t last_acked_seq;
    /* SND.NXT. */
    uint32_t next_tx_seq;
    /* The highest sequence number sent so far, plus one. */
    uint32_t high_tx_mark;
    /* RCV.NXT. */
    uint32_t next_rx_seq;
    /* TSval of the last segment received, in ms. */
    uint32_t rcv_timestamp;
    /* The TSecr in it. */
    uint32_t rcv_timestamp_echo;
} ccperf_tcb;
/* end: tcb */

/* What one ACK says (Linux's ack_sample and rate_sample; draft-cheng-iccrg-delivery-rate-estimation). */
/* generated: sample (make docs) */
typedef struct ccperf_rate_sample {
    /* From the departure to the acknowledgement of the segment that was sent last among those that
     * this ACK has newly acknowledged or SACKed, not rounded. -1 if one of them was retransmitted:
     * the ACK may be the original's (Karn's algorithm, RFC 6298 section 3). */
    int64_t rtt_ns;
    /* Bytes that this ACK has newly acknowledged or SACKed. */
    int64_t acked_sacked;
    /* Bytes found lost since the ACK before; what is lost again counts again. */
    int64_t newly_lost;
    /* `delivered` over `interval_ns`; of an earlier sample, if this one is limited by the
     * application and lower. */
    int64_t delivery_rate_bps;
    /* The longer of the two phases below; 0 if the sample is of no use. */
    int64_t interval_ns;
    /* Bytes over the interval; -1 without timing information. */
    int64_t delivered;
    /* `total_delivered` when the sampled segment was sent. */
    int64_t prior_delivered;
    /* When the last of those had been delivered; 0 without a sample. */
    int64_t prior_time_ns;
    /* From the departure of the segment delivered at `prior_time_ns` to that of the sampled one. */
    int64_t send_elapsed_ns;
    /* From `prior_time_ns` to the delivery of the sampled segment. */
    int64_t ack_elapsed_ns;
    /* By how many bytes this ACK changed what counts as lost, up or down (ns-3's `m_bytesLoss`). */
    int64_t bytes_loss;
    /* Bytes in flight before this ACK. */
    int64_t prior_in_flight;
    /* Bytes delivered since the connection's start. */
    int64_t total_delivered;
    /* Bytes found lost since the connection's start. */
    int64_t total_lost;
    /* When bytes were delivered last. */
    int64_t delivered_time_ns;
    /* When the segment that was delivered last had been sent. */
    int64_t first_sent_time_ns;
    /* `total_delivered` at which the application-limited phase ends, or 0. */
    int64_t app_limited;
    /* The application, not the window, limited what was sent. */
    int32_t is_app_limited;
    int32_t reserved;
} ccperf_rate_sample;
/* end: sample */

/* An acknowledgement to be sent before the receiver goes on (RFC 8257 section 3.2). */
typedef struct ccperf_early_ack {
    int32_t send; /* 0 or 1 */
    int32_t ece;
    uint32_t ack;
    uint32_t reserved;
} ccperf_early_ack;

/* Which functions are to be called, see ccperf_cca.hears. */
/* generated: hears (make docs) */
enum ccperf_hears {
    CCPERF_HEARS_INIT = 1u << 0,
    CCPERF_HEARS_SSTHRESH = 1u << 1,
    CCPERF_HEARS_CONG_AVOID = 1u << 2,
    CCPERF_HEARS_PKTS_ACKED = 1u << 3,
    CCPERF_HEARS_SET_STATE = 1u << 4,
    CCPERF_HEARS_CWND_EVENT = 1u << 5,
    CCPERF_HEARS_CONG_CONTROL = 1u << 6,
    CCPERF_HEARS_ON_ACK = 1u << 7,
    CCPERF_HEARS_ON_SENT = 1u << 8,
    CCPERF_HEARS_ON_LOSS = 1u << 9,
    CCPERF_HEARS_UNDO = 1u << 10
};
/* end: hears */

/* The calls are those of Linux's tcp_congestion_ops, and a few more. All but ssthresh may be left out. */
typedef struct ccperf_cca {
    uint32_t abi_version;
    uint32_t table_size;
    uint32_t view_size;
    uint32_t sample_size;

    /* Makes the object that the other functions get as `self`; without it `self` is NULL. */
    void *(*create)(ccperf_config *config);
    void (*destroy)(void *self);
    /* Optional, asked once: the sum of CCPERF_HEARS_ of those of cong_control, on_ack, on_sent and on_loss that
     * this object wants called; without it, those that are there. */
    uint32_t (*hears)(void *self);

    /* generated: functions (make docs) */
    /* The connection opens, before its first segment.
     * Called at now: the sender is about to send its SYN, the receiver has just accepted one.
     * Nothing else is called before. A receiver is called once more if the connection is given up
     * before it is complete and the port takes another one. */
    void (*init)(void *self, ccperf_tcb *tcb);
    /* The new slow start threshold in bytes, on entering Recovery, CWR or Loss.
     * At least one segment. Must be there. */
    int64_t (*ssthresh)(void *self, ccperf_tcb *tcb, int64_t bytes_in_flight);
    /* Grow the window: each ACK of new data in Open and Loss.
     * ns-3's IncreaseWindow, with no segments at times. Under the profile linux in Disorder, too.
     * Not called where cong_control has the window. */
    void (*cong_avoid)(void *self, ccperf_tcb *tcb, int64_t segments_acked);
    /* An ACK has acknowledged segments.
     * Of none where duplicate ACKs have told of them, as in ns-3. rtt_ns is the smoothed RTT, as
     * ns-3 hands it over; under the profile linux that of this ACK in whole us, as Linux does.
     * on_ack has the sample of this ACK under each. */
    void (*pkts_acked)(void *self, ccperf_tcb *tcb, int64_t segments_acked, int64_t rtt_ns);
    /* The state machine is about to enter a state.
     * The connection's state is still the old one. */
    void (*set_state)(void *self, ccperf_tcb *tcb, int32_t state);
    /* What happens besides ACKs: the start of a transmission, a timeout, ECN marks.
     * Linux's enum tcp_ca_event. A receiver that must acknowledge at once what came before (RFC
     * 8257 section 3.2) answers with that acknowledgement. *early comes zeroed. */
    void (*cwnd_event)(void *self, ccperf_tcb *tcb, int32_t event, ccperf_early_ack *early);
    /* If there: each ACK, with its sample; the algorithm alone sets cwnd and pacing rate.
     * Linux's and ns-3's cong_control, as BBR has it. The socket manages the window no longer:
     * cong_avoid is not called, and a loss reduces nothing. */
    void (*cong_control)(void *self, ccperf_tcb *tcb, const ccperf_rate_sample *sample);
    /* An ACK has acknowledged or SACKed something new.
     * The sample has the RTT as measured, what was delivered, what was found lost and the delivery
     * rate (Linux's ack_sample and rate_sample). Called when the ACK has been accounted for,
     * before anything is sent that it allows. */
    void (*on_ack)(void *self, ccperf_tcb *tcb, const ccperf_rate_sample *sample);
    /* A segment with data has left.
     * bytes is its payload; bytes_in_flight of the connection counts it already. */
    void (*on_sent)(void *self, ccperf_tcb *tcb, int64_t bytes, int32_t is_retransmission);
    /* So many bytes have been found lost.
     * By SACKs, duplicate ACKs or a timeout, before the state machine reacts. What was
     * retransmitted and is lost again counts again. */
    void (*on_loss)(void *self, ccperf_tcb *tcb, int64_t bytes);
    /* The window after a loss that was none.
     * What was thought lost had only been late: the reduction is undone, ssthresh too. prior_cwnd
     * is the window before it. By default the larger of the two windows (Linux's undo_cwnd). ns-3
     * 3.44 undoes nothing: called under profiles that do. */
    int64_t (*undo)(void *self, ccperf_tcb *tcb, int64_t prior_cwnd);
    /* end: functions */
} ccperf_cca;

/* By name; before C++20, which has no names in tables, by place. */
#if defined(__cplusplus) && __cplusplus < 202002L
#define CCPERF_FIELD(name, value) value
#else
#define CCPERF_FIELD(name, value) .name = value
#endif

#define CCPERF_CCA_HEADER                                                          \
    CCPERF_FIELD(abi_version, CCPERF_ABI_VERSION),                                 \
    CCPERF_FIELD(table_size, sizeof(ccperf_cca)),                                  \
    CCPERF_FIELD(view_size, sizeof(ccperf_tcb)),                                   \
    CCPERF_FIELD(sample_size, sizeof(ccperf_rate_sample))

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
    uint32_t flow;    /* a number for what addresses and ports tell apart, */
    int32_t backward; /* and 1 from the flow's destination to its source */
    uint32_t seq;
    uint32_t ack;
    uint32_t flags; /* the TCP header's, e.g. 0x10 for ACK */
    int32_t dscp;   /* differentiated services code point (RFC 2474) */
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

#define CCPERF_QDISC_HEADER                                                        \
    CCPERF_FIELD(abi_version, CCPERF_ABI_VERSION),                                 \
    CCPERF_FIELD(table_size, sizeof(ccperf_qdisc)),                                \
    CCPERF_FIELD(view_size, sizeof(ccperf_queue)),                                 \
    CCPERF_FIELD(reserved, 0)

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

#define CCPERF_BALANCER_HEADER                                                     \
    CCPERF_FIELD(abi_version, CCPERF_ABI_VERSION),                                 \
    CCPERF_FIELD(table_size, sizeof(ccperf_balancer)),                             \
    CCPERF_FIELD(view_size, sizeof(ccperf_switch)),                                \
    CCPERF_FIELD(reserved, 0)

#ifdef __cplusplus
}
#endif

#endif
