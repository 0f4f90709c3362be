// SPDX-License-Identifier: Apache-2.0
#include "engine/text/joining/token_decoder.h"
#include "engine/text/sentencepiece/sentencepiece_model.h"

#include <algorithm>

namespace engine {

namespace {

/// Types for files that carry none, by the spellings that SentencePiece models share.
PieceType guessType(std::string_view text, std::size_t id, const GgufVocabulary& vocabulary) {
    const auto isId = [id](TokenId other) {
        return other != kNoToken && static_cast<std::size_t>(other) == id;
    };
    if (isId(vocabulary.unknownId) || (vocabulary.unknownId == kNoToken && text == "<unk>"))
        return PieceType::Unknown;
    if (isId(vocabulary.bosId) || isId(vocabulary.eosId))
        return PieceType::Control;
    return byteOfToken(text) >= 0 ? PieceType::Byte : PieceType::Normal;
}

} // namespace

Result<SentencePieceModel> readGgufSentencePiece(const GgufFile& file,
                                                 const GgufVocabulary& vocabulary) {
    const auto* scores = file.floatArray("tokenizer.ggml.scores");
    if (scores == nullptr)
        return gguf_vocabulary::corrupt(file, "there is no list of float32 tokenizer.ggml.scores");
    if (scores->size() != vocabulary.tokens.size())
        return gguf_vocabulary::corrupt(file,
                                        fmt::format("tokenizer.ggml.scores has {} entries for {} "
                                                    "tokens",
                                                    scores->size(),
                                                    vocabulary.tokens.size()));
    // No Gemma begins a text with a space, which Ollama's converter does not write down.
    const bool isGemma = file.stringValue("general.architecture").value_or("").starts_with("gemma");
    if (isGemma && !vocabulary.hasTypes)
        return gguf_vocabulary::corrupt(file,
                                        "there is no list tokenizer.ggml.token_type, without which "
                                        "the signs between Gemma's turns would be read as words");
    SentencePieceModel model;
    model.algorithm = SentencePieceModel::Algorithm::Bpe;
    model.addsDummyPrefix = file.boolValue("tokenizer.ggml.add_space_prefix").value_or(!isGemma);
    model.removesExtraSpaces = false;
    model.bosId = vocabulary.bosId;
    model.eosId = vocabulary.eosId;
    model.pieces.reserve(vocabulary.tokens.size());
    // Converters write the unknown token as a control token where the tokenizer lists it among its
    // added tokens, as those of Gemma 3 and Phi-3 do.
    const bool namesUnknown =
        vocabulary.hasTypes &&
        std::find(vocabulary.types.begin(), vocabulary.types.end(), PieceType::Unknown) !=
            vocabulary.types.end();
    for (std::size_t id = 0; id < vocabulary.tokens.size(); ++id) {
        const std::string& text = vocabulary.tokens[id];
        const PieceType guess = guessType(text, id, vocabulary);
        PieceType type = vocabulary.hasTypes ? vocabulary.types[id] : guess;
        if (!namesUnknown && type == PieceType::Control && guess == PieceType::Unknown)
            type = PieceType::Unknown;
        model.hasByteFallback = model.hasByteFallback || type == PieceType::Byte;
        // Entries without a text get the name that llama.cpp makes up for them.
        model.pieces.push_back(
            {text.empty() ? fmt::format("[EMPTY_{}]", id) : text, (*scores)[id], type});
    }
    // That converter lists the token of an image too, for which the embedding has no row.
    const TensorInfo* embedding = isGemma ? file.find("token_embd.weight") : nullptr;
    while (embedding != nullptr && model.pieces.size() > embedding->rows() &&
           model.pieces.back().type == PieceType::UserDefined)
        model.pieces.pop_back();
    ENGINE_TRY_DO(model.validate(file.path().string()));
    return model;
}

} // namespace engine
