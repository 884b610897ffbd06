#include "workloads/cudnn/library/normed_products.hpp"

#include "ert/base/error.hpp"
#include "workloads/cudnn/library/candidates.hpp"
#include "workloads/cudnn/library/moments_trial.hpp"
#include "workloads/model/work.hpp"

namespace roof::cudnn {
namespace {

constexpr const char* by_moments = "moments";  ///< in the file of choices
constexpr const char* by_passes = "passes";

}  // namespace

NormedProducts::NormedProducts(const gpu::Stream& stream, const Settings& settings, Convolutions& convolutions,
                               Products& products, std::shared_ptr<engine::Choices> choices, std::string device_model)
    : stream_(stream),
      settings_(settings),
      convolutions_(convolutions),
      products_(products),
      choices_(std::move(choices)),
      device_model_(std::move(device_model))
{
}

bool NormedProducts::choose(const ConvolutionPass& forward)
{
    if (settings_.moments || !settings_.tune || settings_.deterministic) return settings_.moments;
    const auto [place, is_new] = known_.try_emplace(forward);
    if (!is_new) return place->second;
    const engine::Question asked{text(forward), "batch norm behind", std::string(traits(forward.precision).name), 1,
                                 chooser_of(settings_, device_model_)};
    if (const auto known = choices_ ? choices_->find(asked) : std::nullopt) return place->second = known == by_moments;
    try {
        const MomentsTrial trial(forward, convolutions_, products_, stream_);
        trial.run();
        const bool is_right = trial.agrees();
        const RunInGraph ways[]{trial.by_passes(), trial.by_moments()};
        const Fastest fastest = fastest_of(std::size(ways), [&](std::size_t way) { return ways[way].seconds(); });
        place->second = is_right && fastest.candidate == 1;
        if (choices_) choices_->remember(asked, place->second ? by_moments : by_passes, Seconds{fastest.cost});
    } catch (const Unsupported&) {
        return false;  // a library lacks one of the products
    } catch (const OutOfMemory&) {
        return false;  // no memory for both
    }
    return place->second;
}

}  // namespace roof::cudnn
