// Each picture depends only on the seed, its class and its number, so an incomplete folder can be completed later.
#include "tools/make_images/folder.hpp"

#include "ert/base/error.hpp"
#include "ert/base/files.hpp"

#include <fmt/format.h>
#include <turbojpeg.h>
#include <memory>

namespace roof::make_images {
namespace {

namespace fs = std::filesystem;

constexpr int quality = 90;  ///< about that of ImageNet's files

struct Destroy {
    void operator()(void* compressor) const { tjDestroy(compressor); }
};

struct Free {
    void operator()(unsigned char* bytes) const { tjFree(bytes); }
};

void write_jpeg(const fs::path& file, const Picture& picture)
{
    const std::unique_ptr<void, Destroy> compressor(tjInitCompress());
    unsigned char* bytes = nullptr;
    unsigned long size = 0;
    const int status = tjCompress2(compressor.get(), picture.pixels.data(), picture.width, 0, picture.height, TJPF_RGB,
                                   &bytes, &size, TJSAMP_420, quality, 0);
    const std::unique_ptr<unsigned char, Free> owner(bytes);
    if (status != 0) throw Error(file.string() + ": " + tjGetErrorStr2(compressor.get()));

    write_file(file, std::string(reinterpret_cast<const char*>(bytes), size));
}

void check(const FolderOptions& options)
{
    if (options.classes < 1) throw InputError(fmt::format("--classes is {}; at least 1 is needed", options.classes));
    if (options.per_class < 1)
        throw InputError(fmt::format("--per-class is {}; at least 1 is needed", options.per_class));
}

}  // namespace

FolderCounts write_folder(const FolderOptions& options)
{
    check(options);
    FolderCounts counts;
    try {
        for (int class_index = 0; class_index < options.classes; ++class_index) {
            const fs::path folder = options.folder / fmt::format("class_{:02}", class_index);
            fs::create_directories(folder);
            for (int image = 0; image < options.per_class; ++image) {
                const fs::path file = folder / fmt::format("image_{:03}.jpg", image);
                if (fs::exists(file)) {
                    ++counts.kept;
                    continue;
                }
                write_jpeg(file, draw(options.seed, class_index, image));
                ++counts.written;
            }
        }
    } catch (const fs::filesystem_error& error) {
        throw Error("cannot write '" + error.path1().string() + "': " + error.code().message());
    }
    return counts;
}

}  // namespace roof::make_images
