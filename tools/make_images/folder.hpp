// The folder that roof-make-images writes: class_NN/image_NNN.jpg.
#pragma once

#include <filesystem>
#include <vector>

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

/// Creates the folder if needed. A file gets its name only when it is complete. Throws InputError for counts below 1,
/// and Error with the name of a file that cannot be written.
FolderCounts write_folder(const FolderOptions& options);

// The pictures (texture.cpp): one kind of texture and one colour per class, so that a network can learn to tell classes
// apart; size, scale, angle, place and brightness vary between images.

/// Rows of red, green, blue bytes.
struct Picture {
    int width = 0;
    int height = 0;
    std::vector<unsigned char> pixels;
};

/// Deterministic in its three arguments.
Picture draw(unsigned seed, int class_index, int image_index);

}  // namespace roof::make_images
