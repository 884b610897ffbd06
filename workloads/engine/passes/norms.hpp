// What passes look for: which operations use a tensor, and the operations of a batch norm.
#pragma once

#include "workloads/engine/ir/list.hpp"

#include <map>
#include <variant>
#include <vector>

namespace roof::ir {

/// An operation in its list; none without an entry.
struct ListPlace {
    List::Stage* stage = nullptr;
    Entry* entry = nullptr;

    explicit operator bool() const { return entry != nullptr; }
    /// Returns the operation if it is of this type and not removed, else null.
    template <class Op>
    Op* as() const
    {
        return entry == nullptr || entry->is_removed ? nullptr : std::get_if<Op>(&entry->operation);
    }
};

/// Calls use(place, operation) for each operation of this type, in the order of the list. It may move operations.
template <class Op>
void for_each_of(List& list, const auto& use)
{
    std::vector<ListPlace> places;
    for (List::Stage& stage : list.stages) {
        for (Entry& entry : stage.entries) {
            if (std::holds_alternative<Op>(entry.operation)) places.push_back({&stage, &entry});
        }
    }
    for (const ListPlace& place : places) {
        if (Op* const operation = place.as<Op>()) use(place, *operation);
    }
}

/// Holds for the list as it is when this is made.
class Uses {
  public:
    explicit Uses(List& list);

    /// Operations that read the tensor, in the order of the list.
    const std::vector<ListPlace>& readers(const Tensor& tensor) const { return of(readers_, tensor); }
    std::vector<ListPlace> readers(const Tensor& tensor, Phase phase) const;
    /// The operation that alone reads it forward, if there is one.
    ListPlace only_reader(const Tensor& tensor) const;
    /// Those that read or write it.
    const std::vector<ListPlace>& users(const Tensor& tensor) const { return of(users_, tensor); }
    /// The first of them of this type; null if there is none.
    template <class Op>
    Op* first(const Tensor& tensor) const
    {
        for (const ListPlace& place : users(tensor))
            if (Op* const operation = place.as<Op>()) return operation;
        return nullptr;
    }

  private:
    using Places = std::map<int, std::vector<ListPlace>>;
    static const std::vector<ListPlace>& of(const Places& places, const Tensor& tensor);

    Places readers_, users_;
};

/// The batch norm that alone reads a convolution forward, and for which that may sum its result: its Statistics. Narrow
/// values without bias only.
ListPlace norm_behind(const Uses& uses, const ListPlace& convolution);

/// Backward, the ReLU of the batch norm with this result is known from the source.
void mask_by_source(const Uses& uses, const Tensor& result);

/// Moves what is left of a stage to the begin or the end of another, with its work.
void join(List::Stage& from, List::Stage& to, bool at_begin = false);

}  // namespace roof::ir
