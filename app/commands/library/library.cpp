// SPDX-License-Identifier: Apache-2.0
#include "app/commands/commands.h"
#include "app/commands/library/library_sets.h"
#include "app/commands/options/output_options.h"
#include "app/program_paths.h"
#include "app/streams/counted.h"
#include "engine/base/time/utc_time.h"
#include "engine/loading/files/readable_text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <set>

namespace app {

using namespace engine;

namespace {

using Json = nlohmann::ordered_json;

/// What any of the sub-commands is given.
struct LibraryOptions {
    ModelOptions model;
    OutputOptions out;
    std::vector<std::string> names; ///< tasks, or sets to compare
    std::vector<std::string> files;
    std::string task;
    bool isPublished = false;
    bool replaces = false;
    bool hasScores = false; ///< of export: the form of the library itself
    bool json = false;
};

using LibraryCommand = Result<void> (*)(const LibraryOptions&, ModelLibrary&, const Console&);

Json setJson(const std::string& task, const StoredSkipSet& stored) {
    return {{"event", "set"},
            {"task", task},
            {"attention", stored.set.attention},
            {"mlp", stored.set.mlp},
            {"score", stored.score},
            {"ratio", stored.skipRatio},
            {"trials", stored.trials},
            {"decoder", stored.decoder},
            {"saved_at", stored.savedAt}};
}

constexpr std::size_t kLengthOfDay = 10; ///< "2026-11-22"

std::string originOf(const StoredSkipSet& stored) {
    const std::string score =
        stored.trials > 0 ? fmt::format("score {:.3f}", stored.score) : "not measured here";
    return fmt::format("{} attention, {} MLP; {}, r {:.2f}, {}, {}, {}",
                       stored.set.attention.size(),
                       stored.set.mlp.size(),
                       score,
                       stored.skipRatio,
                       counted(stored.trials, "trial"),
                       readable(stored.decoder),
                       utcText(stored.savedAt).substr(0, kLengthOfDay));
}

Result<SkipSetLibrary> readNoting(const ModelLibrary& library) {
    ENGINE_TRY(SkipSetLibrary known, library.memory.all());
    for (const auto& [task, error] : known.unusable)
        Console::note(fmt::format("[{}.]", error.message));
    return known;
}

/// A file that cannot be read says so and is no reason to show no sets.
KnownTasks readTasksNoting(const ModelLibrary& library) {
    auto known = library.tasks.all();
    if (!known) {
        Console::note(fmt::format("[{}.]", known.error().message));
        return {};
    }
    for (const Error& error : known.value().unusable)
        Console::note(fmt::format("[{}.]", error.message));
    return std::move(known.value().tasks);
}

void tellLearnt(const Console& console, const std::string& task, const KnownTasks& tasks) {
    if (const auto known = tasks.find(task); known != tasks.end())
        console.jsonLine({{"event", "learnt"},
                          {"task", task},
                          {"prompts", known->second.prompts},
                          {"kept", known->second.vectors.size()},
                          {"met_at", known->second.metAt}});
}

/// "12 prompts learnt"
std::string learntText(const std::string& task, const KnownTasks& tasks) {
    const auto known = tasks.find(task);
    return counted(known == tasks.end() ? 0 : known->second.prompts, "prompt") + " learnt";
}

Result<void>
list(const LibraryOptions& /*options*/, ModelLibrary& library, const Console& console) {
    ENGINE_TRY(const SkipSetLibrary known, readNoting(library));
    const KnownTasks tasks = readTasksNoting(library);
    std::set<std::string> names;
    for (const auto& [task, stored] : known.sets)
        names.insert(task);
    for (const auto& [task, learnt] : tasks)
        names.insert(task);
    std::size_t width = 4;
    for (const std::string& task : names)
        width = std::max(width, readable(task).size());
    for (const std::string& task : names) {
        const auto stored = known.sets.find(task);
        const bool hasSet = stored != known.sets.end();
        if (hasSet)
            console.jsonLine(setJson(task, stored->second));
        tellLearnt(console, task, tasks);
        if (!console.isJson())
            console.line(fmt::format("{:<{}}  {}; {}",
                                     readable(task),
                                     width,
                                     hasSet ? originOf(stored->second) : "no skip set",
                                     learntText(task, tasks)));
    }
    if (known.sets.empty() && !console.isJson())
        console.line("The library of this model holds no skip set yet.");
    return {};
}

/// One line a kind of sublayer: # is skipped, . runs.
std::string gridLine(const std::vector<int>& skipped, int layerCount) {
    std::string line(static_cast<std::size_t>(layerCount), '.');
    for (const int layer : skipped)
        line[static_cast<std::size_t>(layer)] = '#';
    return line;
}

Result<void> show(const LibraryOptions& options, ModelLibrary& library, const Console& console) {
    const std::string& task = options.names.front();
    ENGINE_TRY(const auto stored, library.memory.find(task));
    const KnownTasks tasks = readTasksNoting(library);
    if (!stored && !tasks.contains(task)) {
        ENGINE_TRY_DO(namedSet(library, task)); // a file is no task, but the hint is the same
        return Error{ErrorCode::NotFound,
                     fmt::format("\"{}\" is a file, not a task in the library.", readable(task)),
                     "swift-run library import takes it in; library diff compares files, too."};
    }
    if (stored)
        console.jsonLine(setJson(task, *stored));
    tellLearnt(console, task, tasks);
    if (console.isJson())
        return {};
    console.line(fmt::format("{}: {}; {}",
                             readable(task),
                             stored ? originOf(*stored) : "no skip set",
                             learntText(task, tasks)));
    if (!stored)
        return {};
    const int layers = library.config.layerCount;
    console.line(fmt::format("attention  {}", gridLine(stored->set.attention, layers)));
    console.line(fmt::format("MLP        {}", gridLine(stored->set.mlp, layers)));
    console.line(fmt::format("           # skipped, . runs; layers 0 to {}", layers - 1));
    return {};
}

Result<void> diff(const LibraryOptions& options, ModelLibrary& library, const Console& console) {
    ENGINE_TRY(const NamedSet first, namedSet(library, options.names[0]));
    ENGINE_TRY(const NamedSet second, namedSet(library, options.names[1]));
    const SkipSetComparison found = compareSkipSets(first.set, second.set);
    console.jsonLine({{"event", "diff"},
                      {"first", first.name},
                      {"second", second.name},
                      {"both", found.both},
                      {"only_first", found.onlyFirst},
                      {"only_second", found.onlySecond},
                      {"hamming", found.hamming()},
                      {"jaccard", found.jaccard()}});
    if (console.isJson())
        return {};
    const int layers = library.config.layerCount;
    for (const NamedSet* one : {&first, &second}) {
        console.line(fmt::format(
            "attention  {}  {}", gridLine(one->set.attention, layers), readable(one->name)));
        console.line(fmt::format("MLP        {}", gridLine(one->set.mlp, layers)));
    }
    console.line(fmt::format("Skipped sublayers: {} by both, {} only by the first, {} only by the "
                             "second; Hamming {}, Jaccard {:.2f}",
                             found.both,
                             found.onlyFirst,
                             found.onlySecond,
                             found.hamming(),
                             found.jaccard()));
    return {};
}

/// Stores what is chosen, all of it or nothing.
Result<void> keep(ModelLibrary& library, const SkipSetsByTask& chosen) {
    if (chosen.empty())
        return {};
    ENGINE_TRY(const std::string note, library.memory.store(chosen));
    if (!note.empty())
        Console::note(fmt::format("[{}]", note));
    return {};
}

void reportTask(const Console& console, const std::string& task, const std::string& what) {
    console.jsonLine({{"event", "task"}, {"task", task}, {"what", what}});
    if (!console.isJson())
        console.line(fmt::format("{}: {}", readable(task), what));
}

/// Of a task that both know the better score stays, of equals ours.
Result<void> merge(const LibraryOptions& options, ModelLibrary& library, const Console& console) {
    ENGINE_TRY(const SkipSetLibrary known, readNoting(library));
    SkipSetsByTask chosen;
    std::size_t leftOut = 0;
    for (const std::string& file : options.files) {
        ENGINE_TRY(const SkipSetLibrary owned, readSkipSetLibrary(file, 0)); // of any model
        if (isOfAnotherModel(file, owned, library)) {
            ++leftOut;
            Console::note(fmt::format("[{} is left out: its skip sets are another model's.]",
                                      readable(file)));
            continue;
        }
        ENGINE_TRY(const SkipSetLibrary other, readSkipSetLibrary(file, library.config.layerCount));
        for (const auto& [task, error] : other.unusable)
            Console::note(fmt::format("[{}.]", error.message));
        for (const auto& [task, stored] : other.sets) {
            const auto before = chosen.contains(task) ? chosen.find(task) : known.sets.find(task);
            const bool isKnown = chosen.contains(task) || before != known.sets.end();
            if (!isKnown || stored.score > before->second.score)
                chosen.insert_or_assign(task, stored);
        }
    }
    if (leftOut == options.files.size())
        return Error{ErrorCode::InvalidInput,
                     "No skip set was taken into the library.",
                     fmt::format("The sets of this model are in files called {}.json. If an older "
                                 "file was renamed, give it that name again.",
                                 library.memory.fingerprint())};
    ENGINE_TRY_DO(keep(library, chosen));
    for (const auto& [task, stored] : chosen) {
        const auto before = known.sets.find(task);
        reportTask(console,
                   task,
                   before == known.sets.end() ? fmt::format("added, score {:.3f}", stored.score)
                                              : fmt::format("replaced, score {:.3f} above {:.3f}",
                                                            stored.score,
                                                            before->second.score));
    }
    if (chosen.empty() && !console.isJson())
        console.line("The library has a set of the same score or a better one for every task.");
    return {};
}

/// Of a file, or of an experiment in its folder.
Result<ImportedSets> readFile(const ModelLibrary& library, const std::filesystem::path& file) {
    std::error_code ignored;
    if (std::filesystem::is_directory(file, ignored))
        return setsOfRun(library, file);
    return readSkipSetImport(file, library.config.layerCount, library.memory.fingerprint());
}

Result<ImportedSets> readImports(const LibraryOptions& options, const ModelLibrary& library) {
    if (options.isPublished == !options.files.empty())
        return Error{ErrorCode::InvalidInput,
                     options.isPublished ? "--published and a file were both given."
                                         : "No file was given to import.",
                     "Give a file or the folder of an experiment's run, or --published for the "
                     "sets that the authors published."};
    if (options.isPublished && !options.task.empty())
        return Error{ErrorCode::InvalidInput,
                     "--task names the set of a file, but --published was given.",
                     "Leave --task out: the name of each published set is its task."};
    if (options.isPublished)
        return publishedImport(resourceFolder() / "published_skip_sets.json", library.config);
    ENGINE_TRY(ImportedSets imports, readFile(library, options.files.front()));
    if (options.task.empty())
        return imports;
    if (imports.sets.size() != 1)
        return Error{ErrorCode::InvalidInput,
                     fmt::format("--task names one set, but {} holds {} that fit the model.",
                                 options.files.front(),
                                 imports.sets.size()),
                     "Leave --task out: each entry's name becomes its task."};
    auto only = imports.sets.extract(imports.sets.begin());
    only.key() = options.task;
    imports.sets.insert(std::move(only));
    return imports;
}

Result<void> import(const LibraryOptions& options, ModelLibrary& library, const Console& console) {
    ENGINE_TRY(const SkipSetLibrary known, readNoting(library));
    ENGINE_TRY(ImportedSets imports, readImports(options, library));
    for (const std::string& sentence : imports.leftOut)
        Console::note(fmt::format("[{}]", sentence));
    std::vector<std::string> same;
    for (const auto& [task, stored] : known.sets) {
        const auto offered = imports.sets.find(task);
        if (offered == imports.sets.end())
            continue;
        const bool isMeasured = offered->second.trials > 0;
        const bool isSame = isMeasured ? offered->second == stored
                                       : offered->second.set == stored.set; // says nothing new
        if (isSame)
            same.push_back(task);
        else if (!options.replaces)
            Console::note(fmt::format("[\"{}\" has a set already; --replace takes the new one.]",
                                      readable(task)));
        if (isSame || !options.replaces)
            imports.sets.erase(offered);
    }
    if (imports.sets.empty() && same.empty())
        return Error{ErrorCode::InvalidInput,
                     "No skip set was taken into the library.",
                     "The lines above say why for each entry."};
    ENGINE_TRY_DO(keep(library, imports.sets));
    for (const std::string& task : same)
        reportTask(console, task, "was there already");
    for (const auto& [task, stored] : imports.sets)
        reportTask(console, task, "imported");
    return {};
}

Result<void>
exportSets(const LibraryOptions& options, ModelLibrary& library, const Console& console) {
    ENGINE_TRY(const SkipSetLibrary known, readNoting(library));
    SkipSetLibrary chosen{.sets = {},
                          .model = known.model,
                          .layerCount = library.config.layerCount,
                          .fingerprint = library.memory.fingerprint()};
    for (const auto& [task, stored] : known.sets)
        if (options.names.empty() || std::ranges::find(options.names, task) != options.names.end())
            chosen.sets.emplace(task, stored);
    for (const std::string& name : options.names)
        if (!known.sets.contains(name))
            ENGINE_TRY_DO(namedSet(library, name));
    if (chosen.sets.empty())
        return Error{ErrorCode::InvalidInput,
                     "The library of this model holds no such skip set, so nothing was written.",
                     "swift-run library list shows what it holds."};
    const OutputPlace place =
        outputPlace(options.out, options.model, {}, {}, {}, isSkipSetCollection);
    ENGINE_TRY(
        const std::string text,
        skipSetExport(chosen, options.hasScores ? SkipSetForm::Memory : SkipSetForm::Published));
    ENGINE_TRY_DO(writeOutput(place, text));
    for (const auto& [task, stored] : chosen.sets)
        reportTask(console, task, "exported");
    return {};
}

Result<void> noteChange(const Result<std::string>& changed) {
    ENGINE_TRY(const std::string note, changed);
    if (!note.empty())
        Console::note(fmt::format("[{}]", note));
    return {};
}

Result<void> rename(const LibraryOptions& options, ModelLibrary& library, const Console& console) {
    ENGINE_TRY_DO(noteChange(library.tasks.rename(options.names[0], options.names[1])));
    reportTask(console, options.names[1], fmt::format("was {}", readable(options.names[0])));
    return {};
}

Result<void> forget(const LibraryOptions& options, ModelLibrary& library, const Console& console) {
    ENGINE_TRY_DO(noteChange(library.tasks.forget(options.names.front())));
    reportTask(console, options.names.front(), "its prompts are forgotten");
    return {};
}

/// A sub-command of library.
CLI::App* add(CLI::App& parent,
              const std::string& name,
              const std::string& help,
              const std::shared_ptr<LibraryOptions>& options,
              ChosenCommand& chosen,
              LibraryCommand run) {
    CLI::App* command = parent.add_subcommand(name, help);
    addModelPathOption(*command, options->model);
    addPlantedOption(*command, options->model);
    command->add_flag("--json", options->json, "One JSON object a line");
    command->callback([options, &chosen, run] {
        chosen.json = options->json;
        chosen.run = [options, run](CommandContext& context) -> Result<void> {
            (void)context.interrupt.beginWork();
            ENGINE_TRY(ModelLibrary library, openLibrary(options->model));
            return run(*options, library, context.console);
        };
    });
    return command;
}

} // namespace

void addLibraryCommand(CLI::App& app, ChosenCommand& chosen) {
    CLI::App* command =
        app.add_subcommand("library", "Show, compare and exchange the skip sets of a model");
    command->require_subcommand(1);
    const auto options = std::make_shared<LibraryOptions>();
    add(*command,
        "list",
        "List the sets, one a task, and how many prompts each task has learnt",
        options,
        chosen,
        list);
    add(*command, "show", "Show a task's set, layer by layer", options, chosen, show)
        ->add_option("task", options->names, "The task")
        ->required()
        ->expected(1);
    add(*command, "diff", "Compare two sets: Hamming and Jaccard", options, chosen, diff)
        ->add_option("sets", options->names, "Two sets, each a TASK, FILE or FILE:ENTRY")
        ->required()
        ->expected(2);
    add(*command,
        "merge",
        "Take in the better sets of other libraries of this model",
        options,
        chosen,
        merge)
        ->add_option("files",
                     options->files,
                     "Files of skip-sets/ in another data folder; of a task that both know the "
                     "better score stays")
        ->required();
    CLI::App* import_ = add(*command,
                            "import",
                            "Take in the sets of a file or of an experiment, each as a task",
                            options,
                            chosen,
                            import);
    import_
        ->add_option("file",
                     options->files,
                     "{\"NAME\":{\"attention\":[...],\"mlp\":[...]}}, or the folder of an "
                     "experiment's run")
        ->expected(0, 1);
    import_->add_flag(
        "--published", options->isPublished, "The sets published for models of this size");
    import_->add_option("--task", options->task, "The task of the file's only set");
    import_->add_flag("--replace", options->replaces, "Also where the task has a set already");
    add(*command,
        "rename",
        "Give a task another name for the prompts to come",
        options,
        chosen,
        rename)
        ->add_option(
            "tasks", options->names, "The task and its new name; its skip set keeps the old one")
        ->required()
        ->expected(2);
    add(*command, "forget", "Forget what a task's prompts look like", options, chosen, forget)
        ->add_option("task", options->names, "The task; its skip set stays")
        ->required()
        ->expected(1);
    CLI::App* export_ =
        add(*command, "export", "Write sets into a file", options, chosen, exportSets);
    addOutputOptions(*export_, options->out, "file", "The file to write (JSON)")->required();
    export_->add_option("--task", options->names, "Only this task; may be given several times");
    export_->add_flag("--scores",
                      options->hasScores,
                      "With scores, trials and dates, as the library keeps them, instead of the "
                      "published shape");
}

} // namespace app
