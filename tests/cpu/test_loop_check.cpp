// The check of a loop's machine code refuses loops that do not do what their operation counts.
#include "cpu/kernels/decode.hpp"
#include "ert/base/error.hpp"

#include <catch2/catch.hpp>
#include <cstring>

using namespace roof;
using namespace roof::cpu;
using Catch::Matchers::Contains;

namespace {

/// A loop of four vectors with one byte of its machine code changed.
struct Changed {
    Changed(const char* operation, Form form, std::uint8_t from, std::uint8_t to, int occurrence = 0)
        : kernel(parse_isa("avx2"), parse_array_operation(operation), form)
    {
        kernel.setProtectModeRW();
        auto* const code = const_cast<std::uint8_t*>(kernel.loop().data());
        std::size_t i = 0;
        while (i < kernel.loop().size() && (code[i] != from || occurrence-- > 0)) ++i;
        if (i == kernel.loop().size()) FAIL("the loop has no such byte");
        code[i] = to;
    }

    StreamKernel kernel;
};

constexpr Form plain{.vectors = 4, .join = Join::none};

std::string complaint(const StreamKernel& kernel)
{
    try {
        check_loop(kernel);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("a loop as generated passes the check of its machine code")
{
    CHECK(complaint(StreamKernel(parse_isa("avx2"), parse_array_operation("load"), plain)).empty());
}

TEST_CASE("a load of an address that was loaded before is detected")
{
    const Changed loop("load", plain, 0x40, 0x20);  // the displacement of the third load becomes the second's
    CHECK_THAT(complaint(loop.kernel), Contains("does not load each byte once"));
}

TEST_CASE("a loop that advances by more than it accesses is detected")
{
    const Form half{.vectors = 2, .join = Join::none};
    const Changed loop("load", half, 0x40, 0x48);  // add r8, 64 becomes add r8, 72
    CHECK_THAT(complaint(loop.kernel), Contains("does not advance"));
}

TEST_CASE("an ordinary store in a loop of non-temporal stores is detected")
{
    const Changed loop("store_nt", Form{.vectors = 2}, 0x2b, 0x29);
    CHECK_THAT(complaint(loop.kernel), Contains("another kind of store"));
}

TEST_CASE("a load in place of a store is detected")
{
    const Changed loop("copy", Form{.vectors = 2}, 0x29, 0x28);
    CHECK_FALSE(complaint(loop.kernel).empty());
}

TEST_CASE("a loop that returns to another place than its start is detected")
{
    const StreamKernel intact(parse_isa("avx2"), parse_array_operation("load"), plain);
    const auto back = static_cast<std::uint8_t>(-static_cast<int>(intact.loop().size()));
    const Changed loop("load", plain, back, static_cast<std::uint8_t>(back + 4));
    CHECK_THAT(complaint(loop.kernel), Contains("does not return"));
}
