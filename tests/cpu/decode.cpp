// Intel's manual, volume 2: legacy, VEX (C5, C4) and EVEX (62) prefixes, then opcode, ModRM, SIB and displacement.
#include "tests/cpu/decode.hpp"

#include <stdexcept>

namespace roof::cpu::test {

namespace {

struct Head {
    int map = 0;     ///< 1: 0F, 2: 0F 38
    int prefix = 0;  ///< 0: none, 1: 66, 2: F3, 3: F2
    int vector_bytes = 16;
    bool is_wide = false;  ///< the W bit: fp64 where the opcode serves both
};

class Decoder {
  public:
    explicit Decoder(std::span<const std::uint8_t> code) : code_(code) {}

    bool done() const { return at_ >= code_.size(); }

    Instruction next()
    {
        const Head head = read_head();
        const int opcode = byte();
        const bool memory = skip_operands();
        return meaning(head, opcode, memory);
    }

  private:
    int byte() { return at_ < code_.size() ? code_[at_++] : throw std::runtime_error("code ends in an instruction"); }

    Head read_head()
    {
        const int first = byte();
        if (first == 0x62) {
            const int p0 = byte();
            const int p1 = byte();
            const int p2 = byte();
            return {p0 & 7, p1 & 3, 16 << (p2 >> 5 & 3), (p1 & 0x80) != 0};
        }
        if (first == 0xc4) {
            const int p0 = byte();
            const int p1 = byte();
            return {p0 & 31, p1 & 3, 16 << (p1 >> 2 & 1), (p1 & 0x80) != 0};
        }
        if (first == 0xc5) {
            const int p0 = byte();
            return {1, p0 & 3, 16 << (p0 >> 2 & 1), false};
        }
        return read_legacy_head(first);
    }

    Head read_legacy_head(int first)
    {
        Head head{1, first == 0x66 ? 1 : first == 0xf3 ? 2 : first == 0xf2 ? 3 : 0, 16, false};
        int next = head.prefix == 0 ? first : byte();
        if ((next & 0xf0) == 0x40) next = byte();
        if (next != 0x0f) throw std::runtime_error("an instruction that no kernel should have");
        return head;
    }

    /// True if one operand is in memory.
    bool skip_operands()
    {
        const int modrm = byte();
        const int mode = modrm >> 6;
        const int base = modrm & 7;
        if (mode == 3) return false;
        if (base == 4) byte();
        const int displacement = mode == 1 ? 1 : mode == 2 || base == 5 ? 4 : 0;
        for (int i = 0; i < displacement; ++i) byte();
        return true;
    }

    static Instruction meaning(const Head& head, int opcode, bool memory)
    {
        const int scalar_bytes = head.prefix == 3 ? 8 : 4;
        const int bytes = head.prefix >= 2 ? scalar_bytes : head.vector_bytes;
        if (head.map == 2 && opcode == 0xa8) return {Kind::fma, head.vector_bytes, memory, false};
        if (head.map == 2 && opcode == 0xa9) return {Kind::fma, head.is_wide ? 8 : 4, memory, false};
        if (head.map != 1) return {};
        switch (opcode) {
            case 0x58:
                return {Kind::add, bytes, memory, false};
            case 0x59:
                return {Kind::mul, bytes, memory, false};
            case 0xd4:
                return {Kind::add_words, bytes, memory, false};
            case 0x10:
            case 0x28:
                return {Kind::load, bytes, memory, false};
            case 0x11:
            case 0x29:
                return {Kind::store, bytes, false, memory};
            default:
                return {};
        }
    }

    std::span<const std::uint8_t> code_;
    std::size_t at_ = 0;
};

}  // namespace

std::vector<Instruction> decode(std::span<const std::uint8_t> code)
{
    std::vector<Instruction> instructions;
    for (Decoder decoder(code); !decoder.done();) instructions.push_back(decoder.next());
    return instructions;
}

}  // namespace roof::cpu::test
