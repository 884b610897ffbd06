// Layer and phase of launched work as numbered labels. A number passes through CUPTI with each call, and is stored for
// the nodes of CUDA graphs, whose kernels run long after they were captured.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace roof::cupti {

struct Label {
    std::string layer;
    std::string phase;

    auto operator<=>(const Label&) const = default;
};

/// May be used from several threads.
class Labels {
  public:
    /// Never 0, which means no label.
    std::uint64_t number_of(const Label& label)
    {
        const std::lock_guard lock(mutex_);
        const auto [place, is_new] = numbers_.try_emplace(label, labels_.size() + 1);
        if (is_new) labels_.push_back(label);
        return place->second;
    }
    /// The label of a number; empty for an unknown number.
    Label label_of(std::uint64_t number) const
    {
        const std::lock_guard lock(mutex_);
        return number == 0 || number > labels_.size() ? Label{} : labels_[number - 1];
    }

    /// Stores the label under which a node was captured.
    void captured(std::uint64_t node, std::uint64_t label)
    {
        const std::lock_guard lock(mutex_);
        if (label != 0) nodes_[node] = label;
    }
    /// Copies the label of a node to its clone: a graph was instantiated or cloned.
    void cloned(std::uint64_t node, std::uint64_t original) { captured(node, of_node(original)); }
    /// 0 if the node has no label.
    std::uint64_t of_node(std::uint64_t node) const
    {
        const std::lock_guard lock(mutex_);
        const auto found = nodes_.find(node);
        return found == nodes_.end() ? 0 : found->second;
    }

  private:
    mutable std::mutex mutex_;
    std::map<Label, std::uint64_t> numbers_;
    std::vector<Label> labels_;
    std::unordered_map<std::uint64_t, std::uint64_t> nodes_;
};

}  // namespace roof::cupti
