#include "cpu/aarch64/loops.hpp"

#include "cpu/aarch64/assembler.hpp"
#include "ert/base/error.hpp"

#include <algorithm>
#include <string>

namespace roof::cpu::aarch64 {
namespace {

constexpr std::size_t loop_alignment = 16;  ///< words
constexpr int line_bytes = 64;

// Registers of the loops over arrays. Values are in 0 to 7.
constexpr int scratch_register = 16;
constexpr int constant_register = 31;
constexpr int pass_register = 0;
constexpr int bytes_register = 1;
constexpr int arguments_register = 2;
constexpr int left_register = 3;
constexpr int first_pointer = 4;
constexpr int most_pointers = 4;

struct Repeated {
    std::size_t begin;  ///< words
    std::size_t end;
};

/// Repeats what `body` writes until the register, less `step` each time, is 0.
template <class Body>
Repeated repeat(Assembler& code, int counter, int step, const Body& body)
{
    code.align(loop_alignment);
    const std::size_t begin = code.size();
    body();
    code.subtract_constant(counter, step);
    code.branch_unless_zero(begin);
    return {begin, code.size()};
}

void put(Assembler& code, const ComputeLoop& loop, const Step& step)
{
    const int x = step.accumulator;
    const int c = loop.constant_register(step.constant);
    switch (step.operation) {
        case Arithmetic::fma:
            return code.vector(Vector::multiply_add, x, c, c);
        case Arithmetic::mul:
            return code.vector(Vector::multiply, x, x, c);
        case Arithmetic::add:
            return code.vector(Vector::add, x, x, c);
        case Arithmetic::div:
            return code.vector(Vector::divide, x, x, c);
        case Arithmetic::sqrt:
            return code.vector(Vector::square_root, x, x, x);
        case Arithmetic::dot:
            return code.vector(Vector::add_products, x, loop.constant_register(0), c);
        default:
            throw Unsupported("no loop of " + std::string(name(step.operation)) + " for AArch64");
    }
}

/// The instructions of one loop over arrays.
class StreamCode {
  public:
    StreamCode(const Isa& isa, const ArrayOperation& operation, const Form& form)
        : isa_(isa), operation_(operation), form_(form), code_(isa, Precision::fp64)
    {
        if (std::ranges::find(usual_operations, operation.name, &UsualOperation::name) == std::end(usual_operations))
            throw Unsupported("AArch64 has loops of the usual operations alone");
        if (operation.nontemporal) throw Unsupported("AArch64 has no non-temporal store of one register");
        if (form.addressing == Addressing::counter)
            throw Unsupported("AArch64 has no address of two registers and an offset");
        if (pointers() > most_pointers) throw Error("a loop over more than four parts of arrays");
    }

    Code generate()
    {
        code_.begin();
        load_arguments();
        const std::size_t pass = code_.size();
        code_.copy(left_register, bytes_register);
        const int advance = form_.vectors * isa_.register_bytes;
        const Repeated loop = repeat(code_, left_register, advance, [&] {
            for (const StreamStep& step : iteration(operation_, form_)) put(step);
            for (int i = 0; i < pointers(); ++i) code_.add_constant(first_pointer + i, advance);
        });
        for (int i = 0; i < pointers(); ++i) code_.subtract(first_pointer + i, first_pointer + i, bytes_register);
        code_.subtract_constant(pass_register, 1);
        code_.branch_unless_zero(pass);
        store_values();
        code_.end();
        return {code_.words(), loop.begin, loop.end};
    }

  private:
    int pointers() const { return operation_.arrays() * form_.parts; }
    int pointer_of(int array, int part) const { return first_pointer + array * form_.parts + part; }

    void load_arguments()
    {
        const bool stores = operation_.stores > 0;
        for (int i = 0; !stores && i < values_of(form_); ++i) code_.vector(Vector::differ, i, i, i);
        if (stores) {
            code_.load_pointer(left_register, arguments_register, offsetof(Arrays, constant));
            code_.load(constant_register, left_register, 0);
            code_.load_pointer(pointer_of(operation_.sources, 0), arguments_register, offsetof(Arrays, destination));
        }
        for (int i = 0; i < operation_.sources; ++i)
            code_.load_pointer(pointer_of(i, 0), arguments_register,
                               offsetof(Arrays, sources) + static_cast<std::size_t>(i) * sizeof(std::byte*));
        if (form_.parts > 1) code_.halve(bytes_register, form_.parts == 2 ? 1 : 2);
        for (int array = 0; array < operation_.arrays(); ++array)
            for (int part = 1; part < form_.parts; ++part)
                code_.add(pointer_of(array, part), pointer_of(array, part - 1), bytes_register);
    }

    void store_values()
    {
        if (operation_.stores > 0) return;
        code_.load_pointer(left_register, arguments_register, offsetof(Arrays, result));
        for (int i = 0; i < values_of(form_); ++i) code_.store(i, left_register, i);
    }

    void put(const StreamStep& step)
    {
        const int value = step.value;
        const int scratch = scratch_register + value;
        const int pointer = pointer_of(step.array, step.part);
        const int offset = step.vector * isa_.register_bytes;
        const bool is_load = step.kind != StreamStep::Kind::store;
        if (is_load && form_.ahead > 0 && offset % line_bytes == 0) code_.prefetch(pointer, offset + form_.ahead);
        const bool replaces = step.kind == StreamStep::Kind::load;
        if (is_load) code_.load(replaces ? value : scratch, pointer, step.vector);
        switch (step.kind) {
            case StreamStep::Kind::join:
                return code_.vector(joins(), value, value, scratch);
            case StreamStep::Kind::constant_sum:
                return code_.vector(Vector::add_words, value, constant_register, scratch);
            case StreamStep::Kind::product:
                return code_.vector(Vector::multiply, value, constant_register, scratch);
            case StreamStep::Kind::add:
                return code_.vector(operation_.words ? Vector::add_words : Vector::add, value, value, scratch);
            case StreamStep::Kind::multiply_add:
                return add_product(value, scratch);
            case StreamStep::Kind::store:
                return code_.store(stored(step), pointer, step.vector);
            default:
                return;
        }
    }

    Vector joins() const
    {
        if (form_.join == Join::sum) return Vector::add_words;
        return form_.join == Join::bits ? Vector::join_bits : Vector::maximum;
    }

    /// The sum is in the addend's register, from which it is stored.
    void add_product(int factor, int addend) { code_.vector(Vector::multiply_add, addend, factor, constant_register); }

    int stored(const StreamStep& step) const
    {
        if (operation_.loads() == 0) return constant_register;
        return form_.fused ? scratch_register + step.value : step.value;
    }

    Isa isa_;
    ArrayOperation operation_;
    Form form_;
    Assembler code_;
};

}  // namespace

Code generate(const ComputeLoop& loop)
{
    enum { iterations, start, constants, result };
    Assembler code(loop.isa(), loop.precision());
    code.begin();
    for (int i = 0; i < loop.mix().chains(); ++i) code.load(i, start, i);
    for (int i = 0; i < loop.mix().constants(); ++i) code.load(loop.constant_register(i), constants, i);
    const Repeated repeated = repeat(code, iterations, 1, [&] {
        for (const Step& step : loop.steps()) put(code, loop, step);
    });
    for (int i = 0; i < loop.mix().chains(); ++i) code.store(i, result, i);
    code.end();
    return {code.words(), repeated.begin, repeated.end};
}

Code generate(const Isa& isa, const ArrayOperation& operation, const Form& form)
{
    return StreamCode(isa, operation, form).generate();
}

Code generate_chase(int loads)
{
    enum { at, steps };
    Assembler code(neon_isa, Precision::fp64);
    code.begin();
    const Repeated loop = repeat(code, steps, loads, [&] {
        for (int i = 0; i < loads; ++i) code.load_pointer(at, at, 0);
    });
    code.end();
    return {code.words(), loop.begin, loop.end};
}

Code generate_chains(Chain kind, int chains, int operations)
{
    enum { iterations, other, first };
    Assembler code(neon_isa, Precision::fp64);
    code.begin();
    code.set(other, 3);
    for (int i = 0; i < chains; ++i) code.set(first + i, 1);
    const Repeated loop = repeat(code, iterations, 1, [&] {
        for (int i = 0; i < operations; ++i) {
            const int x = first + i % chains;
            kind == Chain::additions ? code.add(x, x, other) : code.multiply(x, x, other);
        }
    });
    code.copy(iterations, first);
    code.end();
    return {code.words(), loop.begin, loop.end};
}

}  // namespace roof::cpu::aarch64
