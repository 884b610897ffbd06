// Probe "bandwidth": the rate of bytes between the registers and the level of memory that holds the working set.
//
// Launched: on every thread, a generated loop over its own arrays, repeatedly. The working set is the sum over all
//   arrays and threads; a sweep from 8 KiB up covers every cache and memory. Trials choose the width of loads and
//   stores and the form of the loop (forms.hpp); the row's variant names them. Each round uses different pages.
// Saturates: the load and store ports while the set fits L1; beyond, the path to the level that holds it. The sweep
//   alone decides which level that is; reported cache sizes are not used.
// Counts: the bytes that the instructions read and write, 8 for each array that the operation's text loads and for each
//   that it stores (array_operation.hpp). Not counted: the line that a missing store reads first (write-allocate) and
//   useless prefetches. So store, copy and triad move up to twice, 3/2 and 4/3 of their count beyond the caches.
//   Non-temporal stores read no line first; a launch ends when they have left the processor's buffers.
// Falsified by: a word loaded or stored that differs from the host's by one bit, or a sum by more than its rounding, in
//   the first round of a point with a variant; a loop whose decoded loads and stores are not those counted; an L1 rate
//   above ports x width x clock.
#include "cpu/probes/probes.hpp"

#include "cpu/probes/choices.hpp"
#include "cpu/probes/stream_subject.hpp"

namespace roof::cpu {
namespace {

std::size_t share(const Point& point)
{
    return static_cast<std::size_t>(point.integer("working_set") / point.integer("threads"));
}

class BandwidthBench : public Bench {
  public:
    explicit BandwidthBench(const ProbeContext& context)
        : Bench({"bandwidth", Role::bandwidth, "cpu",
                 "Bytes that the instructions read and write, in the fastest of several loops, each checked by its "
                 "result; lines read by a missing store (write-allocate) are not counted."}),
          context_(context),
          maker_(context.workspace, context.history)
    {
    }

    std::vector<Axis> axes(const Machine& machine) const override
    {
        Axis isa = isa_axis({std::string(best_isa)});
        isa.allowed.emplace_back(best_isa);
        return {operation_axis(names_in(usual_operations)),
                isa,
                threads_axis(machine, context_.thread_counts),
                placement_axis(),
                pages_axis(),
                working_set_axis("bytes, all arrays and threads together", usual_working_sets(machine))};
    }

    std::optional<std::string> unsupported_reason(const Point& point, const Machine& machine,
                                                  const Device&) const override
    {
        if (point.text("isa") != best_isa)
            if (auto reason = missing_isa(point, machine)) return reason;
        if (auto reason = missing_threads(point, machine)) return reason;
        if (auto reason = missing_siblings(point, machine)) return reason;
        const ArrayOperation operation = parse_array_operation(point.text("operation"));
        const std::vector<Isa> isas = isas_for(point.text("isa"), machine);
        if (!array_extent(operation, isas, share(point))) return too_small;
        if (operation.nontemporal && isas.front().encoding == Encoding::scalar)
            return "scalar has no non-temporal store; sse and wider have";
        return std::nullopt;
    }

    std::unique_ptr<Subject> create(const Point& point, const Machine& machine, const Device&) const override
    {
        return maker_.make({parse_array_operation(point.text("operation")), isas_for(point.text("isa"), machine),
                            has_feature(machine, "fma"), share(point), Mapping{pages_of(point), std::nullopt},
                            processors_for(point, context_.processors, *context_.history),
                            resources_in_cores(point, machine), point.without("round").str()});
    }

  private:
    ProbeContext context_;
    StreamMaker maker_;
};

}  // namespace

std::unique_ptr<Bench> bandwidth_bench(const ProbeContext& context)
{
    return std::make_unique<BandwidthBench>(context);
}

}  // namespace roof::cpu
