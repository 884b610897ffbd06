// The two sources differ only in how they fill the batch.
#include "workloads/data/resident.hpp"

#include "workloads/model/hashed.hpp"

#include <memory>
#include <random>

namespace roof::data {
namespace {

struct Resident {
    Resident(int batch, const model::Shape& image)
        : images(static_cast<std::size_t>(batch * image.elements())), labels(static_cast<std::size_t>(batch))
    {
    }

    std::vector<float> images;
    std::vector<int> labels;
    bool seen = false;
};

/// Returns a source of this rank's part of a batch that was made for all ranks.
Source source_of(std::shared_ptr<Resident> data, int classes, const Share& share)
{
    const auto ranks = static_cast<std::size_t>(share.ranks);
    const auto rank = static_cast<std::size_t>(share.rank);
    const float* const images = data->images.data() + data->images.size() / ranks * rank;
    const int* const labels = data->labels.data() + data->labels.size() / ranks * rank;
    const auto next = [data, images, labels] {
        const bool fresh = !data->seen;
        data->seen = true;
        return Batch{images, labels, fresh};
    };
    const auto facts = [classes] { return SourceFacts{.images = 0, .classes = classes, .skipped = {}}; };
    return Source({next, facts});
}

}  // namespace

Source synthetic_source(int batch, const model::Shape& image, int classes, const Share& share)
{
    const auto data = std::make_shared<Resident>(batch * share.ranks, image);
    std::mt19937 random(1);
    std::normal_distribution<float> value;
    for (float& pixel : data->images) pixel = value(random);
    std::uniform_int_distribution<int> label(0, classes - 1);
    for (int& of_image : data->labels) of_image = label(random);
    return source_of(data, classes, share);
}

Source hashed_source(int batch, const model::Shape& image, int classes, const Share& share)
{
    const auto data = std::make_shared<Resident>(batch * share.ranks, image);
    model::hashed_input().fill(data->images);
    for (int n = 0; n < batch * share.ranks; ++n)
        data->labels[static_cast<std::size_t>(n)] = model::hashed_label(n, classes);
    return source_of(data, classes, share);
}

}  // namespace roof::data
