#include "ert/base/files.hpp"

#include "ert/base/error.hpp"
#include "ert/base/process.hpp"
#include "ert/base/text.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <random>
#include <vector>

namespace roof {

namespace fs = std::filesystem;

namespace {

int output = STDOUT_FILENO;  // global, as the streams of a process are

constexpr mode_t permissions = 0777;  // of a file that is replaced: they stay
constexpr mode_t of_new_file = 0666;
constexpr mode_t of_lock_file = 0644;

[[noreturn]] void fail(const std::string& what, const fs::path& file, const std::string& reason)
{
    throw InputError("cannot " + what + " " + file.string() + ": " + reason);
}

[[noreturn]] void fail(const std::string& what, const fs::path& file, int error)
{
    throw InputError("cannot " + what + " " + file.string() + ": " + std::strerror(error));
}

/// A file descriptor, closed on destruction.
class Descriptor {
  public:
    /// A failure names `meant` where that is another file.
    Descriptor(const fs::path& file, int flags, mode_t mode = of_new_file, const fs::path& meant = {})
        : number_(::open(file.c_str(), flags | O_CLOEXEC, mode))
    {
        if (number_ != -1) return;
        const fs::path& named = meant.empty() ? file : meant;
        if (errno == ELOOP) fail("write", named, "it is a link");
        fail(meant.empty() ? "open" : "write", named, errno);
    }
    ~Descriptor() { ::close(number_); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int number() const { return number_; }

  private:
    int number_;
};

/// The reason why a file of this kind is not read; empty for a regular file.
std::string kind_of(mode_t mode)
{
    if (S_ISREG(mode)) return {};
    return S_ISDIR(mode)    ? "it is a folder"
           : S_ISFIFO(mode) ? "it is a pipe, not a regular file"
           : S_ISSOCK(mode) ? "it is a socket, not a regular file"
                            : "it is a device, not a regular file";
}

/// Returns 0 or the errno of the failed call.
int write_all(int descriptor, const std::string& text)
{
    for (std::size_t done = 0; done < text.size();) {
        const ssize_t written = ::write(descriptor, text.data() + done, text.size() - done);
        if (written == -1 && errno == EINTR) continue;
        if (written < 1) return written == -1 ? errno : ENOSPC;
        done += static_cast<std::size_t>(written);
    }
    return 0;
}

/// Whether a call is one that this file system does not have.
bool is_missing(int error)
{
    constexpr std::array errors{EINVAL, ENOSYS, ENOTSUP, ENOLCK};
    return std::ranges::find(errors, error) != errors.end();
}

/// Returns 0 or the errno; also 0 where the file system cannot flush.
int flush(int descriptor)
{
    return ::fdatasync(descriptor) == 0 || is_missing(errno) ? 0 : errno;
}

int write_and_flush(int descriptor, const std::string& text)
{
    const int error = write_all(descriptor, text);
    return error == 0 ? flush(descriptor) : error;
}

/// Flushes the names in the folder of `file`, where the file system can and the folder may be read.
void flush_folder_of(const fs::path& file)
{
    const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int error = opened != -1 && ::fsync(opened) == 0 ? 0 : errno;
    ::close(opened);
    if (error != 0 && error != EACCES && error != EROFS && !is_missing(error)) fail("flush", folder, error);
}

/// The file at the end of the links, which may be missing.
fs::path end_of_links(fs::path file)
{
    constexpr int most_links = 40;
    for (int i = 0; i < most_links && fs::is_symlink(file); ++i) file = file.parent_path() / fs::read_symlink(file);
    return file;
}

/// Standard output may be redirected into a regular file, which later output continues.
bool is_standard_output(const struct stat& status)
{
    struct stat output {};
    return ::fstat(own_output(), &output) == 0 && output.st_dev == status.st_dev && output.st_ino == status.st_ino;
}

void replace_file(const fs::path& file, const std::string& content, mode_t mode)
{
    constexpr int letters = 6;  // another writer has the same in 1 of 3e8 cases, and then one of the two is refused
    fs::path temporary = file;
    temporary += "." + random_letters(letters) + ".part";
    constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
    int error = write_and_flush(Descriptor(temporary, flags, mode, file).number(), content);
    if (error == 0 && ::rename(temporary.c_str(), file.c_str()) != 0) error = errno;
    if (error != 0) {
        ::unlink(temporary.c_str());
        fail("write", file, error);
    }
    flush_folder_of(file);
}

}  // namespace

fs::path program_path()
{
    std::error_code error;
    const fs::path linked = fs::read_symlink("/proc/self/exe", error);
    const auto* const started = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));  // where there is no /proc
    return error ? fs::absolute(started == nullptr ? "roof" : started) : linked;
}

fs::path part_file(const std::string& name, const fs::path& program_folder)
{
    const fs::path library_folder = (program_folder / "../lib/roof").lexically_normal();
    for (const fs::path& folder : {program_folder, library_folder})
        if (fs::exists(folder / name)) return folder / name;
    throw Unsupported(fmt::format("{} is missing: it is neither in {} nor in {}", name, program_folder.string(),
                                  library_folder.string()));
}

std::string why_not_read(const fs::path& place)
{
    struct stat status {};
    const bool is_there = ::stat(place.c_str(), &status) == 0;
    if (!is_there && (errno == ENOENT || errno == ENOTDIR)) return {};
    const bool is_folder = is_there && S_ISDIR(status.st_mode);
    std::string why = is_there && !is_folder ? kind_of(status.st_mode) : "";
    if (why.empty() && ::faccessat(AT_FDCWD, place.c_str(), is_folder ? R_OK | X_OK : R_OK, AT_EACCESS) != 0)
        why = std::strerror(errno);
    return why.empty() ? why : "cannot read " + place.string() + ": " + why;
}

std::ifstream open_if_there(const fs::path& file)
{
    std::error_code none;
    return std::ifstream(fs::is_regular_file(file, none) ? file : fs::path(), std::ios::binary);
}

std::ifstream open_to_read(const fs::path& file)
{
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0) fail("read", file, errno);
    if (const std::string kind = kind_of(status.st_mode); !kind.empty()) fail("read", file, kind);
    std::ifstream in(file, std::ios::binary);
    if (!in) fail("read", file, errno);
    return in;
}

std::string read_file(const fs::path& file, std::size_t largest)
{
    std::ifstream in = open_to_read(file);
    std::string text;
    constexpr std::size_t piece = std::size_t{1} << 16;
    while (in) {
        const std::size_t before = text.size();
        text.resize(before + piece);
        in.read(text.data() + before, piece);
        text.resize(before + static_cast<std::size_t>(in.gcount()));
        if (text.size() > largest)
            fail("read", file, "it is larger than " + format_capacity(static_cast<double>(largest)));
    }
    if (in.bad()) fail("read", file, EIO);
    return text;
}

void write_file(const fs::path& file, const std::string& content)
{
    struct stat there {};
    const bool is_there = ::lstat(file.c_str(), &there) == 0 && !S_ISLNK(there.st_mode);
    if (is_there && !S_ISREG(there.st_mode)) fail("write", file, kind_of(there.st_mode));
    replace_file(file, content, is_there ? there.st_mode & permissions : of_new_file);
}

void write_chosen_file(const fs::path& file, const std::string& content)
{
    constexpr std::array names{"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};  // another stream by keep_own_output()
    struct stat there {};
    const bool is_there = ::stat(file.c_str(), &there) == 0;  // at the end of the links
    if (!is_there && errno != ENOENT) fail("open", file, errno);
    if (S_ISDIR(there.st_mode)) fail("write", file, EISDIR);
    const bool is_output = std::ranges::find(names, file) != names.end() || (is_there && is_standard_output(there));
    if (!is_output && (!is_there || S_ISREG(there.st_mode)))
        return replace_file(end_of_links(file), content, is_there ? there.st_mode & permissions : of_new_file);
    int error = 0;
    if (is_output) {
        error = write_all(own_output(), content);
    } else {
        const Descriptor descriptor(file, O_WRONLY | O_NOCTTY | O_NONBLOCK);
        ::fcntl(descriptor.number(), F_SETFL, 0);  // only the opening must not wait for a reader
        error = write_all(descriptor.number(), content);
    }
    if (error != 0) fail("write", file, error);
}

void append_file(const fs::path& file, const std::string& text)
{
    const Descriptor descriptor(file, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOFOLLOW);
    struct stat status {};
    if (::fstat(descriptor.number(), &status) != 0) fail("write", file, errno);
    if (const std::string kind = kind_of(status.st_mode); !kind.empty()) fail("write", file, kind);
    if (const int error = write_and_flush(descriptor.number(), text); error != 0) {
        // If this fails, the next opening removes the incomplete line.
        if (::ftruncate(descriptor.number(), status.st_size) != 0) fail("write or truncate", file, error);
        fail("write", file, error);
    }
    if (status.st_size == 0) flush_folder_of(file);
}

void cut_file(const fs::path& file, std::size_t length)
{
    const Descriptor descriptor(file, O_WRONLY | O_NOFOLLOW);
    if (::ftruncate(descriptor.number(), static_cast<off_t>(length)) != 0) fail("cut", file, errno);
    if (const int error = flush(descriptor.number()); error != 0) fail("cut", file, error);
}

std::string random_letters(int count)
{
    std::random_device chance;
    std::uniform_int_distribution<int> letter('a', 'z');
    std::string letters;
    for (int i = 0; i < count; ++i) letters += static_cast<char>(letter(chance));
    return letters;
}

void make_folder(const fs::path& folder)
{
    std::error_code error;
    std::vector<fs::path> missing;  // the innermost first
    fs::path above = fs::absolute(folder).lexically_normal();
    for (; !fs::exists(above, error) && above.has_relative_path(); above = above.parent_path())
        missing.push_back(above);
    fs::create_directories(folder, error);
    if (std::error_code none; !fs::is_directory(folder, none))
        fail("create the folder", folder, error ? error.message() : "a file stands there");
    for (const fs::path& made : missing) flush_folder_of(made);
}

bool make_new_folder(const fs::path& folder)
{
    make_folder(folder.parent_path());
    if (::mkdir(folder.c_str(), 0777) != 0) {
        if (errno == EEXIST) return false;
        fail("create the folder", folder, errno);
    }
    flush_folder_of(folder);
    return true;
}

FolderLock::FolderLock(const fs::path& folder) : file_(folder / ".lock")
{
    descriptor_ = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, of_lock_file);
    if (descriptor_ == -1) fail("write into", folder, errno);
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && !is_missing(errno)) {
        const int error = errno;
        ::close(descriptor_);
        if (error != EWOULDBLOCK) fail("lock", folder, error);
        throw InUse("another run is writing to " + folder.string() + "; wait for it, or give --out another folder");
    }
}

void keep_own_output()
{
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream)
        if (::fcntl(stream, F_GETFD) == -1) static_cast<void>(::open("/dev/null", O_RDONLY));  // the lowest free number
    const int own = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (own == -1 || ::dup2(STDERR_FILENO, STDOUT_FILENO) == -1) return;
    output = own;
}

int own_output()
{
    return output;
}

void give_back_output()
{
    ::dup2(output, STDOUT_FILENO);
    output = STDOUT_FILENO;
}

std::string lacks_of_file_system(const fs::path& folder)
{
    std::vector<std::string> lacks;
    const int file = ::open((folder / ".lock").c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file == -1) return {};
    if (::flock(file, LOCK_SH | LOCK_NB) != 0 && is_missing(errno))
        lacks.push_back(
            fmt::format("has no locks ({}): see to it that no other run writes there", std::strerror(errno)));
    if (::fdatasync(file) != 0 && is_missing(errno))
        lacks.push_back(fmt::format("cannot flush ({}): a power cut may lose rows", std::strerror(errno)));
    ::close(file);
    if (::access(folder.c_str(), R_OK) != 0)
        lacks.emplace_back("may not be listed: a power cut may lose its new files");
    return lacks.empty() ? "" : folder.string() + " " + join(lacks, "; it ");
}

bool FolderLock::is_held(const fs::path& folder)
{
    const int descriptor = ::open((folder / ".lock").c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    const bool held = ::flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    ::close(descriptor);
    return held;
}

void FolderLock::check() const
{
    struct stat own {};
    struct stat there {};
    if (::fstat(descriptor_, &own) == 0 && ::stat(file_.c_str(), &there) == 0 && own.st_dev == there.st_dev &&
        own.st_ino == there.st_ino)
        return;
    throw InputError(
        file_.string() +
        " was removed or replaced while a run writes to its folder: another one may write to it, too, so this "
        "one stops; the same command then continues, or names what is damaged");
}

FolderLock::~FolderLock()
{
    ::close(descriptor_);
}

}  // namespace roof
