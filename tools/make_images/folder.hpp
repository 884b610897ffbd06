// The folder that roof-make-images writes: class_NN/image_NNN.jpg.
#pragma once

#include <filesystem>

namespace roof::make_images {

struct FolderOptions {
    std::filesystem::path folder;
    int classes = 10;
    int per_class = 20;
    unsigned seed = 1;
};

struct FolderCounts {
    int written = 0;
    int kept = 0;  ///< existed already and are unchanged
};

/// Creates the folder if needed. A file gets its name only when it is complete. Throws InputError for counts below 1, and Error with the
/// name of a file that cannot be written.
FolderCounts write_folder(const FolderOptions& options);

}  // namespace roof::make_images
