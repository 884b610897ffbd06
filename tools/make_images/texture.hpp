// Procedural pictures: one kind of texture and one colour per class, so that a network can learn to tell classes apart;
// size, scale, angle, place and brightness vary between images.
#pragma once

#include <cstdint>
#include <vector>

namespace roof::make_images {

/// Rows of red, green, blue bytes.
struct Picture {
    int width = 0;
    int height = 0;
    std::vector<unsigned char> pixels;
};

/// Deterministic in its three arguments.
Picture draw(unsigned seed, int class_index, int image_index);

}  // namespace roof::make_images
