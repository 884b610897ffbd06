// Each kind of folder that is not class/name.jpg gets its own error message.
#include "workloads/data/image_list.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <algorithm>

namespace roof::data {
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

}  // namespace roof::data
