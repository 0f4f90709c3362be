// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/model/transformer.h"
#include "engine/session/engine_command.h"
#include "engine/session/recording/session_records.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"
#include "engine/text/vocabulary/token_trie.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// A model that is ready to answer.
struct SessionModel {
    std::unique_ptr<Transformer> transformer;
    std::unique_ptr<Tokenizer> tokenizer;     ///< null: the model has none
    std::optional<ChatTemplate> chatTemplate; ///< none without a tokenizer
    int contextLength = 0;                    ///< tokens, prompt and answer together
    std::string backend;
    FileFacts file = {};     ///< for people
    std::string fingerprint; ///< see modelFingerprint(); empty = no skip sets are saved
    std::vector<std::string> notes;
    std::shared_ptr<const TokenTrie> vocabulary = nullptr; ///< made when it is first needed
};

/// The texts of the model's tokens, for grammars; null for a model without a tokenizer.
std::shared_ptr<const TokenTrie> vocabularyOf(SessionModel& model);

/// How a load reports progress and is cancelled.
struct ModelLoadWork {
    std::stop_token stop = {}; ///< polled between tensors
    std::function<void(std::string_view stage, double part)> progress = {};
};

/// Loads the model of a command. Thread: engine. Errors: those of reading the model; Cancelled; on
/// NoMemory the session frees its old model and retries once.
using ModelLoader = std::function<Result<SessionModel>(const LoadModel&, const ModelLoadWork&)>;

/// The loader that reads files; backends that are modules come from `moduleFolder`, and the draft
/// adapters of the program, which need not exist, from `adapterFolder` (see adoptDraftAdapter).
ModelLoader makeModelLoader(std::filesystem::path moduleFolder,
                            PackedCacheOptions packedCache = {},
                            std::filesystem::path adapterFolder = {});

} // namespace engine
