// Source: Intel's manual, volume 2. Legacy, VEX (C5, C4) and EVEX (62) prefixes, then opcode, ModRM, SIB and
// displacement.
#include "tests/cpu/decode.hpp"

#include <stdexcept>

namespace roof::cpu::test {

namespace {

/// Numbers of the opcode maps in VEX and EVEX.
enum Map { map_0f = 1, map_0f38 = 2, map_half = 5, map_half_fused = 6 };
enum Prefix { no_prefix = 0, prefix_66 = 1, prefix_f3 = 2, prefix_f2 = 3 };

struct Head {
    int map = 0;
    int prefix = 0;
    int vector_bytes = 16;
    bool is_wide = false;   ///< the W bit: fp64, if the opcode has both formats
    int register_high = 0;  ///< the high bits of the register number in ModRM's reg
    int other_high = 0;     ///< the high bits of the register number in ModRM's rm
    int second = -1;        ///< the register number in the prefix
};

/// An opcode whose element depends on the W bit, or for scalar and packed forms on the prefix.
bool is_double(const Head& head, bool by_wide_bit)
{
    return by_wide_bit ? head.is_wide : head.prefix == prefix_66 || head.prefix == prefix_f2;
}

class Decoder {
  public:
    explicit Decoder(std::span<const std::uint8_t> code) : code_(code) {}

    bool done() const { return at_ >= code_.size(); }

    Instruction next()
    {
        const Head head = read_head();
        const int opcode = byte();
        const int modrm = byte();
        const bool memory = skip_address(modrm);
        Instruction instruction = meaning(head, opcode);
        const bool stores = instruction.kind == Kind::store;
        const bool moves = stores || instruction.kind == Kind::load || instruction.kind == Kind::sqrt;
        instruction.register_index = head.register_high + (modrm >> 3 & 7);
        if (!moves && head.second >= 0) instruction.sources.push_back(head.second);
        if (!memory) instruction.sources.push_back(head.other_high + (modrm & 7));
        instruction.reads_memory = memory && !stores;
        instruction.writes_memory = memory && stores;
        return instruction;
    }

  private:
    int byte() { return at_ < code_.size() ? code_[at_++] : throw std::runtime_error("code ends in an instruction"); }

    /// VEX and EVEX store all these bits inverted.
    static int unless(int byte, int bit, int value) { return (byte & bit) != 0 ? 0 : value; }

    Head read_head()
    {
        const int first = byte();
        if (first == 0x62) {
            const int p0 = byte();
            const int p1 = byte();
            const int p2 = byte();
            return {.map = p0 & 7,
                    .prefix = p1 & 3,
                    .vector_bytes = 16 << (p2 >> 5 & 3),
                    .is_wide = (p1 & 0x80) != 0,
                    .register_high = unless(p0, 0x80, 8) + unless(p0, 0x10, 16),
                    .other_high = unless(p0, 0x20, 8) + unless(p0, 0x40, 16),
                    .second = (~p1 >> 3 & 15) + unless(p2, 8, 16)};
        }
        if (first == 0xc4) {
            const int p0 = byte();
            const int p1 = byte();
            return {.map = p0 & 31,
                    .prefix = p1 & 3,
                    .vector_bytes = 16 << (p1 >> 2 & 1),
                    .is_wide = (p1 & 0x80) != 0,
                    .register_high = unless(p0, 0x80, 8),
                    .other_high = unless(p0, 0x20, 8),
                    .second = ~p1 >> 3 & 15};
        }
        if (first == 0xc5) {
            const int p0 = byte();
            return {.map = map_0f,
                    .prefix = p0 & 3,
                    .vector_bytes = 16 << (p0 >> 2 & 1),
                    .register_high = unless(p0, 0x80, 8),
                    .second = ~p0 >> 3 & 15};
        }
        return read_legacy_head(first);
    }

    Head read_legacy_head(int first)
    {
        Head head{.map = map_0f};
        head.prefix = first == 0x66 ? prefix_66 : first == 0xf3 ? prefix_f3 : first == 0xf2 ? prefix_f2 : no_prefix;
        int next = head.prefix == no_prefix ? first : byte();
        if ((next & 0xf0) == 0x40) {
            head.register_high = (next & 4) != 0 ? 8 : 0;
            head.other_high = (next & 1) != 0 ? 8 : 0;
            next = byte();
        }
        if (next != 0x0f) throw std::runtime_error("an instruction that no kernel should have");
        return head;
    }

    /// Returns whether the instruction has a memory operand.
    bool skip_address(int modrm)
    {
        const int mode = modrm >> 6;
        const int base = modrm & 7;
        if (mode == 3) return false;
        if (base == 4) byte();
        const int displacement = mode == 1 ? 1 : mode == 2 || base == 5 ? 4 : 0;
        for (int i = 0; i < displacement; ++i) byte();
        return true;
    }

    static Instruction meaning(const Head& head, int opcode)
    {
        switch (head.map) {
            case map_0f:
                return of_first_map(head, opcode);
            case map_0f38:
                return of_second_map(head, opcode);
            case map_half:
                return arithmetic(opcode, Element::fp16, head.prefix == prefix_f3 ? 2 : head.vector_bytes);
            case map_half_fused:
                if (opcode == 0xa8) return {Kind::fma, Element::fp16, head.vector_bytes};
                return {};
            default:
                return {};
        }
    }

    static Instruction of_first_map(const Head& head, int opcode)
    {
        const Element element = is_double(head, false) ? Element::fp64 : Element::fp32;
        const int scalar_bytes = element == Element::fp64 ? 8 : 4;
        const int bytes = head.prefix >= prefix_f3 ? scalar_bytes : head.vector_bytes;
        switch (opcode) {
            case 0xd4:
                return {Kind::add_words, Element::none, bytes};
            case 0x10:
            case 0x28:
                return {Kind::load, Element::none, bytes};
            case 0x18:
                return {Kind::prefetch, Element::none, 0};
            case 0x6f:
                return {Kind::load, Element::none, head.vector_bytes};
            case 0x11:
            case 0x29:
            case 0x2b:
                return {Kind::store, Element::none, bytes};
            case 0x7f:
            case 0xe7:
                return {Kind::store, Element::none, head.vector_bytes};
            default:
                return arithmetic(opcode, element, bytes);
        }
    }

    static Instruction arithmetic(int opcode, Element element, int bytes)
    {
        switch (opcode) {
            case 0x51:
                return {Kind::sqrt, element, bytes};
            case 0x58:
                return {Kind::add, element, bytes};
            case 0x59:
                return {Kind::mul, element, bytes};
            case 0x5e:
                return {Kind::div, element, bytes};
            default:
                return {};
        }
    }

    static Instruction of_second_map(const Head& head, int opcode)
    {
        constexpr int tile_bytes = 1024;
        const Element element = is_double(head, true) ? Element::fp64 : Element::fp32;
        if (opcode == 0xa8) return {Kind::fma, element, head.vector_bytes};
        if (opcode == 0xa9) return {Kind::fma, element, element == Element::fp64 ? 8 : 4};
        if (opcode == 0x50 && head.prefix == prefix_66) return {Kind::dot, Element::int8, head.vector_bytes};
        if (opcode == 0x52 && head.prefix == prefix_f3) return {Kind::dot, Element::bf16, head.vector_bytes};
        if (opcode == 0x5e && head.prefix == prefix_f2) return {Kind::tile, Element::int8, tile_bytes};
        if (opcode == 0x5c && head.prefix == prefix_f3) return {Kind::tile, Element::bf16, tile_bytes};
        return {};
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
