// See bandwidth.cpp for what is launched and counted.
#include "cpu/probes/stream_subject.hpp"

#include "cpu/kernels/decode.hpp"
#include "cpu/kernels/registers.hpp"
#include "cpu/probes/checks.hpp"
#include "ert/base/error.hpp"
#include "ert/method/bench/clock.hpp"
#include "ert/method/bench/search.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace roof::cpu {
namespace {

using Stock = StreamMaker::Stock;

/// Larger arrays do not fit in any L1.
constexpr std::size_t largest_l1 = std::size_t{64} << 10;
constexpr int places_tried = 8;

bool fuses(const Isa& isa, bool has_fma)
{
    return has_fma && (isa.encoding == Encoding::vex || isa.encoding == Encoding::evex);
}

/// Calls use() for every form and instruction set to try on arrays of that many bytes.
template <class Use>
void for_candidates(const ArrayOperation& operation, const std::vector<Isa>& isas, bool has_fma, std::size_t bytes,
                    const Use& use)
{
    for (const Isa& isa : isas)
        for (const Form& form : forms_of(operation, bytes > largest_l1, fuses(isa, has_fma))) use(isa, form);
}

const StreamKernel& kernel(Stock& stock, const Isa& isa, const ArrayOperation& operation, const Form& form)
{
    const StreamMaker::KernelKey key{isa.name, operation.name, form};
    return stock.kernels.try_emplace(key, isa, operation, form).first->second;
}

class StreamSubject : public Subject {
  public:
    StreamSubject(const StreamRequest& request, const Extent& extent, std::shared_ptr<Stock> stock)
        : operation_(request.operation),
          mapping_(request.mapping),
          id_(request.id),
          stock_(std::move(stock)),
          constant_(constant_of(operation_)),
          results_(request.processors.size()),
          team_(request.processors, stock_->history)
    {
        lay_out(request, extent.bytes);
        const bool fits_l1 = extent.bytes * static_cast<std::size_t>(operation_.arrays()) <= largest_l1;
        pass_driver_.emplace(team_, extent, variants(request, extent.step),
                             fits_l1 ? request.in_cores : Resources::shared);
    }

    Work work() const override
    {
        const double bytes = pass_driver_->bytes_per_launch() * team_.size();
        const Bytes moved{bytes * operation_.moves()};
        return {.flops = Flops{bytes / sizeof(double) * operation_.flops()},
                .compulsory = moved,
                .no_reuse = moved,
                .read = Bytes{bytes * operation_.loads()},
                .written = Bytes{bytes * operation_.stores}};
    }

    void launch(Trace& trace) override { pass_driver_->launch(trace); }

    void check() override
    {
        constexpr std::size_t most_passes = 3;
        const std::string what = id_ + " " + variant();
        if (stock_->rounds.is_checked(what)) return;
        const StreamKernel& loop = *loops_[pass_driver_->chosen()];
        check_loop(loop);
        const std::size_t passes = std::min(pass_driver_->passes(), most_passes);
        for (const Segment& segment : pass_driver_->samples()) {
            check(loop, segment, passes);
            // Joins whose result does not show a repeated or a missing load.
            if (operation_.only_loads() && loop.form().join != Join::sum)
                check(kernel(*stock_, loop.isa(), operation_, summing(loop.form())), segment, passes);
        }
        // A piece shared by a source and the destination was filled for the source; launches will write to it.
        team_.run([&](int thread) { overwrite_destination(thread, {0, arrays_[thread].bytes}); });
        stock_->rounds.checked(what);
    }

    std::string variant() const override { return pass_driver_->fastest(); }
    Bytes memory() const override
    {
        const double bytes = static_cast<double>(arrays_.front().bytes);
        return Bytes{bytes * operation_.arrays() * team_.size()};
    }

  private:
    static Form summing(Form form)
    {
        form.join = Join::sum;
        return form;
    }

    void check(const StreamKernel& loop, const Segment& segment, std::size_t passes)
    {
        team_.run([&](int thread) { renew(thread, segment); });
        team_.run([&](int thread) { loop.run(passes, segment.bytes, arguments(thread, segment.from)); });
        team_.run([&](int thread) {
            check_stream(arrays_[thread], segment, passes, loop, results_[thread]);
            check_node(thread, segment);
        });
    }

    void lay_out(const StreamRequest& request, std::size_t bytes)
    {
        const std::size_t extent = StreamArrays{operation_, bytes, nullptr}.extent();
        stock_->workspace->reserve(mapping_, team_.size(), extent);
        const int round = stock_->rounds.next(id_);
        const int places = bytes > largest_l1 && extent <= Buffer::huge_page ? places_tried : 1;
        std::vector<std::size_t> beginnings;
        for (int i = 0; i < places; ++i)
            beginnings.push_back(stock_->workspace->place(mapping_, team_.size(), extent, round * places + i));
        for (int thread = 0; thread < team_.size(); ++thread)
            arrays_.push_back({operation_, bytes, slice(thread).data(), beginnings.front()});
        const StreamKernel& loop = kernel(*stock_, request.isas.back(), operation_, Form{});
        team_.run([&](int thread) {
            for (const std::size_t from : beginnings) fill(thread, from);
            if (places > 1) arrays_[thread].from = fastest_place(loop, thread, beginnings);
        });
    }

    void fill(int thread, std::size_t from)
    {
        StreamArrays& arrays = arrays_[thread];
        arrays.from = from;
        slice(thread).ensure(write_content, from, arrays.source_extent());
        overwrite_destination(thread, {0, arrays.bytes});
    }

    /// The physical pages decide how well arrays within one huge page fit the cache; in a virtual machine these may be
    /// many small pages. So each thread tries several places.
    std::size_t fastest_place(const StreamKernel& loop, int thread, const std::vector<std::size_t>& beginnings)
    {
        constexpr SearchBudget budget{.time = {}, .least_turns = 3};
        constexpr double trial_bytes = 4 << 20;
        const Segment all{0, arrays_[thread].bytes};
        const auto passes = static_cast<std::size_t>(trial_bytes / static_cast<double>(all.bytes));
        const Clock& clock = team_.clock();
        const auto cost = [&](std::size_t i) {
            arrays_[thread].from = beginnings[i];
            loop.run(1, all.bytes, arguments(thread, 0));
            const Seconds begin = clock();
            loop.run(passes, all.bytes, arguments(thread, 0));
            return (clock() - begin).value;
        };
        return beginnings[fastest_of(beginnings.size(), budget, cost, clock).candidate];
    }

    void overwrite_destination(int thread, const Segment& segment)
    {
        const StreamArrays& arrays = arrays_[thread];
        if (operation_.stores == 0) return;
        slice(thread).overwrite(arrays.from + arrays.source_extent() + segment.from, segment.bytes);
    }

    /// Writes the contents that check_stream() expects before the passes, whatever the record says.
    void renew(int thread, const Segment& segment)
    {
        const StreamArrays& arrays = arrays_[thread];
        for (int i = 0; i < operation_.arrays(); ++i) {
            const std::size_t begin = arrays.from + arrays.pitch() * static_cast<std::size_t>(i) + segment.from;
            slice(thread).overwrite(begin, segment.bytes);
        }
        for (int i = 0; i < operation_.arrays(); ++i) {
            const std::size_t begin = arrays.from + arrays.pitch() * static_cast<std::size_t>(i) + segment.from;
            slice(thread).ensure(write_content, begin, segment.bytes);
        }
        overwrite_destination(thread, segment);
        results_[thread].fill(0);
    }

    void check_node(int thread, const Segment& segment) const
    {
        if (!mapping_.node) return;
        const std::optional<int> node = node_of(arrays_[thread].array(0) + segment.from);
        if (!node || *node == *mapping_.node) return;
        throw Error("memory bound to NUMA node " + std::to_string(*mapping_.node) + " lies on node " +
                    std::to_string(*node));
    }

    std::vector<Variant> variants(const StreamRequest& request, std::size_t step)
    {
        std::vector<Variant> all;
        for_candidates(operation_, request.isas, request.has_fma, arrays_.front().bytes,
                       [&](const Isa& isa, const Form& form) {
                           if (StreamKernel::bytes_per_iteration(isa, form) > step) return;
                           const StreamKernel& loop = kernel(*stock_, isa, operation_, form);
                           loops_.push_back(&loop);
                           all.push_back({std::string(isa.name) + ", " + form.text(operation_),
                                          [this, &loop](int thread, std::size_t passes, const Segment& segment) {
                                              loop.run(passes, segment.bytes, arguments(thread, segment.from));
                                          }});
                       });
        return all;
    }

    StreamKernel::Arguments arguments(int thread, std::size_t from)
    {
        const StreamArrays& arrays = arrays_[thread];
        auto* const result = reinterpret_cast<std::byte*>(results_[thread].data());
        StreamKernel::Arguments all{arrays.destination() + from, {}, constant_.data(), result};
        for (int i = 0; i < operation_.sources; ++i) all.sources[static_cast<std::size_t>(i)] = arrays.array(i) + from;
        return all;
    }

    Slice& slice(int thread) { return stock_->workspace->slice(mapping_, thread); }

    struct alignas(64) Result : std::array<std::uint64_t, StreamKernel::most_result_bytes / sizeof(std::uint64_t)> {};

    ArrayOperation operation_;
    Mapping mapping_;
    std::string id_;
    std::shared_ptr<Stock> stock_;
    RegisterFile constant_;
    std::vector<StreamArrays> arrays_;  ///< one per thread
    std::vector<Result> results_;
    MonitoredTeam team_;
    std::vector<const StreamKernel*> loops_;  ///< of each variant
    std::optional<PassDriver> pass_driver_;
};

}  // namespace

std::vector<Isa> isas_for(std::string_view name, const Machine& machine)
{
    constexpr std::size_t tried = 2;
    if (name != best_isa) return {parse_isa(name)};
    std::vector<Isa> isas;
    for (const std::string& one : machine.isa) isas.push_back(parse_isa(one));
    if (isas.size() > tried) isas.erase(isas.begin(), isas.end() - tried);
    const bool has_vectors = !isas.empty() && isas.back().encoding != Encoding::scalar;
    if (has_vectors) std::erase_if(isas, [](const Isa& isa) { return isa.encoding == Encoding::scalar; });
    return isas;
}

std::optional<Extent> array_extent(const ArrayOperation& operation, const std::vector<Isa>& isas, std::size_t share)
{
    const std::size_t bytes = share / static_cast<std::size_t>(operation.arrays());
    if (bytes < least_array) return std::nullopt;
    std::vector<std::size_t> iterations;
    constexpr bool in_either_way = false;  // a multiply-add covers what a product and a sum do
    for_candidates(operation, isas, in_either_way, bytes, [&](const Isa& isa, const Form& form) {
        iterations.push_back(StreamKernel::bytes_per_iteration(isa, form));
    });
    return whole_iterations(bytes, std::move(iterations));
}

StreamMaker::StreamMaker(std::shared_ptr<Workspace> workspace, std::shared_ptr<CoreHistory> history)
    : stock_(std::make_shared<Stock>(Stock{std::move(workspace), std::move(history), {}, {}}))
{
}

std::unique_ptr<Subject> StreamMaker::make(const StreamRequest& request) const
{
    const std::optional<Extent> extent = array_extent(request.operation, request.isas, request.share);
    if (!extent) throw Unsupported(too_small);
    return std::make_unique<StreamSubject>(request, *extent, stock_);
}

}  // namespace roof::cpu
