// SPDX-License-Identifier: Apache-2.0
#include "engine/text/bpe/tokenizer_json.h"
#include "engine/text/sentencepiece/charsmap_check.h"
#include "engine/text/vocabulary/text_limits.h"
#include "engine/text/vocabulary/utf8.h"

// The three chains of components. A "Sequence" may hold others; the depth limit of the JSON reader
// bounds the recursion.
namespace engine::tokenizer_json {

namespace {

constexpr std::size_t kMaxSteps = 64; // of one chain; real files have fewer than ten

/// Puts the source in front, where the message does not begin with it yet.
Error inSource(Error error, const std::string& source) {
    if (!error.message.starts_with(source))
        error.message = fmt::format("{}: {}", source, error.message);
    return error;
}

SplitPattern shared(std::string_view pattern) {
    auto compiled = SplitPattern::compile(pattern);
    ENGINE_CHECK(compiled.hasValue(), "our own pattern '{}' does not compile", pattern);
    return std::move(compiled).value();
}

/// Whether a chain may take another component.
template <typename Chain>
Result<void> checkRoom(const Chain& chain, const std::string& source, const JsonValue& value) {
    if (chain.stepCount() < kMaxSteps)
        return {};
    return corrupt(source, value, fmt::format("a chain has more than {} components", kMaxSteps));
}

bool isOneCharacter(std::string_view text) {
    return !text.empty() && utf8::lengthByFirstByte(text.front()) == text.size();
}

Result<SplitBehavior>
readBehavior(const JsonValue& value, SplitBehavior otherwise, const std::string& source) {
    const auto name = value.asString();
    if (!name)
        return otherwise;
    if (*name == "Isolated")
        return SplitBehavior::Isolated;
    if (*name == "Removed")
        return SplitBehavior::Removed;
    if (*name == "MergedWithPrevious")
        return SplitBehavior::MergedWithPrevious;
    if (*name == "MergedWithNext")
        return SplitBehavior::MergedWithNext;
    if (*name == "Contiguous")
        return SplitBehavior::Contiguous;
    return unsupported(source, "split behavior", *name);
}

Result<std::string> readSymbol(const JsonValue& value, const std::string& source) {
    std::string symbol = textOr(value["replacement"], utf8::kSpaceSymbol);
    if (!isOneCharacter(symbol))
        return corrupt(source, value, "the replacement of Metaspace is not one character");
    return symbol;
}

/// "always", "first" or "never"; older files have add_prefix_space instead.
Result<MetaspaceStep::Prepend> readPrepend(const JsonValue& value, const std::string& source) {
    const bool addsSpace = boolOr(value["add_prefix_space"], true);
    const std::string scheme = textOr(value["prepend_scheme"], addsSpace ? "always" : "never");
    if (scheme == "always")
        return MetaspaceStep::Prepend::Always;
    if (scheme == "first")
        return MetaspaceStep::Prepend::First;
    if (scheme == "never")
        return MetaspaceStep::Prepend::Never;
    return unsupported(source, "prepend_scheme", scheme);
}

/// The bytes of a text in base64; nothing if it is none.
std::optional<std::string> fromBase64(std::string_view text) {
    constexpr std::string_view kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string bytes;
    std::uint32_t bits = 0; // of which the last `count` are new
    for (unsigned count = 0; !text.empty() && text.front() != '='; text.remove_prefix(1)) {
        const std::size_t digit = kDigits.find(text.front());
        if (digit == std::string_view::npos)
            return std::nullopt;
        bits = bits << 6U | static_cast<std::uint32_t>(digit);
        count += 6;
        if (count >= 8) {
            count -= 8;
            bytes.push_back(static_cast<char>(bits >> count & 0xFFU));
        }
    }
    return bytes;
}

Result<void> addCharsmap(const JsonValue& value, const std::string& source, Normalizer& out) {
    auto charsmap = fromBase64(value["precompiled_charsmap"].asString().value_or("?"));
    if (!charsmap)
        return corrupt(source, value, "the charsmap is not written in base64");
    if (const auto fault = findCharsmapFault(*charsmap))
        return corrupt(source, value, *fault);
    out.add(CharsmapStep{*std::move(charsmap)});
    return {};
}

Result<void> addNormalizer(const JsonValue& value, const std::string& source, Normalizer& out) {
    ENGINE_TRY_DO(checkRoom(out, source, value));
    const std::string_view type = typeOf(value);
    if (type == "Sequence") {
        for (const JsonValue& item : value["normalizers"].items())
            ENGINE_TRY_DO(addNormalizer(item, source, out));
    } else if (type == "NFC" || type == "NFD" || type == "NFKC" || type == "NFKD") {
        out.add(
            UnicodeFormStep{.isCompatibility = type.size() == 4, .composes = type.back() == 'C'});
    } else if (type == "Lowercase") {
        out.add(LowercaseStep{});
    } else if (type == "StripAccents") {
        out.add(StripAccentsStep{});
    } else if (type == "ByteLevel") {
        out.add(ByteLevelNormalizerStep{});
    } else if (type == "Strip") {
        out.add(StripStep{.left = boolOr(value["strip_left"], true),
                          .right = boolOr(value["strip_right"], true)});
    } else if (type == "Precompiled") {
        return addCharsmap(value, source, out);
    } else if (type == "Prepend") {
        out.add(PrependStep{textOr(value["prepend"], "")});
    } else if (type == "Replace") {
        ENGINE_TRY(SplitPattern pattern, readPattern(value["pattern"], source));
        out.add(ReplaceStep{std::move(pattern), textOr(value["content"], "")});
    } else {
        return unsupported(source, "normalizer", type);
    }
    return {};
}

Result<void> addSplit(const JsonValue& value, const std::string& source, PreTokenizer& out) {
    ENGINE_TRY(SplitPattern pattern, readPattern(value["pattern"], source));
    ENGINE_TRY(const SplitBehavior behavior,
               readBehavior(value["behavior"], SplitBehavior::Isolated, source));
    out.add(SplitStep{std::move(pattern), behavior, boolOr(value["invert"], false)});
    return {};
}

Result<void> addPreTokenizer(const JsonValue& value, const std::string& source, PreTokenizer& out) {
    ENGINE_TRY_DO(checkRoom(out, source, value));
    const std::string_view type = typeOf(value);
    if (type == "Sequence") {
        for (const JsonValue& item : value["pretokenizers"].items())
            ENGINE_TRY_DO(addPreTokenizer(item, source, out));
    } else if (type == "Split") {
        return addSplit(value, source, out);
    } else if (type == "ByteLevel") {
        ByteLevelStep step{.addsPrefixSpace = boolOr(value["add_prefix_space"], true),
                           .pattern = std::nullopt};
        if (boolOr(value["use_regex"], true))
            step.pattern = shared(split_patterns::kGpt2);
        out.add(std::move(step));
    } else if (type == "Digits") {
        const bool isIndividual = boolOr(value["individual_digits"], false);
        out.add(SplitStep{shared(split_patterns::kNumber),
                          isIndividual ? SplitBehavior::Isolated : SplitBehavior::Contiguous,
                          false});
    } else if (type == "Punctuation") {
        ENGINE_TRY(const SplitBehavior behavior,
                   readBehavior(value["behavior"], SplitBehavior::Isolated, source));
        out.add(SplitStep{shared(split_patterns::kPunctuation), behavior, false});
    } else if (type == "Whitespace") {
        out.add(SplitStep{shared(split_patterns::kWordOrSigns), SplitBehavior::Removed, true});
    } else if (type == "WhitespaceSplit") {
        out.add(SplitStep{shared(split_patterns::kWhiteSpace), SplitBehavior::Removed, false});
    } else if (type == "CharDelimiterSplit") {
        const std::string delimiter = textOr(value["delimiter"], "");
        if (!isOneCharacter(delimiter))
            return corrupt(source, value, "the delimiter is not one character");
        out.add(SplitStep{SplitPattern::fixed(delimiter), SplitBehavior::Removed, false});
    } else if (type == "Metaspace") {
        ENGINE_TRY(std::string symbol, readSymbol(value, source));
        ENGINE_TRY(const MetaspaceStep::Prepend prepend, readPrepend(value, source));
        out.add(MetaspaceStep{std::move(symbol), prepend, boolOr(value["split"], true)});
    } else {
        return unsupported(source, "pre_tokenizer", type);
    }
    return {};
}

Result<std::size_t> readCount(const JsonValue& value, const std::string& source) {
    const auto count = value.asInteger();
    if (!count || *count < 0 || *count > 1'000'000)
        return corrupt(source, value, "a count of Strip is missing or out of range");
    return static_cast<std::size_t>(*count);
}

Result<void> addStripDecoder(const JsonValue& value, const std::string& source, TokenDecoder& out) {
    const std::string content = textOr(value["content"], "");
    if (!isOneCharacter(content))
        return corrupt(source, value, "the content of Strip is not one character");
    ENGINE_TRY(const std::size_t start, readCount(value["start"], source));
    ENGINE_TRY(const std::size_t stop, readCount(value["stop"], source));
    return out.add(StripDecode{content, start, stop});
}

Result<void>
addMetaspaceDecoder(const JsonValue& value, const std::string& source, TokenDecoder& out) {
    ENGINE_TRY(std::string symbol, readSymbol(value, source));
    ENGINE_TRY(const MetaspaceStep::Prepend prepend, readPrepend(value, source));
    return out.add(MetaspaceDecode{std::move(symbol), prepend != MetaspaceStep::Prepend::Never});
}

Result<void>
addReplaceDecoder(const JsonValue& value, const std::string& source, TokenDecoder& out) {
    const auto pattern = value["pattern"]["String"].asString();
    if (!pattern || pattern->empty())
        return unsupported(source, "decoder", "Replace by a regular expression");
    return out.add(ReplaceDecode{std::string(*pattern), textOr(value["content"], "")});
}

Result<void> addDecoder(const JsonValue& value, const std::string& source, TokenDecoder& out) {
    ENGINE_TRY_DO(checkRoom(out, source, value));
    const std::string_view type = typeOf(value);
    if (type == "Sequence") {
        for (const JsonValue& item : value["decoders"].items())
            ENGINE_TRY_DO(addDecoder(item, source, out));
        return {};
    }
    if (type == "ByteLevel")
        return out.add(ByteLevelDecode{});
    if (type == "ByteFallback")
        return out.add(ByteFallbackDecode{});
    if (type == "Fuse")
        return out.add(FuseDecode{});
    if (type == "Replace")
        return addReplaceDecoder(value, source, out);
    if (type == "Strip")
        return addStripDecoder(value, source, out);
    if (type == "Metaspace")
        return addMetaspaceDecoder(value, source, out);
    return unsupported(source, "decoder", type);
}

} // namespace

Result<SplitPattern> readPattern(const JsonValue& value, const std::string& source) {
    if (const auto text = value["String"].asString()) {
        if (text->empty() || text->size() > kMaxTokenBytes)
            return corrupt(source, value, "a pattern is empty or too long");
        return SplitPattern::fixed(std::string(*text));
    }
    const auto expression = value["Regex"].asString();
    if (!expression)
        return corrupt(source, value, "a pattern is neither a String nor a Regex");
    auto compiled = SplitPattern::compile(*expression);
    if (!compiled)
        return inSource(std::move(compiled).error(), source);
    return compiled;
}

Result<Normalizer> readNormalizer(const JsonValue& value, const std::string& source) {
    Normalizer normalizer;
    if (!value.isNull())
        ENGINE_TRY_DO(addNormalizer(value, source, normalizer));
    return normalizer;
}

Result<PreTokenizer> readPreTokenizer(const JsonValue& value, const std::string& source) {
    PreTokenizer preTokenizer;
    if (!value.isNull())
        ENGINE_TRY_DO(addPreTokenizer(value, source, preTokenizer));
    return preTokenizer;
}

Result<TokenDecoder> readDecoder(const JsonValue& value, const std::string& source) {
    TokenDecoder decoder;
    if (value.isNull())
        ENGINE_TRY_DO(decoder.add(JoinDecode{}));
    else if (auto added = addDecoder(value, source, decoder); !added)
        return inSource(std::move(added).error(), source);
    return decoder;
}

} // namespace engine::tokenizer_json
