// SPDX-License-Identifier: Apache-2.0
#include "app/data/data_model.h"

#include "app/program_paths.h"
#include "engine/model/backends/backend_registry.h"

namespace app {

using namespace engine;

namespace {

/// Errors: NotFound for a model without one; InvalidInput for one of another model.
Result<std::unique_ptr<Tokenizer>> fittingTokenizer(const ModelFiles& files,
                                                    const ModelConfig& config) {
    ENGINE_TRY(auto tokenizer, openTokenizer(files));
    if (!tokenizer)
        return Error{
            ErrorCode::NotFound,
            fmt::format("{} has no tokenizer, so prompts cannot be read.", files.path().string()),
            "Add tokenizer.json or tokenizer.model."};
    ENGINE_TRY_DO(checkTokenizerFits(*tokenizer, config));
    return tokenizer;
}

} // namespace

Result<PromptEncoder>
PromptEncoder::make(const ModelFiles& files, const Tokenizer& tokenizer, bool isRaw) {
    PromptEncoder encoder(tokenizer);
    if (!isRaw) {
        ENGINE_TRY(ChatTemplate chosen, chooseChatTemplate(files, tokenizer));
        Console::note("[chat template: " + chosen.origin() + "]");
        encoder.m_template.emplace(std::move(chosen));
    }
    return encoder;
}

Result<std::vector<TokenId>>
PromptEncoder::encode(const std::vector<StoredMessage>& messages) const {
    if (m_template)
        return encodeConversation(*m_template, messages, *m_tokenizer);
    std::string text;
    for (const StoredMessage& stored : messages)
        text += (text.empty() ? "" : "\n") + stored.message.content;
    return m_tokenizer->encode(text, true);
}

Result<UserTurn> PromptEncoder::userTurn() const {
    if (m_template)
        return userTurnOf(*m_template, *m_tokenizer);
    return Error{ErrorCode::Unsupported,
                 "Without a chat template there is no place for a user's message.",
                 "Leave out --raw."};
}

std::vector<TokenId> PromptEncoder::endIds() const {
    return m_template ? chatEndIds(*m_tokenizer) : m_tokenizer->eosIds();
}

Result<void> checkDataModel(const ModelOptions& options, bool isRaw) {
    ENGINE_TRY(const ModelFiles files, openModel(options));
    ENGINE_TRY(const ModelConfig config, files.config());
    BackendRegistry registry(moduleFolder());
    ENGINE_TRY_DO(registry.options(chosenBackend(options.backend), options.settings));
    ENGINE_TRY_DO(contextLength(options, config));
    ENGINE_TRY(const auto tokenizer, fittingTokenizer(files, config));
    if (!isRaw)
        ENGINE_TRY_DO(chooseChatTemplate(files, *tokenizer));
    return {};
}

Result<DataModel>
loadDataModel(const ModelOptions& options, bool isRaw, const std::stop_token& stop) {
    ENGINE_TRY(const ModelFiles files, openModel(options));
    ENGINE_TRY(const ModelConfig config, files.config());
    DataModel model;
    model.name = files.path().filename().string();
    ENGINE_TRY(model.tokenizer, fittingTokenizer(files, config));
    ENGINE_TRY(PromptEncoder encoder, PromptEncoder::make(files, *model.tokenizer, isRaw));
    model.encoder.emplace(std::move(encoder));
    ENGINE_TRY(model.contextLength, contextLength(options, config));
    ENGINE_TRY(model.loaded, loadModel(options, files, model.contextLength, stop));
    model.endIds = model.loaded.config.eosIds;
    const auto ends = model.encoder->endIds();
    model.endIds.insert(model.endIds.end(), ends.begin(), ends.end());
    return model;
}

} // namespace app
