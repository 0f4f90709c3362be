// SPDX-License-Identifier: Apache-2.0
#include "engine/session/loading/model_parts.h"

#include "engine/loading/files/readable_text.h"
#include "engine/loading/gguf/gguf_file.h"
#include "engine/loading/licence.h"
#include "engine/model/memory_need.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace engine {

namespace {

/// NAME of a snapshot of the Hugging Face cache, .../models--ORGANISATION--NAME/snapshots/REVISION;
/// empty for any other path.
std::string nameInHuggingFaceCache(const std::filesystem::path& path) {
    const std::filesystem::path snapshots = path.parent_path();
    const std::string repository = snapshots.parent_path().filename().string();
    if (snapshots.filename() != "snapshots" || !repository.starts_with("models--"))
        return {};
    return repository.substr(repository.rfind("--") + 2);
}

/// The name of the file or folder without a weight type at the end (".Q4_1", "-f16"). Somebody
/// chose it for this model, whereas a GGUF's internal name is often that of a training run.
std::string nameOf(const ModelFiles& files) {
    std::filesystem::path path = files.path().lexically_normal();
    if (path.filename().empty()) // the path ends in a slash
        path = path.parent_path();
    if (const std::string name = nameInHuggingFaceCache(path); !name.empty())
        return readable(name);
    std::string name = (files.gguf() != nullptr ? path.stem() : path.filename()).string();
    static constexpr std::string_view kKinds[] = {"Q", "IQ", "F16", "F32", "BF16"};
    if (const std::size_t end = name.find_last_of(".-"); end != std::string::npos && end > 0) {
        std::string kind = name.substr(end + 1);
        std::ranges::transform(kind, kind.begin(), [](unsigned char letter) {
            return static_cast<char>(std::toupper(letter));
        });
        const auto fits = [&](std::string_view known) {
            const bool isCounted = known.ends_with('Q');
            return isCounted ? kind.starts_with(known) && kind.size() > known.size() &&
                                   std::isdigit(static_cast<unsigned char>(kind[known.size()])) != 0
                             : kind == known;
        };
        if (files.gguf() != nullptr && std::ranges::any_of(kKinds, fits))
            name.resize(end);
    }
    return readable(name);
}

/// "Q4_1 210, F32 61": the most frequent type first.
std::string typesOf(const WeightSource& weights) {
    std::map<std::string_view, int> counts;
    for (const TensorInfo& tensor : weights.tensors())
        ++counts[tensor.typeName()];
    std::vector<std::pair<std::string_view, int>> sorted(counts.begin(), counts.end());
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
        return a.second > b.second;
    });
    std::string text;
    for (const auto& [type, count] : sorted)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", type, count);
    return text;
}

} // namespace

Result<int> chosenContext(int asked, const ModelConfig& config) {
    if (asked < 0 || asked > config.contextLength)
        return Error{
            ErrorCode::InvalidInput,
            fmt::format("A context of {} tokens is too long: the model was trained for {}.",
                        asked,
                        config.contextLength),
            fmt::format("Choose at most {}.", config.contextLength)};
    return asked > 0 ? asked : config.usualContext();
}

Result<ModelText> readModelText(const ModelFiles& files, const ModelConfig& config) {
    ModelText text;
    auto tokenizer = loadTokenizer(files);
    if (!tokenizer && tokenizer.error().code == ErrorCode::NotFound) {
        text.notes.push_back("The model has no tokenizer, so it cannot read text.");
        return text;
    }
    ENGINE_TRY(text.tokenizer, std::move(tokenizer));
    if (firstIdBeyond(*text.tokenizer, config.vocabSize) != kNoToken)
        return Error{
            ErrorCode::InvalidInput,
            fmt::format("The tokenizer has {} tokens, but the model's vocabulary has {}, so they "
                        "do not belong together.",
                        text.tokenizer->vocabSize(),
                        config.vocabSize),
            "Put the tokenizer files of this model beside it."};
    ENGINE_TRY(ChatTemplate chatTemplate, chooseChatTemplate(files, *text.tokenizer));
    text.chatTemplate = std::move(chatTemplate);
    return text;
}

FileFacts fileFactsOf(const ModelFiles& files, const WeightSource& weights) {
    FileFacts facts{.name = nameOf(files) + (files.isPlanted() ? " (lesson model)" : ""),
                    .weightTypes = typesOf(weights),
                    .licence = licenceOf(files)};
    for (const TensorInfo& tensor : weights.tensors()) // shapes were compared with the file's size
        facts.parameterCount += tensor.rows() * tensor.columns();
    facts.fileBytes = storedBytes(weights);
    return facts;
}

ModelFacts modelFactsOf(const ModelConfig& config, const FileFacts& file) {
    ModelFacts facts;
    facts.name = file.name;
    facts.weightTypes = file.weightTypes;
    facts.licence = file.licence;
    facts.parameterCount = file.parameterCount;
    facts.fileBytes = file.fileBytes;
    facts.architecture = config.architecture;
    facts.layerCount = config.layerCount;
    facts.silentCopies = config.silentCopies();
    facts.hiddenSize = config.hiddenSize;
    facts.mlpSize = config.mlpSize;
    facts.headCount = config.headCount;
    facts.kvHeadCount = config.kvHeadCount;
    facts.headDim = config.headDim;
    facts.vocabSize = config.vocabSize;
    facts.modelContextLength = config.contextLength;
    facts.tunedExit = config.tunedExit;
    facts.tunedMasks = config.tunedMasks;
    return facts;
}

} // namespace engine
