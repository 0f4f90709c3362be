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
#include <utility>

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

/// The tensors of an adapter's file by their names in the network. 8-bit numbers are scaled, each
/// 32 of a row by a number of their own.
class StoredTensors final : public WeightSource {
public:
    explicit StoredTensors(std::shared_ptr<const WeightSource> file)
        : m_file(std::move(file)) {}

    /// Both are of the file; `scales` is null for numbers that need none.
    void add(const std::string& name, const TensorInfo& numbers, const TensorInfo* scales) {
        TensorInfo info;
        info.name = name;
        info.shape = numbers.shape;
        info.byteSize = numbers.rows() * numbers.columns() * sizeof(float);
        m_tensors.push_back(std::move(info));
        m_places.push_back({&numbers, scales});
    }

    std::span<const TensorInfo> tensors() const override { return m_tensors; }

    const TensorInfo* find(std::string_view name) const override {
        const auto found = std::find_if(m_tensors.begin(), m_tensors.end(), [&](const auto& each) {
            return each.name == name;
        });
        return found == m_tensors.end() ? nullptr : &*found;
    }

    Result<void> readRows(const TensorInfo& tensor,
                          std::uint64_t firstRow,
                          std::uint64_t rowCount,
                          std::span<float> out) const override {
        const Place& place = m_places[static_cast<std::size_t>(&tensor - m_tensors.data())];
        if (place.scales == nullptr)
            return m_file->readRows(*place.numbers, firstRow, rowCount, out);
        std::vector<std::byte> raw(static_cast<std::size_t>(rowCount * tensor.columns()));
        std::vector<float> scales(raw.size() / kScaleColumns);
        ENGINE_TRY_DO(m_file->readRawRows(*place.numbers, firstRow, rowCount, raw));
        ENGINE_TRY_DO(m_file->readRows(*place.scales, firstRow, rowCount, scales));
        for (std::size_t i = 0; i < raw.size(); ++i)
            out[i] =
                static_cast<float>(static_cast<std::int8_t>(raw[i])) * scales[i / kScaleColumns];
        return {};
    }

    Result<void> readRawRows(const TensorInfo& tensor,
                             std::uint64_t firstRow,
                             std::uint64_t rowCount,
                             std::span<std::byte> out) const override {
        std::vector<float> rows(static_cast<std::size_t>(rowCount * tensor.columns()));
        ENGINE_TRY_DO(readRows(tensor, firstRow, rowCount, rows));
        std::memcpy(out.data(), rows.data(), rows.size() * sizeof(float));
        return {};
    }

    std::string fileState() const override { return m_file->fileState(); }

private:
    struct Place {
        const TensorInfo* numbers = nullptr;
        const TensorInfo* scales = nullptr;
    };

    std::shared_ptr<const WeightSource> m_file;
    std::vector<TensorInfo> m_tensors;
    std::vector<Place> m_places; // [tensors]
};

/// Reads one file.
class AdapterReader {
public:
    explicit AdapterReader(const fs::path& path)
        : m_path(path) {}

    Result<DraftAdapter> read() {
        ENGINE_TRY(m_adapter, open());
        ENGINE_TRY_DO(takeNumbers());
        return std::move(m_adapter);
    }

    /// The numbers stay in the file.
    Result<DraftAdapter> open() {
        ENGINE_TRY(const std::string text, readDescription());
        ENGINE_TRY(m_source, openSafetensors(m_path));
        ENGINE_TRY(
            const JsonDocument document,
            JsonDocument::parse(text, fmt::format("the description in {}", m_path.string())));
        m_adapter.name = readable(m_path.filename().string());
        ENGINE_TRY_DO(readHeader(document.root()));
        ENGINE_TRY_DO(findTensors());
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

    Result<void> findTensors() {
        const auto stored = std::make_shared<StoredTensors>(m_source);
        for (const auto& [network, tensor] : adapterTensors(m_adapter.sizes)) {
            ENGINE_TRY(const TensorInfo* info, checkedTensor(tensor));
            const TensorInfo* scales = nullptr;
            if (info->type == TensorType::Other && info->typeName() == "I8") {
                ENGINE_TRY(scales, scalesOf(*info, tensor));
            }
            stored->add(network, *info, scales);
        }
        m_adapter.stored = stored;
        return {};
    }

    /// Refuses a tensor that is missing or has another shape. The sentences of findTensor() would
    /// blame the model.
    Result<const TensorInfo*> checkedTensor(const AdapterTensor& tensor) {
        m_used.push_back(tensor.name);
        const TensorInfo* info = m_source->find(tensor.name);
        if (info == nullptr)
            return corrupt(fmt::format("it has no tensor {}", tensor.name));
        if (info->shape != tensor.shape)
            return corrupt(fmt::format("tensor {} has shape [{}], but its sizes ask for [{}]",
                                       tensor.name,
                                       fmt::join(info->shape, ", "),
                                       fmt::join(tensor.shape, ", ")));
        return info;
    }

    /// Those of 8-bit numbers, in NAME.scale.
    Result<const TensorInfo*> scalesOf(const TensorInfo& info, const AdapterTensor& tensor) {
        const std::uint64_t columns = info.columns();
        if (tensor.shape.size() != 2 || columns % kScaleColumns != 0)
            return corrupt(fmt::format("tensor {} cannot be stored as I8", tensor.name));
        return checkedTensor({tensor.name + ".scale", {info.rows(), columns / kScaleColumns}});
    }

    Result<void> takeNumbers() {
        const auto stored = std::exchange(m_adapter.stored, nullptr);
        for (const auto& [network, tensor] : adapterTensors(m_adapter.sizes)) {
            auto values = readTensor(*stored, network, tensor.shape);
            if (!values && values.error().code == ErrorCode::Numeric) {
                Error error =
                    corrupt(fmt::format("tensor {} has numbers that are not finite", tensor.name));
                error.code = ErrorCode::Numeric;
                return error;
            }
            ENGINE_TRY(m_adapter.tensors[network], std::move(values));
        }
        return {};
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
    std::shared_ptr<const WeightSource> m_source;
    DraftAdapter m_adapter;
    std::vector<std::string> m_used;
};

} // namespace

Result<DraftAdapter> readDraftAdapter(const fs::path& path) { return AdapterReader(path).read(); }

Result<DraftAdapter> openDraftAdapter(const fs::path& path) { return AdapterReader(path).open(); }

Result<std::string> readDraftDescription(const fs::path& path) {
    return AdapterReader(path).readDescription();
}

} // namespace engine
