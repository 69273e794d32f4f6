/* A load balancer of one's own: each burst of a flow takes a way by a hash of flow and burst. A packet
 * that comes later than `gap` ns after the one before it begins a new burst; without an end to bursts it
 * is ECMP, the scheme `ecmp`.
 *
 *     cc -shared -fPIC -O2 -I"$(python -m ccperf.include)" -o libmybalancer.so mybalancer.c
 *     ccperf run load_balancing --routing ecmp,./libmybalancer.so --condition symmetric --load 0.5
 */
#include <ccperf.h>

#include <stdlib.h>
#include <string.h>

struct seen {
    int64_t last; /* when the last packet came; -1: none has */
    uint64_t bursts;
};

struct mybalancer {
    int64_t gap;
    uint64_t seed;
    struct seen *seen; /* by flow and direction, as far as some have come */
    size_t room;
};

static void *create(ccperf_config *config) {
    struct mybalancer *self = calloc(1, sizeof *self);
    self->gap = 500000;
    self->seed = (uint64_t)config->seed;
    for (int64_t i = 0; i < config->attribute_count; i++) {
        if (strcmp(config->attributes[i].name, "gap") == 0)
            self->gap = atoll(config->attributes[i].value);
        else if (strcmp(config->attributes[i].name, "seed") == 0)
            self->seed = strtoull(config->attributes[i].value, NULL, 10);
        else
            config->error = "the attributes are gap, in ns, and seed";
    }
    return self;
}

static void destroy(void *object) {
    free(((struct mybalancer *)object)->seen);
    free(object);
}

/* Spreads every bit over all 64 (the finisher of SplitMix64). */
static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

static struct seen *seen(struct mybalancer *self, size_t way) {
    if (way >= self->room) {
        size_t room = 2 * way + 64;
        self->seen = realloc(self->seen, room * sizeof *self->seen);
        for (size_t i = self->room; i < room; i++)
            self->seen[i] = (struct seen){-1, 0};
        self->room = room;
    }
    return &self->seen[way];
}

static int64_t pick(void *object, ccperf_switch *at, ccperf_hop *packet) {
    struct mybalancer *self = object;
    struct seen *way = seen(self, 2 * (size_t)packet->flow + (size_t)packet->backward);
    if (way->last >= 0 && at->now_ns - way->last > self->gap)
        way->bursts++;
    way->last = at->now_ns;
    uint64_t salt = mix(self->seed + 0x9e3779b97f4a7c15 * ((uint64_t)at->node + 1));
    uint64_t high = mix((packet->hash + way->bursts) ^ salt) >> 32;
    return (int64_t)(high * (uint64_t)at->port_count >> 32);
}

CCPERF_EXPORT const ccperf_balancer ccperf_balancer_v2 = {
    CCPERF_BALANCER_HEADER,
    .create = create,
    .destroy = destroy,
    .pick = pick,
};
