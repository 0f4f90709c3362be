// SPDX-License-Identifier: Apache-2.0
#include "engine/learn/lessons/lesson_check.h"

#include "engine/base/settings.h"
#include "engine/loading/files/readable_text.h"

#include <algorithm>

namespace engine {

namespace {

constexpr std::array<std::string_view, 6> kStops = {
    "draft", "widen", "linearise", "verify", "accept", "search"};
constexpr std::array<std::string_view, 3> kModels = {"any", "default", "planted"};
constexpr std::size_t kMostSteps = 40;
constexpr std::size_t kMostActions = 40; // of a list
constexpr std::size_t kMostChoices = 12; // answers, or conditions
// In characters.
constexpr std::size_t kMostText = 2'000;
constexpr std::size_t kMostTitle = 200; // of a word that names something, too
constexpr std::size_t kMostButton = 40;
constexpr std::size_t kMostQuoted = 60; // of what stands in a message

/// Remembers the first fault; what is asked after it is not looked at.
class LessonLint {
public:
    explicit LessonLint(const std::string& where)
        : m_where(where) {}

    void must(bool holds, const std::string& member, const std::string& rule) {
        if (holds || m_error)
            return;
        m_error = Error{ErrorCode::InvalidInput,
                        fmt::format("{}: the member \"{}\" {}.", m_where, member, rule),
                        "resources/lessons/README.md tells how a lesson is written."};
    }

    template <typename Words>
    void mustBeOneOf(const std::string& word, const Words& words, const std::string& member) {
        const std::vector<std::string> names(words.begin(), words.end());
        const bool isKnown = std::ranges::find(names, word) != names.end();
        const std::string near = isKnown ? "" : nearestName(word, names);
        must(isKnown,
             member,
             fmt::format("is \"{}\", but must be one of {}{}",
                         readable(word, kMostQuoted),
                         fmt::join(names, ", "),
                         near.empty() ? "" : "; did you mean " + near + "?"));
    }

    void text(std::string_view text, const std::string& member) {
        if (auto checked = checkPlaces(text, fmt::format("{}: the member \"{}\"", m_where, member));
            !checked && !m_error)
            m_error = checked.error();
    }

    void atMost(std::size_t count, std::size_t most, const std::string& member) {
        must(count <= most, member, fmt::format("has more than {} entries", most));
    }

    void atMost(std::string_view text, std::size_t most, const std::string& member) {
        const auto characters = std::ranges::count_if(
            text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
        must(static_cast<std::size_t>(characters) <= most,
             member,
             fmt::format("has more than {} characters", most));
    }

    Result<void> result() const { return m_error ? Result<void>(*m_error) : Result<void>(); }

private:
    const std::string& m_where;
    std::optional<Error> m_error;
};

bool hasOnlyBlanks(std::string_view text) {
    return text.find_first_not_of(" \t\n\v\f\r") == text.npos;
}

void lintSizes(LessonLint& lint, const std::vector<LessonAction>& actions, const std::string& at) {
    lint.atMost(actions.size(), kMostActions, at);
    for (const LessonAction& action : actions) {
        for (const std::string* word : {&action.model,
                                        &action.decoder,
                                        &action.stop,
                                        &action.round,
                                        &action.flip,
                                        &action.lens})
            lint.atMost(*word, kMostTitle, at);
        lint.atMost(action.ask, kMostText, at + ".ask");
        lint.atMost(action.compares, kMostText, at + ".compare");
        lint.atMost(action.settings.size(), kMostActions, at + ".settings");
        for (const auto& [name, value] : action.settings) {
            lint.atMost(name, kMostTitle, at + ".settings");
            lint.atMost(value, kMostText, at + ".settings");
        }
    }
}

void lintSizes(LessonLint& lint, const LessonCheck& check, const std::string& at) {
    lint.atMost(check.answers.size(), kMostChoices, at + ".answers");
    lint.atMost(check.conditions.size(), kMostChoices, at + ".conditions");
    lint.atMost(check.question, kMostText, at + ".question");
    lint.atMost(check.right, kMostText, at + ".right");
    lint.atMost(check.wrong, kMostText, at + ".wrong");
    for (const LessonAnswer& answer : check.answers) {
        lint.atMost(answer.text, kMostText, at + ".answers");
        lint.atMost(answer.reply, kMostText, at + ".answers");
    }
    for (const LessonCondition& condition : check.conditions) {
        lint.atMost(condition.fact, kMostTitle, at + ".conditions");
        lint.atMost(condition.is.value_or(""), kMostTitle, at + ".conditions");
    }
}

/// Before anything else is looked at: a file of a stranger's costs no more than its reading.
Result<void> checkSizes(const Lesson& lesson, const std::string& where) {
    LessonLint lint(where);
    lint.atMost(lesson.name, kMostTitle, "name");
    lint.atMost(lesson.title, kMostTitle, "title");
    lint.atMost(lesson.summary, kMostText, "summary");
    lint.atMost(lesson.source, kMostText, "source");
    lint.atMost(lesson.needs.model, kMostTitle, "needs.model");
    for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
        const LessonStep& step = lesson.steps[i];
        const std::string at = fmt::format("steps[{}]", i);
        lint.atMost(step.title, kMostTitle, at + ".title");
        lint.atMost(step.view, kMostTitle, at + ".view");
        lint.atMost(step.button, kMostButton, at + ".button");
        lintSizes(lint, step.prepare, at + ".prepare");
        lintSizes(lint, step.actions, at + ".actions");
        lintSizes(lint, step.solution, at + ".solution");
        if (step.check)
            lintSizes(lint, *step.check, at + ".check");
    }
    return lint.result();
}

void lintAction(LessonLint& lint, const LessonAction& action, const std::string& at) {
    const int verbs = !action.model.empty() + !action.decoder.empty() + !action.ask.empty() +
                      !action.stop.empty() + !action.flip.empty() + action.skipsNothing +
                      action.skipsCopies + action.searches + !action.compares.empty() +
                      (action.maskRow >= 0) + !action.lens.empty();
    lint.must(verbs == 1, at, "must say exactly one thing to do");
    if (!action.model.empty())
        lint.mustBeOneOf(action.model, std::array{"default", "planted"}, at + ".model");
    lint.must(action.settings.empty() || !action.decoder.empty(),
              at + ".settings",
              "belongs to a decoder");
    if (!action.stop.empty())
        lint.mustBeOneOf(action.stop, kStops, at + ".stop");
    lint.must(action.round.empty() || !action.stop.empty(), at + ".round", "belongs to a stop");
    if (!action.round.empty())
        lint.mustBeOneOf(action.round, kLessonRounds, at + ".round");
    if (!action.lens.empty())
        lint.mustBeOneOf(action.lens, std::array{"final"}, at + ".lens");
    lint.must(action.ask.empty() || !hasOnlyBlanks(action.ask), at + ".ask", "has blanks only");
    lint.must(action.compares.empty() || !hasOnlyBlanks(action.compares),
              at + ".compare",
              "has blanks only");
    lint.must(action.maxTokens >= 1 && action.maxTokens <= 512,
              at + ".max_tokens",
              "must lie in 1 to 512");
    if (action.flip.empty())
        return;
    const std::size_t gap = action.flip.find(' ');
    const std::string kind = action.flip.substr(0, gap);
    const std::string layer = gap == action.flip.npos ? "" : action.flip.substr(gap + 1);
    lint.must((kind == "attention" || kind == "mlp") && !layer.empty() && layer.size() <= 4 &&
                  std::ranges::all_of(layer, [](char c) { return c >= '0' && c <= '9'; }),
              at + ".flip",
              "must name a sublayer, as \"attention 12\" or \"mlp 3\"");
}

void lintActions(LessonLint& lint,
                 const std::vector<LessonAction>& actions,
                 const std::string& at) {
    for (std::size_t i = 0; i < actions.size(); ++i)
        lintAction(lint, actions[i], fmt::format("{}[{}]", at, i));
}

void lintCondition(LessonLint& lint, const LessonCondition& condition, const std::string& at) {
    std::vector<std::string> names;
    for (const LessonFactInfo& info : kLessonFacts)
        names.emplace_back(info.name);
    lint.mustBeOneOf(condition.fact, names, at + ".fact");
    const LessonFactInfo* info = lessonFact(condition.fact);
    const bool isWord = info != nullptr && info->unit == FactUnit::Word;
    lint.must(condition.is.has_value() == isWord &&
                  (condition.atLeast || condition.atMost) == !isWord,
              at,
              isWord ? "compares a word, so it must have \"is\" alone"
                     : "compares a number, so it must have \"at_least\", \"at_most\" or both");
    if (condition.fact == "round.stop" && condition.is)
        lint.mustBeOneOf(*condition.is, kStops, at + ".is");
    const bool isShare = info != nullptr && info->unit == FactUnit::Share;
    lint.must(!isShare || condition.atLeast.value_or(0.0) <= 1.0,
              at + ".at_least",
              "can never hold: " + condition.fact + " is a share and never above 1");
    lint.must(condition.atMost.value_or(0.0) >= 0.0,
              at + ".at_most",
              "can never hold: " + condition.fact + " is never below 0");
}

/// Conditions that exclude each other, alone or together.
void lintTogether(LessonLint& lint, const LessonCheck& check, const std::string& at) {
    for (const LessonCondition& low : check.conditions)
        for (const LessonCondition& high : check.conditions) {
            if (low.fact != high.fact)
                continue;
            const bool isGap = low.atLeast && high.atMost && *low.atLeast > *high.atMost;
            lint.must(!isGap && (!low.is || low.is == high.is),
                      at + ".conditions",
                      "can never hold together: those on " + low.fact + " exclude each other");
        }
}

void lintCheck(LessonLint& lint, const LessonStep& step, const std::string& at) {
    const LessonCheck& check = *step.check;
    lint.must(!check.question.empty(), at + ".question", "must be a text");
    lint.text(check.question, at + ".question");
    lint.must(check.answers.empty() != check.conditions.empty(),
              at,
              "must have either \"answers\" or \"conditions\"");
    for (std::size_t i = 0; i < check.answers.size(); ++i) {
        const std::string member = fmt::format("{}.answers[{}]", at, i);
        lint.must(!check.answers[i].text.empty(), member + ".text", "must be a text");
        lint.must(!check.answers[i].reply.empty(), member + ".reply", "must be a text");
        lint.text(check.answers[i].text, member + ".text");
        lint.text(check.answers[i].reply, member + ".reply");
    }
    if (!check.answers.empty()) {
        const auto right = std::ranges::count(check.answers, true, &LessonAnswer::isRight);
        lint.must(right >= 1 && right < std::ssize(check.answers),
                  at + ".answers",
                  "must have a right answer and a wrong one");
        return;
    }
    for (std::size_t i = 0; i < check.conditions.size(); ++i)
        lintCondition(lint, check.conditions[i], fmt::format("{}.conditions[{}]", at, i));
    lintTogether(lint, check, at);
    lint.must(!check.right.empty(), at + ".right", "must be a text");
    lint.must(!check.wrong.empty(), at + ".wrong", "must be a text: a hint");
    lint.text(check.right, at + ".right");
    lint.text(check.wrong, at + ".wrong");
}

bool skipsCopies(const Lesson& lesson) {
    return std::ranges::any_of(lesson.steps, [](const LessonStep& step) {
        return std::ranges::any_of(
            std::array{&step.prepare, &step.actions, &step.solution}, [](const auto* actions) {
                return std::ranges::any_of(*actions, &LessonAction::skipsCopies);
            });
    });
}

void lintStep(LessonLint& lint, const LessonStep& step, const std::string& at) {
    lint.must(!step.title.empty(), at + ".title", "must be a text");
    lint.mustBeOneOf(step.view, kLessonViews, at + ".view");
    lintActions(lint, step.prepare, at + ".prepare");
    lintActions(lint, step.actions, at + ".actions");
    lintActions(lint, step.solution, at + ".solution");
    lint.must(step.button.empty() == step.actions.empty(),
              at + ".button",
              "and \"actions\" belong together");
    if (step.check)
        lintCheck(lint, step, at + ".check");
    lint.must(step.solution.empty() == !(step.check && !step.check->conditions.empty()),
              at + ".solution",
              "must be there where a check has conditions, and only there");
}

bool holds(const LessonCondition& condition, const LessonFacts& facts) {
    const auto known = facts.find(condition.fact);
    if (known == facts.end())
        return false;
    if (const auto* word = std::get_if<std::string>(&known->second))
        return condition.is && *word == *condition.is;
    const double number = std::get<double>(known->second);
    return (!condition.atLeast || number >= *condition.atLeast) &&
           (!condition.atMost || number <= *condition.atMost) && !condition.is;
}

} // namespace

Result<void> checkPlaces(std::string_view text, const std::string& where) {
    for (std::size_t at = 0; (at = text.find("{{", at)) != text.npos;) {
        const std::size_t end = text.find("}}", at);
        const std::string_view name = text.substr(at + 2, end == text.npos ? 0 : end - at - 2);
        if (lessonFact(name) == nullptr)
            return Error{ErrorCode::InvalidInput,
                         fmt::format("{} shows a fact \"{}\" that is not known.",
                                     where,
                                     readable(name, kMostQuoted)),
                         "resources/lessons/README.md names the facts."};
        at = end;
    }
    return {};
}

Result<void> checkLesson(const Lesson& lesson, const std::string& where) {
    ENGINE_TRY_DO(checkSizes(lesson, where));
    LessonLint lint(where);
    lint.must(!lesson.name.empty(), "name", "must be a text");
    lint.must(!lesson.title.empty(), "title", "must be a text");
    lint.must(!lesson.summary.empty(), "summary", "must be a text");
    lint.must(lesson.minutes >= 1 && lesson.minutes <= 120, "minutes", "must lie in 1 to 120");
    lint.mustBeOneOf(lesson.needs.model, kModels, "needs.model");
    lint.must(!lesson.steps.empty() && lesson.steps.size() <= kMostSteps,
              "steps",
              fmt::format("must have 1 to {} steps", kMostSteps));
    for (std::size_t i = 0; i < lesson.steps.size(); ++i)
        lintStep(lint, lesson.steps[i], fmt::format("steps[{}]", i));
    lint.must(lesson.needs.model == "planted" || !skipsCopies(lesson),
              "needs.model",
              "must be \"planted\", because a step skips the copies of the lesson model");
    return lint.result();
}

LessonVerdict
judge(const LessonCheck& check, std::optional<std::size_t> chosen, const LessonFacts& facts) {
    if (check.answers.empty()) {
        const bool isRight = std::ranges::all_of(
            check.conditions, [&](const LessonCondition& each) { return holds(each, facts); });
        return {isRight,
                isRight ? filledIn(check.right, facts) : filledInAsKnown(check.wrong, facts)};
    }
    if (!chosen || *chosen >= check.answers.size())
        return {};
    const LessonAnswer& answer = check.answers[*chosen];
    return {answer.isRight, filledIn(answer.reply, facts)};
}

} // namespace engine
