// The decoder: instructions as other assemblers write them (GNU as, checked with objdump).
#include "cpu/kernels/decode.hpp"
#include "ert/base/error.hpp"

#include <catch2/catch.hpp>
#include <initializer_list>

using namespace roof;
using namespace roof::cpu;

namespace {

Instruction one(std::initializer_list<int> bytes)
{
    const std::vector<std::uint8_t> code(bytes.begin(), bytes.end());
    const std::vector<Instruction> found = decode(code);
    REQUIRE(found.size() == 1);
    return found.front();
}

}  // namespace

TEST_CASE("loads are decoded with register, bytes and address")
{
    // vmovaps zmm17, [r9 + 128]: the displacement counts whole operands
    const Instruction wide = one({0x62, 0xc1, 0x7c, 0x48, 0x28, 0x49, 0x02});
    CHECK(wide.kind == InstructionKind::load);
    CHECK(wide.register_index == 17);
    CHECK(wide.bytes == 64);
    CHECK(wide.reads_memory);
    CHECK(wide.address.base == 9);
    CHECK(wide.address.index == -1);
    CHECK(wide.address.displacement == 128);

    // vmovaps ymm3, [r8 + rax - 32]
    const Instruction narrow = one({0xc4, 0xc1, 0x7c, 0x28, 0x5c, 0x00, 0xe0});
    CHECK(narrow.bytes == 32);
    CHECK(narrow.address.base == 8);
    CHECK(narrow.address.index == 0);
    CHECK(narrow.address.displacement == -32);

    // movaps xmm1, [rsi + 256]
    const Instruction legacy = one({0x0f, 0x28, 0x8e, 0x00, 0x01, 0x00, 0x00});
    CHECK(legacy.bytes == 16);
    CHECK(legacy.address.base == 6);
    CHECK(legacy.address.displacement == 256);
}

TEST_CASE("stores are told from non-temporal stores")
{
    const Instruction usual = one({0xc5, 0xfc, 0x29, 0x06});      // vmovaps [rsi], ymm0
    const Instruction bypassing = one({0xc5, 0xfc, 0x2b, 0x06});  // vmovntps [rsi], ymm0
    CHECK(usual.writes_memory);
    CHECK_FALSE(usual.bypasses_caches);
    CHECK(bypassing.writes_memory);
    CHECK(bypassing.bypasses_caches);
}

TEST_CASE("the end of a loop is decoded")
{
    const Instruction add = one({0x49, 0x83, 0xc0, 0x40});  // add r8, 64
    CHECK(add.kind == InstructionKind::advance);
    CHECK(add.register_index == 8);
    CHECK(add.constant == 64);
    const Instruction subtract = one({0x48, 0x2d, 0x00, 0x08, 0x00, 0x00});  // sub rax, 2048
    CHECK(subtract.register_index == 0);
    CHECK(subtract.constant == -2048);
    const Instruction branch = one({0x0f, 0x85, 0xf0, 0xff, 0xff, 0xff});  // jnz -16
    CHECK(branch.kind == InstructionKind::branch);
    CHECK(branch.constant == -16);
}

TEST_CASE("what no kernel should have is refused or unknown")
{
    const auto decoded = [](std::initializer_list<int> bytes) {
        return decode(std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
    };
    CHECK_THROWS_AS(decoded({0x48, 0xff, 0xc0}), Error);                  // inc rax
    CHECK_THROWS_AS(decoded({0x0f, 0x28, 0x0c, 0x46}), Error);            // movaps xmm1, [rsi + rax * 2]
    CHECK_THROWS_AS(decoded({0xc5, 0xfc, 0x28}), Error);                  // the code ends
    CHECK(one({0xc5, 0xfc, 0x57, 0xc0}).kind == InstructionKind::other);  // vxorps ymm0, ymm0, ymm0
}
