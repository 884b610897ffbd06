// Interprets `where`: one of two keywords, or else a folder.
#include "workloads/data/source.hpp"

#include "ert/base/error.hpp"
#include "workloads/data/folder.hpp"
#include "workloads/data/image_list.hpp"
#include "workloads/data/prefetch.hpp"
#include "workloads/model/hashed.hpp"

#include <memory>
#include <random>

namespace roof::data {
namespace {

/// One batch in memory, for all ranks. A step that uses it measures no input pipeline.
struct Resident {
    Resident(int batch, const Form& form)
        : images(static_cast<std::size_t>(batch * form.image.elements())),
          labels(static_cast<std::size_t>(batch * form.labels_each))
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

/// Normal values with mean 0 and variance 1, labels uniform in [0, classes); or tokens uniform in [0, vocabulary), each
/// with the next as its label; seed 1.
Source synthetic_source(int batch, const Form& form, const Share& share)
{
    const auto data = std::make_shared<Resident>(batch * share.ranks, form);
    std::mt19937 random(1);
    if (form.vocabulary > 0) {
        std::uniform_int_distribution<int> token(0, form.vocabulary - 1);
        for (float& one : data->images) one = static_cast<float>(token(random));
        for (std::size_t n = 0; n < data->labels.size(); ++n)
            data->labels[n] = static_cast<int>(data->images[(n + 1) % data->images.size()]);
        return source_of(data, form.classes, share);
    }
    std::normal_distribution<float> value;
    for (float& pixel : data->images) pixel = value(random);
    std::uniform_int_distribution<int> label(0, form.classes - 1);
    for (int& of_image : data->labels) of_image = label(random);
    return source_of(data, form.classes, share);
}

/// Values of hashed_input() or hashed_token(), and labels of hashed_label() (workloads/model/hashed.hpp).
Source hashed_source(int batch, const Form& form, const Share& share)
{
    const auto data = std::make_shared<Resident>(batch * share.ranks, form);
    model::hashed_input().fill(data->images);
    for (std::size_t n = 0; form.vocabulary > 0 && n < data->images.size(); ++n)
        data->images[n] = static_cast<float>(model::hashed_token(static_cast<int>(n), form.vocabulary));
    for (std::size_t n = 0; n < data->labels.size(); ++n)
        data->labels[n] = model::hashed_label(static_cast<int>(n), form.classes);
    return source_of(data, form.classes, share);
}

}  // namespace

void require_source(const std::string& where)
{
    if (where != "synthetic" && where != "hashed") list_images(where);
}

Source open_source(const std::string& where, int batch, const Form& form, int workers, unsigned seed,
                   const Share& share)
{
    if (batch < 1) throw InputError("a batch holds at least 1 image, not " + std::to_string(batch));
    if (where == "synthetic") return synthetic_source(batch, form, share);
    if (where == "hashed") return hashed_source(batch, form, share);
    if (form.vocabulary > 0)
        throw InputError("data: '" + where +
                         "' is a folder of images, and the network reads tokens; legal: synthetic, hashed");
    return folder_source({.folder = where,
                          .batch = batch,
                          .image = form.image,
                          .classes = form.classes,
                          .workers = workers,
                          .seed = seed,
                          .share = share});
}

Bytes bytes_of_source(const std::string& where, int batch, const Form& form, const Share& share)
{
    const bool is_folder = where != "synthetic" && where != "hashed";
    const double batches = is_folder ? Prefetch::ahead + 1 : share.ranks;
    return Bytes{batches * batch * 4 * (static_cast<double>(form.image.elements()) + form.labels_each)};
}

}  // namespace roof::data
