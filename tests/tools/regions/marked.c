/* A C program of two files with regions, some by LIKWID's names. tests/tools/test_regions.py knows what it does. */
#include "tools/regions/roof.h"

void other_file(void);

int main(void)
{
    char name[] = "loop";
    LIKWID_MARKER_INIT;
    LIKWID_MARKER_THREADINIT;
    LIKWID_MARKER_REGISTER("loop");
    roof_begin("all");
    for (int i = 0; i < 5; ++i) {
        LIKWID_MARKER_START(name);
        roof_work(name, 100, 24);
        LIKWID_MARKER_STOP("loop");
    }
    name[0] = 'X'; /* names are copied */
    roof_begin("all");
    roof_end("all"); /* within itself: one call */
    other_file();
    roof_end("all");
    roof_end("never begun");
    roof_begin("never ended");
    roof_begin("a \"name\", with\na line end");
    roof_end("a \"name\", with\na line end");
    LIKWID_MARKER_START("forgotten");
    LIKWID_MARKER_STOP("forgotten");
    LIKWID_MARKER_RESET("forgotten");
    int events = 9, calls = 9;
    double seconds = -1;
    LIKWID_MARKER_GET("loop", &events, 0, &seconds, &calls);
    printf("%d %d %d\n", events, calls, seconds >= 0);
    LIKWID_MARKER_CLOSE;
    return 0;
}
