#include "analysis/table/judged.hpp"

#include "ert/method/bench/row_words.hpp"

#include <algorithm>

namespace roof::analysis {

bool took_turns(const Measurement& row)
{
    return row.remarks.find(ranks_take_turns) != std::string::npos;
}

bool differ_in_clock(const Measurement& row)
{
    return row.remarks.find(ranks_differ_in_clock) != std::string::npos;
}

bool has_bytes_of_others(const Measurement& row)
{
    const auto fuses = [](const PartMeasurement& part) {
        return part.part.kind == "batch_norm" && part.part.implementation.find("roof:") != std::string::npos;
    };
    return row.description.find(bytes_of_operations) == std::string::npos && row.device.starts_with("gpu") &&
           std::ranges::any_of(row.parts, fuses);
}

}  // namespace roof::analysis
