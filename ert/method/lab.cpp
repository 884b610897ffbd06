#include "ert/method/lab.hpp"

#include <algorithm>
#include <stdexcept>

namespace roof {

void Lab::add(std::unique_ptr<Bench> bench)
{
    if (find(bench->name(), bench->device_kind()) != nullptr) {
        throw std::logic_error("two benches are named " + std::string(bench->name()));
    }
    benches_.push_back(std::move(bench));
}

void Lab::add(AbsentPart part)
{
    absent_.push_back(std::move(part));
}

void Lab::add(Profiler profiler)
{
    profilers_.push_back(std::move(profiler));
}

const Profiler* Lab::profiler(std::string_view device_kind) const
{
    const auto found =
        std::ranges::find_if(profilers_, [&](const Profiler& one) { return one.device_kind == device_kind; });
    return found == profilers_.end() ? nullptr : &*found;
}

const Bench* Lab::find(std::string_view name, std::string_view device_kind) const
{
    const auto found = std::ranges::find_if(
        benches_, [&](const auto& bench) { return bench->name() == name && bench->device_kind() == device_kind; });
    return found == benches_.end() ? nullptr : found->get();
}

}  // namespace roof
