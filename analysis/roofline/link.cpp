#include "analysis/roofline/link.hpp"

namespace roof::analysis {

Bytes link_bytes(const Measurement& row)
{
    if (row.ranks() < 2) return {};
    const bool to_one = row.point.has("communication") && row.point.text("communication") == "broadcast";
    return row.messages * (to_one ? 1 : 2.0 * (row.ranks() - 1) / row.ranks());
}

const Ceiling* link_between_gpus(const Ceilings& ceilings)
{
    const Ceiling* fastest = nullptr;
    for (const Ceiling& ceiling : ceilings.all) {
        if (ceiling.kind != Role::bandwidth || ceiling.operation != "bus") continue;
        if (fastest == nullptr || fastest->rate.median < ceiling.rate.median) fastest = &ceiling;
    }
    return fastest;
}

}  // namespace roof::analysis
