// The bench "train" of a kind of device: training steps of every model, on one rank or several. A device brings its own
// axes, what it lacks, and its step.
#pragma once

#include "ert/method/bench/bench.hpp"
#include "workloads/engine/step.hpp"
#include "workloads/model/models.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace roof::engine {

using Values = std::vector<std::string>;

/// In what the devices' benches differ.
struct TrainTraits {
    std::string device_kind;
    std::string device;    ///< "the CPU"
    std::string timing{};  ///< a sentence on the time of a step, for the description
    Values batches;        ///< defaults
    Values precisions;     ///< defaults
    Values allowed_precisions;
    std::string precision_note{};  ///< "fp16 with loss scaling; "
    Values algorithms;             ///< allowed, the default first
    MakeStep make{};
    /// Builds the network with this name, for tests; empty: model::build_model(). Throws InputError for an unknown
    /// name.
    std::function<model::Graph(const std::string& name)> build{};
};

class TrainBench : public Bench {
  public:
    /// model, batch, precision, algorithm, data, parameters, lr, optimizer; the device's own; those of ranks.
    std::vector<Axis> axes(const Machine& machine) const override;
    /// Checks `device` and device.others.
    std::optional<std::string> unsupported_reason(const Point& point, const Machine& machine,
                                                  const Device& device) const override;
    std::unique_ptr<Subject> create(const Point& point, const Machine& machine, const Device& device) const override;

  protected:
    /// `memory`: the folder of remembered choices; empty: none.
    TrainBench(TrainTraits traits, std::filesystem::path memory);

    static Settings settings_of(const Point& point, const Machine& machine);

  private:
    virtual std::vector<Axis> own_axes(const Machine& machine) const = 0;
    /// The reason why the device cannot run the point on one rank, or none.
    virtual std::optional<std::string> lacking(const Point& point, const Machine& machine,
                                               const Device& device) const = 0;
    /// The reason why the point's ranks cannot run, or none.
    virtual std::optional<std::string> lacking_for_ranks(const Point&, const Device&) const { return std::nullopt; }
    /// Whether one rank alone communicates, too.
    virtual bool exchanges_alone(const Point&) const { return false; }
    bool exchanges(const Point& point) const { return parallel::options_of(point).ranks > 1 || exchanges_alone(point); }
    /// The file of remembered choices in the folder of all.
    virtual std::filesystem::path choices_file(const Machine& machine, const Device& device) const = 0;

    TrainTraits traits_;
    std::filesystem::path memory_;
};

/// Throws InputError for a point that is wrong on every machine: its `lr`, `data` or file of a network.
void require_legal(const Point& point);

}  // namespace roof::engine
