// Chooses the image for each sample number, makes its pixels, and records broken files.
#include "workloads/data/folder.hpp"

#include "ert/base/error.hpp"
#include "workloads/data/crop.hpp"
#include "workloads/data/image_list.hpp"
#include "workloads/data/jpeg.hpp"
#include "workloads/data/prefetch.hpp"
#include "workloads/data/shuffle.hpp"

#include <map>
#include <memory>
#include <mutex>

namespace roof::data {
namespace {

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
        if (options_.image.channels != 3)
            throw InputError("images of " + where + " have 3 channels, not " + std::to_string(options_.image.channels));
        if (static_cast<int>(list_.classes.size()) > options_.classes) {
            throw InputError(where + " has " + std::to_string(list_.classes.size()) +
                             " classes, more than the model's " + std::to_string(options_.classes) + " outputs");
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
            const auto& [channels, height, width] = options_.image;
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
          prefetch(static_cast<std::size_t>(options.batch), static_cast<std::size_t>(options.image.elements()),
                   options.workers, [this, options](std::uint64_t sample, std::span<float> planes) {
                       return folder.make(common_place(sample, options), planes);
                   })
    {
    }

    Folder folder;
    Prefetch prefetch;
};

}  // namespace

Source folder_source(const FolderOptions& options)
{
    const auto stream = std::make_shared<FolderStream>(options);
    return {[stream] { return stream->prefetch.next(); }, [stream] { return stream->folder.facts(); }};
}

}  // namespace roof::data
