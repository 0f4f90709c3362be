// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/loading/json/json_document.h"
#include "engine/loading/model_config.h"
#include "engine/loading/weight_source.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace engine {

class GgufFile;

/// Where a model's chat template text came from.
struct TemplateText {
    std::string text;
    std::string origin; ///< e.g. "tokenizer_config.json" or "GGUF tokenizer.chat_template"
};

/// A model on disk: a Hugging Face folder, or one GGUF file. Opening looks only at what is there;
/// each part is read when it is asked for, so parts of a model suffice for what needs only them.
/// Thread: any, one at a time.
class ModelFiles {
public:
    enum class Format { Folder, Gguf };

    /// Errors: NotFound (path), CorruptFile (a file that is no GGUF), Unsupported (.bin, .pt: says
    /// how to convert). A folder without any model file is NotFound and lists what was looked for.
    static Result<ModelFiles> open(const std::filesystem::path& path);

    /// From now on config() describes the lesson model of these files: see withSilentCopies.
    void plantCopies() { m_isPlanted = true; }

    bool isPlanted() const { return m_isPlanted; }

    Format format() const;

    /// As it was opened, but without a slash behind a folder's name.
    const std::filesystem::path& path() const;

    /// Minds which tensors the weights hold, where they are there and can be read: a head of their
    /// own is used, and tensors that are not computed with are noted.
    /// Errors: NotFound when the folder has no config.json; see readModelConfig and
    /// withSilentCopies for the rest.
    Result<ModelConfig> config() const;

    /// Tensors under Hugging Face names ("model.layers.0.self_attn.q_proj.weight"), q and k rows in
    /// half-split order whatever the file; single, sharded or GGUF. Also holds the file's own
    /// facts for `inspect`.
    Result<std::unique_ptr<WeightSource>> weights() const;

    /// tokenizer.json / tokenizer.model / tokenizer_config.json of a folder, if they are there, and
    /// what older ones hold beside them: added_tokens.json / special_tokens_map.json.
    std::optional<std::filesystem::path> tokenizerJsonPath() const;
    std::optional<std::filesystem::path> tokenizerModelPath() const;
    std::optional<std::filesystem::path> tokenizerConfigPath() const;
    std::optional<std::filesystem::path> addedTokensPath() const;
    std::optional<std::filesystem::path> specialTokensMapPath() const;

    /// The opened GGUF file, or null for a folder.
    const GgufFile* gguf() const;

    /// chat_template.jinja, the chat_template of tokenizer_config.json or else of
    /// chat_template.json ("default" of a list), or the GGUF's.
    Result<std::optional<TemplateText>> chatTemplate() const;

private:
    ModelFiles() = default;
    Result<ModelConfig> storedConfig() const; // without copies

    Format m_format = Format::Folder;
    std::filesystem::path m_path;
    bool m_isPlanted = false;
    std::shared_ptr<const GgufFile> m_gguf; // shared with the weight sources handed out
};

} // namespace engine
