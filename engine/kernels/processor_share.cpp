// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/processor_share.h"

#include "engine/kernels/nodes/number_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <numeric>
#include <optional>
#include <sched.h>
#include <set>
#include <thread>

namespace engine {

namespace {

namespace fs = std::filesystem;

constexpr int kMostProcessors = 1 << 20;
constexpr double kNoLimit = std::numeric_limits<double>::infinity();

/// The first line of a file; empty if it cannot be read.
std::string firstLine(const fs::path& file) {
    std::ifstream stream(file);
    std::string line;
    std::getline(stream, line);
    return line;
}

std::optional<double> numberAt(std::string_view text) {
    double number = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() ? std::optional(number) : std::nullopt;
}

double quotient(std::optional<double> time, std::optional<double> period) {
    const bool isLimit = time && period && *time > 0.0 && *period > 0.0;
    return isLimit ? *time / *period : kNoLimit;
}

/// "max 100000", or microseconds of processor time and of the period that they are for.
double unifiedQuota(const fs::path& group) {
    const std::string line = firstLine(group / "cpu.max");
    const std::size_t space = line.find(' ');
    if (space == std::string::npos)
        return kNoLimit;
    return quotient(numberAt(std::string_view(line).substr(0, space)),
                    numberAt(std::string_view(line).substr(space + 1)));
}

double olderQuota(const fs::path& group) {
    return quotient(numberAt(firstLine(group / "cpu.cfs_quota_us")),
                    numberAt(firstLine(group / "cpu.cfs_period_us")));
}

/// The lowest quota of a group and those around it. Within a container the group's own path may
/// not exist: then the mount is the container's group.
double lowestQuota(const fs::path& mount, const fs::path& path, double (*quota)(const fs::path&)) {
    double lowest = quota(mount);
    fs::path group = mount;
    for (const fs::path& part : path.relative_path()) {
        group /= part;
        lowest = std::min(lowest, quota(group));
    }
    return lowest;
}

/// Lines of /proc/self/cgroup: "number:controllers:/path"; version 2 names no controllers.
double readQuota(const fs::path& root) {
    std::ifstream groups(root / "proc/self/cgroup");
    const fs::path mounts = root / "sys/fs/cgroup";
    double lowest = kNoLimit;
    for (std::string line; std::getline(groups, line);) {
        const std::size_t first = line.find(':');
        const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second == std::string::npos)
            continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        const fs::path path = line.substr(second + 1);
        if (controllers.empty()) {
            lowest = std::min(lowest, lowestQuota(mounts, path, unifiedQuota));
            lowest = std::min(lowest, lowestQuota(mounts / "unified", path, unifiedQuota));
        } else if (("," + controllers + ",").find(",cpu,") != std::string::npos) {
            lowest = std::min(lowest, lowestQuota(mounts / "cpu", path, olderQuota));
            lowest = std::min(lowest, lowestQuota(mounts / controllers, path, olderQuota));
        }
    }
    return lowest;
}

/// Processors of one core name the same processors as their core's.
int countCores(const std::vector<int>& allowed, const fs::path& root) {
    std::set<std::string> cores;
    for (const int processor : allowed) {
        const fs::path topology =
            root / fmt::format("sys/devices/system/cpu/cpu{}/topology", processor);
        std::string core = firstLine(topology / "core_cpus_list");
        if (core.empty()) // as it was called before Linux 5.3
            core = firstLine(topology / "thread_siblings_list");
        cores.insert(core.empty() ? fmt::format("processor {}", processor) : core);
    }
    return static_cast<int>(cores.size());
}

int wholeProcessors(double quota) {
    return quota < kMostProcessors ? std::max(1, static_cast<int>(std::ceil(quota)))
                                   : kMostProcessors;
}

} // namespace

int ProcessorShare::mostThreads() const { return std::min(processors, wholeProcessors(quota)); }

int ProcessorShare::bestThreads() const { return std::min(cores, mostThreads()); }

std::vector<int> allowedProcessors() {
    std::vector<int> allowed;
    // Systems with more processors than a cpu_set_t has bits refuse the small set.
    for (int most = CPU_SETSIZE; most <= kMostProcessors && allowed.empty(); most *= 2) {
        cpu_set_t* set = CPU_ALLOC(static_cast<std::size_t>(most));
        const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(most));
        const bool isKnown = set != nullptr && ::sched_getaffinity(0, bytes, set) == 0;
        for (int processor = 0; isKnown && processor < most; ++processor)
            if (CPU_ISSET_S(static_cast<std::size_t>(processor), bytes, set))
                allowed.push_back(processor);
        CPU_FREE(set);
    }
    if (allowed.empty()) {
        allowed.resize(std::max(1U, std::thread::hardware_concurrency()));
        std::iota(allowed.begin(), allowed.end(), 0);
    }
    return allowed;
}

ProcessorShare readProcessorShare(const std::vector<int>& allowed, const fs::path& root) {
    const std::vector<int> online = numberListIn(root / "sys/devices/system/cpu/online");
    return {.processors = static_cast<int>(allowed.size()),
            .cores = countCores(allowed, root),
            .quota = readQuota(root),
            .systemProcessors = static_cast<int>(online.size()),
            .systemCores = countCores(online, root)};
}

const ProcessorShare& processorShare() {
    static const ProcessorShare share = readProcessorShare(allowedProcessors());
    return share;
}

int usefulThreads(int wanted, const ProcessorShare& share) {
    return wanted > 0 ? std::min(wanted, share.mostThreads()) : share.bestThreads();
}

std::string threadsNote(int wanted, const ProcessorShare& share) {
    const auto processors = [](int count) {
        return fmt::format("{} {}", count, count == 1 ? "processor" : "processors");
    };
    const bool isLimited = share.mostThreads() < share.processors;
    const std::string limit = fmt::format("the limit of its container: the time of {:.3g} of {}",
                                          share.quota,
                                          processors(share.processors));
    if (wanted > share.mostThreads())
        return fmt::format("{} threads were asked for, but this process may use only {}{}, so no "
                           "more threads are started.",
                           wanted,
                           processors(share.mostThreads()),
                           isLimited ? " (" + limit + ")" : "");
    const std::string reason = share.quota < share.cores ? "of " + limit
                               : share.cores < share.systemCores
                                   ? fmt::format("it may run on only {} of the system's {}",
                                                 share.processors,
                                                 processors(share.systemProcessors))
                                   : "";
    if (wanted == 0 && !reason.empty())
        return fmt::format("This process computes with {} {} because {}.",
                           share.bestThreads(),
                           share.bestThreads() == 1 ? "thread" : "threads",
                           reason);
    return {};
}

} // namespace engine
