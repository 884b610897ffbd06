// The files of an image folder and their labels, as torchvision's ImageFolder numbers them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace roof::data {

struct ImageFile {
    std::filesystem::path path;
    int label = 0;  ///< place of its class folder in alphabetical order
};

struct ImageList {
    std::vector<std::string> classes;
    std::vector<ImageFile> images;  ///< sorted by class, then by name
};

/// Lists `folder`/class/name.jpg; hidden folders are left out. Throws InputError saying what was found instead.
ImageList list_images(const std::filesystem::path& folder);

}  // namespace roof::data
