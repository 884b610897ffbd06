// Where batches come from: images as NCHW floats and their labels, ready before the step asks for them.
#pragma once

#include "workloads/model/graph.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace roof::data {

struct Batch {
    const float* images = nullptr;  ///< [n][3][height][width], normalised; valid until the next call of next()
    const int* labels = nullptr;    ///< [n]
    bool fresh = false;             ///< false: the same memory and contents as the batch before
};

struct SourceFacts {
    std::size_t images = 0;            ///< distinct usable images behind the source; 0 for synthetic and hashed
    int classes = 0;                   ///< labels run from 0 to classes - 1
    std::vector<std::string> skipped;  ///< "file: reason", one per broken file met so far
};

/// A source of batches of one size. What is behind it, resident random data or files decoded by worker threads, is its
/// own; its threads end when the last copy of the source is destroyed.
class Source {
  public:
    struct Functions {
        std::function<Batch()> next;         ///< waits until a batch is ready; throws Error
        std::function<SourceFacts()> facts;  ///< may grow while it runs
    };
    explicit Source(Functions functions) : functions_(std::move(functions)) {}
    Batch next() { return functions_.next(); }
    SourceFacts facts() const { return functions_.facts(); }

  private:
    Functions functions_;
};

/// One of several ranks that read together: of each of their common batches it takes its part.
struct Share {
    int rank = 0;
    int ranks = 1;
};

/// Throws InputError if `where` is neither a word of open_source nor a folder with images. Lists it, opens no file.
void require_source(const std::string& where);

/// `where` is one of
/// - "synthetic": one resident batch of random normal values and random labels, always of seed 1;
/// - "hashed": the parity batch of workloads/model/hashed.hpp, resident;
/// - a folder `class/name.jpg` (.jpeg, and capitals): random-resized-crop to `image`, flip, ImageNet's mean and
/// deviation,
///   decoded ahead by `workers` threads. Labels are the class folders' places in alphabetical order, so a single class
///   is label 0. The batches depend on the files and `seed`, not on `workers`. Every epoch is shuffled anew; a batch
///   may hold the end of one epoch and the start of the next. A broken file is skipped: its place in the batch goes to
///   the next usable image of the epoch.
/// With several ranks, `batch` is that of one of them, and together they see what one rank would see in batches of all.
/// Throws InputError for a folder that is missing, is a file, has no class folders, no images, more classes than
/// `classes`, or fewer usable images than `batch`; and for a `batch` or `workers` below 1.
Source open_source(const std::string& where, int batch, const model::Shape& image, int classes, int workers,
                   unsigned seed, const Share& share = {});

}  // namespace roof::data
