// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/report/analysis/result_parts.h"
#include "engine/experiments/run/baseline/baseline_blocks.h"
#include "engine/metrics/equation_six.h"

#include <fmt/format.h>

#include <algorithm>

namespace engine {

namespace {

constexpr std::string_view kOrigin = "token_origin"; ///< the coloured texts, which no cell holds

bool isEmpty(const Selection& selection) {
    return selection.runs.empty() && selection.trials.empty() && selection.plans.empty();
}

/// The variants of a table but vanilla.
std::vector<std::string>
drafting(const RunData& data, const TableWish& wish, const std::string& stage) {
    std::vector<std::string> names = data.groups(stage, "variant", wish.variants);
    std::erase_if(names, [&](const std::string& name) { return data.variant(name)->isVanilla; });
    return names;
}

std::vector<std::string>
groupingsOf(const RunData& data, const TableWish& wish, const std::string& stage) {
    if (wish.rows == "variant")
        return {"variant"};
    if (wish.rows == "task" && drafting(data, wish, stage).size() <= 1)
        return {"task"};
    if (wish.rows == "task" || wish.rows == "variant_task" || wish.rows == "search")
        return {"task", "variant"};
    return {wish.rows, "variant"};
}

std::string headingOf(const std::string& grouping) {
    if (grouping.starts_with("setting:"))
        return readableName(grouping.substr(8));
    return readableName(grouping);
}

class TableMaker {
public:
    TableMaker(const RunData& data, const TableWish& wish)
        : m_data(data)
        , m_wish(wish)
        , m_stage(wish.rows == "stage" ? "" : data.stageOf(wish.stage))
        , m_groupings(groupingsOf(data, wish, m_stage))
        , m_only(m_groupings == std::vector<std::string>{"task"} ? drafting(data, wish, m_stage)
                                                                 : wish.variants) {}

    ResultTable make() {
        ResultTable table{m_wish.id, m_wish.title, {}, {}, m_wish.note};
        for (const std::string& grouping : m_groupings)
            table.columns.push_back(headingOf(grouping));
        for (const std::string& measure : m_wish.columns) {
            if (measure != kOrigin)
                table.columns.emplace_back(measureInfo(measure).heading);
        }
        if (table.columns.size() == m_groupings.size())
            return table; // the coloured texts stand alone
        if (m_wish.rows == "stage") {
            addStages(table);
        } else {
            addRows(table, 0, {}, {});
            if (m_groupings.size() == 2 && m_groupings[0] == "task" &&
                m_data.groups(m_stage, "task", m_only).size() > 1)
                addRows(table, 1, {}, {{"All tasks", {}}});
        }
        if (m_mostPrompts > 0)
            addNote(table,
                    fmt::format("± is half of the 95 % interval over prompts, n = {}.",
                                m_leastPrompts == m_mostPrompts
                                    ? fmt::to_string(m_mostPrompts)
                                    : fmt::format("{} to {}", m_leastPrompts, m_mostPrompts)));
        if (m_mostPrompts > 0 && m_leastPrompts < kLeastPromptsOfInterval)
            addNote(table,
                    fmt::format("Fewer than {} prompts have no 95 % interval: where n is smaller, "
                                "± is half of their range, or less.",
                                kLeastPromptsOfInterval));
        if (m_hasRefused)
            addNote(table,
                    fmt::format("– with a percentage: vanilla moved by so much between the "
                                "beginning and the end of these prompts, so no speedup is "
                                "printed (limit {:.0f} %). Repeat on a quiet machine.",
                                kBaselineLimit * 100.0));
        if (m_hasDraftsWithoutRatio)
            addNote(table,
                    "– for 1 − r: r is the share of the layers that drafts leave out, and these "
                    "drafts are made otherwise, or only some of them so.");
        return table;
    }

private:
    static void addNote(ResultTable& table, const std::string& sentence) {
        table.note += (table.note.empty() ? "" : " ") + sentence;
    }

    /// Over how many prompts the intervals are.
    void notePrompts(const std::optional<Estimate>& value) {
        if (!value || !value->low || value->count <= 0)
            return;
        m_leastPrompts = m_mostPrompts == 0 ? value->count : std::min(m_leastPrompts, value->count);
        m_mostPrompts = std::max(m_mostPrompts, value->count);
    }

    void addStages(ResultTable& table) {
        std::vector<std::string> stages;
        for (const PlannedShard& shard : m_data.plan().shards) {
            if (std::find(stages.begin(), stages.end(), shard.stage) == stages.end())
                stages.push_back(shard.stage);
        }
        for (const std::string& stage : stages) {
            m_stage = stage;
            addRows(table, 1, {}, {{readableName(stage), {}}});
        }
    }

    /// The rows below the groups that were chosen so far.
    void addRows(ResultTable& table,
                 std::size_t level,
                 const std::vector<Filter>& filters,
                 const std::vector<ResultCell>& head) {
        if (level == m_groupings.size()) {
            addRow(table, filters, head);
            return;
        }
        const std::string& grouping = m_groupings[level];
        for (const std::string& group : m_data.groups(m_stage, grouping, m_only)) {
            std::vector<Filter> narrower = filters;
            narrower.emplace_back(grouping, group);
            std::vector<ResultCell> longer = head;
            longer.push_back({m_data.label(grouping, group), {}});
            addRows(table, level + 1, narrower, longer);
        }
    }

    void
    addRow(ResultTable& table, const std::vector<Filter>& filters, std::vector<ResultCell> row) {
        const Selection selection = m_data.select(m_stage, filters, m_only);
        if (isEmpty(selection) || (m_wish.rows == "search" && selection.trials.empty()))
            return;
        for (const std::string& measure : m_wish.columns) {
            if (measure == kOrigin)
                continue;
            const bool isSoFar = measure == "cumulative_speedup" && m_groupings[0] == "prompt";
            const Selection asked = isSoFar ? soFar(filters) : selection;
            row.push_back(
                measureCell(measure, isSoFar ? ratioOfTimes(asked) : measured(measure, asked)));
            notePrompts(row.back().value);
            if (const auto moved = refusedFor(measure, asked)) {
                row.back().text += fmt::format(" ({:+.1f} %)", *moved * 100.0);
                m_hasRefused = true;
            }
            const bool asksRatio = measure == "c_by_ratio" || measure == "expected_by_ratio";
            m_hasDraftsWithoutRatio |=
                asksRatio && !row.back().value && hasDraftPasses(sumsOf(asked));
        }
        table.rows.push_back(std::move(row));
    }

    /// The prompts up to the one of a row.
    Selection soFar(const std::vector<Filter>& filters) const {
        Selection all = m_data.select(m_stage, std::span(filters).subspan(1), m_only);
        const int last = std::stoi(filters[0].second);
        std::erase_if(all.runs,
                      [&](const AnsweredPrompt* run) { return run->place.prompt > last; });
        return all;
    }

    const RunData& m_data;
    const TableWish& m_wish;
    std::string m_stage;
    std::vector<std::string> m_groupings;
    std::vector<std::string> m_only;
    int m_leastPrompts = 0;
    int m_mostPrompts = 0;
    bool m_hasRefused = false;
    bool m_hasDraftsWithoutRatio = false;
};

} // namespace

ResultTable makeTable(const RunData& data, const TableWish& wish) {
    return TableMaker(data, wish).make();
}

} // namespace engine
