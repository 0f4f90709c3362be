// SPDX-License-Identifier: Apache-2.0
#include "engine/text/bpe/gguf_bpe.h"

#include "engine/loading/files/readable_text.h"
#include "engine/text/bpe/gguf/gguf_pre_tokenizer.h"

namespace engine {

namespace {

Result<PreTokenizer> makePreTokenizer(const GgufPreTokenizer& kind) {
    PreTokenizer made;
    for (const std::string_view pattern : kind.patterns) {
        ENGINE_TRY(SplitPattern compiled, SplitPattern::compile(pattern));
        made.add(SplitStep{std::move(compiled), SplitBehavior::Isolated, false});
    }
    made.add(ByteLevelStep{});
    return made;
}

} // namespace

Result<std::vector<BpeModel::Merge>> readGgufMerges(const GgufFile& file) {
    const auto* lines = file.stringArray("tokenizer.ggml.merges");
    if (lines == nullptr)
        return gguf_vocabulary::corrupt(file, "there is no list of texts tokenizer.ggml.merges");
    std::vector<BpeModel::Merge> merges;
    merges.reserve(lines->size());
    for (std::size_t rank = 0; rank < lines->size(); ++rank) {
        const std::string& line = (*lines)[rank];
        const std::size_t space = line.find(' ', 1); // the first token may itself be a space
        if (line.empty() || space == std::string::npos || space + 1 == line.size())
            return gguf_vocabulary::corrupt(
                file,
                fmt::format("merge {} ('{}') is not two tokens with a space between them",
                            rank,
                            readable(line)));
        merges.emplace_back(line.substr(0, space), line.substr(space + 1));
    }
    return merges;
}

std::vector<AddedToken> ggufAddedTokens(const GgufVocabulary& vocabulary) {
    std::vector<AddedToken> added;
    for (std::size_t id = 0; id < vocabulary.types.size(); ++id) {
        const PieceType type = vocabulary.types[id];
        const bool isSpecial = type == PieceType::Control || type == PieceType::Unknown;
        if ((!isSpecial && type != PieceType::UserDefined) || vocabulary.tokens[id].empty())
            continue;
        AddedToken token;
        token.content = vocabulary.tokens[id];
        token.id = static_cast<TokenId>(id);
        token.isSpecial = isSpecial;
        added.push_back(std::move(token));
    }
    return added;
}

Result<BpeParts> readGgufBpe(const GgufFile& file) {
    ENGINE_TRY(GgufVocabulary vocabulary, gguf_vocabulary::read(file));
    ENGINE_TRY_DO(gguf_vocabulary::checkByteLevel(file, vocabulary));
    const std::string preName(
        file.stringValue("tokenizer.ggml.pre").value_or(std::string_view("default")));
    auto kind = findGgufPreTokenizer(preName);
    if (!kind)
        return gguf_vocabulary::inFile(file, std::move(kind).error());
    ENGINE_TRY(PreTokenizer preTokenizer, makePreTokenizer(kind.value()));
    ENGINE_TRY(const std::vector<BpeModel::Merge> merges, readGgufMerges(file));
    std::vector<AddedToken> added = ggufAddedTokens(vocabulary);
    BpeOptions options;
    options.ignoresMerges = kind.value().ignoresMerges;
    auto model = BpeModel::make(std::move(vocabulary.tokens), merges, options, MergeRules::Gguf);
    if (!model)
        return gguf_vocabulary::inFile(file, std::move(model).error());
    std::string origin = fmt::format("GGUF, pre-tokenizer {}", readable(preName));
    if (const std::size_t count = model.value().incompleteMerges(); count > 0)
        origin += fmt::format(", {} of {} merges with missing tokens", count, merges.size());
    BpeParts parts{.model = std::move(model).value(),
                   .addedTokens = std::move(added),
                   .normalizer = {},
                   .preTokenizer = std::move(preTokenizer),
                   .decoder = {},
                   .prefix = {},
                   .suffix = {},
                   .bosId = vocabulary.bosId,
                   .eosIds = vocabulary.eosIds,
                   .kind = "byte-level BPE",
                   .origin = std::move(origin)};
    if (kind.value().normalizesToNfc)
        parts.normalizer.add(UnicodeFormStep{.isCompatibility = false, .composes = true});
    ENGINE_TRY_DO(parts.decoder.add(ByteLevelDecode{}));
    if (vocabulary.addsBos.value_or(kind.value().addsBos) && vocabulary.bosId != kNoToken)
        parts.prefix.push_back(vocabulary.bosId);
    if (vocabulary.addsEos.value_or(false) && vocabulary.eosId != kNoToken)
        parts.suffix.push_back(vocabulary.eosId);
    return parts;
}

} // namespace engine
