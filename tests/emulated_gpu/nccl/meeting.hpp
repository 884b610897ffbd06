// Where the ranks of an emulated NCCL meet, of one process or of several: a page of shared memory that says how far
// each has come, and a file for the bytes of each. Both vanish with the processes.
#pragma once

#include "tests/emulated_gpu/device/numbers.hpp"

#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

namespace roof::emulated {

/// A collective as one rank has called it. All ranks have to call the same.
struct Collective {
    int kind = 0, type = 0, operation = 0, root = 0;
    u64 count = 0;
    bool operator==(const Collective&) const = default;
};

class Meeting {
  public:
    static constexpr int most_ranks = 16;

    /// A name that no other meeting has, under which all ranks can join.
    static std::string make();
    /// `host`: ranks of equal hosts are on one machine, and may not share a device. Throws std::invalid_argument for a
    /// rank that is there already or is not one of `ranks`.
    Meeting(const std::string& name, int ranks, int rank, int device, const std::string& host);
    ~Meeting();
    Meeting(const Meeting&) = delete;
    Meeting& operator=(const Meeting&) = delete;

    const std::string& name() const { return name_; }
    int ranks() const { return ranks_; }
    int rank() const { return rank_; }
    bool is_complete() const;
    /// Two ranks of one machine on the same device. To be asked when all are there.
    bool shares_device() const;
    /// Opens the others' files. All ranks are there.
    void begin();

    /// Whether all have read what this rank said last.
    bool may_say() const;
    void say(const Collective& what, const std::vector<std::byte>& bytes);
    /// Whether all have said as much as this rank.
    bool has_heard() const;
    Collective said_by(int rank) const;
    std::vector<std::byte> bytes_of(int rank) const;
    void has_read();

    /// Says goodbye; the others see it.
    void leave(bool is_abort);
    bool has_abort() const;
    /// Whether the ranks of other processes have left.
    bool is_alone() const;

  private:
    struct Place {
        std::atomic<int> is_here;
        std::atomic<int> has_left;
        std::atomic<u64> said, read;
        int device, process;
        char host[64];
        Collective last;
        u64 bytes;
    };
    void remove_names() const;
    Place& mine() const { return places_[rank_]; }

    std::string name_;
    int ranks_, rank_;
    Place* places_ = nullptr;
    std::vector<int> files_;
};

}  // namespace roof::emulated
