// Bandwidth kernels: the forms, and the check of their results.
#include "cpu/kernels/decode.hpp"
#include "cpu/kernels/registers.hpp"
#include "cpu/kernels/stream_kernel.hpp"
#include "cpu/probes/checks.hpp"
#include "ert/base/error.hpp"
#include "ert/method/bench/buffer.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <set>
#include <string>
#include <tuple>

using namespace roof;
using namespace roof::cpu;

namespace {

/// One stream on one thread, over arrays of a few iterations, within a slice.
struct Bed {
    Bed(const Isa& isa, const ArrayOperation& row, const Form& form)
        : kernel(isa, row, form),
          stream(row),
          memory(1 << 20, "a test"),
          arrays{stream, 5 * StreamKernel::bytes_per_iteration(isa, form), memory.data(), 8192},
          constant(constant_of(row))
    {
        write_content(memory.data(), 0, memory.size());
    }

    void run(std::size_t passes)
    {
        StreamKernel::Arguments arguments{
            arrays.destination(), {}, constant.data(), reinterpret_cast<std::byte*>(result.data())};
        for (int i = 0; i < stream.sources; ++i) arguments.sources[static_cast<std::size_t>(i)] = arrays.array(i);
        kernel.run(passes, arrays.bytes, arguments);
    }

    void check(std::size_t passes) const { check_stream(arrays, {0, arrays.bytes}, passes, kernel, result); }

    StreamKernel kernel;
    ArrayOperation stream;
    Buffer memory;
    StreamArrays arrays;
    RegisterFile constant;
    alignas(64) std::array<std::uint64_t, StreamKernel::most_result_bytes / 8> result{};
};

bool usable(const std::vector<std::string>& words, std::string_view word)
{
    return std::find(words.begin(), words.end(), word) != words.end();
}

/// Calls use(isa, stream, shape) for every kernel that can be generated.
template <class Use>
void for_kernels(const Use& use)
{
    for (const Isa& isa : isa_table) {
        for (const ArrayOperation& stream : usual_array_operations()) {
            if (stream.nontemporal && isa.encoding == Encoding::scalar) continue;
            const bool can_fuse = isa.encoding == Encoding::vex || isa.encoding == Encoding::evex;
            for (const Form& form : forms_of(stream, true, can_fuse)) {
                CAPTURE(isa.name, stream.name, form.text(stream));
                use(isa, stream, form);
            }
        }
    }
}

}  // namespace

TEST_CASE("the loads and stores of every form of a bandwidth loop are those that its operation counts")
{
    for_kernels([](const Isa& isa, const ArrayOperation& stream, const Form& form) {
        const StreamKernel kernel(isa, stream, form);
        CHECK_NOTHROW(check_loop(kernel));
        std::size_t loaded = 0;
        std::size_t stored = 0;
        std::size_t prefetches = 0;
        for (const Instruction& instruction : decode(kernel.loop())) {
            prefetches += instruction.kind == InstructionKind::prefetch ? 1 : 0;
            if (instruction.kind == InstructionKind::prefetch) continue;
            if (instruction.reads_memory) loaded += static_cast<std::size_t>(instruction.bytes);
            if (instruction.writes_memory) stored += static_cast<std::size_t>(instruction.bytes);
        }
        const std::size_t iteration = StreamKernel::bytes_per_iteration(isa, form);
        CHECK(loaded == iteration * static_cast<std::size_t>(stream.loads()));
        CHECK(stored == iteration * static_cast<std::size_t>(stream.stores));
        const std::size_t lines = (iteration + 63) / 64;
        CHECK(prefetches == (form.ahead > 0 ? lines * static_cast<std::size_t>(stream.loads()) : 0));
    });
}

TEST_CASE("the forms of loads include plain loads and every way to join them, in every length and addressing")
{
    const std::vector<Form> forms = forms_of(parse_array_operation("load"), false, true);
    for (const Join join : {Join::none, Join::sum, Join::bits, Join::maximum}) {
        for (const int vectors : {1, 2, 4, 8, 16, 32}) {
            for (const Addressing addressing : {Addressing::pointers, Addressing::counter}) {
                const Form form{.vectors = vectors, .join = join, .addressing = addressing};
                CHECK(std::ranges::count(forms, form) == 1);
            }
        }
    }
}

TEST_CASE("plain loads compute nothing, and joined loads compute with each operand in memory")
{
    const Isa& isa = parse_isa("avx512");
    const auto kinds = [&](Join join) {
        std::set<InstructionKind> found;
        for (const Instruction& instruction :
             decode(StreamKernel(isa, parse_array_operation("load"), {.vectors = 4, .join = join}).loop()))
            if (instruction.reads_memory) found.insert(instruction.kind);
        return found;
    };
    CHECK(kinds(Join::none) == std::set{InstructionKind::load});
    CHECK(kinds(Join::sum) == std::set{InstructionKind::add_words});
    CHECK(kinds(Join::bits) == std::set{InstructionKind::join_bits});
    CHECK(kinds(Join::maximum) == std::set{InstructionKind::maximum});
}

TEST_CASE("no form is offered twice, and prefetching and parts are tried only beyond L1")
{
    for (const ArrayOperation& stream : usual_array_operations()) {
        for (const bool beyond_l1 : {false, true}) {
            std::vector<Form> forms = forms_of(stream, beyond_l1, true);
            std::ranges::sort(forms);
            CHECK(std::ranges::adjacent_find(forms) == forms.end());
            const auto is_for_memory = [](const Form& form) { return form.ahead > 0 || form.parts > 1; };
            CHECK(std::ranges::any_of(forms, is_for_memory) == beyond_l1);
        }
    }
}

TEST_CASE("with a lag each step follows the step before by that number of vectors")
{
    const StreamKernel kernel(parse_isa("avx512"), parse_array_operation("triad"), {.vectors = 4, .lag = 1});
    std::vector<std::pair<InstructionKind, int>> order;
    for (const Instruction& instruction : decode(kernel.loop()))
        if (instruction.reads_memory || instruction.writes_memory)
            order.emplace_back(instruction.kind, instruction.address.displacement / 64);
    const std::vector<std::pair<InstructionKind, int>> expected{
        {InstructionKind::mul, 0},   {InstructionKind::mul, 1},   {InstructionKind::add, 0},
        {InstructionKind::mul, 2},   {InstructionKind::store, 0}, {InstructionKind::add, 1},
        {InstructionKind::mul, 3},   {InstructionKind::store, 1}, {InstructionKind::add, 2},
        {InstructionKind::store, 2}, {InstructionKind::add, 3},   {InstructionKind::store, 3}};
    CHECK(order == expected);
}

void check_moves(const Isa& isa, const ArrayOperation& stream, const Form& form)
{
    Bed bed(isa, stream, form);
    bed.run(3);
    CHECK_NOTHROW(bed.check(3));
}

TEST_CASE("every bandwidth kernel that this machine can run moves the right data")
{
    for_kernels([](const Isa& isa, const ArrayOperation& stream, const Form& form) {
        const bool can_run = usable(usable_isas(), isa.name) && (!form.fused || usable(usable_features(), "fma"));
        if (can_run) check_moves(isa, stream, form);
    });
}

namespace {

/// A text, and what it makes of an element a, of b, c and d, in place of the sources in its order.
struct Written {
    const char* text;
    double (*value)(double a, double b, double c, double d);
};

constexpr double scale = 0.5;    // of an operation that does not read its destination
constexpr double negative = -1;  // of one in place

// NOLINTBEGIN(readability-identifier-length)
const Written written[]{
    {"a[i] = s * b[i]", [](double, double b, double, double) { return scale * b; }},
    {"a[i] = b[i] + c[i]", [](double, double b, double c, double) { return b + c; }},
    {"a[i] = b[i] - c[i]", [](double, double b, double c, double) { return b - c; }},
    {"a[i] = b[i] + s", [](double, double b, double, double) { return b + scale; }},
    {"a[i] = b[i] - s", [](double, double b, double, double) { return b - scale; }},
    {"a[i] = b[i] * c[i]", [](double, double b, double c, double) { return b * c; }},
    {"a[i] = b[i] * c[i] * d[i]", [](double, double b, double c, double d) { return b * c * d; }},
    {"a[i] = s * b[i] - c[i]", [](double, double b, double c, double) { return scale * b - c; }},
    {"a[i] = s * b[i] + t * c[i]", [](double, double b, double c, double) { return scale * b + scale * c; }},
    {"a[i] = b[i] + c[i] - s * d[i]", [](double, double b, double c, double d) { return b + c - scale * d; }},
    {"nontemporal: a[i] = b[i] + s * c[i]", [](double, double b, double c, double) { return b + scale * c; }},
    {"a[i] += s * b[i]", [](double a, double b, double, double) { return a + negative * b; }},
    {"a[i] -= s * b[i]", [](double a, double b, double, double) { return a - negative * b; }},
    {"a[i] += b[i]", [](double a, double b, double, double) { return a + b; }},
    {"a[i] += s", [](double a, double, double, double) { return a + negative; }},
    {"a[i] *= s", [](double a, double, double, double) { return a * negative; }},
    {"a[i] *= b[i]", [](double a, double b, double, double) { return a * b; }},
    {"a[i] = s * a[i] + t * b[i]", [](double a, double b, double, double) { return negative * a + negative * b; }},
};
// NOLINTEND(readability-identifier-length)

/// Runs one pass of the text in each form and on each instruction set of this machine: `value` of each element's
/// sources, and the numbers stored or the registers of a sum.
template <class Use>
void for_loops_of(const char* text, const Use& use)
{
    const ArrayOperation operation = parse_array_operation(text);
    for (const Isa& isa : isa_table) {
        if (!usable(usable_isas(), isa.name) || (operation.nontemporal && isa.encoding == Encoding::scalar)) continue;
        const bool can_fuse = isa.encoding == Encoding::vex || isa.encoding == Encoding::evex;
        for (const Form& form : forms_of(operation, true, can_fuse && usable(usable_features(), "fma"))) {
            CAPTURE(text, isa.name, form.text(operation));
            Bed bed(isa, operation, form);
            CHECK_NOTHROW(check_loop(bed.kernel));
            use(bed);
        }
    }
}

double number_at(const std::byte* array, std::size_t i)
{
    double number = 0;
    std::memcpy(&number, array + i * sizeof number, sizeof number);
    return number;
}

}  // namespace

TEST_CASE("the loop of every text computes what the text says, and passes its check")
{
    for (const Written& one : written) {
        for_loops_of(one.text, [&](Bed& bed) {
            const std::size_t count = bed.arrays.bytes / sizeof(double);
            const auto source = [&](int array, std::size_t i) {
                return array < bed.stream.sources ? number_at(bed.arrays.array(array), i) : 0;
            };
            std::vector<double> wanted;
            for (std::size_t i = 0; i < count; ++i)
                wanted.push_back(
                    one.value(number_at(bed.arrays.destination(), i), source(0, i), source(1, i), source(2, i)));
            bed.run(1);
            CHECK_NOTHROW(bed.check(1));
            bool all_right = true;
            for (std::size_t i = 0; i < count; ++i)
                all_right = all_right && number_at(bed.arrays.destination(), i) == wanted[i];
            CHECK(all_right);
        });
    }
}

TEST_CASE("a product that is added may be rounded with its sum")
{
    for_loops_of("a[i] = b[i] + c[i] * d[i]", [](Bed& bed) {
        const auto source = [&](int array, std::size_t i) { return number_at(bed.arrays.array(array), i); };
        bed.run(1);
        CHECK_NOTHROW(bed.check(1));
        bool all_right = true;
        for (std::size_t i = 0; i < bed.arrays.bytes / sizeof(double); ++i) {
            const double wanted = bed.kernel.form().fused ? std::fma(source(1, i), source(2, i), source(0, i))
                                                          : source(0, i) + source(1, i) * source(2, i);
            all_right = all_right && number_at(bed.arrays.destination(), i) == wanted;
        }
        CHECK(all_right);
    });
}

TEST_CASE("a sum over arrays is that of their elements in every pass")
{
    constexpr int passes = 3;
    for (const char* text : {"sum += b[i]", "sum += b[i] * c[i]", "sum += s * b[i] - c[i]"}) {
        for_loops_of(text, [&](Bed& bed) {
            double wanted = 0;
            for (std::size_t i = 0; i < bed.arrays.bytes / sizeof(double); ++i) {
                const double b = number_at(bed.arrays.array(0), i);
                const double c = number_at(bed.arrays.array(1), i);
                const bool is_product = text == std::string("sum += b[i] * c[i]");
                wanted += passes * (is_product ? b * c : text == std::string("sum += b[i]") ? b : scale * b - c);
            }
            bed.run(passes);
            CHECK_NOTHROW(bed.check(passes));
            double found = 0;
            for (std::size_t i = 0; i < bed.result.size(); ++i)
                found += number_at(reinterpret_cast<const std::byte*>(bed.result.data()), i);
            CHECK(found == Approx(wanted).epsilon(1e-12));
            CHECK_THROWS_AS(bed.check(passes + 1), Error);
        });
    }
}

TEST_CASE("words of three arrays and a constant are added modulo 2^64")
{
    for_loops_of("int64: a[i] += b[i] + c[i] + s", [](Bed& bed) {
        const auto word = [&](int array) {
            return std::bit_cast<std::uint64_t>(number_at(bed.arrays.array(array), 0));
        };
        const std::uint64_t wanted = word(0) + word(1) + word(2) + 1;
        bed.run(1);
        CHECK(word(2) == wanted);
        CHECK_NOTHROW(bed.check(1));
    });
}

TEST_CASE("the FLOPs of a loop are those of its text")
{
    for (const char* text : {"a[i] = s * b[i]", "a[i] = b[i] + s * c[i]", "a[i] = b[i] + c[i] * d[i]",
                             "sum += b[i] * c[i]", "a[i] = s * b[i] + t * c[i] - d[i]", "int64: a[i] += b[i] + c[i]"}) {
        for_loops_of(text, [&](Bed& bed) {
            double flops = 0;
            for (const Instruction& one : decode(bed.kernel.loop())) {
                const double numbers = one.bytes / 8.0;
                if (one.kind == InstructionKind::add || one.kind == InstructionKind::mul) flops += numbers;
                if (one.kind == InstructionKind::fma) flops += 2 * numbers;
            }
            const auto elements = StreamKernel::bytes_per_iteration(bed.kernel.isa(), bed.kernel.form()) / 8;
            CHECK(flops == bed.stream.flops() * static_cast<double>(elements));
        });
    }
}

TEST_CASE("one wrong word fails the check of every operation")
{
    for (const ArrayOperation& stream : usual_array_operations()) {
        CAPTURE(stream.name);
        for (const Join join : {Join::none, Join::sum}) {
            Bed bed(parse_isa("sse"), stream, {.join = join});
            const std::size_t last = bed.arrays.bytes - 8;
            if (stream.only_reads()) bed.arrays.array(0)[last] ^= std::byte{1};
            bed.run(2);
            if (stream.stores > 0) bed.arrays.destination()[last] ^= std::byte{1};
            CHECK_THROWS_AS(bed.check(2), Error);
        }
    }
}

TEST_CASE("a missing pass is detected by the sum of the loads and by the updated words")
{
    for (const char* operation : {"load", "update", "accumulate", "accumulate_two"}) {
        Bed bed(parse_isa("sse"), parse_array_operation(operation), {});
        bed.run(2);
        CHECK_THROWS_AS(bed.check(3), Error);
    }
}

TEST_CASE("a word that changes the bits or the maximum fails their check")
{
    for (const Join join : {Join::bits, Join::maximum}) {
        Bed bed(parse_isa("sse"), parse_array_operation("load"), {.join = join});
        bed.arrays.array(0)[7] = std::byte{0x40};  // a number of two or more; all others are below two
        bed.run(1);
        CHECK_THROWS_AS(bed.check(1), Error);
    }
}

TEST_CASE("missing stores are detected")
{
    for (const ArrayOperation& stream : usual_array_operations()) {
        Bed bed(parse_isa("sse"), stream, {});
        CHECK_THROWS_AS(bed.check(1), Error);
    }
}

TEST_CASE("arrays start at the same offset in a page, one behind the other")
{
    const ArrayOperation triad = parse_array_operation("triad");
    const ArrayOperation update = parse_array_operation("update");
    const StreamArrays arrays{triad, 5000, nullptr, 64};
    CHECK(arrays.array(1) - arrays.array(0) == 8192);
    CHECK(arrays.destination() == arrays.array(2));
    CHECK(arrays.extent() == 2 * 8192 + 5000);
    CHECK(StreamArrays{update, 5000, nullptr}.extent() == 5000);
}

TEST_CASE("operations read and write as many bytes per element as their names say")
{
    const auto reads_and_writes = [](const char* name) {
        const ArrayOperation stream = parse_array_operation(name);
        return std::tuple(stream.arrays(), stream.loads(), stream.stores);
    };
    CHECK(reads_and_writes("load") == std::tuple(1, 1, 0));
    CHECK(reads_and_writes("store_nt") == std::tuple(1, 0, 1));
    CHECK(reads_and_writes("copy") == std::tuple(2, 1, 1));
    CHECK(reads_and_writes("update") == std::tuple(1, 1, 1));
    CHECK(reads_and_writes("accumulate") == std::tuple(2, 2, 1));
    CHECK(reads_and_writes("accumulate_two") == std::tuple(3, 3, 1));
    CHECK(reads_and_writes("triad") == std::tuple(3, 2, 1));
}

TEST_CASE("scalars have no non-temporal store")
{
    CHECK_THROWS_AS(StreamKernel(parse_isa("scalar"), parse_array_operation("copy_nt"), {}), Unsupported);
    CHECK_THROWS_AS(parse_array_operation("stores"), InputError);
}
