// Interprets `where`: one of two keywords, or else a folder.
#include "workloads/data/source.hpp"

#include "ert/base/error.hpp"
#include "workloads/data/folder.hpp"
#include "workloads/data/image_list.hpp"
#include "workloads/model/hashed.hpp"

#include <memory>
#include <random>

namespace roof::data {
namespace {

/// One batch in memory, for all ranks. A step that uses it measures no input pipeline.
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
Source source_of(const std::shared_ptr<Resident>& data, int classes, const Share& share)
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
    return {next, facts};
}

/// Normal values with mean 0 and variance 1; labels uniform in [0, classes); seed 1.
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

/// Values of hashed_input() and labels of hashed_label() (workloads/model/hashed.hpp).
Source hashed_source(int batch, const model::Shape& image, int classes, const Share& share)
{
    const auto data = std::make_shared<Resident>(batch * share.ranks, image);
    model::hashed_input().fill(data->images);
    for (int n = 0; n < batch * share.ranks; ++n)
        data->labels[static_cast<std::size_t>(n)] = model::hashed_label(n, classes);
    return source_of(data, classes, share);
}

}  // namespace

void require_source(const std::string& where)
{
    if (where != "synthetic" && where != "hashed") list_images(where);
}

Source open_source(const std::string& where, int batch, const model::Shape& image, int classes, int workers,
                   unsigned seed, const Share& share)
{
    if (batch < 1) throw InputError("a batch holds at least 1 image, not " + std::to_string(batch));
    if (where == "synthetic") return synthetic_source(batch, image, classes, share);
    if (where == "hashed") return hashed_source(batch, image, classes, share);
    return folder_source({.folder = where,
                          .batch = batch,
                          .image = image,
                          .classes = classes,
                          .workers = workers,
                          .seed = seed,
                          .share = share});
}

}  // namespace roof::data
