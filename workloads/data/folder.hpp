// Batches from a folder of JPEG files, one folder per class.
#pragma once

#include "workloads/data/source.hpp"

#include <filesystem>

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

}  // namespace roof::data
