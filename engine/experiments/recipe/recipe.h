// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

// A recipe says what an experiment runs and which tables, figures and sentences are made of it. It
// is a JSON file (resources/recipes, or a user's .swiftexp); all types here are plain values.

/// Settings of a decoder as they are typed: "0.45", "on". Several values of one setting make a
/// variant for each.
using RecipeSettings = std::map<std::string, std::vector<std::string>>;

/// An offline search for a skip set, instead of answers.
struct RecipeSearch {
    std::string method;  ///< "random" or "bayes" by matchness, "self_sd" by decoding
    int trials = 100;    ///< without the sets that are tried first
    int maxTokens = 32;  ///< of each prompt's answer
    double ratio = 0.45; ///< random, bayes: share of the searchable sublayers to skip
    bool byTime = true;  ///< self_sd: maximise tokens per second; false: counted passes
};

/// One decoder with its settings, or one search.
struct RecipeVariant {
    std::string name;
    std::string decoder; ///< empty for a search
    RecipeSettings settings = {};
    std::optional<RecipeSearch> search = {};
    /// The variant of an earlier stage whose last set it drafts with (start=manual); empty: none.
    std::string setFrom = {};
    /// Of which task: "own" = that of the shard, "each" = of each task, one variant for each,
    /// "first" = the first task of the run, or a task's name.
    std::string setTask = "own";
};

struct RecipeSampling {
    double temperature = 0.0; ///< 0 = greedy
    double topP = 1.0;
    int topK = 0; ///< 0 = off
};

/// A part of a run that needs what earlier stages have found. A simple recipe has one.
struct RecipeStage {
    std::string name;
    std::vector<RecipeVariant> variants;
    bool hasBaseline = true;       ///< vanilla runs in every shard
    bool isTwice = true;           ///< every prompt in the variants' order, then in reverse order
    bool isSplitByTask = true;     ///< a shard holds prompts of one task
    bool isSplitByVariant = false; ///< a shard holds one variant and vanilla
    bool isForFirstTask = false;   ///< asks prompts of the data's first task that is run, alone
    bool reusesPrompts = false;    ///< asks the prompts of the stage before, not the next ones
    std::optional<int> maxTokens = {}; ///< instead of the size's
    RecipeSampling sampling = {};
};

/// Continuations of a prompt, and tokens of each, at most; also of what is read from a run folder.
inline constexpr int kMostDraws = 10'000;
inline constexpr int kMostDrawTokens = 64;

/// How much is run.
struct RecipeSize {
    /// Of each task and stage, by the stage's name; "" = of any other stage. 0 = all there are.
    std::map<std::string, int> promptsPerTask = {};
    int maxTokens = 64; ///< of each turn
    int seeds = 1;
    /// How often each prompt of a stage that samples is continued once more, by vanilla and by
    /// every variant, each time under a seed of its own: for tests of their distributions.
    int draws = 0;
    int drawTokens = 8;                                  ///< of each such continuation
    int mostTasks = 0;                                   ///< 0 = all
    std::map<std::string, RecipeSettings> settings = {}; ///< by variant, over those of the recipe
    std::map<std::string, int> trials = {};              ///< by variant that searches
    std::vector<std::string> variants = {};              ///< only these; empty = all

    int promptsFor(const std::string& stage) const;

    /// The continuations of a prompt in a stage; 0 in one that is greedy.
    int drawsIn(const RecipeStage& stage) const {
        return stage.sampling.temperature > 0.0 ? draws : 0;
    }
};

/// A table that the report shows.
struct TableWish {
    std::string id;
    std::string title;
    std::string rows; ///< "variant", "task", "variant_task", "prompt", "search", "stage"
    std::vector<std::string> columns;       ///< measures, see measureInfo()
    std::vector<std::string> variants = {}; ///< only these; empty = all
    std::string stage = {};                 ///< of whose shards; empty = the last one
    std::string note = {};                  ///< sentence below it
};

/// A figure that the report shows.
struct FigureWish {
    std::string id;
    std::string title;
    std::string kind; ///< "dots", "bars", "lines", "stack", "matrix", "layer_grids"
    /// "task", "variant", "prompt", "round" (of an answer, of kept rounds), "time" (seconds), "set"
    /// (the task whose set is used), "parameters", or "setting:NAME".
    std::string x;
    std::vector<std::string> y; ///< measures; several: a series (or a part of a stack) for each
    std::string series = {};    ///< "variant", "task", "measure", "setting:NAME"; empty = one
    std::string panels = {};    ///< "task", "variant", "measure"; empty = one
    std::vector<std::string> variants = {}; ///< only these; empty = all
    std::string stage = {};                 ///< of whose shards; empty = the last one
    std::string note = {};
};

/// A number that a paper prints.
struct OverlayValue {
    std::string measure;
    std::string variant;
    std::string task = {}; ///< empty = all tasks of the paper together
    double value = 0.0;
    /// Of a sweep: the setting's value; of "time": seconds. None: the value holds along the whole
    /// axis, or along the band of its task.
    std::optional<double> x = {};
};

/// A paper's own numbers, shown faintly and never joined to ours.
struct RecipeOverlay {
    std::string label; ///< "paper, LLaMA-2-13B, RTX A6000"
    std::vector<OverlayValue> values;
};

/// What the sentence above the pictures decides.
struct VerdictWish {
    /// "gain": is `variant` faster than vanilla; "better": does `variant` have a higher `measure`
    /// than `against`; "diagonal": does each task's own set beat the others; "equal": are all
    /// tokens vanilla's, and their distributions where they were drawn; "share": the part of the
    /// time that `measure` takes; "best": which variant (or value of the setting `along`) has the
    /// highest `measure`; "drift": does `against` lose more of its acceptance than `variant` behind
    /// the first task; "none".
    std::string kind = "gain";
    std::string measure = "speedup";
    std::string variant = {};
    std::string against = "vanilla";
    std::string along = {};
};

/// How a recipe was asked to run: the options of the command, kept so that the folder alone is
/// enough to run it again.
struct RunOptions {
    std::string size;                     ///< "quick", "standard", "paper" or "own"
    std::uint64_t seed = 1;               ///< of the first repetition
    std::vector<std::string> models = {}; ///< paths, the first is the main one; empty: the default
    bool isPlanted = false;
    std::string backend = {};
    std::map<std::string, std::string> backendSettings = {}; ///< as typed
    int context = 0; ///< 0 = the smaller of the model's and 8192
    bool isRaw = false;
    std::string draftAdapter = {}; ///< path, or "none"; empty: the one kept for the model
};

struct Recipe {
    std::string name;        ///< "main_comparison"
    std::string title;       ///< "Main comparison"
    std::string source;      ///< "Tables 2 and 4 of arXiv 2410.06916"
    std::string summary;     ///< a sentence: what it shows
    std::string caveat = {}; ///< a sentence that stands beside the result
    /// A stream: one pass over the prompts, vanilla before or after the variant in turn; it goes on
    /// behind the last finished prompt.
    bool isStream = false;
    std::string order = {};                  ///< of the prompts: a DataOrder's name
    std::vector<std::string> tasks = {};     ///< must be in the data; empty = those of the data
    std::vector<std::string> preferred = {}; ///< tasks that are taken first if the data has them
    std::vector<RecipeStage> stages;
    bool keepsTexts = false;  ///< ShardAnswer::text
    bool keepsRounds = false; ///< ShardResult::rounds
    int leastModels = 1;
    std::map<std::string, RecipeSize> sizes;
    std::vector<TableWish> tables = {};
    std::vector<FigureWish> figures = {};
    std::vector<RecipeOverlay> overlays = {};
    VerdictWish verdict = {};
    std::optional<RunOptions> run = {}; ///< only in a run folder's recipe.json

    /// Null if there is none of this name.
    const RecipeStage* stage(const std::string& name) const;
};

/// The recipe with one size alone, its settings, trials and choice of variants put in; `run` is
/// set. Errors: InvalidInput for a size that it does not have, with those it has, and for a recipe
/// that would be longer than kMostRecipeBytes.
Result<Recipe> recipeOfSize(const Recipe& recipe, const RunOptions& run);

/// A recipe has at most this many bytes, also in a run folder.
inline constexpr std::uint64_t kMostRecipeBytes = 1'000'000;

/// Reads a recipe and checks every member. `where` begins the messages (a path). Errors:
/// CorruptFile for no JSON; InvalidInput naming the wrong member, what it must be, and the byte.
Result<Recipe> readRecipe(std::string_view text, const std::string& where);

/// Reads a recipe's file of at most 1 MB. Errors: NotFound, Io, those of readRecipe.
Result<Recipe> readRecipeFile(const std::filesystem::path& path);

/// The recipe as JSON that readRecipe() reads back; equal recipes give equal bytes.
std::string recipeJson(const Recipe& recipe);

} // namespace engine
