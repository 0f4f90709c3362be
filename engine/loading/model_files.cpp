// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/model_files.h"

#include "engine/loading/config/tuned_copy.h"
#include "engine/loading/config/unused_parts.h"
#include "engine/loading/files/byte_reader.h"
#include "engine/loading/files/gguf_split.h"
#include "engine/loading/files/readable_text.h"
#include "engine/loading/gguf/gguf_file.h"
#include "engine/loading/gguf/gguf_model.h"
#include "engine/loading/network/mapped_weights.h"
#include "engine/loading/network/network_tensors.h"
#include "engine/loading/safetensors_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace engine {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxTemplateBytes = std::uint64_t(16) << 20U;
constexpr std::uint64_t kMaxConfigBytes = std::uint64_t(16) << 20U;
constexpr const char* kConvert =
    "Convert it to safetensors, for example with save_pretrained(folder, "
    "safe_serialization=True), or fetch a GGUF file of the model: pickled files can run code.";

constexpr std::string_view kWeightsFile = "model.safetensors";
constexpr std::string_view kWeightsIndexFile = "model.safetensors.index.json";
constexpr std::array<std::string_view, 5> kFolderFiles = {
    "config.json", kWeightsFile, kWeightsIndexFile, "tokenizer.json", "tokenizer.model"};

bool isThere(const fs::path& path) {
    std::error_code failure;
    const fs::file_status status = fs::status(path, failure);
    return !failure && fs::exists(status);
}

/// File names that only Python's pickle can read.
bool isPickleName(const fs::path& path) {
    const std::string extension = path.extension().string();
    return extension == ".bin" || extension == ".pt" || extension == ".pth" ||
           extension == ".ckpt" || extension == ".pkl";
}

Error pickleRefused(const fs::path& path) {
    return {ErrorCode::Unsupported,
            fmt::format("{} holds pickled PyTorch weights, which are not read", path.string()),
            kConvert};
}

/// The same error, told of this file.
Error inFile(const fs::path& path, Error error) {
    if (error.message.find(path.string()) == std::string::npos)
        error.message = fmt::format("{}: {}", path.string(), error.message);
    return error;
}

struct FolderListing {
    std::vector<fs::path> gguf;
    std::optional<fs::path> pickled;
};

Result<FolderListing> listFolder(const fs::path& folder) {
    FolderListing found;
    std::error_code failure;
    fs::directory_iterator entry(folder, failure);
    for (; !failure && entry != fs::directory_iterator(); entry.increment(failure)) {
        const fs::path& path = entry->path();
        const auto part = ggufPartName(path);
        if (path.extension() == ".gguf" && (!part || part->number == 1))
            found.gguf.push_back(path);
        if (isPickleName(path) && !found.pickled)
            found.pickled = path;
    }
    if (failure)
        return Error{ErrorCode::Io,
                     fmt::format("{} cannot be listed: {}", folder.string(), failure.message()),
                     "Check that you may read it."};
    std::sort(found.gguf.begin(), found.gguf.end());
    return found;
}

Error nothingFound(const fs::path& folder, const FolderListing& listing) {
    if (listing.pickled)
        return pickleRefused(*listing.pickled);
    std::string wanted;
    for (const std::string_view name : kFolderFiles)
        wanted += fmt::format("{}, ", name);
    return {ErrorCode::NotFound,
            fmt::format("{} holds no model: looked for {}*.gguf", folder.string(), wanted),
            "Give the folder of a model, or the path of a GGUF file."};
}

Error severalFound(const fs::path& folder, const FolderListing& listing) {
    return {ErrorCode::InvalidInput,
            fmt::format("{} holds {} GGUF files, such as {} and {}",
                        folder.string(),
                        listing.gguf.size(),
                        listing.gguf[0].filename().string(),
                        listing.gguf[1].filename().string()),
            "Give the path of one of them."};
}

Error notAModel(const fs::path& path) {
    if (isPickleName(path))
        return pickleRefused(path);
    const bool isPart = path.extension() == ".safetensors" || path.extension() == ".json" ||
                        path.extension() == ".model";
    if (isPart)
        return {ErrorCode::InvalidInput,
                fmt::format("{} is only one file of a model", path.string()),
                "Give the folder that it lies in."};
    return {
        ErrorCode::CorruptFile,
        fmt::format("{} is no GGUF file: it does not begin with \"GGUF\" (byte 0)", path.string()),
        "Give the path of a GGUF file or of a model folder."};
}

Result<bool> beginsAsGguf(const fs::path& path) {
    ENGINE_TRY(const ByteReader file, ByteReader::open(path));
    std::array<char, 4> magic{};
    if (file.size() < magic.size())
        return false;
    ENGINE_TRY_DO(file.readAt(0, std::as_writable_bytes(std::span(magic)), "the magic number"));
    return std::string_view(magic.data(), magic.size()) == "GGUF";
}

/// The text of a chat_template entry: a string, or the "default" one of a list.
Result<std::optional<std::string>> templateOf(const JsonValue& entry) {
    if (entry.isNull())
        return std::optional<std::string>();
    if (const auto text = entry.asString())
        return std::optional(std::string(*text));
    for (const JsonValue& named : entry.items()) {
        if (named["name"].asString() != "default")
            continue;
        if (const auto text = named["template"].asString())
            return std::optional(std::string(*text));
    }
    if (entry.isArray())
        return std::optional<std::string>();
    return Error{
        ErrorCode::CorruptFile,
        fmt::format("\"chat_template\" is neither a string nor a list (byte {})", entry.offset()),
        "Fetch the file again."};
}

/// The id of the token that a tokenizer_config.json calls its mask token, if it says one.
std::optional<std::int64_t> maskTokenOf(const JsonValue& tokenizer) {
    const JsonValue named = tokenizer["mask_token"];
    const auto text = named.isObject() ? named["content"].asString() : named.asString();
    if (!text)
        return std::nullopt;
    for (const auto& [id, token] : tokenizer["added_tokens_decoder"].members()) {
        std::int64_t number = 0;
        const auto [end, failure] = std::from_chars(id.data(), id.data() + id.size(), number);
        if (failure == std::errc() && end == id.data() + id.size() &&
            token["content"].asString() == text)
            return number;
    }
    return std::nullopt;
}

/// What is wrong with the tokenizer's file is told when the tokenizer is asked for.
void addTokenizersMask(const std::optional<fs::path>& path, ModelConfig& config) {
    if (!path)
        return;
    const auto document = readJsonFile(path->string(), {.maxBytes = kMaxConfigBytes});
    if (!document)
        return;
    if (const auto id = maskTokenOf(document.value().root()))
        adoptMaskToken(*id, config);
}

/// What the names of the tensors tell about the configuration. A head of its own counts even where
/// the configuration ties it to the embedding, as in transformers.
Result<void> compareWithTensors(const WeightSource& weights, ModelConfig& config) {
    if (config.tiedHead && weights.find("lm_head.weight")) {
        config.tiedHead = false;
        config.notes.push_back("config.json ties the head to the embedding "
                               "(tie_word_embeddings), but the weights hold a head of their own: "
                               "that one is used.");
    }
    std::vector<std::string> unused;
    for (const TensorInfo& tensor : weights.tensors()) {
        if (!computesWith(config, tensor.name))
            unused.push_back(tensor.name);
    }
    ENGINE_TRY_DO(refuseUnreadNorms(unused, config));
    noteUnusedTensors(unused, config);
    return {};
}

/// The folder itself, or the one GGUF file that it holds instead of a configuration with weights:
/// many folders of GGUF files hold the config.json of the model that they were made of.
Result<fs::path> modelInFolder(const fs::path& folder) {
    ENGINE_TRY(const FolderListing listing, listFolder(folder));
    const bool isWhole = isThere(folder / "config.json") &&
                         (isThere(folder / kWeightsFile) || isThere(folder / kWeightsIndexFile));
    if (!isWhole && listing.gguf.size() == 1)
        return listing.gguf[0];
    if (!isWhole && listing.gguf.size() > 1)
        return severalFound(folder, listing);
    const bool isModel = std::any_of(kFolderFiles.begin(), kFolderFiles.end(), [&](auto name) {
        return isThere(folder / name);
    });
    return isModel ? Result<fs::path>(folder) : nothingFound(folder, listing);
}

std::optional<fs::path> ifThere(const fs::path& path) {
    return isThere(path) ? std::optional(path) : std::nullopt;
}

/// The tensors of a folder as its files name them.
Result<std::unique_ptr<WeightSource>> storedWeights(const fs::path& folder) {
    if (isThere(folder / kWeightsFile))
        return openSafetensors(folder / kWeightsFile);
    if (isThere(folder / kWeightsIndexFile))
        return openSafetensorsIndex(folder / kWeightsIndexFile);
    ENGINE_TRY(const FolderListing listing, listFolder(folder));
    if (listing.pickled)
        return pickleRefused(*listing.pickled);
    return Error{ErrorCode::NotFound,
                 fmt::format("{} holds no weights: looked for {} and {}",
                             folder.string(),
                             kWeightsFile,
                             kWeightsIndexFile),
                 "Put the model's weights into the folder."};
}

/// What config.json says, whatever the other files hold.
Result<ModelConfig> folderConfig(const fs::path& folder) {
    const fs::path path = folder / "config.json";
    if (!isThere(path))
        return Error{ErrorCode::NotFound,
                     fmt::format("{} holds no config.json", folder.string()),
                     "Put the model's config.json beside its weights."};
    ENGINE_TRY(const JsonDocument document,
               readJsonFile(path.string(), {.maxBytes = kMaxConfigBytes}));
    auto config = readModelConfig(document.root());
    return config ? std::move(config) : inFile(path, config.error());
}

} // namespace

Result<ModelFiles> ModelFiles::open(const fs::path& path) {
    ModelFiles files;
    files.m_path = path;
    std::error_code failure;
    if (fs::is_directory(path, failure)) {
        // A slash behind it is no part of its name.
        const fs::path folder = path.has_filename() ? path : path.parent_path();
        ENGINE_TRY(files.m_path, modelInFolder(folder));
        if (files.m_path == folder)
            return files;
    }
    ENGINE_TRY(const bool isGguf, beginsAsGguf(files.m_path));
    if (!isGguf && files.m_path.extension() != ".gguf")
        return notAModel(files.m_path);
    files.m_format = Format::Gguf;
    ENGINE_TRY(files.m_gguf, GgufFile::open(files.m_path));
    return files;
}

ModelFiles::Format ModelFiles::format() const { return m_format; }

const fs::path& ModelFiles::path() const { return m_path; }

const GgufFile* ModelFiles::gguf() const { return m_gguf.get(); }

Result<ModelConfig> ModelFiles::config() const {
    ENGINE_TRY(ModelConfig config, storedConfig());
    return m_isPlanted ? withSilentCopies(std::move(config)) : std::move(config);
}

Result<ModelConfig> ModelFiles::storedConfig() const {
    if (m_gguf) {
        auto config = readGgufModelConfig(*m_gguf);
        return config ? std::move(config) : inFile(m_path, config.error());
    }
    auto config = folderConfig(m_path);
    if (!config)
        return config;
    if (config.value().maskTokenId == kNoToken)
        addTokenizersMask(tokenizerConfigPath(), config.value());
    adoptTuning(m_path, config.value());
    // What is wrong with the weights is told when they are asked for.
    if (const auto source = weights())
        ENGINE_TRY_DO(compareWithTensors(*source.value(), config.value()));
    const fs::path generationPath = m_path / "generation_config.json";
    if (!isThere(generationPath))
        return config;
    // Chat models often name only here the id that ends a turn; nothing else of it is used.
    ENGINE_TRY(const JsonDocument generation,
               readJsonFile(generationPath.string(), {.maxBytes = kMaxConfigBytes}));
    ModelConfig& merged = config.value();
    if (auto added = addEosIds(generation.root()["eos_token_id"], merged.eosIds); !added)
        return inFile(generationPath, added.error());
    leaveOutUnknownIds(merged);
    return config;
}

Result<std::unique_ptr<WeightSource>> ModelFiles::weights() const {
    if (m_gguf)
        return openGgufWeights(m_gguf);
    ENGINE_TRY(auto stored, storedWeights(m_path));
    // What is wrong with the configuration is told when it is asked for.
    const auto config = folderConfig(m_path);
    return config ? mapCheckpoint(std::move(stored), config.value()) : std::move(stored);
}

std::optional<fs::path> ModelFiles::tokenizerJsonPath() const {
    return m_gguf ? std::nullopt : ifThere(m_path / "tokenizer.json");
}

std::optional<fs::path> ModelFiles::tokenizerModelPath() const {
    return m_gguf ? std::nullopt : ifThere(m_path / "tokenizer.model");
}

std::optional<fs::path> ModelFiles::tokenizerConfigPath() const {
    return m_gguf ? std::nullopt : ifThere(m_path / "tokenizer_config.json");
}

std::optional<fs::path> ModelFiles::addedTokensPath() const {
    return m_gguf ? std::nullopt : ifThere(m_path / "added_tokens.json");
}

std::optional<fs::path> ModelFiles::specialTokensMapPath() const {
    return m_gguf ? std::nullopt : ifThere(m_path / "special_tokens_map.json");
}

Result<std::optional<TemplateText>> ModelFiles::chatTemplate() const {
    if (m_gguf) {
        const auto text = m_gguf->stringValue("tokenizer.chat_template");
        if (!text)
            return std::optional<TemplateText>();
        return std::optional(TemplateText{std::string(*text), "GGUF tokenizer.chat_template"});
    }
    if (const auto path = ifThere(m_path / "chat_template.jinja")) {
        ENGINE_TRY(std::string text, readTextFile(*path, kMaxTemplateBytes));
        return std::optional(TemplateText{std::move(text), "chat_template.jinja"});
    }
    // The second one is that of the processor of a model that also sees.
    for (const char* const name : {"tokenizer_config.json", "chat_template.json"}) {
        const auto path = ifThere(m_path / name);
        if (!path)
            continue;
        ENGINE_TRY(const JsonDocument document, readJsonFile(path->string()));
        auto found = templateOf(document.root()["chat_template"]);
        if (!found)
            return inFile(*path, found.error());
        if (found.value())
            return std::optional(TemplateText{*std::move(found.value()), name});
    }
    return std::optional<TemplateText>();
}

} // namespace engine
