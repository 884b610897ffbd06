// Interprets `where`: one of two keywords, or else a folder.
#include "workloads/data/source.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "workloads/data/jpeg.hpp"
#include "workloads/data/prefetch.hpp"
#include "workloads/model/hashed.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
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

/// A folder as open_source() describes it, for images of 3 channels.
struct FolderOptions {
    std::filesystem::path folder;
    int batch;
    Form form;
    int workers;
    unsigned seed;
    Share share;
};

/// Chooses the image for each sample number, makes its pixels, and records broken files.
class Folder {
  public:
    explicit Folder(const FolderOptions& options) : options_(options), list_(list_images(options.folder))
    {
        check_counts();
        find_usable_batch();
    }

    /// Makes image `sample`, on which alone the crop depends; the epoch's next usable one replaces a broken one.
    int make(std::uint64_t sample, std::span<float> planes)
    {
        const std::uint64_t count = list_.images.size();
        const std::uint64_t order = combined(options_.seed, sample / count);
        for (std::uint64_t step = 0; step < count; ++step) {
            const ImageFile& file = list_.images[shuffled((sample + step) % count, count, order)];
            if (draw(file, std::mt19937_64(combined(order, sample)), planes)) return file.label;
        }
        throw Error("no image of '" + options_.folder.string() + "' can be read any more");
    }

    SourceFacts facts() const
    {
        std::vector<std::string> skipped = broken();
        const std::size_t usable = list_.images.size() - skipped.size();
        return {.images = usable, .classes = static_cast<int>(list_.classes.size()), .skipped = std::move(skipped)};
    }

  private:
    void check_counts() const
    {
        const std::string where = "'" + options_.folder.string() + "'";
        if (options_.workers < 1) throw InputError("reading " + where + " needs at least 1 worker");
        if (options_.form.image.channels != 3)
            throw InputError("images of " + where + " have 3 channels, not " +
                             std::to_string(options_.form.image.channels));
        if (static_cast<int>(list_.classes.size()) > options_.form.classes) {
            throw InputError(where + " has " + std::to_string(list_.classes.size()) +
                             " classes, more than the model's " + std::to_string(options_.form.classes) + " outputs");
        }
    }

    /// Decodes images at a small size, which detects all damage, until it has found a batch of usable ones.
    void find_usable_batch()
    {
        int usable = 0;
        const int needed = options_.batch * options_.share.ranks;
        for (const ImageFile& file : list_.images) {
            if (usable == needed) return;
            if (attempt(file, [](const Jpeg& jpeg) { jpeg.decode(8); })) ++usable;
        }
        if (usable < needed) {
            const std::vector<std::string> skipped = broken();
            throw InputError("'" + options_.folder.string() + "' holds " + std::to_string(usable) +
                             " usable images, fewer than a batch of " + std::to_string(needed) + " (" +
                             std::to_string(skipped.size()) + " broken" +
                             (skipped.empty() ? "" : ", the first " + skipped.front()) + ")");
        }
    }

    bool draw(const ImageFile& file, std::mt19937_64 random, std::span<float> planes)
    {
        return attempt(file, [&](const Jpeg& jpeg) {
            const auto& [channels, height, width] = options_.form.image;
            const Crop crop = random_crop(jpeg.width(), jpeg.height(), random);
            const int reduction = reduction_for(crop, width, height);
            const RgbImage image = jpeg.decode(reduction);
            resize_normalised(image, reduced(crop, reduction, image.width, image.height), width, height, planes);
        });
    }

    template <typename Use>
    bool attempt(const ImageFile& file, const Use& use)
    {
        try {
            use(Jpeg(file.path));
            return true;
        } catch (const Error& error) {
            const std::lock_guard lock(mutex_);
            broken_.emplace(file.path.string(), error.what());
            return false;
        }
    }

    /// "file: reason" for each broken file.
    std::vector<std::string> broken() const
    {
        const std::lock_guard lock(mutex_);
        std::vector<std::string> lines;
        for (const auto& [file, reason] : broken_) lines.push_back(file + ": " + reason);
        return lines;
    }

    FolderOptions options_;
    ImageList list_;
    mutable std::mutex mutex_;  ///< of what all workers share
    std::map<std::string, std::string> broken_;
};

/// Converts this rank's sample number to the number in the batches of all ranks.
std::uint64_t common_place(std::uint64_t sample, const FolderOptions& options)
{
    const auto batch = static_cast<std::uint64_t>(options.batch);
    const auto ranks = static_cast<std::uint64_t>(options.share.ranks);
    const auto rank = static_cast<std::uint64_t>(options.share.rank);
    return (sample / batch * ranks + rank) * batch + sample % batch;
}

/// Folder comes before Prefetch: the workers must end before Folder is destroyed.
struct FolderStream {
    explicit FolderStream(const FolderOptions& options)
        : folder(options),
          prefetch(static_cast<std::size_t>(options.batch), static_cast<std::size_t>(options.form.image.elements()),
                   options.workers, [this, options](std::uint64_t sample, std::span<float> planes) {
                       return folder.make(common_place(sample, options), planes);
                   })
    {
    }

    Folder folder;
    Prefetch prefetch;
};

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
    const auto stream = std::make_shared<FolderStream>(FolderOptions{where, batch, form, workers, seed, share});
    return {[stream] { return stream->prefetch.next(); }, [stream] { return stream->folder.facts(); }};
}

Bytes bytes_of_source(const std::string& where, int batch, const Form& form, const Share& share)
{
    const bool is_folder = where != "synthetic" && where != "hashed";
    const double batches = is_folder ? Prefetch::ahead + 1 : share.ranks;
    return Bytes{batches * batch * 4 * (static_cast<double>(form.image.elements()) + form.labels_each)};
}

// Each kind of folder that is not class/name.jpg gets its own error message.

namespace {

namespace fs = std::filesystem;

bool is_jpeg_name(const fs::path& path)
{
    const std::string extension = in_lower_case(path.extension().string());
    return extension == ".jpg" || extension == ".jpeg";
}

std::vector<fs::path> sorted_entries(const fs::path& folder)
{
    std::vector<fs::path> entries;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) entries.push_back(entry.path());
    std::sort(entries.begin(), entries.end());
    return entries;
}

[[noreturn]] void refuse(const fs::path& folder, const std::string& found)
{
    throw InputError("'" + folder.string() + "' " + found + "; an image folder holds <class>/<name>.jpg");
}

void add_class(ImageList& list, const fs::path& folder)
{
    const int label = static_cast<int>(list.classes.size());
    list.classes.push_back(folder.filename().string());
    for (const fs::path& file : sorted_entries(folder)) {
        if (is_jpeg_name(file) && !fs::is_directory(file)) list.images.push_back({file, label});
    }
}

ImageList list_existing(const fs::path& folder)
{
    ImageList list;
    bool loose_images = false;
    for (const fs::path& entry : sorted_entries(folder)) {
        if (!fs::is_directory(entry)) {
            loose_images = loose_images || is_jpeg_name(entry);
        } else if (!entry.filename().string().starts_with('.')) {
            add_class(list, entry);
        }
    }
    if (list.classes.empty()) {
        if (loose_images) refuse(folder, "holds images but no class folders");
        refuse(folder, fs::is_empty(folder) ? "is empty" : "has no class folders");
    }
    if (list.images.empty())
        refuse(folder, "has no .jpg or .jpeg file in its " + std::to_string(list.classes.size()) + " class folder(s)");
    return list;
}

}  // namespace

ImageList list_images(const fs::path& folder)
{
    try {
        if (!fs::exists(folder)) {
            const std::string near = nearest(folder.string(), std::vector<std::string>{"synthetic", "hashed"});
            throw InputError("data '" + folder.string() +
                             "' is neither 'synthetic', 'hashed' nor a folder that exists" +
                             (near.empty() ? "" : "; did you mean '" + near + "'?"));
        }
        if (!fs::is_directory(folder)) refuse(folder, "is a file, not a folder");
        return list_existing(folder);
    } catch (const fs::filesystem_error& error) {
        throw InputError("cannot list the images of '" + folder.string() + "': " + error.code().message());
    }
}

// Cycle walking restricts a permutation to a smaller range.

namespace {

constexpr int rounds = 4;

std::uint64_t scrambled(std::uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9U;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

/// A permutation of the numbers of 2 * half_bits bits, for any `combined`.
std::uint64_t permuted(std::uint64_t value, int half_bits, std::uint64_t key)
{
    const std::uint64_t mask = (1ULL << half_bits) - 1;
    std::uint64_t left = value >> half_bits;
    std::uint64_t right = value & mask;
    for (int round = 0; round < rounds; ++round) {
        const std::uint64_t turned = left ^ (combined(key + static_cast<std::uint64_t>(round), right) & mask);
        left = right;
        right = turned;
    }
    return (left << half_bits) | right;
}

}  // namespace

std::uint64_t combined(std::uint64_t a, std::uint64_t b)
{
    constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15U;
    return scrambled(scrambled(a + golden_ratio) + b * golden_ratio);
}

std::uint64_t shuffled(std::uint64_t place, std::uint64_t count, std::uint64_t key)
{
    int half_bits = 1;
    while ((1ULL << (2 * half_bits)) < count) ++half_bits;
    do {
        place = permuted(place, half_bits, key);
    } while (place >= count);
    return place;
}

}  // namespace roof::data
