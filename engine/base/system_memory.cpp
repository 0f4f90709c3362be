// SPDX-License-Identifier: Apache-2.0
#include "engine/base/system_memory.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

namespace engine {

namespace {

namespace fs = std::filesystem;

constexpr double kUnlimited = std::numeric_limits<double>::max();

/// Files of a control group, and what its memory.stat calls the cache of files.
struct GroupNames {
    const char* limit;
    const char* used;
    std::array<std::string_view, 2> caches;
};

constexpr GroupNames kSecondVersion = {
    "memory.max", "memory.current", {"inactive_file", "active_file"}};
constexpr GroupNames kFirstVersion = {
    "memory.limit_in_bytes", "memory.usage_in_bytes", {"total_inactive_file", "total_active_file"}};

/// The number that is all of a file; none for a word such as "max".
std::optional<double> numberIn(const fs::path& path) {
    std::ifstream file(path);
    double number = 0.0;
    return file >> number ? std::optional(number) : std::nullopt;
}

/// The number behind a name, in a file of one name a line.
std::optional<double> numberOf(std::string_view name, const fs::path& path) {
    std::ifstream file(path);
    std::string found;
    double number = 0.0;
    std::string unit;
    while (file >> found >> number) {
        if (found == name)
            return number;
        std::getline(file, unit);
    }
    return std::nullopt;
}

/// The cache of files counts as used, but gives way.
double leftOf(const fs::path& group, const GroupNames& names) {
    const auto limit = numberIn(group / names.limit);
    const auto used = numberIn(group / names.used);
    if (!limit || !used || *limit < 0.0)
        return kUnlimited;
    double left = *limit - *used;
    for (const std::string_view cache : names.caches)
        left += numberOf(cache, group / "memory.stat").value_or(0.0);
    return std::max(left, 0.0);
}

/// Of all groups from the outermost one to this. In a container the outermost one that can be seen
/// may be its own, whatever it is called outside.
double leftOfAll(fs::path outermost, const fs::path& group, const GroupNames& names) {
    double left = leftOf(outermost, names);
    for (const fs::path& part : group.relative_path()) {
        outermost /= part;
        left = std::min(left, leftOf(outermost, names));
    }
    return left;
}

/// Lines of "4:memory:/user.slice/shell"; those of the second version name no controller.
double leftOfGroups(const MemoryReports& reports) {
    std::ifstream file(reports.ownGroups);
    double left = kUnlimited;
    for (std::string line; std::getline(file, line);) {
        const std::size_t begin = line.find(':');
        const std::size_t end = line.find(':', begin + 1);
        if (begin == std::string::npos || end == std::string::npos)
            continue;
        const std::string controller = line.substr(begin + 1, end - begin - 1);
        const std::string group = line.substr(end + 1);
        if (controller.empty())
            left = std::min(left, leftOfAll(reports.groups, group, kSecondVersion));
        else if (controller == "memory")
            left = std::min(left, leftOfAll(reports.groups / controller, group, kFirstVersion));
    }
    return left;
}

} // namespace

double availableMemoryIn(const MemoryReports& reports) {
    const auto kibibytes = numberOf("MemAvailable:", reports.memory);
    return std::min(kibibytes ? *kibibytes * 1024.0 : kUnlimited, leftOfGroups(reports));
}

double availableMemoryBytes() { return availableMemoryIn({}); }

Result<void> checkMemoryFor(double bytes, std::string_view what) {
    const double available = availableMemoryBytes();
    if (bytes <= available)
        return {};
    return Error{
        ErrorCode::NoMemory,
        fmt::format("There is not enough memory for {}: {:.1f} GB are needed, {:.1f} GB are free.",
                    what,
                    bytes / 1e9,
                    available / 1e9),
        "Close other programs, or choose a smaller model, a shorter --context or narrower "
        "weights (--weights, --precision)."};
}

} // namespace engine
