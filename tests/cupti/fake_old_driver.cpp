// A CUPTI as 13.5 is without a driver of its version: it tells no version, and nothing else.
#include <cupti.h>

extern "C" {

CUptiResult cuptiGetVersion(uint32_t* version)
{
    *version = 0;
    return CUPTI_ERROR_UNKNOWN;
}

CUptiResult cuptiGetResultString(CUptiResult, const char** text)
{
    *text = "CUPTI_ERROR_UNKNOWN";
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetErrorMessage(CUptiResult, const char** text)
{
    *text = "An unknown internal error has occurred";
    return CUPTI_SUCCESS;
}
}
