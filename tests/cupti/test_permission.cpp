// The right to read counters, as known from the driver's settings.
#include "ert/cupti/library.hpp"

#include <catch2/catch.hpp>

using namespace roof::cupti;

TEST_CASE("counters may be read if the driver does not restrict them or this user is an administrator")
{
    CHECK(counters_capability("ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 0\n", false).present);
    CHECK(counters_capability("RmProfilingAdminOnly: 1\n", true).present);
    const roof::Capability denied =
        counters_capability("EnableMSI: 1\nRmProfilingAdminOnly: 1\nModifyDeviceFiles: 1\n", false);
    CHECK_FALSE(denied.present);
    CHECK_THAT(denied.remedy, Catch::Contains("CAP_PERFMON"));
    const roof::Capability absent = counters_capability("", true);
    CHECK_FALSE(absent.present);
    CHECK(absent.remedy.empty());
}
