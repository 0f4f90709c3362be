// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/config/model_limits.h"
#include "engine/loading/drafts/draft_adapter.h"
#include "engine/loading/files/byte_reader.h"
#include "engine/loading/files/readable_text.h"
#include "engine/loading/gguf/quantized_blocks.h"
#include "engine/loading/json/json_document.h"
#include "engine/loading/safetensors_file.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace engine {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostHeaderBytes = 16'000'000;
constexpr std::int64_t kVersion = 1;
constexpr std::int64_t kMostLayers = 4;
constexpr std::uint64_t kMostFingerprints = 64;
constexpr std::uint64_t kScaleColumns = 32; // of a row of 8-bit numbers share a scale
constexpr const char* kDescription = "swift_studio_draft_adapter";
constexpr const char* kHeadIds = "head.ids";
constexpr const char* kMakeAgain = "Make the adapter again, or choose another one.";

/// Reads one file.
class AdapterReader {
public:
    explicit AdapterReader(const fs::path& path)
        : m_path(path) {}

    Result<DraftAdapter> read() {
        ENGINE_TRY(const std::string text, readDescription());
        ENGINE_TRY(m_source, openSafetensors(m_path));
        ENGINE_TRY(
            const JsonDocument document,
            JsonDocument::parse(text, fmt::format("the description in {}", m_path.string())));
        m_adapter.name = readable(m_path.filename().string());
        ENGINE_TRY_DO(readHeader(document.root()));
        ENGINE_TRY_DO(readTensors());
        ENGINE_TRY_DO(readHeadIds());
        ENGINE_TRY_DO(refuseOthers());
        return std::move(m_adapter);
    }

    /// The text that makes a file of tensors an adapter. openSafetensors() checks the rest.
    Result<std::string> readDescription() const {
        ENGINE_TRY(const ByteReader file, ByteReader::open(m_path));
        if (file.size() > kMostAdapterBytes)
            return unsupported(fmt::format(
                "an adapter has at most {} bytes, this file {}", kMostAdapterBytes, file.size()));
        std::uint64_t length = 0;
        ENGINE_TRY_DO(file.readAt(
            0, std::as_writable_bytes(std::span(&length, 1)), "the length of the header"));
        if (const auto most = std::min(kMostHeaderBytes, file.size() - sizeof length);
            length > most)
            return corrupt(fmt::format(
                "the header is said to have {} bytes, but can have at most {}", length, most));
        std::string text(static_cast<std::size_t>(length), '\0');
        ENGINE_TRY_DO(
            file.readAt(sizeof length, std::as_writable_bytes(std::span(text)), "the header"));
        ENGINE_TRY(const JsonDocument header,
                   JsonDocument::parse(text, "header of " + m_path.string()));
        const auto found = header.root()["__metadata__"][kDescription].asString();
        if (!found)
            return corrupt(
                fmt::format("it is no draft adapter: __metadata__ has no \"{}\"", kDescription));
        return std::string(*found);
    }

private:
    Error corrupt(std::string_view problem) const {
        return {ErrorCode::CorruptFile,
                fmt::format("{}: {}.", readable(m_path.string(), 400), problem),
                kMakeAgain};
    }

    Error unsupported(std::string_view problem) const {
        return {ErrorCode::Unsupported,
                fmt::format("{}: {}.", readable(m_path.string(), 400), problem),
                kMakeAgain};
    }

    /// A whole number of an object, within a range.
    Result<int>
    whole(const JsonValue& object, const char* name, std::int64_t low, std::int64_t high) const {
        const auto value = object[name].asInteger();
        if (!value || *value < low || *value > high)
            return corrupt(fmt::format("\"{}\" is no whole number from {} to {}", name, low, high));
        return static_cast<int>(*value);
    }

    Result<double> positive(const JsonValue& object, const char* name) const {
        const auto value = object[name].asNumber();
        if (!value || !std::isfinite(*value) || *value <= 0.0)
            return corrupt(fmt::format("\"{}\" is no number above 0", name));
        return *value;
    }

    Result<void> readHeader(const JsonValue& header) {
        const auto version = header["version"].asInteger();
        if (!version || *version < 1)
            return corrupt("its description has no version");
        if (*version > kVersion)
            return unsupported(fmt::format(
                "it is of version {}, but this program reads version {}", *version, kVersion));
        const JsonValue names = header["fingerprints"];
        if (!names.isArray() || names.size() == 0 || names.size() > kMostFingerprints)
            return corrupt("it names no model that it was made for (\"fingerprints\")");
        for (const JsonValue& name : names.items()) {
            const auto text = name.asString();
            if (!text)
                return corrupt("a fingerprint is no text");
            m_adapter.fingerprints.push_back(readable(*text));
        }
        const JsonValue head = header["head"]["kind"];
        if (head.asString() != "list")
            return unsupported(fmt::format("its head is of the kind \"{}\", this program knows "
                                           "\"list\"",
                                           readable(head.asString().value_or(""))));
        m_adapter.about = readable(header["about"].asString().value_or(""), 400);
        return readSizes(header["sizes"]);
    }

    Result<void> readSizes(const JsonValue& sizes) {
        using namespace model_limits;
        DraftSizes& into = m_adapter.sizes;
        ENGINE_TRY(into.hiddenSize, whole(sizes, "hidden", 2, kRowValues));
        ENGINE_TRY(into.headCount, whole(sizes, "heads", 1, kRowValues));
        ENGINE_TRY(into.kvHeadCount, whole(sizes, "kv_heads", 1, kRowValues));
        ENGINE_TRY(into.headDim, whole(sizes, "head_size", 2, kHeadDim));
        ENGINE_TRY(into.mlpSize, whole(sizes, "mlp", 1, kRowValues));
        ENGINE_TRY(into.layerCount, whole(sizes, "layers", 1, kMostLayers));
        ENGINE_TRY(into.window, whole(sizes, "window", 0, kContext));
        ENGINE_TRY(into.normEpsilon, positive(sizes, "epsilon"));
        ENGINE_TRY(into.ropeTheta, positive(sizes, "theta"));
        if (const auto streams = sizes["streams"].asInteger(); streams.value_or(1) != 1)
            return unsupported("it reads several streams, this program gives it the last one");
        if (into.headDim % 2 != 0 || into.headCount % into.kvHeadCount != 0)
            return corrupt("its heads do not fit together");
        return {};
    }

    Result<void> readTensors() {
        for (const auto& [network, tensor] : adapterTensors(m_adapter.sizes)) {
            const TensorInfo* info = m_source->find(tensor.name);
            m_used.push_back(tensor.name);
            if (info != nullptr && info->type == TensorType::Other && info->typeName() == "I8") {
                ENGINE_TRY(m_adapter.tensors[network], readScaled(*info, tensor));
                continue;
            }
            ENGINE_TRY(m_adapter.tensors[network], readFloats(tensor));
        }
        return {};
    }

    /// Refuses a tensor that is missing or has another shape. The sentences of findTensor() would
    /// blame the model.
    Result<void> checkTensor(const AdapterTensor& tensor) const {
        const TensorInfo* info = m_source->find(tensor.name);
        if (info == nullptr)
            return corrupt(fmt::format("it has no tensor {}", tensor.name));
        if (info->shape != tensor.shape)
            return corrupt(fmt::format("tensor {} has shape [{}], but its sizes ask for [{}]",
                                       tensor.name,
                                       fmt::join(info->shape, ", "),
                                       fmt::join(tensor.shape, ", ")));
        return {};
    }

    Result<std::vector<float>> readFloats(const AdapterTensor& tensor) const {
        ENGINE_TRY_DO(checkTensor(tensor));
        auto values = readTensor(*m_source, tensor.name, tensor.shape);
        if (values || values.error().code != ErrorCode::Numeric)
            return values;
        Error error = corrupt(values.error().message);
        error.code = ErrorCode::Numeric;
        return error;
    }

    /// 8-bit numbers, each 32 of a row with a scale of their own in NAME.scale.
    Result<std::vector<float>> readScaled(const TensorInfo& info, const AdapterTensor& tensor) {
        ENGINE_TRY_DO(checkTensor(tensor));
        const std::uint64_t rows = info.rows();
        const std::uint64_t columns = info.columns();
        if (tensor.shape.size() != 2 || columns % kScaleColumns != 0)
            return corrupt(fmt::format("tensor {} cannot be stored as I8", tensor.name));
        const std::string scaleName = tensor.name + ".scale";
        m_used.push_back(scaleName);
        ENGINE_TRY(const std::vector<float> scales,
                   readFloats({scaleName, {rows, columns / kScaleColumns}}));
        std::vector<std::byte> raw(static_cast<std::size_t>(rows * columns));
        ENGINE_TRY_DO(m_source->readRawRows(info, 0, rows, raw));
        std::vector<float> values(raw.size());
        for (std::size_t i = 0; i < raw.size(); ++i)
            values[i] =
                static_cast<float>(static_cast<std::int8_t>(raw[i])) * scales[i / kScaleColumns];
        return values;
    }

    Result<void> readHeadIds() {
        m_used.emplace_back(kHeadIds);
        const TensorInfo* info = m_source->find(kHeadIds);
        if (info == nullptr || info->typeName() != "U32" || info->shape.size() != 1 ||
            info->columns() == 0)
            return corrupt(fmt::format("{} is no list of U32", kHeadIds));
        std::vector<std::uint32_t> ids(static_cast<std::size_t>(info->columns()));
        ENGINE_TRY_DO(m_source->readRawRows(*info, 0, 1, std::as_writable_bytes(std::span(ids))));
        for (std::size_t i = 0; i < ids.size(); ++i) {
            if (ids[i] >= model_limits::kVocabulary || (i > 0 && ids[i] <= ids[i - 1]))
                return corrupt(
                    fmt::format("entry {} of {} is {}: the ids must ascend", i, kHeadIds, ids[i]));
            m_adapter.headIds.push_back(static_cast<TokenId>(ids[i]));
        }
        return {};
    }

    Result<void> refuseOthers() const {
        for (const TensorInfo& tensor : m_source->tensors())
            if (std::find(m_used.begin(), m_used.end(), tensor.name) == m_used.end())
                return unsupported(
                    fmt::format("it has the unknown tensor {}", readable(tensor.name)));
        return {};
    }

    fs::path m_path;
    std::unique_ptr<WeightSource> m_source;
    DraftAdapter m_adapter;
    std::vector<std::string> m_used;
};

} // namespace

Result<DraftAdapter> readDraftAdapter(const fs::path& path) { return AdapterReader(path).read(); }

Result<std::string> readDraftDescription(const fs::path& path) {
    return AdapterReader(path).readDescription();
}

} // namespace engine
