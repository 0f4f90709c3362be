// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/gguf/gguf_file.h"

#include "engine/base/checked_math.h"
#include "engine/loading/files/byte_reader.h"
#include "engine/loading/files/gguf_split.h"
#include "engine/loading/files/readable_text.h"
#include "engine/loading/gguf/gguf_metadata.h"
#include "engine/loading/gguf/quantized_blocks.h"
#include "engine/loading/tensor_table.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace engine {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kDefaultAlignment = 32;
constexpr std::uint64_t kMaxAlignment = 65'536;
constexpr std::uint32_t kMaxGgufDimensions = 4;
constexpr std::uint64_t kMaxNameBytes = 65'536;
/// Name length, number of dimensions, type and offset.
constexpr std::uint64_t kSmallestTensorInfo = 8 + 4 + 4 + 8;

struct TypeNumber {
    std::uint32_t number;
    std::string_view name;
    TensorType type = TensorType::Other;
};

constexpr std::array<TypeNumber, 34> kTypeNumbers = {{
    {0, "F32", TensorType::F32},
    {1, "F16", TensorType::F16},
    {2, "Q4_0", TensorType::Q4_0},
    {3, "Q4_1", TensorType::Q4_1},
    {6, "Q5_0", TensorType::Q5_0},
    {7, "Q5_1", TensorType::Q5_1},
    {8, "Q8_0", TensorType::Q8_0},
    {9, "Q8_1"},
    {10, "Q2_K", TensorType::Q2_K},
    {11, "Q3_K", TensorType::Q3_K},
    {12, "Q4_K", TensorType::Q4_K},
    {13, "Q5_K", TensorType::Q5_K},
    {14, "Q6_K", TensorType::Q6_K},
    {15, "Q8_K"},
    {16, "IQ2_XXS"},
    {17, "IQ2_XS"},
    {18, "IQ3_XXS"},
    {19, "IQ1_S"},
    {20, "IQ4_NL", TensorType::IQ4_NL},
    {21, "IQ3_S"},
    {22, "IQ2_S"},
    {23, "IQ4_XS", TensorType::IQ4_XS},
    {24, "I8"},
    {25, "I16"},
    {26, "I32"},
    {27, "I64"},
    {28, "F64"},
    {29, "IQ1_M"},
    {30, "BF16", TensorType::BF16},
    {34, "TQ1_0"},
    {35, "TQ2_0"},
    {39, "MXFP4", TensorType::MXFP4},
    {40, "NVFP4"},
    {41, "Q1_0"},
}};

std::string supportedTypes() {
    std::string names;
    for (const TypeNumber& row : kTypeNumbers)
        if (row.type != TensorType::Other)
            names += fmt::format("{}{}", names.empty() ? "" : ", ", row.name);
    return names;
}

/// What a tensor's entry says, before the start of the data is known.
struct TensorEntry {
    TensorInfo info;
    std::uint64_t relativeOffset = 0;
    std::uint64_t entryOffset = 0;
};

class OpenGgufFile : public TableSource<GgufFile> {
public:
    OpenGgufFile(fs::path path, std::uint32_t version, GgufMetadata metadata, TensorTable table)
        : TableSource(std::move(table))
        , m_path(std::move(path))
        , m_version(version)
        , m_metadata(std::move(metadata)) {}

    std::optional<std::uint64_t> unsignedValue(std::string_view key) const override {
        return m_metadata.unsignedValue(key);
    }

    std::optional<double> numberValue(std::string_view key) const override {
        if (const auto* value = m_metadata.get<double>(key))
            return *value;
        if (const auto* value = m_metadata.get<std::int64_t>(key))
            return static_cast<double>(*value);
        const auto* value = m_metadata.get<std::uint64_t>(key);
        return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
    }

    std::optional<bool> boolValue(std::string_view key) const override {
        const auto* value = m_metadata.get<bool>(key);
        return value ? std::optional(*value) : std::nullopt;
    }

    std::optional<std::string_view> stringValue(std::string_view key) const override {
        const auto* value = m_metadata.get<std::string>(key);
        return value ? std::optional<std::string_view>(*value) : std::nullopt;
    }

    const std::vector<std::string>* stringArray(std::string_view key) const override {
        return m_metadata.get<std::vector<std::string>>(key);
    }

    const std::vector<std::int64_t>* integerArray(std::string_view key) const override {
        return m_metadata.get<std::vector<std::int64_t>>(key);
    }

    const std::vector<float>* floatArray(std::string_view key) const override {
        return m_metadata.get<std::vector<float>>(key);
    }

    const std::vector<bool>* boolArray(std::string_view key) const override {
        return m_metadata.get<std::vector<bool>>(key);
    }

    std::uint32_t version() const override { return m_version; }

    const fs::path& path() const override { return m_path; }

    std::vector<std::pair<std::string, std::string>> describeMetadata() const override {
        return m_metadata.describe();
    }

private:
    fs::path m_path;
    std::uint32_t m_version;
    GgufMetadata m_metadata;
};

/// What a file without the magic seems to be instead, for the one sentence about it.
std::string_view guessContents(std::string_view start) {
    if (start.starts_with("PK\x03\x04") || start.starts_with("\x80\x02"))
        return "it looks like a PyTorch or zip file";
    if (start.size() > 8 && start[8] == '{')
        return "it looks like a safetensors file";
    if (start.starts_with("lmgg") || start.starts_with("tjgg") || start.starts_with("fmgg"))
        return "it is of a format older than GGUF";
    const bool isText = std::all_of(start.begin(), start.end(), [](char c) {
        return static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\r' || c == '\t';
    });
    return start.empty() ? "it is empty" : isText ? "it looks like text" : "its content is unknown";
}

/// Reads one file from front to back.
class GgufReader {
public:
    explicit GgufReader(const ByteReader& file)
        : m_file(file)
        , m_cursor(file) {}

    Result<void> readAll() {
        ENGINE_TRY_DO(readMagicAndVersion());
        ENGINE_TRY(const auto tensorCount, m_cursor.number<std::uint64_t>("the tensor count"));
        ENGINE_TRY(const auto keyCount, m_cursor.number<std::uint64_t>("the metadata count"));
        if (tensorCount > kMaxTensors)
            return m_cursor.corrupt(
                fmt::format("the file is said to have {} tensors; at most {} are allowed",
                            tensorCount,
                            kMaxTensors));
        ENGINE_TRY_DO(m_cursor.checkFits(tensorCount, kSmallestTensorInfo, "the tensor list"));
        ENGINE_TRY(metadata, GgufMetadata::read(m_cursor, keyCount));
        ENGINE_TRY_DO(readAlignment());
        ENGINE_TRY_DO(m_cursor.checkFits(tensorCount, kSmallestTensorInfo, "the tensor list"));
        m_entries.reserve(static_cast<std::size_t>(tensorCount));
        for (std::uint64_t i = 0; i < tensorCount; ++i)
            ENGINE_TRY_DO(readEntry());
        ENGINE_TRY_DO(placeTensors());
        return checkOverlaps();
    }

    /// Gives the tensors, with their offsets in the file, to `table`.
    void moveTensorsTo(TensorTable& table, std::uint32_t fileNumber) {
        table.reserve(m_entries.size());
        for (TensorEntry& entry : m_entries)
            table.add(std::move(entry.info), fileNumber, m_dataStart + entry.relativeOffset);
    }

    GgufMetadata metadata;
    std::uint32_t version = 0;

private:
    Result<void> readMagicAndVersion() {
        std::array<char, 16> start{};
        const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(16, m_file.size()));
        ENGINE_TRY_DO(m_file.readAt(
            0, std::as_writable_bytes(std::span(start).first(length)), "the magic number"));
        const std::string_view text(start.data(), length);
        if (!text.starts_with("GGUF"))
            return Error{
                ErrorCode::CorruptFile,
                fmt::format("{} is no GGUF file: it does not begin with \"GGUF\" (byte 0); "
                            "{}.",
                            m_file.path().string(),
                            guessContents(text)),
                "Give the path of a GGUF file or of a model folder."};
        ENGINE_TRY_DO(m_cursor.number<std::uint32_t>("the magic number"));
        ENGINE_TRY(version, m_cursor.number<std::uint32_t>("the version"));
        if (version == 2 || version == 3)
            return {};
        const bool isBigEndian = version == 0x02000000U || version == 0x03000000U;
        return Error{
            ErrorCode::Unsupported,
            isBigEndian
                ? fmt::format("{} is a big-endian GGUF file (byte 4).", m_file.path().string())
                : fmt::format("{} is of GGUF version {} (byte 4); supported: 2, 3.",
                              m_file.path().string(),
                              version),
            "Convert the model again with a current converter."};
    }

    Result<void> readAlignment() {
        const GgufValue* value = metadata.find("general.alignment");
        if (!value)
            return {};
        const auto* number = value->as<std::uint64_t>();
        if (!number || *number == 0 || *number > kMaxAlignment || !std::has_single_bit(*number))
            return m_cursor.corrupt(
                fmt::format("general.alignment is {}, not a power of two of at most {}",
                            readable(value->describe()),
                            kMaxAlignment));
        m_alignment = *number;
        return {};
    }

    Result<void> readEntry() {
        TensorEntry entry;
        entry.entryOffset = m_cursor.offset();
        ENGINE_TRY(entry.info.name, m_cursor.string(kMaxNameBytes, "a tensor name"));
        const std::string shown = fmt::format("tensor {}", readable(entry.info.name));
        if (!isValidUtf8(entry.info.name))
            return m_cursor.corrupt(fmt::format("the name of {} is not UTF-8", shown));
        ENGINE_TRY(const auto dimensions, m_cursor.number<std::uint32_t>(shown));
        if (dimensions > kMaxGgufDimensions)
            return m_cursor.corrupt(fmt::format("{} has {} dimensions; at most {} are allowed",
                                                shown,
                                                dimensions,
                                                kMaxGgufDimensions));
        entry.info.shape.resize(dimensions);
        for (std::uint32_t i = 0; i < dimensions; ++i) {
            // The file lists the contiguous dimension first, we last.
            ENGINE_TRY(entry.info.shape[dimensions - 1 - i], m_cursor.number<std::uint64_t>(shown));
        }
        ENGINE_TRY(const auto typeNumber, m_cursor.number<std::uint32_t>(shown));
        ENGINE_TRY(entry.info.type, knownType(typeNumber, shown));
        ENGINE_TRY(entry.relativeOffset, m_cursor.number<std::uint64_t>(shown));
        if (entry.relativeOffset % m_alignment != 0)
            return m_cursor.corrupt(fmt::format("the offset {} of {} is not aligned to {}",
                                                entry.relativeOffset,
                                                shown,
                                                m_alignment));
        ENGINE_TRY(entry.info.byteSize, byteSize(entry.info, shown));
        m_entries.push_back(std::move(entry));
        return {};
    }

    Result<TensorType> knownType(std::uint32_t number, const std::string& shown) const {
        const auto row =
            std::find_if(kTypeNumbers.begin(),
                         kTypeNumbers.end(),
                         [&](const TypeNumber& candidate) { return candidate.number == number; });
        if (row != kTypeNumbers.end() && row->type != TensorType::Other)
            return row->type;
        const std::string name =
            row == kTypeNumbers.end() ? fmt::format("number {}", number) : std::string(row->name);
        return Error{ErrorCode::Unsupported,
                     fmt::format("{}: {} has the type {}, which is not supported (byte {}); "
                                 "supported: {}",
                                 m_file.path().string(),
                                 shown,
                                 name,
                                 m_cursor.offset(),
                                 supportedTypes()),
                     "Choose a file of the same model in a supported type."};
    }

    Result<std::uint64_t> byteSize(const TensorInfo& info, const std::string& shown) const {
        const BlockLayout layout = blockLayout(info.type);
        const auto count = valueCount(info.shape);
        if (info.columns() % layout.values != 0)
            return m_cursor.corrupt(fmt::format("the rows of {} have {} values, which {} cannot "
                                                "hold in whole blocks of {}",
                                                shown,
                                                info.columns(),
                                                tensorTypeName(info.type),
                                                layout.values));
        const auto bytes =
            count ? checked::mul(*count / layout.values, layout.bytes) : std::nullopt;
        if (!bytes)
            return m_cursor.corrupt(fmt::format("the size of {} overflows", shown));
        return *bytes;
    }

    /// Every tensor must lie inside the file.
    Result<void> placeTensors() {
        const auto start = checked::alignUp(m_cursor.offset(), m_alignment);
        if (!start)
            return m_cursor.corrupt("the start of the tensor data overflows");
        m_dataStart = *start;
        for (const TensorEntry& entry : m_entries) {
            const auto begin = checked::add(m_dataStart, entry.relativeOffset);
            const auto end = begin ? checked::add(*begin, entry.info.byteSize) : std::nullopt;
            if (end && (*end <= m_file.size() || entry.info.byteSize == 0))
                continue;
            return corruptAt(m_file.path(),
                             entry.entryOffset,
                             fmt::format("tensor {} needs {} bytes at offset {} of the data, but "
                                         "the file ends at byte {}",
                                         readable(entry.info.name),
                                         entry.info.byteSize,
                                         entry.relativeOffset,
                                         m_file.size()));
        }
        return {};
    }

    Result<void> checkOverlaps() const {
        std::vector<std::size_t> order(m_entries.size());
        std::iota(order.begin(), order.end(), std::size_t(0));
        std::erase_if(order, [this](std::size_t i) { return m_entries[i].info.byteSize == 0; });
        std::sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
            return m_entries[a].relativeOffset < m_entries[b].relativeOffset;
        });
        for (std::size_t i = 1; i < order.size(); ++i) {
            const TensorEntry& before = m_entries[order[i - 1]];
            const TensorEntry& entry = m_entries[order[i]];
            if (entry.relativeOffset < before.relativeOffset + before.info.byteSize)
                return corruptAt(m_file.path(),
                                 entry.entryOffset,
                                 fmt::format("tensor {} overlaps tensor {}",
                                             readable(entry.info.name),
                                             readable(before.info.name)));
        }
        return {};
    }

    const ByteReader& m_file;
    ByteCursor m_cursor;
    std::uint64_t m_alignment = kDefaultAlignment;
    std::uint64_t m_dataStart = 0;
    std::vector<TensorEntry> m_entries;
};

/// What one file of one or several says of itself.
struct OpenedPart {
    GgufMetadata metadata;
    std::uint32_t version = 0;
    std::uint64_t tensorCount = 0;

    /// A whole number of the metadata; 0 where there is none.
    std::uint64_t number(std::string_view key) const {
        return metadata.unsignedValue(key).value_or(0);
    }
};

/// Reads one file and adds its tensors to the table.
Result<OpenedPart> openPart(const fs::path& path, TensorTable& table) {
    ENGINE_TRY(ByteReader file, ByteReader::open(path));
    const std::uint32_t number = table.addFile(std::move(file));
    GgufReader reader(table.file(number));
    ENGINE_TRY_DO(reader.readAll());
    const std::size_t before = table.tensors().size();
    reader.moveTensorsTo(table, number);
    return OpenedPart{std::move(reader.metadata), reader.version, table.tensors().size() - before};
}

Error wrongPart(const fs::path& path, std::string_view problem) {
    return {ErrorCode::CorruptFile,
            fmt::format("{} {}", path.string(), problem),
            "Fetch all parts of the same model into one folder."};
}

/// All parts of a split file; the first one's metadata hold for all.
Result<OpenedPart> openParts(const fs::path& path, const GgufPartName& name, TensorTable& table) {
    OpenedPart whole;
    const std::string* architecture = nullptr;
    for (int part = 1; part <= name.count; ++part) {
        const fs::path partPath = name.sibling(path, part);
        auto opened = openPart(partPath, table);
        if (!opened && opened.error().code == ErrorCode::NotFound)
            return Error{ErrorCode::NotFound,
                         fmt::format("part {} of {} of a split GGUF file is missing: {}",
                                     part,
                                     name.count,
                                     partPath.string()),
                         "Fetch all parts into one folder."};
        if (!opened)
            return std::move(opened).error();
        OpenedPart& read = opened.value();
        if (read.number("split.count") != static_cast<std::uint64_t>(name.count) ||
            read.number("split.no") + 1 != static_cast<std::uint64_t>(part))
            return wrongPart(
                partPath,
                fmt::format("is not the part {} of {} that its name says", part, name.count));
        const auto* ownArchitecture = read.metadata.get<std::string>("general.architecture");
        if (part == 1) {
            whole = std::move(read);
            architecture = whole.metadata.get<std::string>("general.architecture");
            continue;
        }
        if (ownArchitecture && (!architecture || *ownArchitecture != *architecture))
            return wrongPart(partPath, "belongs to another model than the first part");
        whole.tensorCount += read.tensorCount;
    }
    const std::uint64_t told = whole.number("split.tensors.count");
    if (told != 0 && told != whole.tensorCount)
        return wrongPart(name.sibling(path, 1),
                         fmt::format("and its other parts hold {} tensors, not {}: a part belongs "
                                     "to another model",
                                     whole.tensorCount,
                                     told));
    return whole;
}

} // namespace

std::string ggufTokenKey(std::string_view use) {
    return fmt::format("tokenizer.ggml.{}_token_id", use);
}

bool GgufFile::holds(std::string_view key) const {
    const auto metadata = describeMetadata();
    return std::any_of(
        metadata.begin(), metadata.end(), [key](const auto& entry) { return entry.first == key; });
}

std::optional<std::uint64_t> GgufFile::tokenId(std::string_view use) const {
    std::optional<std::uint64_t> id = unsignedValue(ggufTokenKey(use));
    if (id == 0xFFFFFFFFU)
        id.reset();
    return id;
}

Result<std::shared_ptr<const GgufFile>> GgufFile::open(const fs::path& path) {
    auto table = std::make_unique<TensorTable>();
    ENGINE_TRY(OpenedPart read, openPart(path, *table));
    if (const std::uint64_t count = read.number("split.count"); count > 1) {
        const auto name = ggufPartName(path);
        if (!name)
            return Error{ErrorCode::Unsupported,
                         fmt::format("{} is one of {} parts of a split GGUF file (key "
                                     "split.count), but its name does not say which",
                                     path.string(),
                                     count),
                         "Give the parts names that end in -00001-of-00002.gguf and so on."};
        table = std::make_unique<TensorTable>();
        ENGINE_TRY(read, openParts(path, *name, *table));
    }
    ENGINE_TRY_DO(table->finish());
    return std::shared_ptr<const GgufFile>(std::make_shared<OpenGgufFile>(
        path, read.version, std::move(read.metadata), std::move(*table)));
}

} // namespace engine
