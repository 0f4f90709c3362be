// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/report/compare_results.h"

#include "engine/experiments/report/analysis/result_parts.h"
#include "engine/experiments/report/write_report.h"
#include "engine/experiments/run/run_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace engine {

namespace {

/// The head of a row: the texts before its first number, or its first "–" that stands for one,
/// joined.
std::string rowName(const std::vector<ResultCell>& row) {
    std::string name;
    for (const ResultCell& cell : row) {
        if (cell.value || cell.text.starts_with("–"))
            break;
        name += (name.empty() ? "" : ", ") + cell.text;
    }
    return name;
}

/// What happened to a number between two results.
enum class Change { Within, Beyond, Unknown };

/// Beyond: the two intervals do not touch. Without intervals nobody can say.
Change changeOf(const Estimate& before, const Estimate& after) {
    if (!before.low || !before.high || !after.low || !after.high)
        return before.value == after.value ? Change::Within : Change::Unknown;
    return *before.low > *after.high || *before.high < *after.low ? Change::Beyond : Change::Within;
}

/// The rows of each name, in their order.
std::map<std::string, std::vector<std::size_t>> rowsByName(const ResultTable& table) {
    std::map<std::string, std::vector<std::size_t>> rows;
    for (std::size_t i = 0; i < table.rows.size(); ++i)
        rows[rowName(table.rows[i])].push_back(i);
    return rows;
}

const ResultTable* tableOf(const ExperimentResult& result, const std::string& id) {
    const auto found = std::find_if(result.tables.begin(),
                                    result.tables.end(),
                                    [&](const ResultTable& table) { return table.id == id; });
    return found == result.tables.end() ? nullptr : &*found;
}

/// The column of another table with the same heading; of several with one heading, that of the same
/// place among them. Their number if there is none.
std::size_t sameColumn(const ResultTable& own, std::size_t column, const ResultTable& other) {
    const std::string& heading = own.columns[column];
    auto place = std::count(
        own.columns.begin(), own.columns.begin() + static_cast<std::ptrdiff_t>(column), heading);
    for (std::size_t i = 0; i < other.columns.size(); ++i)
        if (other.columns[i] == heading && place-- == 0)
            return i;
    return other.columns.size();
}

class ResultComparison {
public:
    ResultTable compare(const ResultTable& before, const ResultTable& after) {
        addColumns("A", before, after);
        addColumns("B", after, before);
        ResultTable table{
            before.id, before.title, {"Row", "Number", "A", "B", "B / A", "Change"}, {}};
        const auto own = rowsByName(before);
        const auto others = rowsByName(after);
        std::map<std::string, std::size_t> seen; // rows of a name so far
        for (const auto& row : before.rows) {
            const std::string name = rowName(row);
            const std::size_t place = seen[name]++;
            const auto other = others.find(name);
            if (other == others.end()) {
                m_missing.push_back(
                    fmt::format("Only A has the row \"{}\" of \"{}\".", name, before.title));
                continue;
            }
            const std::size_t count = own.at(name).size();
            if (other->second.size() == count)
                addRow(table, name, before, row, after, after.rows[other->second[place]]);
            else if (place == 0)
                m_missing.push_back(fmt::format("A has {} and B has {} rows \"{}\" of \"{}\", so "
                                                "they are not compared.",
                                                count,
                                                other->second.size(),
                                                name,
                                                before.title));
        }
        for (const auto& row : after.rows) {
            const std::string name = rowName(row);
            if (!own.contains(name))
                m_missing.push_back(
                    fmt::format("Only B has the row \"{}\" of \"{}\".", name, before.title));
        }
        return table;
    }

    ExperimentVerdict verdict() const {
        ExperimentVerdict verdict;
        verdict.kind = VerdictKind::Finding;
        if (m_compared == 0) {
            verdict.headline = "The two results have no number with an interval in common.";
        } else if (m_moved.empty()) {
            verdict.headline =
                fmt::format("None of {} numbers moved beyond its interval.", m_compared);
        } else {
            verdict.headline = fmt::format(
                "{} of {} numbers moved beyond their intervals.", m_moved.size(), m_compared);
            verdict.cause = m_moved.front();
            if (!m_largest.empty() && m_largest != m_moved.front())
                verdict.cause += fmt::format(" Most of all: {}", m_largest);
        }
        return verdict;
    }

    const std::vector<std::string>& missing() const { return m_missing; }

private:
    /// Columns of numbers that one result alone has, as those of another version.
    void addColumns(const char* owner, const ResultTable& own, const ResultTable& other) {
        for (std::size_t i = 0; i < own.columns.size(); ++i)
            if (hasValues(own, i) && sameColumn(own, i, other) == other.columns.size())
                m_missing.push_back(fmt::format(
                    "Only {} has the column \"{}\" of \"{}\".", owner, own.columns[i], own.title));
    }

    void addRow(ResultTable& table,
                const std::string& name,
                const ResultTable& before,
                const std::vector<ResultCell>& row,
                const ResultTable& after,
                const std::vector<ResultCell>& other) {
        for (std::size_t i = 0; i < row.size() && i < before.columns.size(); ++i) {
            const std::size_t index = sameColumn(before, i, after);
            if (!row[i].value || index >= other.size() || !other[index].value)
                continue;
            const Estimate& a = *row[i].value;
            const Estimate& b = *other[index].value;
            const Change change = changeOf(a, b);
            const bool hasRatio = a.value != 0.0;
            const double ratio = hasRatio ? b.value / a.value : 0.0;
            note(change, name, before.columns[i], row[i].text, other[index].text, ratio);
            table.rows.push_back(
                {{name},
                 {before.columns[i]},
                 row[i],
                 other[index],
                 hasRatio ? ResultCell{fmt::format("{:.3f}", ratio), Estimate{ratio, {}, {}, 0}}
                          : ResultCell{"–"},
                 {change == Change::Beyond   ? b.value > a.value ? "▲ higher" : "▼ lower"
                  : change == Change::Within ? "within"
                                             : "no interval"}});
        }
    }

    void note(Change change,
              const std::string& name,
              const std::string& column,
              const std::string& a,
              const std::string& b,
              double ratio) {
        m_compared += change != Change::Unknown;
        if (change != Change::Beyond)
            return;
        const std::string sentence = fmt::format("{}, {}: {} became {}.", name, column, a, b);
        m_moved.push_back(sentence);
        const double distance = std::max(ratio, ratio > 0.0 ? 1.0 / ratio : 0.0);
        if (distance > m_distance) {
            m_distance = distance;
            m_largest = sentence;
        }
    }

    int m_compared = 0;
    double m_distance = 0.0;
    std::string m_largest;
    std::vector<std::string> m_moved;
    std::vector<std::string> m_missing;
};

/// Facts that differ, or that only one has, say whose they are: "A: ...; B: ...".
void addFacts(const ExperimentResult& before,
              const ExperimentResult& after,
              ExperimentResult& made) {
    const std::map<std::string, std::string> others(after.measured.begin(), after.measured.end());
    for (const auto& [name, value] : before.measured) {
        const auto other = others.find(name);
        if (other == others.end() || other->second == value)
            made.measured.emplace_back(name, other == others.end() ? "A: " + value : value);
        else
            made.measured.emplace_back(name, fmt::format("A: {}; B: {}", value, other->second));
    }
    const std::map<std::string, std::string> known(before.measured.begin(), before.measured.end());
    for (const auto& [name, value] : after.measured)
        if (!known.contains(name))
            made.measured.emplace_back(name, "B: " + value);
}

Result<RunFolder> openRun(const std::filesystem::path& place) {
    std::error_code ignored;
    if (std::filesystem::is_directory(place, ignored))
        return RunFolder::open(place);
    if (place.filename() != "result.json") // a copy does not tell which run it is of
        return Error{
            ErrorCode::InvalidInput,
            fmt::format("{} is not the result.json in the folder of a run.", place.string()),
            "Name the folders of the two runs."};
    return RunFolder::open(place.parent_path());
}

/// Of two runs that were asked the same, wherever they ran.
std::string askedHash(const RunFolder& run) {
    Recipe recipe = run.recipe();
    if (recipe.run) {
        recipe.run->backend.clear();
        recipe.run->backendSettings.clear();
    }
    std::vector<RunModel> models = run.plan().models;
    for (RunModel& model : models)
        model.adapter.clear(); // it decides about speed alone
    return runHashOf(recipe, run.prompts(), models);
}

/// What a part has measured; of a stream also before its end.
Result<ShardResult> measuredBy(const RunFolder& run, int shard) {
    auto result = run.result(shard);
    return result || !run.recipe().isStream ? std::move(result) : run.resultSoFar(shard);
}

/// Counts the answers of two runs by whether their tokens are the same.
class TokenCount {
public:
    TokenCount(const RunFolder& before, const RunFolder& after)
        : m_prompts(before.prompts()) {
        for (const PlannedShard& shard : before.plan().shards) {
            const auto own = measuredBy(before, shard.index);
            const auto others = measuredBy(after, shard.index);
            if (own && others)
                add(own.value(), others.value());
        }
    }

    TokenComparison told() const {
        constexpr std::size_t kMost = 12;
        if (m_compared == 0)
            return {{}, {"The tokens are not compared: no answer is in both runs."}};
        TokenComparison made{m_unequal == 0, {}};
        made.sentences.push_back(
            m_unequal == 0 ? fmt::format("The tokens of A and B are the same ({} of {} answers).",
                                         m_compared,
                                         m_compared)
                           : fmt::format("The tokens of A and B differ (in {} of {} answers).",
                                         m_unequal,
                                         m_compared));
        for (const auto& [prompt, variants] : m_differing) {
            if (made.sentences.size() > kMost)
                break;
            made.sentences.push_back(
                fmt::format("Prompt {} ({}): other tokens by {}.",
                            prompt + 1,
                            readableTask(m_prompts[static_cast<std::size_t>(prompt)].task),
                            joined({variants.begin(), variants.end()})));
        }
        if (m_differing.size() > kMost)
            made.sentences.push_back(
                fmt::format("Prompts that differ besides: {}.", m_differing.size() - kMost));
        return made;
    }

private:
    using Place = std::tuple<std::string, int, int>; // variant, prompt, pass

    static Place placeOf(const ShardAnswer& answer) {
        return {answer.variant, answer.prompt, answer.pass};
    }

    void add(const ShardResult& own, const ShardResult& others) {
        std::map<Place, std::uint64_t> hashes;
        for (const ShardAnswer& answer : others.answers)
            hashes[placeOf(answer)] = answer.tokenHash;
        for (const ShardAnswer& answer : own.answers) {
            const auto other = hashes.find(placeOf(answer));
            if (other == hashes.end())
                continue;
            ++m_compared;
            if (other->second == answer.tokenHash)
                continue;
            ++m_unequal;
            m_differing[answer.prompt].insert(readableName(answer.variant));
        }
    }

    const std::vector<DataRecord>& m_prompts;
    long m_compared = 0;
    long m_unequal = 0;
    std::map<int, std::set<std::string>> m_differing; // by prompt: variants
};

} // namespace

Result<ExperimentResult> compareResults(const ExperimentResult& before,
                                        const ExperimentResult& after) {
    if (before.recipe != after.recipe)
        return Error{ErrorCode::InvalidInput,
                     fmt::format("The results are of two recipes, \"{}\" and \"{}\": their numbers "
                                 "have nothing in common.",
                                 before.recipe,
                                 after.recipe),
                     "Name two results of the same recipe."};
    ExperimentResult made;
    made.recipe = before.recipe;
    made.title = before.title + ", A against B";
    made.source = before.source;
    made.size = before.size == after.size ? before.size : before.size + " and " + after.size;
    made.isComplete = before.isComplete && after.isComplete;
    ResultComparison comparison;
    for (const ResultTable& table : before.tables) {
        const ResultTable* other = tableOf(after, table.id);
        if (!other) {
            made.notes.push_back(fmt::format("Only A has the table \"{}\".", table.title));
            continue;
        }
        ResultTable compared = comparison.compare(table, *other);
        if (!compared.rows.empty())
            made.tables.push_back(std::move(compared));
    }
    for (const ResultTable& table : after.tables)
        if (!tableOf(before, table.id))
            made.notes.push_back(fmt::format("Only B has the table \"{}\".", table.title));
    made.verdict = comparison.verdict();
    made.notes.insert(made.notes.end(), comparison.missing().begin(), comparison.missing().end());
    addFacts(before, after, made);
    return made;
}

TokenComparison compareTokens(const std::filesystem::path& before,
                              const std::filesystem::path& after) {
    const auto first = openRun(before);
    const auto second = openRun(after);
    for (const auto* run : {&first, &second})
        if (!*run)
            return {{}, {"The tokens are not compared: " + run->error().message}};
    if (askedHash(first.value()) != askedHash(second.value()))
        return {{},
                {"The tokens are not compared: the runs differ in their recipe, prompts, seed or "
                 "model."}};
    if (first.value().plan().shards != second.value().plan().shards) // as by another build
        return {{}, {"The tokens are not compared: the runs are cut into other parts."}};
    return TokenCount(first.value(), second.value()).told();
}

} // namespace engine
