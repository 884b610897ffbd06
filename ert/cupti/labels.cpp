#include "ert/cupti/labels.hpp"

namespace roof::cupti {

std::uint64_t Labels::number_of(const Label& label)
{
    const std::lock_guard lock(mutex_);
    const auto [place, is_new] = numbers_.try_emplace(label, labels_.size() + 1);
    if (is_new) labels_.push_back(label);
    return place->second;
}

Label Labels::label_of(std::uint64_t number) const
{
    const std::lock_guard lock(mutex_);
    return number == 0 || number > labels_.size() ? Label{} : labels_[number - 1];
}

void Labels::captured(std::uint64_t node, std::uint64_t label)
{
    const std::lock_guard lock(mutex_);
    if (label != 0) nodes_[node] = label;
}

void Labels::cloned(std::uint64_t node, std::uint64_t original)
{
    const std::lock_guard lock(mutex_);
    if (const auto found = nodes_.find(original); found != nodes_.end()) nodes_[node] = found->second;
}

std::uint64_t Labels::of_node(std::uint64_t node) const
{
    const std::lock_guard lock(mutex_);
    const auto found = nodes_.find(node);
    return found == nodes_.end() ? 0 : found->second;
}

}  // namespace roof::cupti
