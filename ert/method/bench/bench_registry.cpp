#include "ert/method/bench/bench_registry.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>
#include <stdexcept>

namespace roof {

void BenchRegistry::add(std::unique_ptr<Bench> bench)
{
    if (find_open(bench->name(), bench->device_kind()) != nullptr) {
        throw std::logic_error("two benches are named " + std::string(bench->name()));
    }
    contents_->benches.push_back(std::move(bench));
}

void BenchRegistry::add(AbsentPart part)
{
    contents_->absent.push_back(std::move(part));
}

void BenchRegistry::add(Profiler profiler)
{
    contents_->profilers.push_back(std::move(profiler));
}

void BenchRegistry::add(DeferredPart part)
{
    contents_->deferred.push_back(std::move(part));
}

const Bench* BenchRegistry::find(std::string_view name, std::string_view device_kind) const
{
    const Bench* found = find_open(name, device_kind);
    while (found == nullptr && open_next(device_kind)) found = find_open(name, device_kind);
    return found;
}

const Profiler* BenchRegistry::profiler(std::string_view device_kind) const
{
    const Profiler* found = open_profiler(device_kind);
    while (found == nullptr && open_next(device_kind)) found = open_profiler(device_kind);
    return found;
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
    const auto found = std::ranges::find_if(contents_->benches, [&](const auto& bench) {
        return bench->name() == name && bench->device_kind() == device_kind;
    });
    return found == contents_->benches.end() ? nullptr : found->get();
}

const Profiler* BenchRegistry::open_profiler(std::string_view device_kind) const
{
    const auto found = std::ranges::find(contents_->profilers, device_kind, &Profiler::device_kind);
    return found == contents_->profilers.end() ? nullptr : &*found;
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

}  // namespace roof
