// Where batches come from: images as NCHW floats and their labels, ready before the step asks for them.
#pragma once

#include "workloads/model/graph.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace roof::data {

struct Batch {
    const float* images = nullptr;  ///< [n][3][224][224], normalised; valid until the next call of next()
    const int* labels = nullptr;    ///< [n]
    bool fresh = false;             ///< false: the same memory and contents as the batch before
};

struct SourceFacts {
    std::size_t images = 0;              ///< distinct images behind the source; 0 for synthetic
    int classes = 0;
    std::vector<std::string> skipped;    ///< broken files, named
};

/// A source of batches of one size. What is behind it, resident random data or files decoded by worker threads, is its own.
class Source {
  public:
    struct Hands {
        std::function<Batch()> next;            ///< waits until a batch is ready; throws Error
        std::function<SourceFacts()> facts;     ///< may grow while it runs
    };
    explicit Source(Hands hands) : hands_(std::move(hands)) {}
    Batch next() { return hands_.next(); }
    SourceFacts facts() const { return hands_.facts(); }

  private:
    Hands hands_;
};

/// `where`: "synthetic" (one resident batch of random normal values, seed 1), "hashed" (the parity batch), or a folder
/// `class/name.jpg` (random-resized-crop and flip, decoded ahead in `workers` threads, order shuffled by `seed`). Throws InputError for a folder that is
/// missing, empty, or holds fewer images than a batch.
Source open_source(const std::string& where, int batch, const model::Shape& image, int classes, int workers, unsigned seed);

}  // namespace roof::data
