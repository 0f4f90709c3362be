// SPDX-License-Identifier: Apache-2.0
#include "engine/model/cpu/packing/packed_cache.h"

#include "engine/kernels/aligned_buffer.h"
#include "engine/loading/gguf/quantized_blocks.h"
#include "engine/model/model_fingerprint.h"

#include <sys/resource.h>
#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <set>
#include <tuple>

namespace engine::cpu {

namespace {

/// To be raised when the same bytes of tiles come to mean something else, or a file's weights come
/// to be rounded otherwise. Where the bytes of a tile lie is found out by layoutProbe().
constexpr int kPackedVersion = 2;

/// Reading the page cache into new huge pages and checking it, a thread.
constexpr double kReadBytesPerMs = 2.0e6;

/// A disk of the usual kind, where the file or what was kept of it is in no page cache.
constexpr double kDiskBytesPerMs = 0.5e6;

/// What nobody feels is not worth the disk.
constexpr double kLeastGainMs = 25.0;

/// So much is written in a second or two: whoever asks for one short answer at a time would
/// otherwise end the writing each time, and a model of 1B in 4 bits would be packed anew for every
/// answer.
constexpr std::size_t kAlwaysFinishedBytes = std::size_t{1} << 30U;

/// A made-up tensor whose bytes stand for finite numbers whatever its type.
class ProbeSource final : public WeightSource {
public:
    explicit ProbeSource(TensorType type) {
        constexpr std::uint64_t kRows = 64; // some tiles
        constexpr std::uint64_t kColumns = 1024;
        const BlockLayout block = blockLayout(type);
        m_tensor = {
            "probe", type, {kRows, kColumns}, kRows * kColumns / block.values * block.bytes, {}};
    }

    const TensorInfo& tensor() const { return m_tensor; }

    std::span<const TensorInfo> tensors() const override { return {&m_tensor, 1}; }

    const TensorInfo* find(std::string_view) const override { return &m_tensor; }

    Result<void> readRows(const TensorInfo& tensor,
                          std::uint64_t first,
                          std::uint64_t count,
                          std::span<float> out) const override {
        std::vector<std::byte> raw(static_cast<std::size_t>(count * rowBytes()));
        ENGINE_TRY_DO(readRawRows(tensor, first, count, raw));
        dequantize(tensor.type, raw, out);
        return {};
    }

    Result<void> readRawRows(const TensorInfo&,
                             std::uint64_t first,
                             std::uint64_t count,
                             std::span<std::byte> out) const override {
        // The upper bits stay clear: as a scale they would make it infinite.
        constexpr std::uint64_t kFinite = 0x3B;
        const std::uint64_t start = first * rowBytes();
        ENGINE_CHECK(out.size() == count * rowBytes(), "{} bytes of a probe", out.size());
        for (std::uint64_t i = 0; i < out.size(); ++i)
            out[i] = static_cast<std::byte>(((start + i) * 0x9E3779B97F4A7C15ULL) >> 32U & kFinite);
        return {};
    }

private:
    std::uint64_t rowBytes() const { return m_tensor.byteSize / m_tensor.rows(); }

    TensorInfo m_tensor;
};

std::string hexDigits(const void* bytes, std::size_t count) {
    const XXH128_hash_t hash = XXH3_128bits(bytes, count);
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

/// How a few numbers of this type come out as tiles: another layout gives other digits.
Result<std::string> layoutProbe(TensorType type, const TileFormat& format) {
    const ProbeSource source(type);
    const TensorInfo& tensor = source.tensor();
    const TileMatrix matrix =
        outlineMatrix(format, static_cast<int>(tensor.rows()), static_cast<int>(tensor.columns()));
    AlignedBuffer<std::byte> tiles;
    tiles.reserve(matrixBytes(matrix));
    ENGINE_TRY_DO(packMatrix(source, tensor, format, tiles.data()));
    return hexDigits(tiles.data(), matrixBytes(matrix));
}

std::string formatText(const TileFormat& format) {
    return fmt::format("{}.{}.{}.{}.{}",
                       static_cast<int>(format.form),
                       static_cast<int>(format.scaleForm),
                       format.groupColumns,
                       format.hasMinima,
                       format.offset);
}

/// All that decides what the packed bytes are.
Result<std::string> makeKey(const std::string& fingerprint,
                            const WeightSource& source,
                            std::span<const PackingJob> jobs) {
    std::string content = source.fileState();
    std::set<std::pair<TensorType, std::string>> probed;
    for (const PackingJob& job : jobs) {
        const std::string format = formatText(job.format);
        content += fmt::format("\n{} {} {} {} {} {} {}",
                               job.tensor->name,
                               job.tensor->typeName(),
                               format,
                               job.matrix->rows,
                               job.matrix->columns,
                               job.matrix->tileBytes,
                               job.offset);
        if (!probed.emplace(job.tensor->type, format).second)
            continue;
        ENGINE_TRY(const std::string probe, layoutProbe(job.tensor->type, job.format));
        content += " " + probe;
    }
    return fmt::format("packed weights {}, model {}, content {}",
                       kPackedVersion,
                       fingerprint,
                       hexDigits(content.data(), content.size()));
}

} // namespace

bool isReadingFaster(const PackingEffort& effort) {
    const auto packed = static_cast<double>(effort.packedBytes);
    const double extra = std::max(0.0, packed - static_cast<double>(effort.fileBytes));
    const double readMs = packed / kReadBytesPerMs / effort.threads + extra / kDiskBytesPerMs;
    return effort.workMs / effort.threads - readMs >= kLeastGainMs;
}

PackedCache::PackedCache(const PackedCacheOptions& options,
                         const ModelConfig& config,
                         const WeightSource& source,
                         std::span<const PackingJob> jobs)
    : m_folder(options.folder, options.limitBytes)
    , m_keepsAll(options.keepsAll) {
    if (options.folder.empty() || options.limitBytes == 0 || source.fileState().empty())
        return;
    Result<std::string> fingerprint = options.fingerprint;
    if (options.fingerprint.empty())
        fingerprint = modelFingerprint(config, source);
    if (!fingerprint)
        return; // packing will say what is wrong with the file
    if (auto key = makeKey(fingerprint.value(), source, jobs))
        m_key = std::move(key).value();
}

std::optional<CachedFile> PackedCache::open(std::uint64_t byteSize) const {
    if (!isOn())
        return std::nullopt;
    auto file = m_folder.open(*m_key, byteSize);
    if (file)
        return std::move(file).value();
    if (file.error().code == ErrorCode::CorruptFile)
        remove();
    return std::nullopt;
}

void PackedCache::remove() const {
    if (isOn())
        m_folder.remove(*m_key);
}

bool PackedCache::load(std::span<std::byte> memory,
                       const PackingWatch& watch,
                       WorkerPool& pool) const {
    const std::optional<CachedFile> file = open(memory.size());
    if (!file)
        return false;
    std::atomic<bool> isWhole = true;
    std::atomic<std::size_t> done = 0;
    const auto count = static_cast<int>(file->chunkCount());
    pool.run(count, [&](int part, int thread) {
        if (!isWhole || watch.stop.stop_requested())
            return;
        if (!file->readChunk(static_cast<std::size_t>(part), memory))
            isWhole = false;
        const std::size_t now = ++done;
        if (watch.progress && thread == 0)
            watch.progress(static_cast<double>(now) / count);
    });
    if (!isWhole)
        remove();
    return isWhole && done == file->chunkCount();
}

std::jthread PackedCache::keep(std::span<const std::byte> memory,
                               const PackingEffort& effort) const {
    if (!isOn() || !(m_keepsAll || isReadingFaster(effort)))
        return {};
    return std::jthread([folder = m_folder, key = *m_key, memory](const std::stop_token& stop) {
        constexpr int kLowest = 19;
        setpriority(PRIO_PROCESS, 0, kLowest); // of this thread alone
        try {
            const bool isFinished = memory.size() <= kAlwaysFinishedBytes;
            static_cast<void>(folder.keep(key, memory, isFinished ? std::stop_token() : stop));
        } catch (const std::exception&) { // no memory for a list of names: nothing is kept
        }
    });
}

} // namespace engine::cpu
