#include "analysis/recordings/kernels.hpp"

#include <algorithm>
#include <fstream>
#include <tuple>
#include <unordered_map>

namespace roof::analysis {

namespace {

/// All launches with the same name, layer, phase, row and device: the input of the rules.
struct Group {
    KernelTotal total;
    std::string layer;
    std::string phase;
};

/// Sums the lines as they are read.
class Groups {
  public:
    void add(const std::string& row, const KernelRecord& kernel)
    {
        const Cause& cause = kernel.cause;
        key_.clear();
        for (const std::string* part : {&row, &cause.device, &cause.layer, &cause.phase, &kernel.name})
            key_.append(*part).push_back('\n');
        const auto [place, is_new] = places_.try_emplace(key_, groups_.size());
        if (is_new) groups_.push_back({{row, cause.device, {}, {}, kernel.name, 0, 0}, cause.layer, cause.phase});
        KernelTotal& total = groups_[place->second].total;
        ++total.launches;
        total.seconds += kernel.duration.value;
    }

    std::vector<Group> take() { return std::move(groups_); }

  private:
    std::string key_;
    std::unordered_map<std::string, std::size_t> places_;
    std::vector<Group> groups_;
};

std::vector<KernelTotal> classified(std::vector<Group> groups, const KernelRules& rules, const LayerKinds& kinds)
{
    std::map<std::tuple<std::string, std::string, std::string, std::string, std::string>, KernelTotal> totals;
    for (Group& group : groups) {
        KernelTotal& total = group.total;
        const auto kind = kinds.find(group.layer);
        const KernelKind is =
            rules.kind_of({total.name, group.layer, kind == kinds.end() ? "" : kind->second, group.phase});
        total.category = is.category;
        total.algorithm = is.algorithm;
        const auto key = std::tuple{total.row, total.device, is.category, is.algorithm, total.name};
        const auto [place, is_new] = totals.try_emplace(key, total);
        if (is_new) continue;
        place->second.launches += total.launches;
        place->second.seconds += total.seconds;
    }
    std::vector<KernelTotal> list;
    for (auto& [key, total] : totals) list.push_back(std::move(total));
    std::ranges::stable_sort(list, [](const KernelTotal& a, const KernelTotal& b) {
        return a.row != b.row ? a.row < b.row : a.seconds > b.seconds;
    });
    return list;
}

/// `read` calls its argument for each record and returns the number of records.
template <class Read>
KernelDigest digest(const Read& read, const KernelRules& rules, const LayerKinds& kinds)
{
    Groups groups;
    KernelDigest digest;
    digest.launches = read([&](const std::string& row, const KernelRecord& kernel) { groups.add(row, kernel); });
    digest.totals = classified(groups.take(), rules, kinds);
    return digest;
}

}  // namespace

LayerKinds layer_kinds(std::span<const Measurement> rows)
{
    LayerKinds kinds;
    for (const Measurement& row : rows)
        for (const PartMeasurement& part : row.parts) kinds.try_emplace(part.part.layer, part.part.kind);
    return kinds;
}

KernelDigest digest_kernels(std::istream& csv, const std::string& name, const KernelRules& rules,
                            const LayerKinds& kinds)
{
    return digest([&](const TakeRecord<KernelRecord>& take) { return read_records<KernelRecord>(csv, name, take); },
                  rules, kinds);
}

KernelDigest digest_kernels(const RecordedFolder& folder, const KernelRules& rules, const LayerKinds& kinds,
                            const TakeRecord<KernelRecord>& also)
{
    const auto read = [&](const TakeRecord<KernelRecord>& take) {
        return read_records<KernelRecord>(folder, [&](const std::string& row, const KernelRecord& kernel) {
            take(row, kernel);
            also(row, kernel);
        });
    };
    return digest(read, rules, kinds);
}

}  // namespace roof::analysis
