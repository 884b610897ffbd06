#include "analysis/recordings/api_calls.hpp"

#include "ert/base/names.hpp"
#include "ert/recording/record_files.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace roof::analysis {

namespace {

constexpr std::array<Named<CallPurpose>, 6> purposes{{{CallPurpose::launch, "launch"},
                                                      {CallPurpose::wait, "wait"},
                                                      {CallPurpose::copy, "copy"},
                                                      {CallPurpose::allocate, "allocate"},
                                                      {CallPurpose::event, "event"},
                                                      {CallPurpose::other, "other"}}};

struct Part {
    std::string_view text;
    CallPurpose purpose;
};

/// Parts of a call's name; the first one that matches decides.
constexpr std::array parts{
    Part{"Synchronize", CallPurpose::wait},   Part{"StreamWaitEvent", CallPurpose::event},
    Part{"Launch", CallPurpose::launch},      Part{"Memcpy", CallPurpose::copy},
    Part{"Memset", CallPurpose::copy},        Part{"Malloc", CallPurpose::allocate},
    Part{"MemAlloc", CallPurpose::allocate},  Part{"Free", CallPurpose::allocate},
    Part{"HostAlloc", CallPurpose::allocate}, Part{"MemPool", CallPurpose::allocate},
    Part{"Event", CallPurpose::event},
};

/// "cudaMalloc_v3020" -> "cudaMalloc".
std::string without_version(const std::string& name)
{
    const std::size_t mark = name.rfind("_v");
    if (mark == std::string::npos || mark + 2 >= name.size()) return name;
    const bool digits = name.find_first_not_of("0123456789", mark + 2) == std::string::npos;
    return digits ? name.substr(0, mark) : name;
}

}  // namespace

std::string_view name(CallPurpose purpose)
{
    return name_in(purposes, purpose);
}

CallPurpose purpose_of(std::string_view call)
{
    const auto part = std::ranges::find_if(parts, [&](const Part& p) { return call.find(p.text) != call.npos; });
    return part == parts.end() ? CallPurpose::other : part->purpose;
}

std::vector<CallTotal> add_up_calls(const RecordedFolder& folder)
{
    std::map<std::pair<std::string, std::string>, CallTotal> totals;
    read_records<ApiRecord>(folder, [&](const std::string& row, const ApiRecord& call) {
        CallTotal& total = totals[{row, call.name}];
        ++total.calls;
        total.seconds += call.duration;
        total.longest = std::max(total.longest, call.duration);
    });
    std::vector<CallTotal> list;
    for (auto& [key, total] : totals) {
        total.row = key.first;
        total.name = without_version(key.second);
        total.purpose = purpose_of(total.name);
        list.push_back(std::move(total));
    }
    std::ranges::stable_sort(list, [](const CallTotal& a, const CallTotal& b) {
        return a.row != b.row ? a.row < b.row : a.seconds > b.seconds;
    });
    return list;
}

}  // namespace roof::analysis
