// Source: Intel's manual, volume 2. Legacy, VEX (C5, C4) and EVEX (62) prefixes, then opcode, ModRM, SIB and
// displacement.
#include "cpu/kernels/decode.hpp"

#include "ert/base/error.hpp"

#include <optional>

namespace roof::cpu {

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
    int index_high = 0;     ///< the high bit of the index register's number in SIB
    int second = -1;        ///< the register number in the prefix
    bool scales = false;    ///< an 8-bit displacement counts whole operands
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
        if (std::optional<Instruction> control = read_control()) return *control;
        const Head head = read_head();
        const int opcode = byte();
        const int modrm = byte();
        Instruction instruction = meaning(head, opcode);
        const bool memory = read_address(modrm, head, head.scales ? instruction.bytes : 1, instruction.address);
        if (head.map == map_0f && opcode == 0x72) byte();  // the distance of a shift
        const bool stores = instruction.kind == Kind::store;
        const bool moves = stores || instruction.kind == Kind::load || instruction.kind == Kind::sqrt;
        instruction.register_index = head.register_high + (modrm >> 3 & 7);
        if (!moves && head.second >= 0) instruction.sources.push_back(head.second);
        if (!memory)
            instruction.sources.push_back((head.other_high | (head.scales ? head.index_high * 2 : 0)) + (modrm & 7));
        instruction.reads_memory = memory && !stores;
        instruction.writes_memory = memory && stores;
        return instruction;
    }

  private:
    int byte() { return at_ < code_.size() ? code_[at_++] : throw Error("code ends in an instruction"); }

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
                    .other_high = unless(p0, 0x20, 8),
                    .index_high = unless(p0, 0x40, 8),
                    .second = (~p1 >> 3 & 15) + unless(p2, 8, 16),
                    .scales = true};
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
                    .index_high = unless(p0, 0x40, 8),
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
            head.index_high = (next & 2) != 0 ? 8 : 0;
            head.other_high = (next & 1) != 0 ? 8 : 0;
            next = byte();
        }
        if (next != 0x0f) throw Error("an instruction that no kernel should have");
        return head;
    }

    /// Little-endian, signed.
    int number(int bytes)
    {
        std::uint32_t value = 0;
        for (int i = 0; i < bytes; ++i) value |= static_cast<std::uint32_t>(byte()) << 8 * i;
        return bytes == 1 ? static_cast<std::int8_t>(value) : static_cast<int>(value);
    }

    /// The instructions that end an iteration: `add` and `sub` of a 64-bit register and a constant, and `jnz`.
    std::optional<Instruction> read_control()
    {
        const auto peek = [&](std::size_t ahead) { return at_ + ahead < code_.size() ? code_[at_ + ahead] : 0; };
        const int first = peek(0);
        if (first == 0x75 || (first == 0x0f && peek(1) == 0x85)) {
            at_ += first == 0x75 ? 1 : 2;
            return Instruction{.kind = Kind::branch, .constant = number(first == 0x75 ? 1 : 4)};
        }
        if ((first & 0xfe) != 0x48) return std::nullopt;
        const int opcode = peek(1);
        if (opcode == 0x05 || opcode == 0x2d) {  // of rax
            at_ += 2;
            const long long value = number(4);
            return Instruction{.kind = Kind::advance, .constant = opcode == 0x05 ? value : -value};
        }
        if (opcode != 0x81 && opcode != 0x83) return std::nullopt;
        const int modrm = peek(2);
        const int operation = modrm >> 3 & 7;
        if (modrm >> 6 != 3 || (operation != 0 && operation != 5))
            throw Error("an instruction that no kernel should have");
        at_ += 3;
        const long long value = number(opcode == 0x83 ? 1 : 4);
        return Instruction{.kind = Kind::advance,
                           .register_index = (modrm & 7) + ((first & 1) != 0 ? 8 : 0),
                           .constant = operation == 0 ? value : -value};
    }

    /// Returns whether the instruction has a memory operand. `scale`: of an 8-bit displacement.
    bool read_address(int modrm, const Head& head, int scale, MemoryOperand& address)
    {
        const int mode = modrm >> 6;
        if (mode == 3) return false;
        int base = modrm & 7;
        if (base == 4) {
            const int sib = byte();
            base = sib & 7;
            const int index = (sib >> 3 & 7) + head.index_high;
            if (index != 4) address.index = index;
            if (sib >> 6 != 0) throw Error("a scaled index that no kernel should have");
        }
        if (mode == 0 && base == 5) throw Error("an address that no kernel should have");
        address.base = base + head.other_high;
        if (mode == 1) address.displacement = number(1) * scale;
        if (mode == 2) address.displacement = number(4);
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
                return {Kind::add_words, Element::none, head.vector_bytes};
            case 0xeb:
                return {Kind::join_bits, Element::none, head.vector_bytes};
            case 0x5f:
                return {Kind::maximum, element, bytes};
            case 0x10:
            case 0x28:
                return {Kind::load, Element::none, bytes};
            case 0x18:
                return {Kind::prefetch, Element::none, 0};
            case 0x6f:
                return {Kind::load, Element::none, head.vector_bytes};
            case 0x11:
            case 0x29:
                return {Kind::store, Element::none, bytes};
            case 0x2b:
                return {.kind = Kind::store, .bytes = bytes, .bypasses_caches = true};
            case 0x7f:
                return {Kind::store, Element::none, head.vector_bytes};
            case 0xe7:
                return {.kind = Kind::store, .bytes = head.vector_bytes, .bypasses_caches = true};
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
        if (opcode == 0xa8 || opcode == 0xb8) return {Kind::fma, element, head.vector_bytes};
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

}  // namespace roof::cpu
