#include "tools/roof/session/plans.hpp"

#include "ert/base/error.hpp"
#include "ert/base/ranges.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace roof {
namespace {

std::string work_text(const Work& work)
{
    std::string text = format_si(work.flops.value, "FLOP");
    if (work.executed.value > 0) text += fmt::format(" ({} executed)", format_si(work.executed.value, "FLOP"));
    return text + ", " + format_si(work.compulsory.value, "B") + " at least";
}

/// "; 21 reorders, 94 MB" for a whole launch; empty without reorders.
std::string reorders_text(const std::vector<TimedPart>& parts)
{
    int count = 0;
    Bytes moved{};
    for (const TimedPart& part : parts)
        for (const Operation& operation : part.operations) {
            if (!operation.implementation.starts_with("reorder")) continue;
            ++count;
            moved += operation.bytes;
        }
    return count == 0 ? "" : fmt::format("; {} reorders, {}", count, format_si(moved.value, "B"));
}

nlohmann::json part_json(const TimedPart& part)
{
    const auto operation_json = [](const Operation& operation) -> nlohmann::json {
        return {{"implementation", operation.implementation},
                {"operands", operation.operands},
                {"bytes", operation.bytes.value}};
    };
    return {{"layer", part.layer},
            {"kind", part.kind},
            {"phase", name(part.phase)},
            {"flops", part.work.flops.value},
            {"executed_flops", part.work.executed.value},
            {"compulsory_bytes", part.work.compulsory.value},
            {"no_reuse_bytes", part.work.no_reuse.value},
            {"operations", mapped(part.operations, operation_json)}};
}

}  // namespace

Explanation explain(const Item& item, const BenchRegistry& registry)
{
    Explanation explanation{item.id(), item.missing, {}, {}, {}};
    if (item.bench == nullptr) return explanation;
    try {
        const Device& device = registry.machine().device(item.device);
        const std::unique_ptr<Subject> subject = item.bench->make(item.point, registry.machine(), device);
        explanation.variant = subject->variant();
        explanation.memory = subject->memory();
        explanation.parts = subject->parts();
    } catch (const InputError&) {
        throw;
    } catch (const Error& error) {
        explanation.reason = error.what();
    }
    return explanation;
}

std::string explanation_text(const Explanation& explanation)
{
    std::string text = printable(explanation.item) + '\n';
    if (!explanation.reason.empty()) return text + "    unsupported: " + printable(explanation.reason) + '\n';
    text += fmt::format("    memory {}{}{}{}\n", format_si(explanation.memory.value, "B"),
                        explanation.variant.empty() ? "" : "; ", explanation.variant, reorders_text(explanation.parts));
    for (const TimedPart& part : explanation.parts) {
        text += fmt::format("{:<8} {} ({}): {}\n", name(part.phase), part.layer, part.kind, work_text(part.work));
        for (const Operation& operation : part.operations)
            text += fmt::format("    {:<28} {:>9}  {}\n", operation.implementation,
                                format_si(operation.bytes.value, "B"), operation.operands);
    }
    return text;
}

nlohmann::json explanation_json(const Explanation& explanation)
{
    return {{"item", explanation.item},
            {"unsupported", explanation.reason.empty() ? nlohmann::json() : nlohmann::json(explanation.reason)},
            {"variant", explanation.variant},
            {"memory_bytes", explanation.memory.value},
            {"parts", mapped(explanation.parts, part_json)}};
}

}  // namespace roof
