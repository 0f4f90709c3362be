// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/cache/cache_folder.h"
#include "engine/model/cpu/packing/packing_jobs.h"
#include "engine/model/transformer.h"

#include <optional>
#include <string>
#include <thread>

namespace engine::cpu {

/// What packing some weights took.
struct PackingEffort {
    double workMs = 0.0; ///< of processor time, all threads together
    int threads = 1;
    std::uint64_t fileBytes = 0;   ///< as stored
    std::uint64_t packedBytes = 0; ///< as tiles
};

/// Whether reading the packed bytes next time will save time worth a file as large as the weights:
/// also where both come from a disk, which has to give more when the packed form is the wider one.
bool isReadingFaster(const PackingEffort& effort);

/// Packed weights on disk, for the next start. They are known by the model's fingerprint, the state
/// of its files, the form of every matrix, and by how the tiles of this very program come out: a
/// file of another layout is never taken for one of this. Whatever goes wrong with it costs time,
/// nothing else. Thread: engine.
class PackedCache {
public:
    /// Weights that come from no file are never kept.
    PackedCache(const PackedCacheOptions& options,
                const ModelConfig& config,
                const WeightSource& source,
                std::span<const PackingJob> jobs);

    /// Whether weights are looked for and kept.
    bool isOn() const { return m_key.has_value(); }

    /// Reads the weights if they were kept; chunks are read and checked on the pool's threads.
    /// False leaves any bytes in `memory`; a file that is damaged is removed.
    bool load(std::span<std::byte> memory, const PackingWatch& watch, WorkerPool& pool) const;

    /// The file in which so many bytes were kept, to be read chunk by chunk; none if there is none,
    /// and one that is damaged is removed.
    std::optional<CachedFile> open(std::uint64_t byteSize) const;

    /// Removes what was kept, because it turned out to be damaged.
    void remove() const;

    /// Writes them on a thread of its own, at the lowest priority, if that was worth it: a start
    /// does not wait for the disk. `memory` must stay as it is until the thread has ended; asked
    /// to stop, it finishes a file of up to 1 GiB, which takes a second or two once, and leaves no
    /// file where more is to be written.
    std::jthread keep(std::span<const std::byte> memory, const PackingEffort& effort) const;

private:
    CacheFolder m_folder;
    bool m_keepsAll;
    std::optional<std::string> m_key;
};

} // namespace engine::cpu
