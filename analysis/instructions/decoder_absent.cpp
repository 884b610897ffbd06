#include "analysis/instructions/executed_work.hpp"

namespace roof::analysis {

std::string missing_decoder()
{
    return "roof was built without Zydis, which decodes instructions (Debian's package libzydis-dev)";
}

std::optional<InstructionWork> work_of(std::span<const std::uint8_t>)
{
    return std::nullopt;
}

std::string instruction_name(std::span<const std::uint8_t>)
{
    return {};
}

}  // namespace roof::analysis
