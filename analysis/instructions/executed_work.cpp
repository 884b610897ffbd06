#include "analysis/instructions/executed_work.hpp"

#include "analysis/instructions/decoder.hpp"
#include "analysis/instructions/object_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

namespace roof::analysis {
namespace {

constexpr double line = 64;

class Decoder {
  public:
    std::optional<InstructionWork> work(const std::string& object, std::uint64_t address)
    {
        const auto [known, is_new] = works_.try_emplace({object, address});
        if (const ObjectCode* const code = is_new ? objects_.of(object) : nullptr; code != nullptr)
            known->second = work_of(code->at(address));
        return known->second;
    }

  private:
    ObjectCodes objects_;
    std::map<std::pair<std::string, std::uint64_t>, std::optional<InstructionWork>> works_;
};

struct Lines {
    double written = 0;       ///< fetched by stores
    double written_back = 0;  ///< changed lines that left
};

void add(ExecutedWork& sum, const ExecutedWork& more)
{
    sum.instructions += more.instructions;
    sum.unknown += more.unknown;
    for (const auto& [kind, flops] : more.flops) sum.flops[kind] += flops;
    sum.operand_bytes += more.operand_bytes;
    sum.into_first += more.into_first;
    sum.read += more.read;
    sum.written += more.written;
}

ExecutedWork work_in(const ExecutedFunction& function, Decoder& decoder, Lines& lines)
{
    ExecutedWork work{.name = function.name, .object = function.object};
    for (const ExecutedInstruction& executed : function.instructions) {
        work.instructions += executed.times;
        work.into_first += line * (executed.first_read + executed.first_written);
        work.read += line * executed.last_read;
        lines.written += executed.last_written;
        lines.written_back += executed.written_back;
        if (executed.times == 0) continue;
        const std::optional<InstructionWork> each = decoder.work(function.object, executed.address);
        if (!each) {
            work.unknown += executed.times;
            continue;
        }
        work.operand_bytes += executed.times * each->bytes;
        if (each->flops > 0)
            work.flops[{std::string(each->precision), std::string(each->instruction_set), each->width}] +=
                executed.times * each->flops;
    }
    return work;
}

}  // namespace

std::string KindOfFlops::text() const
{
    return fmt::format("{} by {}{}", precision, instruction_set,
                       width > 0                  ? fmt::format(", {} bits", width)
                       : instruction_set == "x87" ? ""
                                                  : ", one number");
}

double ExecutedWork::total_flops() const
{
    double sum = 0;
    for (const auto& [kind, of_kind] : flops) sum += of_kind;
    return sum;
}

std::map<std::string, double> ExecutedWork::by_precision() const
{
    std::map<std::string, double> sums;
    for (const auto& [kind, of_kind] : flops) sums[kind.precision] += of_kind;
    return sums;
}

ExecutedProgram executed_work(const std::vector<ExecutedFunction>& functions)
{
    Decoder decoder;
    ExecutedProgram program;
    std::map<std::pair<std::string, std::string>, std::pair<ExecutedWork, Lines>> by_name;
    Lines all;
    for (const ExecutedFunction& function : functions) {
        auto& [sum, lines] = by_name[{function.object, function.name}];
        Lines own;
        add(sum, work_in(function, decoder, own));
        sum.name = function.name, sum.object = function.object;
        lines.written += own.written, lines.written_back += own.written_back;
        all.written += own.written, all.written_back += own.written_back;
    }
    // A line that stores fetched leaves as a changed line later, often in another function; it counts where it was
    // fetched. A changed line that no store fetched was loaded first and then changed; such lines count where changed
    // lines left.
    double spare = 0;
    for (const auto& [key, entry] : by_name) spare += std::max(0.0, entry.second.written_back - entry.second.written);
    const double changed = std::max(0.0, all.written_back - all.written);
    for (auto& [key, entry] : by_name) {
        auto& [sum, lines] = entry;
        const double own = std::max(0.0, lines.written_back - lines.written);
        sum.written = line * (lines.written + (spare > 0 ? changed * own / spare : 0));
        add(program.whole, sum);
        program.functions.push_back(std::move(sum));
    }
    std::ranges::stable_sort(program.functions, std::greater{}, &ExecutedWork::instructions);
    return program;
}

}  // namespace roof::analysis
