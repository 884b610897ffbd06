// Interpretation of the driver's reports on a GPU, without a driver.
#include "ert/base/error.hpp"
#include "ert/gpu/nvml.hpp"
#include "ert/gpu/probes/device_facts.hpp"

#include <array>
#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::gpu;

TEST_CASE("heat, hardware slowdowns and sync boost disturb a launch, idleness and the power cap do not")
{
    CHECK(disturbance_in(0).empty());
    CHECK(disturbance_in(0x1).empty());
    CHECK(disturbance_in(0x2).empty());
    CHECK(disturbance_in(0x4).empty());
    CHECK(disturbance_in(0x8) == "the hardware slowed the card");
    CHECK(disturbance_in(0x10) == "the card waited for another's clock");
    CHECK(disturbance_in(0x20) == "the card was too hot");
    CHECK(disturbance_in(0x44) == "the card was too hot");
    CHECK(disturbance_in(0x80) == "the power supply braked the card");
    CHECK(is_power_capped(0x4));
    CHECK_FALSE(is_power_capped(0x8));
}

TEST_CASE("reasons of newer drivers are told apart from those that are known")
{
    CHECK(unknown_in(0x1FF) == 0);
    CHECK(unknown_in(0x200) == 0x200);
    CHECK(unknown_in(0x400 | 0x4) == 0x400);
}

TEST_CASE("a missing library is no error, and a missing function is named")
{
    const std::array<std::string, 1> none{"libno-such-thing.so.1"};
    CHECK_FALSE(Library::open(none).has_value());
    const std::array<std::string, 2> second{"libno-such-thing.so.1", "libm.so.6"};
    const auto library = Library::open(second);
    REQUIRE(library.has_value());
    CHECK(library->function<double(double)>("sqrt")(16) == 4);
    CHECK_THROWS_WITH(library->function<void()>("no_such_function"), Catch::Contains("no_such_function"));
    CHECK(library->find<void()>("no_such_function") == nullptr);
    CHECK(library->find<double(double)>("sqrt") != nullptr);
}

TEST_CASE("the compute capability is read from the description of a GPU")
{
    Device device;
    CHECK(capability_of(device) == 0);
    CHECK_THAT(*missing_capability(device, 80, "this"), Catch::Contains("does not say"));
    device.facts["compute capability"] = "12.0";
    device.facts["multiprocessors"] = "132";
    CHECK(capability_of(device) == 120);
    CHECK(multiprocessors_of(device) == 132);
    CHECK_FALSE(missing_capability(device, 90, "this").has_value());
}
