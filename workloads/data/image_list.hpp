// Lists the files of an image folder and their labels. Numbers classes as torchvision's ImageFolder does.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace roof::data {

struct ImageFile {
    std::filesystem::path path;
    int label = 0;  ///< index of its class folder in alphabetical order
};

struct ImageList {
    std::vector<std::string> classes;
    std::vector<ImageFile> images;  ///< sorted by class, then by name
};

/// Lists `folder`/class/name.jpg without hidden folders. Throws InputError with what was found instead.
ImageList list_images(const std::filesystem::path& folder);

}  // namespace roof::data
