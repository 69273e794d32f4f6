/* A queue discipline of one's own: first in, first out, and ECN marks above a threshold.
 *
 *     cc -shared -fPIC -O2 -I"$(python -m ccperf.include)" -o libmyqdisc.so myqdisc.c
 *     ccperf run aqm --cc TcpCubic --k 1 --qdisc ./libmyqdisc.so
 */
#include <ccperf.h>

#include <stdlib.h>
#include <string.h>

struct myqdisc {
    int64_t limit, threshold;
    uint32_t *ids; /* a ring of `limit` packets */
    int64_t first, length;
};

static void *create(ccperf_config *config) {
    struct myqdisc *self = calloc(1, sizeof *self);
    char *unit = "p";
    self->limit = 100;
    self->threshold = -1; /* never */
    for (int64_t i = 0; i < config->attribute_count; i++) {
        if (strcmp(config->attributes[i].name, "MaxSize") == 0)
            self->limit = strtoll(config->attributes[i].value, &unit, 10);
        else if (strcmp(config->attributes[i].name, "threshold") == 0)
            self->threshold = atoll(config->attributes[i].value);
        else
            config->error = "the attributes are MaxSize and threshold";
    }
    if (self->limit < 1 || strcmp(unit, "p") != 0)
        config->error = "MaxSize must be a number of packets, e.g. 20p";
    else
        self->ids = calloc((size_t)self->limit, sizeof *self->ids);
    return self;
}

static void destroy(void *object) {
    free(((struct myqdisc *)object)->ids);
    free(object);
}

static int32_t enqueue(void *object, ccperf_queue *queue, const ccperf_packet *packet) {
    struct myqdisc *self = object;
    if (self->length == self->limit) {
        ccperf_drop(queue, packet->id, "Queue disc limit exceeded");
        return 0;
    }
    if (self->threshold >= 0 && self->length >= self->threshold)
        ccperf_mark(queue, packet->id, "Above threshold");
    self->ids[(self->first + self->length++) % self->limit] = packet->id;
    return 1;
}

static int64_t dequeue(void *object, ccperf_queue *queue) {
    struct myqdisc *self = object;
    (void)queue;
    if (self->length == 0)
        return -1;
    uint32_t id = self->ids[self->first];
    self->first = (self->first + 1) % self->limit;
    self->length--;
    return id;
}

CCPERF_EXPORT const ccperf_qdisc ccperf_qdisc_v2 = {
    CCPERF_QDISC_HEADER,
    .create = create,
    .destroy = destroy,
    .enqueue = enqueue,
    .dequeue = dequeue,
};
