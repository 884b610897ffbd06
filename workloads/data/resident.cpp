// Both sources differ only in how the batch is filled.
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

Source source_of(std::shared_ptr<Resident> data, int classes)
{
    const auto next = [data] {
        const bool fresh = !data->seen;
        data->seen = true;
        return Batch{data->images.data(), data->labels.data(), fresh};
    };
    const auto facts = [classes] { return SourceFacts{.images = 0, .classes = classes, .skipped = {}}; };
    return Source({next, facts});
}

}  // namespace

Source synthetic_source(int batch, const model::Shape& image, int classes)
{
    const auto data = std::make_shared<Resident>(batch, image);
    std::mt19937 random(1);
    std::normal_distribution<float> value;
    for (float& pixel : data->images) pixel = value(random);
    std::uniform_int_distribution<int> label(0, classes - 1);
    for (int& of_image : data->labels) of_image = label(random);
    return source_of(data, classes);
}

Source hashed_source(int batch, const model::Shape& image, int classes)
{
    const auto data = std::make_shared<Resident>(batch, image);
    model::hashed_input().fill(data->images);
    for (int n = 0; n < batch; ++n) data->labels[static_cast<std::size_t>(n)] = model::hashed_label(n, classes);
    return source_of(data, classes);
}

}  // namespace roof::data
