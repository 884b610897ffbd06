// Batches from a folder of JPEG files, one folder per class.
#pragma once

#include "workloads/data/source.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace roof::data {

struct FolderOptions {
    std::filesystem::path folder;
    int batch = 0;
    model::Shape image;  ///< one image of the batch; 3 channels
    int classes = 0;     ///< largest number of classes: the model's outputs
    int workers = 0;
    unsigned seed = 0;
    Share share{};
};

/// Opens a folder as open_source() describes. Decodes files until it has found one batch of usable images.
Source folder_source(const FolderOptions& options);

// Lists the files of an image folder and their labels. Numbers classes as torchvision's ImageFolder does.

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

// The order of an epoch as a function without state, so that any worker can ask for any position.

/// Returns the image at `place` in the order of `key`: a permutation of 0 … count - 1. A Feistel network of four rounds
/// over the next power of four, repeated until the value is below `count` (fewer than four times on average).
std::uint64_t shuffled(std::uint64_t place, std::uint64_t count, std::uint64_t key);

/// Makes a key or a random seed from two numbers. Similar inputs give unrelated results (splitmix64).
std::uint64_t combined(std::uint64_t a, std::uint64_t b);

}  // namespace roof::data
