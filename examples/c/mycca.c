/* A congestion control of one's own: NewReno that keeps `beta` of what is in flight on a loss.
 *
 *     cc -shared -fPIC -O2 -I"$(python -m ccperf.include)" -o libmycca.so mycca.c
 *     ccperf run aqm --cc ./libmycca.so,TcpCubic --k 1 --qdisc codel
 */
#include <ccperf.h>

#include <stdlib.h>
#include <string.h>

struct mycca {
    double beta;
};

static void *create(ccperf_config *config) {
    struct mycca *self = malloc(sizeof *self);
    self->beta = 0.7;
    for (int64_t i = 0; i < config->attribute_count; i++) {
        if (strcmp(config->attributes[i].name, "beta") == 0)
            self->beta = atof(config->attributes[i].value);
        else
            config->error = "there is one attribute, beta";
    }
    if (!(self->beta > 0 && self->beta < 1))
        config->error = "beta must be between 0 and 1";
    return self;
}

static int64_t ssthresh(void *self, ccperf_tcb *tcb, int64_t bytes_in_flight) {
    int64_t kept = (int64_t)(((struct mycca *)self)->beta * (double)bytes_in_flight);
    int64_t least = 2 * tcb->segment_size;
    return kept > least ? kept : least;
}

static void cong_avoid(void *self, ccperf_tcb *tcb, int64_t segments_acked) {
    (void)self;
    if (segments_acked > 0 && tcb->cwnd < tcb->ssthresh) { /* slow start */
        tcb->cwnd += tcb->segment_size;
        segments_acked--;
    }
    if (segments_acked > 0 && tcb->cwnd >= tcb->ssthresh) { /* one segment per round trip */
        int64_t adder = tcb->segment_size * tcb->segment_size / tcb->cwnd;
        tcb->cwnd += adder > 1 ? adder : 1;
    }
}

CCPERF_EXPORT const ccperf_cca ccperf_cca_v2 = {
    CCPERF_CCA_HEADER,
    .create = create,
    .destroy = free,
    .ssthresh = ssthresh,
    .cong_avoid = cong_avoid,
};
