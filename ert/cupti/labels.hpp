// Which layer and phase is at work: named by whoever launches, handed through CUPTI as a number, and remembered for the nodes of
// a CUDA graph, whose kernels run long after they were captured.
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
    /// Never 0, which stands for no label.
    std::uint64_t number_of(const Label& label);
    /// Of a number that was given out; the empty label for any other.
    Label label_of(std::uint64_t number) const;

    /// A node was captured under a label.
    void captured(std::uint64_t node, std::uint64_t label);
    /// A node was made from another: a graph was instantiated, or cloned.
    void cloned(std::uint64_t node, std::uint64_t original);
    /// 0 if the node was captured under none.
    std::uint64_t of_node(std::uint64_t node) const;

  private:
    mutable std::mutex mutex_;
    std::map<Label, std::uint64_t> numbers_;
    std::vector<Label> labels_;
    std::unordered_map<std::uint64_t, std::uint64_t> nodes_;
};

}  // namespace roof::cupti
