// Mapped memory: alignment, writing, NUMA node, and the error when memory is short.
#include "ert/base/error.hpp"
#include "ert/method/bench/buffer.hpp"
#include "ert/method/bench/process_limits.hpp"
#include "tests/skip.hpp"

#include <catch2/catch.hpp>
#include <cstdint>
#include <fstream>
#include <sstream>

using namespace roof;

namespace {

/// "VmFlags" of the mapping that begins at the address, from the kernel; empty if it does not report them.
std::string flags_of(const std::byte* address)
{
    std::ostringstream wanted;
    wanted << std::hex << reinterpret_cast<std::uintptr_t>(address) << '-';
    std::ifstream in("/proc/self/smaps");
    bool is_it = false;
    for (std::string line; std::getline(in, line);) {
        if (line.find('-') < line.find(' ')) is_it = line.starts_with(wanted.str());
        if (is_it && line.starts_with("VmFlags:")) return line + " ";
    }
    return "";
}

}  // namespace

TEST_CASE("a buffer starts on a huge page and has the requested size")
{
    for (const Pages pages : {Pages::huge, Pages::small}) {
        const Buffer buffer(5'000'000, "a test", {pages, std::nullopt});
        CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) % Buffer::huge_page == 0);
        CHECK(buffer.size() >= 5'000'000);
        CHECK(buffer.data()[buffer.size() - 1] == std::byte{0});
        buffer.data()[buffer.size() - 1] = std::byte{1};
    }
}

TEST_CASE("huge pages are requested or declined as the mapping says")
{
    const Buffer huge(8 << 20, "a test", {Pages::huge, std::nullopt});
    const Buffer small(8 << 20, "a test", {Pages::small, std::nullopt});
    const std::string flags = flags_of(huge.data());
    if (flags.empty() || flags.find(" hg ") == std::string::npos) return skip("this kernel has no huge pages");
    CHECK(flags_of(small.data()).find(" nh ") != std::string::npos);
}

TEST_CASE("a request for more memory than available throws OutOfMemory with both numbers")
{
    const double available = available_memory().value;
    REQUIRE(available > 0);
    try {
        const Buffer buffer(static_cast<std::size_t>(2 * available), "a test");
        FAIL("the buffer was granted");
    } catch (const OutOfMemory& error) {
        CHECK(error.wanted.value >= 1.9 * available);
        CHECK(error.available.value > 0);
        CHECK(error.available < error.wanted);
    }
}

TEST_CASE("memory bound to a node lies on it, or the error has a reason")
{
    try {
        const Buffer buffer(1 << 20, "a test", {Pages::small, 0});
        buffer.data()[0] = std::byte{1};
        if (const auto node = node_of(buffer.data())) CHECK(*node == 0);
    } catch (const Unsupported& error) {
        CHECK_THAT(error.what(), Catch::Contains("NUMA node 0"));
    }
}

TEST_CASE("binding memory to a missing node is an error")
{
    CHECK_THROWS_AS(Buffer(1 << 20, "a test", {Pages::small, 1000}), Unsupported);
}
