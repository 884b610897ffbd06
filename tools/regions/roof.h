/* Regions of a program for roof: calls, time, declared work and hardware counters of named parts, from C99 and C++, on Linux.
 *
 *     #include "roof.h"
 *
 *     roof_begin("solve");
 *     solve(x);
 *     roof_work("solve", flops, bytes);     // if you know them, for each call; a multiply-add is two FLOPs
 *     roof_end("solve");
 *
 *     ROOF_REGIONS=regions.csv ./program    // records
 *     roof place regions.csv                // the regions with declared work, under the measured roofs
 *
 * This one file is all: nothing is linked. Without ROOF_REGIONS a call tests one variable and returns. LIKWID's macros (LIKWID_MARKER_START
 * and the others) mark the same regions; include this file in place of likwid-marker.h. docs/regions.md has the file's columns.
 * For Fortran: roof.f90 beside this file.
 *
 * A region may contain others and itself: of nested calls of one name the outermost is timed. Threads are added up: calls, work and counts are
 * sums, seconds those of the thread with the most, since threads run beside each other.
 *
 * ROOF_REGIONS        the file to write when the program ends by exit() or from main(); %p in it becomes the process's number. Without %p a
 *                     process that fork() made writes nothing.
 * ROOF_REGION_EVENTS  up to six counters, NAME=TYPE:CONFIG with commas between, as perf_event_open(2) numbers them, in hexadecimal
 *                     [cycles=0:0,instructions=0:1]. One that cannot be opened on a thread, or on more than 256 threads, has an empty cell.
 */
#ifndef ROOF_H
#define ROOF_H

#if !defined(__linux__)
#error "roof.h needs Linux"
#endif

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of the C library; strict C (-std=c99) has no declaration of them. */
struct roof_time {
    long seconds, nanoseconds;
};
extern int roof_clock(int clock, struct roof_time* time) __asm__("clock_gettime");
extern long roof_call(long number, ...) __asm__("syscall");

enum { roof_most_events = 6, roof_most_counted_threads = 256 };

/* What is recorded of one region on one thread. */
struct roof_region {
    char* name;
    uint64_t calls;
    int depth;                  /* of calls within each other */
    uint64_t unmatched;         /* ends without a beginning */
    uint64_t began, nanoseconds;
    double flops, bytes;        /* declared; 0: not declared */
    uint64_t counts_began[roof_most_events], counts[roof_most_events];
};

struct roof_thread {
    struct roof_thread* next;
    struct roof_region** regions;
    size_t number, room;
    struct roof_region* last;   /* the one used before: regions in a loop need no search */
    int events[roof_most_events];
};

struct roof_event {
    char name[32];
    uint32_t type;
    uint64_t config;
};

/* 0: not asked yet; 1: recording; -1: not. The definitions are weak, so that all files of a program share one. */
__attribute__((weak)) int roof_state = 0;
__attribute__((weak)) struct roof_thread* roof_threads = 0;
__attribute__((weak)) __thread struct roof_thread* roof_this_thread = 0;
__attribute__((weak)) struct roof_event roof_events[roof_most_events] = {{"", 0, 0}};
__attribute__((weak)) int roof_number_of_events = 0;
__attribute__((weak)) int roof_counted_threads = 0;
__attribute__((weak)) long roof_process = 0;

__attribute__((weak)) uint64_t roof_now(void)
{
    struct roof_time t;
    roof_clock(1, &t); /* CLOCK_MONOTONIC */
    return (uint64_t)t.seconds * 1000000000u + (uint64_t)t.nanoseconds;
}

/* The region of the name in the thread, appended if it is not there; null without memory. */
__attribute__((weak)) struct roof_region* roof_find(struct roof_thread* thread, const char* name)
{
    if (thread->last && strcmp(thread->last->name, name) == 0) return thread->last;
    for (size_t i = 0; i < thread->number; ++i)
        if (strcmp(thread->regions[i]->name, name) == 0) return thread->last = thread->regions[i];
    if (thread->number == thread->room) {
        const size_t room = thread->room ? 2 * thread->room : 16;
        struct roof_region** more = (struct roof_region**)realloc((void*)thread->regions, room * sizeof *more);
        if (!more) return 0;
        thread->regions = more;
        thread->room = room;
    }
    struct roof_region* region = (struct roof_region*)calloc(1, sizeof *region);
    if (!region) return 0;
    region->name = (char*)malloc(strlen(name) + 1);
    if (!region->name) {
        free(region);
        return 0;
    }
    strcpy(region->name, name);
    thread->regions[thread->number] = region;
    __atomic_store_n(&thread->number, thread->number + 1, __ATOMIC_RELEASE);
    return thread->last = region;
}

__attribute__((weak)) struct roof_thread* roof_thread_of_mine(void)
{
    if (roof_this_thread) return roof_this_thread;
    struct roof_thread* thread = (struct roof_thread*)calloc(1, sizeof *thread);
    if (!thread) return 0;
    const int is_counted =
        __atomic_fetch_add(&roof_counted_threads, 1, __ATOMIC_RELAXED) < roof_most_counted_threads; /* each takes file descriptors */
    for (int i = 0; i < roof_number_of_events; ++i) {
        thread->events[i] = -1;
        if (!is_counted) continue;
        struct perf_event_attr attributes;
        memset(&attributes, 0, sizeof attributes);
        attributes.size = sizeof attributes;
        attributes.type = roof_events[i].type;
        attributes.config = roof_events[i].config;
        attributes.exclude_kernel = 1;
        attributes.exclude_hv = 1;
        thread->events[i] = (int)roof_call(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
    }
    thread->next = __atomic_load_n(&roof_threads, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&roof_threads, &thread->next, thread, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
    return roof_this_thread = thread;
}

__attribute__((weak)) void roof_read_counts(const struct roof_thread* thread, uint64_t* counts)
{
    for (int i = 0; i < roof_number_of_events; ++i)
        if (thread->events[i] < 0 || read(thread->events[i], &counts[i], sizeof counts[i]) != (ssize_t)sizeof counts[i])
            counts[i] = 0;
}

/* A cell of CSV: quoted, with quotation marks doubled, and blanks for line ends. */
__attribute__((weak)) void roof_write_name(FILE* file, const char* name)
{
    fputc('"', file);
    for (; *name; ++name) {
        if (*name == '"') fputc('"', file);
        fputc((unsigned char)*name < ' ' ? ' ' : *name, file);
    }
    fputc('"', file);
}

/* Writes the regions of all threads, each name once. */
__attribute__((weak)) void roof_write(void)
{
    const char* const wanted = getenv("ROOF_REGIONS");
    char path[4096];
    const char* const number = wanted ? strstr(wanted, "%p") : 0;
    if (!wanted || (!number && getpid() != roof_process)) return;
    if (number)
        snprintf(path, sizeof path, "%.*s%ld%s", (int)(number - wanted), wanted, (long)getpid(), number + 2);
    else
        snprintf(path, sizeof path, "%s", wanted);
    FILE* const file = fopen(path, "w");
    if (!file) {
        fprintf(stderr, "roof.h: cannot write %s: %s\n", path, strerror(errno));
        return;
    }
    fprintf(file, "name,calls,threads,seconds,flops,bytes");
    for (int i = 0; i < roof_number_of_events; ++i) fprintf(file, ",%s", roof_events[i].name);
    fprintf(file, "\n");
    struct roof_thread* const threads = __atomic_load_n(&roof_threads, __ATOMIC_ACQUIRE);
    struct roof_thread written; /* names that are in the file */
    memset(&written, 0, sizeof written);
    uint64_t unmatched = 0, open = 0;
    for (struct roof_thread* first = threads; first; first = first->next)
        for (size_t r = 0; r < __atomic_load_n(&first->number, __ATOMIC_ACQUIRE); ++r) {
            const char* const name = first->regions[r]->name;
            const size_t before = written.number;
            if (!roof_find(&written, name) || written.number == before) continue;
            uint64_t calls = 0, nanoseconds = 0, counts[roof_most_events] = {0};
            double flops = 0, bytes = 0;
            int number_of_threads = 0, is_counted[roof_most_events];
            for (int i = 0; i < roof_number_of_events; ++i) is_counted[i] = 1;
            for (struct roof_thread* thread = threads; thread; thread = thread->next)
                for (size_t i = 0; i < thread->number; ++i) {
                    const struct roof_region* const region = thread->regions[i];
                    if (strcmp(region->name, name) != 0) continue;
                    unmatched += region->unmatched;
                    open += region->depth > 0;
                    if (region->calls == 0) continue;
                    ++number_of_threads;
                    calls += region->calls;
                    if (region->nanoseconds > nanoseconds) nanoseconds = region->nanoseconds;
                    flops += region->flops;
                    bytes += region->bytes;
                    for (int e = 0; e < roof_number_of_events; ++e) {
                        counts[e] += region->counts[e];
                        if (thread->events[e] < 0) is_counted[e] = 0;
                    }
                }
            if (calls == 0) continue;
            roof_write_name(file, name);
            fprintf(file, ",%" PRIu64 ",%d,%.9f,", calls, number_of_threads, (double)nanoseconds * 1e-9);
            if (flops > 0) fprintf(file, "%.17g", flops);
            fprintf(file, ",");
            if (bytes > 0) fprintf(file, "%.17g", bytes);
            for (int i = 0; i < roof_number_of_events; ++i) {
                fprintf(file, ",");
                if (is_counted[i]) fprintf(file, "%" PRIu64, counts[i]);
            }
            fprintf(file, "\n");
        }
    if (fclose(file) != 0) fprintf(stderr, "roof.h: cannot write %s: %s\n", path, strerror(errno));
    if (unmatched) fprintf(stderr, "roof.h: %" PRIu64 " ends of regions have no beginning\n", unmatched);
    if (open) fprintf(stderr, "roof.h: %" PRIu64 " regions were not ended; their last call is left out\n", open);
    for (size_t i = 0; i < written.number; ++i) {
        free(written.regions[i]->name);
        free(written.regions[i]);
    }
    free((void*)written.regions);
}

/* Whether regions are recorded, by the environment. */
__attribute__((weak)) int roof_start(void)
{
    const char* events = getenv("ROOF_REGION_EVENTS");
    if (!getenv("ROOF_REGIONS")) {
        __atomic_store_n(&roof_state, -1, __ATOMIC_RELAXED);
        return 0;
    }
    static int has_begun = 0; /* of two threads that ask at once, one prepares and the other leaves its first call out */
    if (__atomic_exchange_n(&has_begun, 1, __ATOMIC_ACQ_REL)) return __atomic_load_n(&roof_state, __ATOMIC_ACQUIRE) > 0;
    if (!events) events = "cycles=0:0,instructions=0:1";
    while (*events && roof_number_of_events < roof_most_events) {
        struct roof_event* const event = &roof_events[roof_number_of_events];
        int length = 0;
        if (sscanf(events, "%31[^=,]=%" SCNx32 ":%" SCNx64 "%n", event->name, &event->type, &event->config, &length) < 3) {
            fprintf(stderr, "roof.h: ROOF_REGION_EVENTS: '%s' is not of the form NAME=TYPE:CONFIG\n", events);
            break;
        }
        ++roof_number_of_events;
        events += length;
        if (*events == ',') ++events;
    }
    roof_process = getpid();
    atexit(roof_write);
    __atomic_store_n(&roof_state, 1, __ATOMIC_RELEASE);
    return 1;
}

__attribute__((weak)) void roof_begin_recorded(const char* name)
{
    struct roof_thread* const thread = roof_thread_of_mine();
    struct roof_region* const region = thread ? roof_find(thread, name) : 0;
    if (!region || region->depth++ > 0) return;
    if (roof_number_of_events) roof_read_counts(thread, region->counts_began);
    region->began = roof_now();
}

__attribute__((weak)) void roof_end_recorded(const char* name)
{
    const uint64_t now = roof_now();
    struct roof_thread* const thread = roof_thread_of_mine();
    struct roof_region* const region = thread ? roof_find(thread, name) : 0;
    if (!region) return;
    if (region->depth == 0) {
        ++region->unmatched;
        return;
    }
    if (--region->depth > 0) return;
    region->nanoseconds += now - region->began;
    ++region->calls;
    if (roof_number_of_events) {
        uint64_t counts[roof_most_events];
        roof_read_counts(thread, counts);
        for (int i = 0; i < roof_number_of_events; ++i) region->counts[i] += counts[i] - region->counts_began[i];
    }
}

__attribute__((weak)) void roof_work_recorded(const char* name, double flops, double bytes)
{
    struct roof_thread* const thread = roof_thread_of_mine();
    struct roof_region* const region = thread ? roof_find(thread, name) : 0;
    if (!region) return;
    region->flops += flops;
    region->bytes += bytes;
}

/* Forgets what this thread did in the region. */
__attribute__((weak)) void roof_reset_recorded(const char* name)
{
    struct roof_thread* const thread = roof_thread_of_mine();
    struct roof_region* const region = thread ? roof_find(thread, name) : 0;
    if (!region) return;
    region->calls = region->nanoseconds = 0;
    region->flops = region->bytes = 0;
    memset(region->counts, 0, sizeof region->counts);
}

static inline int roof_is_recording(void)
{
    const int state = __atomic_load_n(&roof_state, __ATOMIC_ACQUIRE);
    return __builtin_expect(state >= 0, 0) && (state > 0 || roof_start());
}

/* Begins a call of the region on this thread. */
static inline void roof_begin(const char* name)
{
    if (roof_is_recording()) roof_begin_recorded(name);
}

/* Ends it. */
static inline void roof_end(const char* name)
{
    if (roof_is_recording()) roof_end_recorded(name);
}

/* Adds what this thread does in the region: FLOPs, and bytes to and from memory; 0 for what is not known. */
static inline void roof_work(const char* name, double flops, double bytes)
{
    if (roof_is_recording()) roof_work_recorded(name, flops, bytes);
}

/* What this thread did in the region so far: calls, and seconds if they are asked for. 0 if nothing is recorded. */
static inline uint64_t roof_calls(const char* name, double* seconds)
{
    struct roof_thread* const thread = roof_is_recording() ? roof_thread_of_mine() : 0;
    struct roof_region* const region = thread ? roof_find(thread, name) : 0;
    if (seconds) *seconds = region ? (double)region->nanoseconds * 1e-9 : 0;
    return region ? region->calls : 0;
}

#ifdef __cplusplus
}

namespace roof {

/// A region from here to the end of the block, which the name must outlive.
class Region {
  public:
    explicit Region(const char* name) : name_(name) { roof_begin(name_); }
    ~Region() { roof_end(name_); }
    Region(const Region&) = delete;
    Region& operator=(const Region&) = delete;

  private:
    const char* name_;
};

}  // namespace roof
#endif

/* LIKWID's names, unless its own header came first. Its groups of events do not apply: LIKWID_MARKER_GET gives no counts. */
#ifndef LIKWID_MARKER_START
#define LIKWID_MARKER_INIT ((void)roof_is_recording())
#define LIKWID_MARKER_THREADINIT ((void)0)
#define LIKWID_MARKER_SWITCH ((void)0)
#define LIKWID_MARKER_REGISTER(name) ((void)0)
#define LIKWID_MARKER_START(name) roof_begin(name)
#define LIKWID_MARKER_STOP(name) roof_end(name)
#define LIKWID_MARKER_RESET(name) (roof_is_recording() ? roof_reset_recorded(name) : (void)0)
#define LIKWID_MARKER_GET(name, number, events, time, count) (*(number) = 0, *(count) = (int)roof_calls(name, time))
#define LIKWID_MARKER_WRITE_FILE(file) ((void)0)
#define LIKWID_MARKER_CLOSE ((void)0)
#endif

#endif
