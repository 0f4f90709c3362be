// SPDX-License-Identifier: Apache-2.0
#include "engine/text/tokenizer.h"

#include "engine/loading/files/byte_reader.h"
#include "engine/loading/files/readable_text.h"
#include "engine/loading/gguf/gguf_file.h"
#include "engine/loading/json/json_document.h"
#include "engine/text/bpe/byte_level_bpe.h"
#include "engine/text/bpe/gguf_bpe.h"
#include "engine/text/bpe/tokenizer_json.h"
#include "engine/text/sentencepiece/sentencepiece_model.h"
#include "engine/text/sentencepiece/sentencepiece_tokenizer.h"
#include "engine/text/vocabulary/gguf_vocabulary.h"
#include "engine/text/vocabulary/tokenizer_config.h"

#include <algorithm>
#include <array>
#include <unordered_set>

namespace engine {

namespace {

constexpr std::uint64_t kMaxModelBytes = 100'000'000;

// Where no file of the tokenizer tells: the names that models of our families share, first found
// first taken.
constexpr std::array<std::string_view, 3> kBosNames = {
    "<s>", "<|begin_of_text|>", "<\uFF5Cbegin\u2581of\u2581sentence\uFF5C>"};
constexpr std::array<std::string_view, 5> kEosNames = {"</s>",
                                                       "<|end_of_text|>",
                                                       "<\uFF5Cend\u2581of\u2581sentence\uFF5C>",
                                                       "<|im_end|>",
                                                       "<|endoftext|>"};

/// The first of these names that is a special added token, or kNoToken.
TokenId firstSpecial(const BpeParts& parts, std::span<const std::string_view> names) {
    for (const std::string_view name : names) {
        for (const AddedToken& token : parts.addedTokens) {
            if (token.isSpecial && token.content == name)
                return token.id;
        }
    }
    return kNoToken;
}

/// Puts in what tokenizer_config.json tells, or what the names of the tokens suggest.
void applyConfig(const TokenizerConfig& config, BpeParts& parts) {
    const auto find = [&](std::string_view use) {
        const std::string text = config.textFor(use);
        return text.empty() ? kNoToken : parts.find(text);
    };
    parts.bosId = find("bos_token");
    if (parts.bosId == kNoToken && parts.prefix.size() == 1)
        parts.bosId = parts.prefix.front();
    TokenId eosId = find("eos_token");
    if (!config.isPresent && parts.bosId == kNoToken)
        parts.bosId = firstSpecial(parts, kBosNames);
    if (!config.isPresent && eosId == kNoToken)
        eosId = firstSpecial(parts, kEosNames);
    if (eosId != kNoToken)
        parts.eosIds.push_back(eosId);
    if (!config.honoursAddFlags())
        return;
    if (config.addsBos) {
        parts.prefix.clear();
        if (*config.addsBos && parts.bosId != kNoToken)
            parts.prefix.push_back(parts.bosId);
    }
    if (config.addsEos) {
        parts.suffix.clear();
        if (*config.addsEos && eosId != kNoToken)
            parts.suffix.push_back(eosId);
    }
}

/// Puts the added_tokens.json beside a tokenizer.json into the configuration, but for the ids that
/// the newer file gives to added tokens of its own (`own`).
Result<void> addTokensFile(const JsonValue& own, const ModelFiles& files, TokenizerConfig& config) {
    ENGINE_TRY(const std::vector<AddedToken> more, readAddedTokensFile(files, config));
    if (more.empty())
        return {};
    std::unordered_set<std::int64_t> taken;
    for (const JsonValue& token : own.items())
        taken.insert(token["id"].asInteger().value_or(kNoToken));
    for (const AddedToken& token : more)
        if (!taken.contains(token.id))
            config.addedTokens.push_back(token);
    std::ranges::stable_sort(config.addedTokens, {}, &AddedToken::id);
    return {};
}

Result<std::unique_ptr<Tokenizer>>
loadJson(const std::string& path, const ModelFiles& files, TokenizerConfig config) {
    ENGINE_TRY(const JsonDocument document, readJsonFile(path));
    ENGINE_TRY_DO(addTokensFile(document.root()["added_tokens"], files, config));
    ENGINE_TRY(BpeParts parts, readTokenizerJson(document.root(), path, config));
    applyConfig(config, parts);
    return ByteLevelBpe::make(std::move(parts));
}

/// The added tokens of a folder with a SentencePiece model. A control piece of the model stays
/// special whatever the list says.
Result<std::vector<AddedToken>> tokensBesides(const SentencePieceModel& model,
                                              const ModelFiles& files,
                                              const TokenizerConfig& config) {
    ENGINE_TRY(std::vector<AddedToken> added, readAddedTokensFile(files, config));
    const char* const source = added.empty() ? "tokenizer_config.json" : "added_tokens.json";
    added.insert(added.end(), config.addedTokens.begin(), config.addedTokens.end());
    for (AddedToken& token : added) {
        const auto id = static_cast<std::size_t>(token.id);
        if (id >= model.pieces.size())
            continue;
        const SentencePieceModel::Piece& piece = model.pieces[id];
        if (piece.text != token.content)
            return Error{ErrorCode::CorruptFile,
                         fmt::format("{} calls token {} '{}', tokenizer.model calls it '{}'",
                                     source,
                                     token.id,
                                     readable(token.content),
                                     readable(piece.text)),
                         "The two files do not belong together: fetch them again."};
        token.isSpecial =
            token.isSpecial || piece.type == PieceType::Control || piece.type == PieceType::Unknown;
    }
    return added;
}

/// The token that the configuration names for a use (`text`), which is special then as in
/// transformers; `unsaid` where it names none or one that is not there.
TokenId tokenForUse(const std::string& text,
                    const SentencePieceModel& model,
                    TokenId unsaid,
                    std::vector<AddedToken>& added) {
    if (text.empty())
        return unsaid;
    for (AddedToken& token : added)
        if (token.content == text) {
            token.isSpecial = true;
            return token.id;
        }
    for (std::size_t i = 0; i < model.pieces.size(); ++i)
        if (model.pieces[i].text == text) {
            const auto id = static_cast<TokenId>(i);
            added.push_back({.content = text, .id = id, .isSpecial = true});
            return id;
        }
    return unsaid;
}

Result<std::unique_ptr<Tokenizer>>
loadModel(const std::string& path, const ModelFiles& files, const TokenizerConfig& config) {
    ENGINE_TRY(const std::string bytes, readTextFile(path, kMaxModelBytes));
    ENGINE_TRY(SentencePieceModel model, parseSentencePieceModel(bytes, path));
    SentencePieceOptions options;
    options.origin = "tokenizer.model";
    ENGINE_TRY(options.addedTokens, tokensBesides(model, files, config));
    options.knowsControlText = config.isPresent || !options.addedTokens.empty();
    // The model's own end stays one beside another that the configuration names.
    const TokenId ownEnd = model.eosId;
    model.bosId = tokenForUse(config.textFor("bos_token"), model, model.bosId, options.addedTokens);
    model.eosId = tokenForUse(config.textFor("eos_token"), model, model.eosId, options.addedTokens);
    for (const TokenId id : {model.eosId, ownEnd})
        if (id != kNoToken && (options.eosIds.empty() || options.eosIds.front() != id))
            options.eosIds.push_back(id);
    options.spacesEachText = config.isLegacy;
    if (!config.isLegacy)
        model.addsDummyPrefix = config.addsPrefixSpace;
    options.addsBos = config.addsBos.value_or(true);
    options.addsEos = config.addsEos.value_or(false);
    return SentencePieceTokenizer::make(std::move(model), std::move(options));
}

/// Phi-3's tokens between messages take the white space behind them along, which no metadata says.
std::vector<AddedToken> tokensThatStrip(const GgufVocabulary& vocabulary) {
    constexpr std::array<std::string_view, 3> kOthers = {"<unk>", "<s>", "<|endoftext|>"};
    std::vector<AddedToken> added;
    for (std::size_t id = 0; id < vocabulary.types.size(); ++id) {
        const PieceType type = vocabulary.types[id];
        const std::string& text = vocabulary.tokens[id];
        if ((type == PieceType::Control || type == PieceType::UserDefined) && !text.empty() &&
            std::find(kOthers.begin(), kOthers.end(), text) == kOthers.end())
            added.push_back({.content = text,
                             .id = static_cast<TokenId>(id),
                             .isSpecial = type == PieceType::Control,
                             .stripsRight = true});
    }
    return added;
}

Result<std::unique_ptr<Tokenizer>> loadGguf(const GgufFile& file) {
    const auto kind = file.stringValue("tokenizer.ggml.model");
    if (!kind)
        return Error{ErrorCode::NotFound,
                     fmt::format("{} holds no tokenizer (tokenizer.ggml.model is missing)",
                                 file.path().string()),
                     "Convert the model with its vocabulary."};
    if (*kind == "gpt2") {
        ENGINE_TRY(BpeParts parts, readGgufBpe(file));
        return ByteLevelBpe::make(std::move(parts));
    }
    if (*kind != "llama")
        return Error{ErrorCode::Unsupported,
                     fmt::format("{}: the tokenizer '{}' is not supported; supported: gpt2, llama",
                                 file.path().string(),
                                 readable(*kind)),
                     "Use a model of a supported family."};
    ENGINE_TRY(const GgufVocabulary vocabulary, gguf_vocabulary::read(file));
    ENGINE_TRY(SentencePieceModel model, readGgufSentencePiece(file, vocabulary));
    SentencePieceOptions options;
    options.origin = "GGUF";
    options.knowsControlText = true;
    options.addsBos = vocabulary.addsBos.value_or(true);
    options.addsEos = vocabulary.addsEos.value_or(false);
    options.eosIds = vocabulary.eosIds;
    if (file.stringValue("general.architecture") == "phi3")
        options.addedTokens = tokensThatStrip(vocabulary);
    return SentencePieceTokenizer::make(std::move(model), std::move(options));
}

} // namespace

Result<std::string> Tokenizer::decode(std::span<const TokenId> ids, bool skipSpecial) const {
    const auto decoding = startDecoding(skipSpecial);
    std::string text;
    for (const TokenId id : ids)
        ENGINE_TRY_DO(decoding->push(id, text));
    ENGINE_TRY_DO(decoding->finish(text));
    return text;
}

std::string readableToken(const Tokenizer& tokenizer, TokenId id) {
    std::string bytes = tokenizer.tokenBytes(id);
    if (bytes.empty())
        bytes = tokenizer.tokenText(id);
    std::string shown;
    for (std::string_view rest = bytes; !rest.empty();) {
        const std::size_t length = utf8CharacterLength(rest);
        shown += length > 0 ? std::string(rest.substr(0, length))
                            : fmt::format("<0x{:02X}>", static_cast<unsigned char>(rest.front()));
        rest.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return shown;
}

TokenId firstIdBeyond(const Tokenizer& tokenizer, int vocabSize) {
    for (TokenId id = vocabSize; id < tokenizer.ownVocabSize(); ++id)
        if (!tokenizer.isSpecial(id) && !tokenizer.tokenText(id).empty())
            return id;
    return kNoToken;
}

Result<std::unique_ptr<Tokenizer>> loadTokenizer(const ModelFiles& files) {
    if (files.gguf() != nullptr)
        return loadGguf(*files.gguf());
    ENGINE_TRY(const TokenizerConfig config, readTokenizerConfig(files));
    const auto modelPath = files.tokenizerModelPath();
    if (const auto path = files.tokenizerJsonPath()) {
        auto loaded = loadJson(path->string(), files, config);
        const bool isUnsupported = !loaded && loaded.error().code == ErrorCode::Unsupported;
        if (!isUnsupported || !modelPath)
            return loaded;
    }
    if (modelPath)
        return loadModel(modelPath->string(), files, config);
    return Error{ErrorCode::NotFound,
                 fmt::format("{} holds no tokenizer: neither tokenizer.json nor tokenizer.model is "
                             "there",
                             files.path().string()),
                 "Put the model's tokenizer.json beside its weights."};
}

} // namespace engine
