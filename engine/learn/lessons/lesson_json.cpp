// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/json/json_file.h"
#include "engine/learn/lessons/lesson.h"
#include "engine/learn/lessons/lesson_check.h"
#include "engine/loading/files/byte_reader.h"
#include "engine/loading/files/readable_text.h"

namespace engine {

// The members of every type by their names in JSON.

template <typename V> void visitMembers(V& visit, LessonAction& a) {
    visit("model", a.model);
    visit("decoder", a.decoder);
    visit("settings", a.settings);
    visit("ask", a.ask);
    visit("max_tokens", a.maxTokens);
    visit("stop", a.stop);
    visit("round", a.round);
    visit("flip", a.flip);
    visit("skip_nothing", a.skipsNothing);
    visit("skip_copies", a.skipsCopies);
    visit("search", a.searches);
    visit("compare", a.compares);
    visit("mask_row", a.maskRow);
    visit("lens", a.lens);
}

template <typename V> void visitMembers(V& visit, LessonCondition& c) {
    visit("fact", c.fact);
    visit("at_least", c.atLeast);
    visit("at_most", c.atMost);
    visit("is", c.is);
}

template <typename V> void visitMembers(V& visit, LessonAnswer& a) {
    visit("text", a.text);
    visit("right", a.isRight);
    visit("reply", a.reply);
}

template <typename V> void visitMembers(V& visit, LessonCheck& c) {
    visit("question", c.question);
    visit("answers", c.answers);
    visit("conditions", c.conditions);
    visit("right", c.right);
    visit("wrong", c.wrong);
}

template <typename V> void visitMembers(V& visit, LessonStep& s) {
    visit("title", s.title);
    visit("view", s.view);
    visit("prepare", s.prepare);
    visit("button", s.button);
    visit("actions", s.actions);
    visit("check", s.check);
    visit("solution", s.solution);
}

template <typename V> void visitMembers(V& visit, LessonNeeds& n) {
    visit("model", n.model);
    visit("free_sublayers", n.freeSublayers);
    visit("space_model", n.spaceModel);
}

template <typename V> void visitMembers(V& visit, Lesson& l) {
    visit("name", l.name);
    visit("title", l.title);
    visit("summary", l.summary);
    visit("order", l.order);
    visit("minutes", l.minutes);
    visit("source", l.source);
    visit("needs", l.needs);
    visit("steps", l.steps);
}

namespace {

constexpr std::uint64_t kMostLessonBytes = 1'000'000; // of each file
constexpr std::size_t kMostStepText = 20'000;         // bytes
constexpr JsonFileKind kLessonKind = {
    .format = "swift-lesson",
    .version = 1,
    .what = "lesson",
    .hint = "resources/lessons/README.md tells how a lesson is written.",
    .limits = {.maxBytes = kMostLessonBytes, .maxDepth = 12, .maxNodes = 20'000},
    .indent = 2,
    .isStrict = true,
    .fault = ErrorCode::InvalidInput};

struct Section {
    std::string_view title;
    std::string_view text;
};

/// The parts of a Markdown text that begin with "## title"; code between ``` lines is left whole.
std::vector<Section> sectionsOf(std::string_view markdown) {
    std::vector<Section> sections;
    std::size_t begin = 0; // of the present section's text
    bool isCode = false;
    const auto close = [&](std::size_t end) {
        if (sections.empty())
            return;
        std::string_view text = markdown.substr(begin, end - begin);
        while (!text.empty() && (text.front() == '\n' || text.front() == '\r'))
            text.remove_prefix(1);
        while (!text.empty() && (text.back() == '\n' || text.back() == '\r'))
            text.remove_suffix(1);
        sections.back().text = text;
    };
    for (std::size_t at = 0; at < markdown.size();) {
        const std::size_t end = std::min(markdown.find('\n', at), markdown.size());
        std::string_view line = markdown.substr(at, end - at);
        if (!line.empty() && line.back() == '\r')
            line.remove_suffix(1);
        isCode = isCode != line.starts_with("```");
        if (!isCode && line.starts_with("## ")) {
            close(at);
            sections.push_back({line.substr(3), {}});
            begin = std::min(end + 1, markdown.size());
        }
        at = end + 1;
    }
    close(markdown.size());
    return sections;
}

} // namespace

Result<Lesson>
readLesson(std::string_view json, std::string_view markdown, const std::string& where) {
    ENGINE_TRY(Lesson lesson, parseJsonFile<Lesson>(kLessonKind, json, where));
    ENGINE_TRY_DO(checkLesson(lesson, where));
    const std::vector<Section> sections = sectionsOf(markdown);
    for (std::size_t i = 0; i < std::max(lesson.steps.size(), sections.size()); ++i) {
        const auto fault = [&](std::string problem) {
            return Error{ErrorCode::InvalidInput,
                         fmt::format("{}: {}.", where, problem),
                         "Every step has a heading \"## title\" in the Markdown file beside it, in "
                         "the same order and with the same words."};
        };
        if (i >= sections.size())
            return fault(fmt::format(
                "the text of step {}, \"{}\", is missing", i + 1, lesson.steps[i].title));
        if (i >= lesson.steps.size())
            return fault(fmt::format("the text has a part \"{}\" that is no step",
                                     readable(sections[i].title)));
        if (lesson.steps[i].title != sections[i].title)
            return fault(fmt::format("step {} is called \"{}\", but its text \"{}\"",
                                     i + 1,
                                     lesson.steps[i].title,
                                     readable(sections[i].title)));
        if (sections[i].text.empty())
            return fault(fmt::format("step {}, \"{}\", has no text", i + 1, sections[i].title));
        if (sections[i].text.size() > kMostStepText)
            return fault(fmt::format("the text of step {}, \"{}\", has more than {} bytes",
                                     i + 1,
                                     sections[i].title,
                                     kMostStepText));
        ENGINE_TRY_DO(
            checkPlaces(sections[i].text, fmt::format("{}: the text of step {}", where, i + 1)));
        lesson.steps[i].text = sections[i].text;
    }
    return lesson;
}

Result<Lesson> readLessonFile(const std::filesystem::path& json) {
    std::filesystem::path markdown = json;
    markdown.replace_extension(".md");
    ENGINE_TRY(const std::string steps, readTextFile(json, kMostLessonBytes));
    ENGINE_TRY(const std::string text, readTextFile(markdown, kMostLessonBytes));
    return readLesson(steps, text, json.string());
}

} // namespace engine
