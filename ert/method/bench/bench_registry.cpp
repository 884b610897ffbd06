#include "ert/method/bench/bench_registry.hpp"
#include "ert/base/error.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>
#include <stdexcept>

namespace roof {

void BenchRegistry::add(std::unique_ptr<Bench> bench)
{
    if (find_open(bench->name(), bench->device_kind()) != nullptr)
        throw std::logic_error("two benches are named " + std::string(bench->name()));
    contents_->benches.push_back(std::move(bench));
}

const Bench* BenchRegistry::find(std::string_view name, std::string_view device_kind) const
{
    const Bench* found = find_open(name, device_kind);
    while (found == nullptr && open_next(device_kind)) found = find_open(name, device_kind);
    return found;
}

const Profiler* BenchRegistry::profiler(std::string_view device_kind) const
{
    do {
        for (const Profiler& profiler : contents_->profilers)
            if (profiler.device_kind == device_kind) return &profiler;
    } while (open_next(device_kind));
    return nullptr;
}

void BenchRegistry::open_all() const
{
    while (open_next({})) {
    }
}

const std::vector<std::unique_ptr<Bench>>& BenchRegistry::benches() const
{
    open_all();
    return contents_->benches;
}

const std::vector<AbsentPart>& BenchRegistry::absent() const
{
    open_all();
    return contents_->absent;
}

std::vector<std::string> BenchRegistry::bench_names() const
{
    std::set<std::string> names;
    for (const auto& bench : benches()) names.insert(bench->name());
    for (const AbsentPart& part : absent()) {
        std::istringstream list(part.benches);
        names.insert(std::istream_iterator<std::string>(list), {});
    }
    return {names.begin(), names.end()};
}

const Bench* BenchRegistry::find_open(std::string_view name, std::string_view device_kind) const
{
    for (const auto& bench : contents_->benches)
        if (bench->name() == name && bench->device_kind() == device_kind) return bench.get();
    return nullptr;
}

bool BenchRegistry::open_next(std::string_view device_kind) const
{
    std::vector<DeferredPart>& deferred = contents_->deferred;
    const auto next = std::ranges::find_if(
        deferred, [&](const DeferredPart& part) { return device_kind.empty() || part.device_kind == device_kind; });
    if (next == deferred.end()) return false;
    const DeferredPart part = std::move(*next);
    deferred.erase(next);  // first, because a part may look up what others have added
    BenchRegistry same(contents_);
    part.add(same);
    return true;
}

std::unique_ptr<Subject> Bench::make(const Point& point, const Machine& machine, const Device& device) const
{
    if (const auto reason = unsupported_reason(point, machine, device)) throw Unsupported(*reason);
    return create(point, machine, device);
}

}  // namespace roof
