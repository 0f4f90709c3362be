// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/safetensors_file.h"

#include "engine/base/checked_math.h"
#include "engine/loading/files/byte_reader.h"
#include "engine/loading/files/readable_text.h"
#include "engine/loading/json/json_document.h"
#include "engine/loading/tensor_table.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace engine {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;
constexpr std::uint64_t kPrefixBytes = 8;
constexpr std::uint64_t kMaxShards = 512;

struct StoredType {
    std::string_view name;
    std::uint64_t bits;
    TensorType type = TensorType::Other;
};

constexpr std::array<StoredType, 22> kStoredTypes = {{
    {"BOOL", 8},
    {"U8", 8},
    {"I8", 8},
    {"I16", 16},
    {"U16", 16},
    {"F16", 16, TensorType::F16},
    {"BF16", 16, TensorType::BF16},
    {"I32", 32},
    {"U32", 32},
    {"F32", 32, TensorType::F32},
    {"F64", 64},
    {"I64", 64},
    {"U64", 64},
    {"C64", 64},
    {"F8_E4M3", 8},
    {"F8_E5M2", 8},
    {"F8_E8M0", 8},
    {"F8_E4M3FNUZ", 8},
    {"F8_E5M2FNUZ", 8},
    {"F6_E2M3", 6},
    {"F6_E3M2", 6},
    {"F4", 4},
}};

/// Where a tensor lies in the data buffer, and where its entry stands in the file.
struct Extent {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t entryOffset = 0;
    std::size_t tensor = 0;
};

/// Reads and checks the header of one file.
class HeaderReader {
public:
    explicit HeaderReader(const ByteReader& file)
        : m_file(file) {}

    /// Appends the file's tensors, in the order of their data, to `table` as those of file
    /// `fileNumber`.
    Result<void> readInto(TensorTable& table, std::uint32_t fileNumber) {
        ENGINE_TRY_DO(readEntries());
        ENGINE_TRY_DO(checkTiling());
        table.reserve(m_extents.size());
        for (const Extent& extent : m_extents)
            table.add(std::move(m_tensors[extent.tensor]), fileNumber, m_dataStart + extent.begin);
        return {};
    }

private:
    Error corrupt(std::uint64_t headerOffset, std::string_view problem) const {
        return corruptAt(m_file.path(), kPrefixBytes + headerOffset, problem);
    }

    Result<JsonDocument> readHeader() {
        std::uint64_t length = 0;
        ENGINE_TRY_DO(m_file.readAt(
            0, std::as_writable_bytes(std::span(&length, 1)), "the length of the header"));
        if (length > kMaxHeaderBytes)
            return corruptAt(m_file.path(),
                             0,
                             fmt::format("the header is said to have {} bytes; at most {} are "
                                         "allowed",
                                         length,
                                         kMaxHeaderBytes));
        m_dataStart = kPrefixBytes + length; // both are small
        if (m_dataStart > m_file.size())
            return corruptAt(m_file.path(),
                             0,
                             fmt::format("the header is said to have {} bytes, but the file has {}",
                                         length,
                                         m_file.size()));
        std::string text(static_cast<std::size_t>(length), '\0');
        ENGINE_TRY_DO(
            m_file.readAt(kPrefixBytes, std::as_writable_bytes(std::span(text)), "the header"));
        if (!text.starts_with('{'))
            return corrupt(0, "the header does not begin with '{'");
        auto header = JsonDocument::parse(text, "header of " + m_file.path().string());
        if (!header) // nobody mends a header by hand
            return Error{header.error().code, header.error().message, corrupt(0, "").hint};
        if (!header.value().root().isObject())
            return corrupt(0, "the header is no object");
        return header;
    }

    Result<void> readEntries() {
        ENGINE_TRY(const JsonDocument header, readHeader());
        if (header.root().size() > kMaxTensors)
            return corrupt(0, fmt::format("more than {} tensors", kMaxTensors));
        m_tensors.reserve(header.root().size());
        m_extents.reserve(header.root().size());
        for (const auto& [name, entry] : header.root().members()) {
            if (name == "__metadata__")
                ENGINE_TRY_DO(checkMetadata(entry));
            else
                ENGINE_TRY_DO(readEntry(name, entry));
        }
        return {};
    }

    Result<void> checkMetadata(const JsonValue& metadata) const {
        if (!metadata.isObject())
            return corrupt(metadata.offset(), "__metadata__ is no object");
        for (const auto& [key, value] : metadata.members()) {
            if (!value.isString())
                return corrupt(value.offset(),
                               fmt::format("__metadata__ \"{}\" is no string", readable(key)));
        }
        return {};
    }

    Result<void> readEntry(std::string_view name, const JsonValue& entry) {
        const std::string shownName = readable(name);
        const auto typeName = entry["dtype"].asString();
        const auto stored =
            std::find_if(kStoredTypes.begin(),
                         kStoredTypes.end(),
                         [&](const StoredType& candidate) { return candidate.name == typeName; });
        if (stored == kStoredTypes.end())
            return corrupt(entry.offset(),
                           fmt::format("tensor {} has the unknown dtype \"{}\"",
                                       shownName,
                                       readable(typeName.value_or(""))));
        TensorInfo info;
        info.name = name;
        info.type = stored->type;
        if (stored->type == TensorType::Other)
            info.otherType = stored->name;
        ENGINE_TRY(info.shape, numbers(entry["shape"], kMaxDimensions, "shape", shownName));
        ENGINE_TRY(const auto ends, numbers(entry["data_offsets"], 2, "data_offsets", shownName));
        if (ends.size() != 2 || ends[0] > ends[1])
            return corrupt(entry["data_offsets"].offset(),
                           fmt::format("data_offsets of tensor {} are no range", shownName));
        const auto count = valueCount(info.shape);
        const auto bits = count ? checked::mul(*count, stored->bits) : std::nullopt;
        if (!bits)
            return corrupt(entry["shape"].offset(),
                           fmt::format("the shape of tensor {} overflows", shownName));
        info.byteSize = ends[1] - ends[0];
        if (*bits % 8 != 0 || *bits / 8 != info.byteSize)
            return corrupt(entry.offset(),
                           fmt::format("tensor {} needs {} bits by its shape and dtype, but its "
                                       "data_offsets span {} bytes",
                                       shownName,
                                       *bits,
                                       info.byteSize));
        m_extents.push_back({ends[0], ends[1], entry.offset(), m_tensors.size()});
        m_tensors.push_back(std::move(info));
        return {};
    }

    Result<std::vector<std::uint64_t>> numbers(const JsonValue& list,
                                               std::uint64_t maxCount,
                                               std::string_view what,
                                               const std::string& tensor) const {
        if (!list.isArray() || list.size() > maxCount)
            return corrupt(
                list.offset(),
                fmt::format(
                    "{} of tensor {} is no list of at most {} numbers", what, tensor, maxCount));
        std::vector<std::uint64_t> values;
        for (const JsonValue& item : list.items()) {
            const auto value = item.asInteger();
            if (!value || *value < 0)
                return corrupt(item.offset(),
                               fmt::format("{} of tensor {} holds what is no count", what, tensor));
            values.push_back(static_cast<std::uint64_t>(*value));
        }
        return values;
    }

    /// No holes, no overlaps, nothing left over: no byte of the file is without a meaning.
    Result<void> checkTiling() {
        std::sort(m_extents.begin(), m_extents.end(), [](const Extent& a, const Extent& b) {
            return std::tie(a.begin, a.end, a.tensor) < std::tie(b.begin, b.end, b.tensor);
        });
        const std::uint64_t dataBytes = m_file.size() - m_dataStart;
        std::uint64_t reached = 0;
        for (const Extent& extent : m_extents) {
            const std::string name = readable(m_tensors[extent.tensor].name);
            if (extent.end > dataBytes)
                return corrupt(extent.entryOffset,
                               fmt::format("tensor {} ends at byte {} of the data, but there are "
                                           "only {}",
                                           name,
                                           extent.end,
                                           dataBytes));
            if (extent.begin != reached)
                return corrupt(extent.entryOffset,
                               fmt::format("tensor {} begins at byte {} of the data, which {} byte "
                                           "{} where the one before ends",
                                           name,
                                           extent.begin,
                                           extent.begin < reached ? "overlaps" : "leaves a hole to",
                                           reached));
            reached = extent.end;
        }
        if (reached != dataBytes)
            return corruptAt(
                m_file.path(),
                m_dataStart + reached,
                fmt::format("{} bytes behind the last tensor belong to none", dataBytes - reached));
        return {};
    }

    const ByteReader& m_file;
    std::uint64_t m_dataStart = 0;
    std::vector<TensorInfo> m_tensors;
    std::vector<Extent> m_extents;
};

Result<void> addFileTo(TensorTable& table, const fs::path& path) {
    ENGINE_TRY(ByteReader file, ByteReader::open(path));
    const std::uint32_t number = table.addFile(std::move(file));
    return HeaderReader(table.file(number)).readInto(table, number);
}

bool isBelow(const fs::path& folder, const fs::path& path) {
    return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first ==
           folder.end();
}

/// Where links among the shards of a folder may lead: the folder itself; from a snapshot of the
/// Hugging Face cache (REPOSITORY/snapshots/REVISION) anywhere in its repository, whose blobs they
/// name. `folder` is canonical.
fs::path roomForLinks(const fs::path& folder) {
    const fs::path snapshots = folder.parent_path();
    return snapshots.filename() == "snapshots" ? snapshots.parent_path() : folder;
}

/// A shard that is a link must lead to a file that belongs to the model.
Result<void> checkLink(const fs::path& folder, const fs::path& path) {
    std::error_code failure;
    if (!fs::is_symlink(fs::symlink_status(path, failure)))
        return {}; // what is no link lies in the folder, or opening it tells that it is not there
    const fs::path target = fs::canonical(path, failure);
    if (failure)
        return Error{ErrorCode::NotFound,
                     fmt::format("{} is a link to a file that is not there", path.string()),
                     "Fetch the model again: this part of it is missing."};
    const fs::path realFolder = fs::canonical(folder, failure);
    if (!failure && isBelow(roomForLinks(realFolder), target))
        return {};
    return Error{ErrorCode::InvalidInput,
                 fmt::format("{} is a link that leads out of the model's folder, to {}",
                             path.string(),
                             target.string()),
                 "Put the file itself into the folder in place of the link."};
}

/// A shard is named by untrusted text: it must be a plain name of a file in the index's folder.
Result<fs::path> shardPath(const fs::path& indexPath, std::string_view name, std::uint64_t offset) {
    const auto refuse = [&](std::string_view why) {
        return corruptAt(
            indexPath, offset, fmt::format("the shard name \"{}\" {}", readable(name), why));
    };
    if (name.empty() || name.find_first_of(std::string_view("/\\\0", 3)) != std::string_view::npos)
        return refuse("is no plain file name");
    if (name.find("..") != std::string_view::npos || !name.ends_with(".safetensors"))
        return refuse("is not one of a safetensors file in this folder");
    const fs::path folder = indexPath.has_parent_path() ? indexPath.parent_path() : fs::path(".");
    const fs::path path = folder / std::string(name);
    ENGINE_TRY_DO(checkLink(folder, path));
    return path;
}

} // namespace

Result<std::unique_ptr<WeightSource>> openSafetensors(const fs::path& path) {
    TensorTable table;
    ENGINE_TRY_DO(addFileTo(table, path));
    ENGINE_TRY_DO(table.finish());
    return std::unique_ptr<WeightSource>(
        std::make_unique<TableSource<WeightSource>>(std::move(table)));
}

Result<std::unique_ptr<WeightSource>> openSafetensorsIndex(const fs::path& indexPath) {
    ENGINE_TRY(const JsonDocument index, readJsonFile(indexPath.string()));
    const JsonValue weightMap = index.root()["weight_map"];
    if (weightMap.size() == 0 || !weightMap.isObject() || weightMap.size() > kMaxTensors)
        return corruptAt(indexPath,
                         weightMap.offset(),
                         "\"weight_map\" names no shards (or more tensors than are allowed)");
    TensorTable table;
    std::set<std::string_view> shards;
    for (const auto& [name, value] : weightMap.members()) {
        const auto shard = value.asString();
        if (!shard)
            return corruptAt(indexPath, value.offset(), "a shard name is no string");
        if (shards.contains(*shard))
            continue;
        if (shards.size() >= kMaxShards)
            return corruptAt(
                indexPath, value.offset(), fmt::format("more than {} shards", kMaxShards));
        ENGINE_TRY(const fs::path path, shardPath(indexPath, *shard, value.offset()));
        ENGINE_TRY_DO(addFileTo(table, path));
        shards.insert(*shard);
    }
    ENGINE_TRY_DO(table.finish());
    return std::unique_ptr<WeightSource>(
        std::make_unique<TableSource<WeightSource>>(std::move(table)));
}

} // namespace engine
