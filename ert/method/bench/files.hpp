// Crash-safe files: written whole or not at all; appended lines are flushed or removed.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace roof {

/// The file's content; throws InputError if it cannot be read.
std::string read_file(const std::filesystem::path& file);

/// Writes a temporary file, flushes and renames it: a reader sees the old content or the new.
/// Throws InputError with the system's reason (no space, no permission).
void write_file(const std::filesystem::path& file, const std::string& content);

/// Appends and flushes to the device. On failure (such as a full disk) the file is truncated to its former length and InputError thrown.
void append_file(const std::filesystem::path& file, const std::string& text);

/// Creates the folder and those above it; throws InputError if that fails or a file stands there.
void make_folder(const std::filesystem::path& folder);

/// An exclusive lock on `folder` that the system drops when the process ends, however it ends.
class FolderLock {
  public:
    /// Throws InputError if another process holds it.
    explicit FolderLock(const std::filesystem::path& folder);
    ~FolderLock();
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;

  private:
    int descriptor_ = -1;
};

}  // namespace roof
