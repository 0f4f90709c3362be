// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/learn/lessons/lesson_facts.h"

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

// A lesson leads a learner through the real views in steps, each with something to do and a check
// that answers. It is a JSON file, for what happens, beside a Markdown file of the same name, for
// what is read; resources/lessons/README.md tells how to write one. All types are plain values.

/// One thing that a lesson does for the learner: the first member that is set.
struct LessonAction {
    std::string model = {};                           ///< "default" or "planted": loads it
    std::string decoder = {};                         ///< chooses it
    std::map<std::string, std::string> settings = {}; ///< of that decoder, as they are typed
    std::string ask = {};                             ///< sends a prompt in a chat of the lesson's
    int maxTokens = 48;                               ///< of its answer
    std::string stop = {};                            ///< slow motion: goes to a stop ...
    std::string round = {};                           ///< ... of one of kLessonRounds
    std::string flip = {};                            ///< layer map: "attention 12" or "mlp 3"
    bool skipsNothing = false;                        ///< layer map: an empty skip set
    bool skipsCopies = false;                         ///< the same: all copies of the lesson model
    bool searches = false;                            ///< begins the search for a skip set
    std::string compares = {};                        ///< a prompt for the lossless check
    int maskRow = -1;                                 ///< slow motion: selects a row of the mask
    std::string lens = {}; ///< "final": the cell where a token became final earliest
};

/// A condition that a fact fulfils.
struct LessonCondition {
    std::string fact;
    std::optional<double> atLeast = {};
    std::optional<double> atMost = {};
    std::optional<std::string> is = {}; ///< for words
};

struct LessonAnswer {
    std::string text; ///< may hold {{facts}}
    bool isRight = false;
    std::string reply; ///< what is said to who chooses it
};

/// What a learner has to get right before the step counts as done: one of some answers, or
/// conditions that all hold.
struct LessonCheck {
    std::string question;
    std::vector<LessonAnswer> answers = {};
    std::vector<LessonCondition> conditions = {};
    std::string right = {}; ///< conditions: said once they hold
    std::string wrong = {}; ///< conditions: said until then; a hint
};

struct LessonStep {
    std::string title;                      ///< as the heading in the Markdown file
    std::string text;                       ///< Markdown below that heading; may hold {{facts}}
    std::string view;                       ///< what stands beside the text, one of kLessonViews
    std::vector<LessonAction> prepare = {}; ///< done when the step begins
    std::string button = {};                ///< "Ask it"; empty: the step has no button
    std::vector<LessonAction> actions = {}; ///< done when the button is pressed
    std::optional<LessonCheck> check = {};
    std::vector<LessonAction> solution = {}; ///< what makes the conditions of the check hold
};

/// What the loaded model must have.
struct LessonNeeds {
    std::string model = "any";  ///< "any", "default" or "planted": the last two are loaded
    bool freeSublayers = false; ///< some that may be skipped
    bool spaceModel = false;    ///< one trained for SPACE
};

struct Lesson {
    std::string name;    ///< "draft_and_verify", as its files
    std::string title;   ///< "Why the text cannot change"
    std::string summary; ///< a sentence: what one can say afterwards
    int order = 0;       ///< among the lessons, from 1
    int minutes = 10;
    std::string source = {}; ///< where to read on: "Section 3.2 of arXiv 2410.06916"
    LessonNeeds needs = {};
    std::vector<LessonStep> steps;
};

/// What a step may show beside its text: ids of the window's views.
inline constexpr std::array<std::string_view, 13> kLessonViews = {"chat",
                                                                  "slow_motion",
                                                                  "lens",
                                                                  "lossless",
                                                                  "layer_map",
                                                                  "history",
                                                                  "matchness",
                                                                  "draft_tree",
                                                                  "verification_mask",
                                                                  "round",
                                                                  "speed",
                                                                  "latency",
                                                                  "parameters"};

/// Rounds of an answer that a lesson may show: the first one, the one that kept most drafted
/// tokens, the same of those that lost some, the longest draft of which none was kept.
inline constexpr std::array<std::string_view, 4> kLessonRounds = {
    "first", "best", "partly", "wrong"};

/// A lesson of its two texts, every member checked. `where` begins the messages (a path). Errors:
/// CorruptFile for no JSON; InvalidInput naming the member and what it must be, or the step that
/// one of the texts lacks; Unsupported for another version.
Result<Lesson>
readLesson(std::string_view json, std::string_view markdown, const std::string& where);

/// Reads NAME.json and NAME.md beside it. Errors: NotFound, Io, those of readLesson.
Result<Lesson> readLessonFile(const std::filesystem::path& json);

/// How a check stands.
struct LessonVerdict {
    bool isRight = false;
    std::string sentence; ///< to the learner; empty while nothing was answered
};

/// `chosen`: the answer that was chosen, from 0; none: no answer yet, or a check of conditions.
LessonVerdict
judge(const LessonCheck& check, std::optional<std::size_t> chosen, const LessonFacts& facts);

} // namespace engine
