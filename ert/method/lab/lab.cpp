#include "ert/method/lab/lab.hpp"

#include <algorithm>
#include <stdexcept>

namespace roof {

void Lab::add(std::unique_ptr<Bench> bench)
{
    if (find_open(bench->name(), bench->device_kind()) != nullptr) {
        throw std::logic_error("two benches are named " + std::string(bench->name()));
    }
    contents_->benches.push_back(std::move(bench));
}

void Lab::add(AbsentPart part)
{
    contents_->absent.push_back(std::move(part));
}

void Lab::add(Profiler profiler)
{
    contents_->profilers.push_back(std::move(profiler));
}

void Lab::add(DeferredPart part)
{
    contents_->deferred.push_back(std::move(part));
}

const Bench* Lab::find(std::string_view name, std::string_view device_kind) const
{
    const Bench* found = find_open(name, device_kind);
    while (found == nullptr && open_next(device_kind)) found = find_open(name, device_kind);
    return found;
}

const Profiler* Lab::profiler(std::string_view device_kind) const
{
    const Profiler* found = open_profiler(device_kind);
    while (found == nullptr && open_next(device_kind)) found = open_profiler(device_kind);
    return found;
}

void Lab::open_all() const
{
    while (open_next({})) {
    }
}

const std::vector<std::unique_ptr<Bench>>& Lab::benches() const
{
    open_all();
    return contents_->benches;
}

const std::vector<AbsentPart>& Lab::absent() const
{
    open_all();
    return contents_->absent;
}

const Bench* Lab::find_open(std::string_view name, std::string_view device_kind) const
{
    const auto found = std::ranges::find_if(contents_->benches, [&](const auto& bench) {
        return bench->name() == name && bench->device_kind() == device_kind;
    });
    return found == contents_->benches.end() ? nullptr : found->get();
}

const Profiler* Lab::open_profiler(std::string_view device_kind) const
{
    const auto found = std::ranges::find(contents_->profilers, device_kind, &Profiler::device_kind);
    return found == contents_->profilers.end() ? nullptr : &*found;
}

bool Lab::open_next(std::string_view device_kind) const
{
    std::vector<DeferredPart>& deferred = contents_->deferred;
    const auto next = std::ranges::find_if(
        deferred, [&](const DeferredPart& part) { return device_kind.empty() || part.device_kind == device_kind; });
    if (next == deferred.end()) return false;
    const DeferredPart part = std::move(*next);
    deferred.erase(next);  // first: a part may look for what others have added
    Lab same(contents_);
    part.add(same);
    return true;
}

}  // namespace roof
