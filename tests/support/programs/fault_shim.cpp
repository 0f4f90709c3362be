// SPDX-License-Identifier: Apache-2.0
// A library for LD_PRELOAD under which one call of a kind fails, or the clock runs wrong. The
// variables SWIFT_FAULT_KIND (write, flush, read, open, rename, alloc, clock) and SWIFT_FAULT_AT
// (which call, from 1; 0 none) choose it. Calls are counted from the beginning of main() to its
// end, and written to the file SWIFT_FAULT_COUNT. Standard error is left alone: it is where the
// failure is told. So are event descriptors: no full disk and no broken device touches them, and a
// thread whose wake-up is lost waits for ever. And so are the kernel's files on the processor:
// LibTorch's cpuinfo reads them and ends the program where it cannot.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* memory, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
}

namespace {

enum class Kind { None, Write, Flush, Read, Open, Rename, Alloc, Clock };

Kind chosenKind = Kind::None;
long failingCall = 0;
std::atomic<long> calls = 0;
std::atomic<bool> isCounting = false;

constexpr int kEventFileLimit = 1024;
std::atomic<bool> isEventFile[kEventFileLimit];

bool isEvent(int file) { return file >= 0 && file < kEventFileLimit && isEventFile[file]; }

bool isOfProcessor(const char* path) {
    constexpr const char* kFolder = "/sys/devices/system/cpu/";
    return std::strncmp(path, kFolder, std::strlen(kFolder)) == 0;
}

template <typename Function> Function next(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

/// Whether this call is the one that fails; `code` becomes errno then.
bool fails(Kind kind, int code) {
    if (kind != chosenKind || !isCounting || ++calls != failingCall)
        return false;
    errno = code;
    return true;
}

Kind kindNamed(const char* name) {
    constexpr const char* kNames[] = {
        "none", "write", "flush", "read", "open", "rename", "alloc", "clock"};
    for (int kind = 0; name != nullptr && kind < 8; ++kind)
        if (std::strcmp(name, kNames[kind]) == 0)
            return static_cast<Kind>(kind);
    return Kind::None;
}

using Main = int (*)(int, char**, char**);
Main programMain = nullptr;

/// With direct system calls, because these must not be counted.
void writeCount() {
    const char* path = std::getenv("SWIFT_FAULT_COUNT");
    if (path == nullptr)
        return;
    char text[32];
    const int length = std::snprintf(text, sizeof text, "%ld\n", calls.load());
    const long file =
        syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    syscall(SYS_write, file, text, static_cast<std::size_t>(length));
    syscall(SYS_close, file);
}

int countedMain(int argc, char** argv, char** environment) {
    chosenKind = kindNamed(std::getenv("SWIFT_FAULT_KIND"));
    const char* at = std::getenv("SWIFT_FAULT_AT");
    failingCall = at != nullptr ? std::atol(at) : 0;
    isCounting = true;
    const int code = programMain(argc, argv, environment);
    isCounting = false;
    writeCount();
    return code;
}

/// In steps back every 64 readings, as a virtual machine's clock may after it was moved.
long stepBackSeconds(clockid_t clock) {
    if (chosenKind != Kind::Clock || clock != CLOCK_MONOTONIC || !isCounting)
        return 0;
    return ++calls / 64 * 5;
}

} // namespace

extern "C" {

int __libc_start_main(Main main,
                      int argc,
                      char** argv,
                      void (*init)(),
                      void (*fini)(),
                      void (*linkerFini)(),
                      void* stackEnd) {
    using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
    programMain = main;
    return next<Start>("__libc_start_main")(
        countedMain, argc, argv, init, fini, linkerFini, stackEnd);
}

int eventfd(unsigned count, int flags) noexcept {
    const int file = static_cast<int>(syscall(SYS_eventfd2, count, flags));
    if (file >= 0 && file < kEventFileLimit)
        isEventFile[file] = true;
    return file;
}

ssize_t write(int file, const void* bytes, size_t size) {
    if (file != STDERR_FILENO && !isEvent(file) && fails(Kind::Write, ENOSPC))
        return -1;
    return syscall(SYS_write, file, bytes, size);
}

ssize_t writev(int file, const iovec* parts, int count) {
    if (file != STDERR_FILENO && fails(Kind::Write, ENOSPC))
        return -1;
    return syscall(SYS_writev, file, parts, count);
}

ssize_t pwrite(int file, const void* bytes, size_t size, off_t offset) {
    return fails(Kind::Write, ENOSPC) ? -1 : syscall(SYS_pwrite64, file, bytes, size, offset);
}

ssize_t pwrite64(int file, const void* bytes, size_t size, off_t offset) {
    return pwrite(file, bytes, size, offset);
}

int ftruncate(int file, off_t size) noexcept {
    return fails(Kind::Write, ENOSPC) ? -1 : static_cast<int>(syscall(SYS_ftruncate, file, size));
}

int ftruncate64(int file, off_t size) noexcept { return ftruncate(file, size); }

int fallocate(int file, int mode, off_t offset, off_t size) {
    return fails(Kind::Write, ENOSPC)
               ? -1
               : static_cast<int>(syscall(SYS_fallocate, file, mode, offset, size));
}

int fsync(int file) {
    return fails(Kind::Flush, EIO) ? -1 : static_cast<int>(syscall(SYS_fsync, file));
}

int fdatasync(int file) {
    return fails(Kind::Flush, EIO) ? -1 : static_cast<int>(syscall(SYS_fdatasync, file));
}

/// The number is free even after a failure, as in the real call.
int close(int file) {
    if (isEvent(file))
        isEventFile[file] = false;
    const bool isFailing = fails(Kind::Flush, EIO);
    const int code = static_cast<int>(syscall(SYS_close, file));
    if (!isFailing)
        return code;
    errno = EIO;
    return -1;
}

ssize_t read(int file, void* bytes, size_t size) {
    return !isEvent(file) && fails(Kind::Read, EIO) ? -1 : syscall(SYS_read, file, bytes, size);
}

ssize_t readv(int file, const iovec* parts, int count) {
    return fails(Kind::Read, EIO) ? -1 : syscall(SYS_readv, file, parts, count);
}

ssize_t pread(int file, void* bytes, size_t size, off_t offset) {
    return fails(Kind::Read, EIO) ? -1 : syscall(SYS_pread64, file, bytes, size, offset);
}

ssize_t pread64(int file, void* bytes, size_t size, off_t offset) {
    return pread(file, bytes, size, offset);
}

int open(const char* path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return !isOfProcessor(path) && fails(Kind::Open, EMFILE)
               ? -1
               : static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

int open64(const char* path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return open(path, flags, mode);
}

FILE* fopen(const char* path, const char* mode) {
    using Function = FILE* (*)(const char*, const char*);
    static const auto real = next<Function>("fopen");
    return fails(Kind::Open, EMFILE) ? nullptr : real(path, mode);
}

FILE* fopen64(const char* path, const char* mode) { return fopen(path, mode); }

int rename(const char* from, const char* to) noexcept {
    return fails(Kind::Rename, EIO)
               ? -1
               : static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

void* malloc(size_t size) noexcept {
    return fails(Kind::Alloc, ENOMEM) ? nullptr : __libc_malloc(size);
}

void* calloc(size_t count, size_t size) noexcept {
    return fails(Kind::Alloc, ENOMEM) ? nullptr : __libc_calloc(count, size);
}

void* realloc(void* memory, size_t size) noexcept {
    return fails(Kind::Alloc, ENOMEM) ? nullptr : __libc_realloc(memory, size);
}

void* aligned_alloc(size_t alignment, size_t size) noexcept {
    return fails(Kind::Alloc, ENOMEM) ? nullptr : __libc_memalign(alignment, size);
}

int posix_memalign(void** memory, size_t alignment, size_t size) noexcept {
    void* found = fails(Kind::Alloc, ENOMEM) ? nullptr : __libc_memalign(alignment, size);
    if (found == nullptr)
        return ENOMEM;
    *memory = found;
    return 0;
}

void* mmap(void* address, size_t size, int protection, int flags, int file, off_t offset) noexcept {
    if (fails(Kind::Alloc, ENOMEM))
        return MAP_FAILED;
    return reinterpret_cast<void*>(
        syscall(SYS_mmap, address, size, protection, flags, file, offset));
}

void* mmap64(
    void* address, size_t size, int protection, int flags, int file, off_t offset) noexcept {
    return mmap(address, size, protection, flags, file, offset);
}

int clock_gettime(clockid_t clock, timespec* time) noexcept {
    const int code = static_cast<int>(syscall(SYS_clock_gettime, clock, time));
    time->tv_sec -= stepBackSeconds(clock);
    return code;
}

} // extern "C"
