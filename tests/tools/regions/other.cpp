// The second file of the program with regions: C++, and two threads in one region.
#include "tools/regions/roof.h"

#include <thread>

extern "C" void other_file()
{
    const auto work = [] {
        for (int i = 0; i < 3; ++i) {
            const roof::Region part("threads");
            roof_work("threads", 7, 0);
        }
    };
    std::thread first(work);
    std::thread second(work);
    first.join();
    second.join();
    roof_begin("loop");
    roof_end("loop");
}
