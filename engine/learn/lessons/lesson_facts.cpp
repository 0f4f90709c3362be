// SPDX-License-Identifier: Apache-2.0
#include "engine/learn/lessons/lesson_facts.h"

#include <fmt/format.h>

#include <algorithm>

namespace engine {

namespace {

std::string written(const LessonFactInfo& info, const LessonFact& fact) {
    if (const auto* word = std::get_if<std::string>(&fact))
        return *word;
    const double number = std::get<double>(fact);
    switch (info.unit) {
    case FactUnit::Count:
        return fmt::format("{:.0f}", number);
    case FactUnit::Times:
        return fmt::format("{:.2f}\u00D7", number);
    default:
        return fmt::format("{:.2f}", number);
    }
}

} // namespace

const LessonFactInfo* lessonFact(std::string_view name) {
    const auto* found = std::ranges::find(kLessonFacts, name, &LessonFactInfo::name);
    return found == kLessonFacts.end() ? nullptr : found;
}

std::string filledIn(std::string_view text, const LessonFacts& facts) {
    std::string filled;
    while (true) {
        const std::size_t begin = text.find("{{");
        const std::size_t end = begin == text.npos ? text.npos : text.find("}}", begin);
        if (end == text.npos)
            return filled += text;
        filled += text.substr(0, begin);
        const std::string_view name = text.substr(begin + 2, end - begin - 2);
        const LessonFactInfo* info = lessonFact(name);
        const auto known = facts.find(name);
        filled += info != nullptr && known != facts.end() ? written(*info, known->second) : "...";
        text.remove_prefix(end + 2);
    }
}

std::string filledInAsKnown(std::string_view text, const LessonFacts& facts) {
    constexpr std::string_view kUnknown = "...";
    std::string known;
    for (std::string_view rest = text; !rest.empty();) {
        const std::size_t stop = rest.find(". ");
        const std::size_t length = stop == rest.npos ? rest.size() : stop + 2;
        const std::string sentence = filledIn(rest.substr(0, length), facts);
        if (sentence.find(kUnknown) == sentence.npos)
            known += sentence;
        rest.remove_prefix(length);
    }
    while (known.ends_with(' '))
        known.pop_back();
    return known.empty() ? filledIn(text, facts) : known;
}

} // namespace engine
