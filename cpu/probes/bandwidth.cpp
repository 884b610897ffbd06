// See bandwidth.hpp for what is launched and counted.
#include "cpu/probes/bandwidth.hpp"

#include "cpu/probes/choices.hpp"
#include "cpu/probes/stream_subject.hpp"
#include "cpu/probes/working_sets.hpp"

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
        Axis operation{"operation", "what each element costs", {}, {}};
        for (const Stream& stream : stream_table) operation.defaults.emplace_back(stream.name);
        operation.allowed = operation.defaults;
        Axis isa = isa_axis({std::string(best_isa)});
        isa.allowed.emplace_back(best_isa);
        return {operation,
                isa,
                threads_axis(machine, context_.thread_counts),
                placement_axis(),
                pages_axis(),
                working_set_axis("bytes, all arrays and threads together", usual_working_sets(machine))};
    }

    std::optional<std::string> unsupported_reason(const Point& point, const Machine& machine,
                                                  const Device&) const override
    {
        if (point.text("isa") != best_isa) {
            if (auto reason = missing_isa(point, machine)) return reason;
        }
        if (auto reason = missing_threads(point, machine)) return reason;
        if (auto reason = missing_siblings(point, machine)) return reason;
        const Stream& stream = parse_stream(point.text("operation"));
        const std::vector<Isa> isas = isas_for(point.text("isa"), machine);
        if (!array_extent(stream, isas, share(point))) {
            return too_small;
        }
        if (stream.nontemporal && isas.front().encoding == Encoding::scalar) {
            return "scalar has no non-temporal store; sse and wider have";
        }
        return std::nullopt;
    }

    std::unique_ptr<Subject> create(const Point& point, const Machine& machine, const Device&) const override
    {
        return maker_.make({parse_stream(point.text("operation")), isas_for(point.text("isa"), machine),
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
