#include "workloads/onednn/convolution/choice.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/clock.hpp"
#include "workloads/engine/choices.hpp"
#include "workloads/onednn/convolution/executed.hpp"

#include <algorithm>
#include <array>

namespace roof::onednn {
namespace {

constexpr std::byte filling{0x3c};  ///< 0.0115 in fp32 and in bf16

/// "avx512" of "jit:avx512_core_bf16": 0 is the narrowest; -1 if the name says none.
int isa_rank(const std::string& implementation)
{
    constexpr std::array<std::string_view, 4> narrowest_first{":sse41", ":avx", ":avx2", ":avx512"};
    int rank = -1;
    for (int i = 0; i < static_cast<int>(narrowest_first.size()); ++i) {
        if (implementation.find(narrowest_first[static_cast<std::size_t>(i)]) != std::string::npos) rank = i;
    }
    return rank;
}

/// The offers side by side in one program, each a stage between the same edges.
template <class Pass>
void write_trials(Program& program, const std::vector<Pass>& offers, const Edges& edges, bool has_bias)
{
    ConvolutionTensors tensors{.source = program.tensor(edges.source),
                               .weights = program.tensor(edges.weights),
                               .result = program.tensor(edges.result),
                               .source_gradient = program.tensor(edges.source),
                               .weights_gradient = program.tensor(edges.weights),
                               .result_gradient = program.tensor(edges.result),
                               .has_bias = has_bias};
    tensors.bias = tensors.bias_gradient = program.tensor(plain({dims_of(edges.result)[1]}));
    for (const Pass& offer : offers) {
        program.begin(offer.name(), "convolution", Phase::forward);
        append_pass(program, offer, tensors);
    }
    program.place("trying a convolution");
    program.fill(filling);
}

/// The least time of each stage, measured by turns, so that what else the machine does meets them all alike. The first round
/// warms up, which matters to the short ones; who is far from the best then takes no further part.
std::vector<Seconds> least_times(Program& program, std::size_t stages)
{
    constexpr int rounds = 8;
    constexpr Seconds enough{0.2};
    constexpr Seconds is_long{0.05};
    constexpr double hopeless = 1.5;
    const Clock clock = steady_clock();
    Trace trace(clock, stages);
    std::vector<Seconds> least(stages);
    Seconds spent{};
    for (int round = 0; round < rounds && (round < 3 || spent < enough); ++round) {
        const Seconds best = *std::ranges::min_element(least);
        const bool is_known = round > 1 || best > is_long;
        for (std::size_t stage = 0; stage < stages; ++stage) {
            if (is_known && least[stage] > best * hopeless) continue;
            trace.reset();
            program.run_stage(stage, trace);
            const Seconds seconds = trace.part_seconds()[stage];
            spent += seconds;
            least[stage] = round == 0 ? seconds : std::min(least[stage], seconds);
        }
    }
    return least;
}

/// This project's own for the shapes, by algorithm.
struct Own {
    std::optional<DirectConvolution> direct;
    std::optional<WinogradConvolution> winograd;
};

/// The library's offers, its favourite first, and this project's: of Winograd's algorithm that is the first.
template <class Pass>
std::vector<Implementation<Pass>> with_own(const std::vector<Pass>& library, dnnl::algorithm algorithm, const Own& own)
{
    const bool is_winograd = algorithm == dnnl::algorithm::convolution_winograd;
    std::vector<Implementation<Pass>> all;
    if (is_winograd && own.winograd) all.push_back({.own = own.winograd});
    for (const Pass& pass : library) all.push_back({.library = pass});
    if (!is_winograd && own.direct) all.push_back({.own = own.direct});
    return all;
}

class Chooser {
  public:
    Chooser(const dnnl::engine& engine, const Convolution& shapes, const Settings& settings)
        : engine_(engine), shapes_(shapes), settings_(settings)
    {
    }

    /// The implementation of the pass, of those that offers(algorithm) returns. Without edges, the library's favourite, which
    /// says what edges it likes best; but its matrix product if that is asked for.
    template <class Offers>
    auto choose(const char* pass, const Offers& offers, const Edges* edges = nullptr) const
    {
        auto all = offers(dnnl::algorithm::convolution_direct);
        if (all.empty()) throw Error("oneDNN has no " + std::string(pass) + " pass of a convolution for " + shape());
        if (settings_.algorithm == Algorithm::gemm) {
            const auto found =
                std::ranges::find_if(all, [](const auto& offer) { return algorithm_of(offer.name()) == "gemm"; });
            return found == all.end() ? all.front() : *found;
        }
        if (edges == nullptr) return all.front();
        const auto winograd = offers(dnnl::algorithm::convolution_winograd);
        if (settings_.algorithm == Algorithm::winograd && !winograd.empty()) return winograd.front();
        if (settings_.algorithm != Algorithm::automatic) return direct(pass, all, *edges);
        all.insert(all.end(), winograd.begin(), winograd.end());
        return known_or_fastest(pass, all, *edges);
    }

  private:
    std::string shape() const
    {
        const Dims source = dims_of(shapes_.source);
        const model::Window& window = shapes_.window;
        return join(std::vector<std::string>{std::to_string(source[0]), std::to_string(source[1]),
                                             std::to_string(source[2]), std::to_string(source[3])},
                    "x") +
               " to " + std::to_string(shapes_.weights[0]) + ", window " + std::to_string(window.size) + " stride " +
               std::to_string(window.stride) + " padding " + std::to_string(window.padding) +
               (shapes_.bias.empty() ? "" : " bias") + (shapes_.relu ? " relu" : "");
    }

    /// The library's favourite or this project's own. Where no choices are kept none is measured: own.
    template <class Pass>
    Pass direct(const std::string& pass, const std::vector<Pass>& offers, const Edges& edges) const
    {
        if (!offers.back().own || !settings_.choices) return offers.back().own ? offers.back() : offers.front();
        return known_or_fastest(pass + ", direct", std::vector<Pass>{offers.front(), offers.back()}, edges);
    }

    template <class Pass>
    Pass known_or_fastest(const std::string& pass, const std::vector<Pass>& offers, const Edges& edges) const
    {
        const Question asked{shape(), pass, std::string(traits(settings_.precision).name), settings_.threads,
                             convolution_library()};
        const std::optional<std::string> known = settings_.choices ? settings_.choices->find(asked) : std::nullopt;
        for (const Pass& offer : offers) {
            if (known && offer.name() == *known) return offer;
        }
        try {
            return fastest(asked, offers, edges);
        } catch (const OutOfMemory&) {
            return offers.front();  // the network will not fit either, and says how much it would have wanted
        }
    }

    /// A narrower instruction set than the favourite's is not tried.
    template <class Pass>
    Pass fastest(const Question& asked, std::vector<Pass> offers, const Edges& edges) const
    {
        const int widest = isa_rank(offers.front().name());
        std::erase_if(offers, [&](const Pass& offer) {
            const int rank = isa_rank(offer.name());
            return rank >= 0 && rank < widest;
        });
        if (offers.size() == 1) return offers.front();

        Program program(engine_);
        write_trials(program, offers, edges, !shapes_.bias.empty());
        const std::vector<Seconds> times = least_times(program, offers.size());
        const auto least = std::ranges::min_element(times);
        const Pass& best = offers[static_cast<std::size_t>(least - times.begin())];
        if (settings_.choices) settings_.choices->remember(asked, best.name(), *least);
        return best;
    }

    const dnnl::engine& engine_;
    const Convolution& shapes_;
    const Settings& settings_;
};

}  // namespace

std::string convolution_library()
{
    if (direct_lanes() == 0) return library_version();
    return library_version() + " + " + winograd_implementation() + " + " + direct_implementation();
}

ChosenConvolution choose_convolution(const dnnl::engine& engine, const Convolution& shapes, const Settings& settings,
                                     bool first)
{
    const Chooser chooser(engine, shapes, settings);
    const Own of_weights{own_direct(shapes, settings.threads), own_winograd(shapes, settings.threads)};
    const Own own = shapes.precision == Precision::fp32 ? of_weights : Own{};
    const auto forward = [&](dnnl::algorithm algorithm) {
        return with_own(forward_passes(engine, shapes, algorithm), algorithm, own);
    };
    const ForwardPass home = chooser.choose("forward", forward).library;
    const auto backward_data = [&](dnnl::algorithm algorithm) {
        return with_own(backward_data_passes(engine, shapes, algorithm, home), algorithm, own);
    };
    const auto backward_weights = [&](dnnl::algorithm algorithm) {
        return with_own(backward_weights_passes(engine, shapes, algorithm, home), algorithm, of_weights);
    };
    const BackwardWeightsPass home_weights = chooser.choose("backward_weights", backward_weights).library;
    const Edges edges{
        .source = home.src_desc(), .weights = home_weights.diff_weights_desc(), .result = home.dst_desc()};

    ChosenConvolution chosen;
    chosen.edges = edges;
    chosen.forward = chooser.choose("forward", forward, &edges);
    chosen.backward_weights = chooser.choose("backward_weights", backward_weights, &edges);
    if (!first) chosen.backward_data = chooser.choose("backward_data", backward_data, &edges);
    return chosen;
}

}  // namespace roof::onednn
