// SPDX-License-Identifier: Apache-2.0
#include "app/program_paths.h"

#include <charconv>
#include <cstdlib>
#include <string_view>
#include <system_error>

namespace app {

namespace {

std::filesystem::path cacheFolder() {
    if (const char* cache = std::getenv("SWIFT_STUDIO_CACHE"); cache != nullptr && *cache != '\0')
        return cache;
    if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg != nullptr && *xdg != '\0')
        return std::filesystem::path(xdg) / "swift-studio";
    const char* home = std::getenv("HOME");
    return std::filesystem::path(home != nullptr ? home : ".") / ".cache" / "swift-studio";
}

/// The folder above bin, where this program runs from.
std::filesystem::path installFolder() {
    std::error_code ignored;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
    return program.parent_path().parent_path();
}

} // namespace

std::filesystem::path moduleFolder() { return installFolder() / "lib" / "swift-studio"; }

std::filesystem::path resourceFolder() { return installFolder() / "share" / "swift-studio"; }

std::filesystem::path exampleFolder() { return resourceFolder() / "examples"; }

std::filesystem::path adapterFolder() { return resourceFolder() / "draft-adapters"; }

std::filesystem::path defaultModelPath() {
    return cacheFolder() / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf";
}

engine::PackedCacheOptions packedCacheOptions() {
    engine::PackedCacheOptions options{.folder = cacheFolder() / "packed"};
    const char* asked = std::getenv("SWIFT_STUDIO_PACKED_CACHE_GB");
    if (asked == nullptr)
        return options;
    constexpr double kMost = 1e9;
    const std::string_view typed = asked;
    double gigabytes = 0.0; // with a point in every language
    const auto [end, failure] =
        std::from_chars(typed.data(), typed.data() + typed.size(), gigabytes);
    const bool isNumber = failure == std::errc() && end == typed.data() + typed.size();
    if (isNumber && gigabytes >= 0.0 && gigabytes <= kMost)
        options.limitBytes = static_cast<std::uint64_t>(gigabytes * 1e9);
    return options;
}

std::filesystem::path defaultLlamaPython() {
    return cacheFolder() / "llama-cpp-python" / "bin" / "python3";
}

std::filesystem::path llamaBenchScript() {
    const auto checkout = installFolder().parent_path().parent_path(); // of build/release
    return checkout / "tests" / "benchmarks" / "llama_cpp_bench.py";
}

} // namespace app
