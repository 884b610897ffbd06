// A CUPTI as 13.2 is without a driver: the question for its version never comes to an end. Here it ends the process.
#include <cupti.h>

#include <cstdlib>

extern "C" {

CUptiResult cuptiGetVersion(uint32_t*)
{
    std::abort();
}

/// By this function 13.2 and later are known.
CUptiResult cuptiProfilerHostGetSinglePassSets(void*)
{
    std::abort();
}
}
