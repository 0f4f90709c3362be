// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/options/model_options.h"
#include "engine/text/chat_prompt.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace app {

/// Messages to prompt ids: through the chat template, or raw.
class PromptEncoder {
public:
    /// `tokenizer` must outlive it. Errors: those of chooseChatTemplate.
    static engine::Result<PromptEncoder>
    make(const engine::ModelFiles& files, const engine::Tokenizer& tokenizer, bool isRaw);

    /// Raw: the texts with a line break between them. Errors: those of encodeConversation, encode.
    engine::Result<std::vector<engine::TokenId>>
    encode(const std::vector<engine::StoredMessage>& messages) const;

    /// Where a user's first message stands. Errors: those of userTurnOf; Unsupported if raw.
    engine::Result<engine::UserTurn> userTurn() const;

    /// Ids that end an answer, besides the model's own.
    std::vector<engine::TokenId> endIds() const;

private:
    explicit PromptEncoder(const engine::Tokenizer& tokenizer)
        : m_tokenizer(&tokenizer) {}

    const engine::Tokenizer* m_tokenizer;
    std::optional<engine::ChatTemplate> m_template; // none: raw
};

/// A model that is ready to answer the prompts of data files.
struct DataModel {
    std::string name; ///< of its file or folder
    std::unique_ptr<engine::Tokenizer> tokenizer;
    std::optional<PromptEncoder> encoder; // refers to tokenizer
    LoadedModel loaded;
    int contextLength = 0;
    std::vector<engine::TokenId> endIds;
};

/// Whether a model could be loaded with these options, as far as its files and the backend tell
/// without its weights. Errors: as loadDataModel().
engine::Result<void> checkDataModel(const ModelOptions& options, bool isRaw);

/// Errors: those of loadModel; NotFound for a model without tokenizer.
engine::Result<DataModel>
loadDataModel(const ModelOptions& options, bool isRaw, const std::stop_token& stop);

} // namespace app
