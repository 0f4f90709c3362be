// SPDX-License-Identifier: Apache-2.0
#include "engine/text/splitting/normalizer.h"

#include "engine/text/bpe/byte_map.h"
#include "engine/text/vocabulary/utf8.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

namespace engine {

namespace {

constexpr std::size_t kMaxGrowth = 64;
constexpr std::size_t kFreeGrowthBytes = 65'536;
constexpr std::size_t kLongestCluster = 5; // bytes; longer ones go character by character

bool isAscii(std::string_view text) {
    return std::all_of(
        text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

template <typename Visit> void forEachCodePoint(std::string_view text, Visit visit) {
    while (!text.empty()) {
        std::size_t length = 0;
        visit(utf8::firstCodePoint(text, length));
        text.remove_prefix(length);
    }
}

std::string toLowercase(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    forEachCodePoint(text, [&out](char32_t codePoint) {
        if (codePoint == 0x130) { // the one character whose lower case is two
            out.append("i\u0307");
            return;
        }
        utf8::append(
            static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(codePoint))), out);
    });
    return out;
}

bool isMark(char32_t codePoint) {
    switch (utf8proc_category(static_cast<utf8proc_int32_t>(codePoint))) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
        return true;
    default:
        return false;
    }
}

std::string withoutAccents(std::string_view text) {
    std::string out;
    forEachCodePoint(text, [&out](char32_t codePoint) {
        if (!isMark(codePoint))
            utf8::append(codePoint, out);
    });
    return out;
}

std::string stripped(std::string_view text, const StripStep& step) {
    std::size_t length = 0;
    while (step.left && !text.empty() && utf8::isWhiteSpace(utf8::firstCodePoint(text, length)))
        text.remove_prefix(length);
    while (step.right && !text.empty() && utf8::isWhiteSpace(utf8::lastCodePoint(text, length)))
        text.remove_suffix(length);
    return std::string(text);
}

std::uint32_t unitAt(std::string_view units, std::size_t index) {
    std::uint32_t unit = 0; // little-endian, as every machine of ours is
    std::memcpy(&unit, units.data() + 4 * index, sizeof unit);
    return unit;
}

/// What the shortest rule at the beginning of a text makes of it; nothing if there is no rule.
/// Rules are a double-array trie, as in darts-clone, with the texts they make behind it.
std::optional<std::string_view> ruledText(std::string_view text, std::string_view charsmap) {
    const std::string_view units = charsmap.substr(4, unitAt(charsmap, 0));
    const std::string_view targets = charsmap.substr(4 + units.size());
    const auto offsetOf = [](std::uint32_t unit) {
        return std::size_t{unit >> 10U} << ((unit & (1U << 9U)) >> 6U);
    };
    std::size_t place = offsetOf(unitAt(units, 0));
    for (const char c : text) {
        const auto byte = static_cast<std::uint8_t>(c);
        place ^= byte;
        const std::uint32_t unit = unitAt(units, place);
        if (byte == 0 || (unit & 0x800000FFU) != byte)
            return std::nullopt;
        place ^= offsetOf(unit);
        if (((unit >> 8U) & 1U) == 0)
            continue;
        const std::size_t begin = unitAt(units, place) & 0x7FFFFFFFU;
        return targets.substr(begin, targets.find('\0', begin) - begin);
    }
    return std::nullopt;
}

/// The characters at the beginning of a text that people see as one.
std::string_view firstCluster(std::string_view text) {
    std::size_t length = 0;
    auto before = static_cast<utf8proc_int32_t>(utf8::firstCodePoint(text, length));
    utf8proc_int32_t state = 0;
    for (std::size_t end = length; end < text.size(); end += length) {
        const auto next =
            static_cast<utf8proc_int32_t>(utf8::firstCodePoint(text.substr(end), length));
        if (utf8proc_grapheme_break_stateful(std::exchange(before, next), next, &state))
            return text.substr(0, end);
    }
    return text;
}

/// As Hugging Face's normalizer Precompiled: a short cluster goes whole where its beginning has a
/// rule, all else character by character. Stops soon behind `limitBytes`.
std::string rewritten(std::string_view text, const CharsmapStep& step, std::size_t limitBytes) {
    std::string out;
    while (!text.empty() && out.size() <= limitBytes) {
        std::string_view cluster = firstCluster(text);
        text.remove_prefix(cluster.size());
        if (const auto ruled = ruledText(cluster, step.charsmap);
            ruled && cluster.size() <= kLongestCluster) {
            out += *ruled;
            continue;
        }
        for (std::size_t length = 0; !cluster.empty(); cluster.remove_prefix(length)) {
            length = utf8::lengthByFirstByte(cluster.front());
            const std::string_view character = cluster.substr(0, length);
            out += ruledText(character, step.charsmap).value_or(character);
        }
    }
    return out;
}

/// Replaces while `limitBytes` allows it; nothing when the text would grow beyond.
Result<std::string> replaced(std::string_view text,
                             const ReplaceStep& step,
                             StepBudget& budget,
                             std::size_t limitBytes) {
    std::vector<TextRange> matches;
    ENGINE_TRY_DO(step.pattern.findAll(text, budget, matches));
    if (!step.content.empty() && matches.size() > limitBytes / step.content.size())
        return std::string(limitBytes + 1, ' '); // the caller refuses it
    std::string out;
    std::size_t end = 0;
    for (const TextRange& match : matches) {
        out.append(text.substr(end, match.begin - end));
        out.append(step.content);
        end = match.end;
    }
    out.append(text.substr(end));
    return out;
}

Result<std::string> applyStep(std::string_view text,
                              const Normalizer::Step& step,
                              StepBudget& budget,
                              std::size_t limitBytes) {
    if (const auto* form = std::get_if<UnicodeFormStep>(&step))
        return toUnicodeForm(text, *form);
    if (std::holds_alternative<LowercaseStep>(step))
        return toLowercase(text);
    if (std::holds_alternative<StripAccentsStep>(step))
        return withoutAccents(text);
    if (const auto* strip = std::get_if<StripStep>(&step))
        return stripped(text, *strip);
    if (const auto* replace = std::get_if<ReplaceStep>(&step))
        return replaced(text, *replace, budget, limitBytes);
    if (const auto* rules = std::get_if<CharsmapStep>(&step))
        return rewritten(text, *rules, limitBytes);
    if (const auto* prepend = std::get_if<PrependStep>(&step))
        return text.empty() ? std::string() : prepend->text + std::string(text);
    std::string mapped;
    byte_map::appendCharacters(text, mapped);
    return mapped;
}

/// Puts marks into canonical order. utf8proc's own ordering takes quadratic time on long runs.
void orderMarks(std::vector<utf8proc_int32_t>& codePoints) {
    const auto markClass = [](utf8proc_int32_t codePoint) {
        return utf8proc_get_property(codePoint)->combining_class;
    };
    auto at = codePoints.begin();
    while (at != codePoints.end()) {
        if (markClass(*at) == 0) {
            ++at;
            continue;
        }
        const auto end = std::find_if(
            at, codePoints.end(), [&](auto codePoint) { return markClass(codePoint) == 0; });
        std::stable_sort(at, end, [&](auto a, auto b) { return markClass(a) < markClass(b); });
        at = end;
    }
}

} // namespace

std::string toUnicodeForm(std::string_view text, const UnicodeFormStep& form) {
    if (isAscii(text))
        return std::string(text);
    const int options =
        UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | (form.isCompatibility ? UTF8PROC_COMPAT : 0);
    std::vector<utf8proc_int32_t> codePoints;
    codePoints.reserve(text.size() + 1);
    forEachCodePoint(text, [&](char32_t codePoint) {
        std::array<utf8proc_int32_t, 64> parts{}; // the longest decomposition has 18
        int lastClass = 0;
        const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(codePoint),
                                                   parts.data(),
                                                   static_cast<utf8proc_ssize_t>(parts.size()),
                                                   static_cast<utf8proc_option_t>(options),
                                                   &lastClass);
        if (count > 0 && static_cast<std::size_t>(count) <= parts.size())
            codePoints.insert(codePoints.end(), parts.begin(), parts.begin() + count);
        else
            codePoints.push_back(static_cast<utf8proc_int32_t>(codePoint));
    });
    orderMarks(codePoints);
    auto length = static_cast<utf8proc_ssize_t>(codePoints.size());
    if (form.composes)
        length = utf8proc_normalize_utf32(
            codePoints.data(),
            length,
            static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
    std::string out;
    out.reserve(text.size());
    for (utf8proc_ssize_t i = 0; i < length; ++i)
        utf8::append(static_cast<char32_t>(codePoints[static_cast<std::size_t>(i)]), out);
    return out;
}

Result<std::string> Normalizer::apply(std::string_view text, StepBudget& budget) const {
    const std::size_t limitBytes = kMaxGrowth * text.size() + kFreeGrowthBytes;
    std::string current(text);
    for (const Step& step : m_steps) {
        ENGINE_TRY(current, applyStep(current, step, budget, limitBytes));
        if (current.size() > limitBytes)
            return Error{ErrorCode::Unsupported,
                         fmt::format("normalising the text makes it grow beyond {} bytes, more "
                                     "than 64 times its length",
                                     limitBytes),
                         "Check the normalizer section of tokenizer.json."};
    }
    return current;
}

} // namespace engine
