// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/report/analysis/measures/selection_sums.h"
#include "engine/experiments/report/analysis/result_parts.h"
#include "engine/experiments/run/baseline/baseline_blocks.h"
#include "engine/metrics/sample_statistics.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>

namespace engine {

namespace {

std::optional<double> numberOf(const std::string& text) {
    double value = 0.0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    return read.ec == std::errc() && read.ptr == end ? std::optional(value) : std::nullopt;
}

Estimate exactly(double value) { return {value, {}, {}, 1}; }

/// Where prompts and seconds lie on the x axis.
class StreamAxis {
public:
    /// `all`: everything in the stage, in order.
    StreamAxis(const RunData& data, const Selection& all, bool isTime)
        : m_data(data)
        , m_isTime(isTime) {
        for (const AnsweredPrompt* run : all.runs)
            m_places.try_emplace(run->place.prompt, m_places.size() + 1);
    }

    bool isTime() const { return m_isTime; }

    /// The seconds before each shard of a line: its shards are set one behind the other.
    void beginLine(const Selection& selection) {
        m_offsets.clear();
        std::set<int> indexes;
        for (const AnsweredPrompt* run : selection.runs)
            indexes.insert(run->place.shard->index);
        for (const TrialRun* run : selection.trials)
            indexes.insert(run->place.shard->index);
        double seconds = 0.0;
        for (const ShardResult& shard : m_data.shards()) {
            if (!indexes.contains(shard.shard))
                continue;
            m_offsets[shard.shard] = seconds;
            seconds += shard.seconds;
        }
    }

    double at(const RunPlace& place) const {
        if (m_isTime) {
            const auto offset = m_offsets.find(place.shard->index);
            return place.at + (offset == m_offsets.end() ? 0.0 : offset->second);
        }
        const auto found = m_places.find(place.prompt);
        return found == m_places.end() ? 0.0 : static_cast<double>(found->second);
    }

private:
    const RunData& m_data;
    bool m_isTime;
    std::map<int, std::size_t> m_places; // prompt to its place in the stream
    std::map<int, double> m_offsets;     // shard to seconds
};

using Points = std::vector<FigureSeries::Point>;

/// Points of a line, which ends before a speedup that was refused and begins anew behind it.
class BrokenLine {
public:
    explicit BrokenLine(const ResultFigure& figure)
        : m_figure(figure)
        , m_refused(figure.refusedPoints) {}

    void add(double x, Estimate y) {
        const bool isBehindGap = !m_points.empty() && m_figure.refusedPoints != m_refused;
        m_refused = m_figure.refusedPoints;
        m_points.push_back({x, y, isBehindGap});
    }

    Points take() { return std::move(m_points); }

private:
    const ResultFigure& m_figure;
    int m_refused; // of the figure, when the newest point was added
    Points m_points;
};

Points matchnessPoints(const StreamAxis& axis, const Selection& selection, bool isBest) {
    Points points;
    for (const TrialRun* run : selection.trials)
        points.push_back(
            {axis.at(run->place), exactly(isBest ? run->trial->best : run->trial->score)});
    if (points.empty()) {
        for (const PlanRun* run : selection.plans) {
            if (run->plan->score > 0.0)
                points.push_back({axis.at(run->place), exactly(run->plan->score)});
        }
    }
    return points;
}

/// One point a prompt: the seeds of a prompt together.
Points promptPoints(const StreamAxis& axis,
                    const Selection& selection,
                    const std::string& measure,
                    ResultFigure& figure) {
    std::vector<std::pair<double, Selection>> prompts;
    for (const AnsweredPrompt* run : selection.runs) {
        const double x = axis.at(run->place);
        if (axis.isTime() || prompts.empty() || prompts.back().first != x) {
            const auto known =
                axis.isTime() ? prompts.end()
                              : std::find_if(prompts.begin(), prompts.end(), [&](const auto& one) {
                                    return one.first == x;
                                });
            if (known != prompts.end()) {
                known->second.runs.push_back(run);
                continue;
            }
            prompts.emplace_back(x, Selection());
        }
        prompts.back().second.runs.push_back(run);
    }
    BrokenLine line(figure);
    for (const auto& [x, prompt] : prompts) {
        if (auto value = drawnValue(measure, prompt, figure)) {
            value->low = value->high = std::nullopt; // of a prompt's seeds it would mislead
            line.add(x, *value);
        }
    }
    return line.take();
}

/// A point says how fast all prompts up to it were, so it needs a baseline that is steady on them.
Points cumulativePoints(const StreamAxis& axis, const Selection& selection, ResultFigure& figure) {
    BrokenLine line(figure);
    double vanilla = 0.0;
    double own = 0.0;
    std::vector<double> moves; // ascending
    for (const AnsweredPrompt* run : selection.runs) {
        const double reference = msPerToken(run->vanilla);
        const double ms = msPerToken(run->own);
        if (reference <= 0.0 || ms <= 0.0)
            continue;
        vanilla += reference;
        own += ms;
        if (const auto moved = run->vanillaMoved)
            moves.insert(std::upper_bound(moves.begin(), moves.end(), *moved), *moved);
        if (!moves.empty() && !isSteady(medianOf(moves))) {
            ++figure.refusedPoints;
            continue;
        }
        line.add(axis.at(run->place), {vanilla / own, {}, {}, 1});
    }
    return line.take();
}

Points streamPoints(const StreamAxis& axis,
                    const Selection& selection,
                    const std::string& measure,
                    ResultFigure& figure) {
    if (measure == "matchness" || measure == "best_matchness")
        return matchnessPoints(axis, selection, measure == "best_matchness");
    return measure == "cumulative_speedup" ? cumulativePoints(axis, selection, figure)
                                           : promptPoints(axis, selection, measure, figure);
}

/// Along the answers: a point for each round, all answers that have so many together.
Points roundPoints(const Selection& selection, const std::string& measure) {
    std::map<int, DecodeMetrics> sums; // by the round's place in its answer
    for (const RoundRun* run : selection.rounds) {
        DecodeMetrics& sum = sums[run->index];
        ++sum.rounds;
        sum.tokens += static_cast<std::int64_t>(run->round->tokens.size());
        sum.draftSteps += run->round->draftSteps;
        sum.draftLayers += run->round->draftLayers;
        sum.accepted += run->round->accepted;
    }
    Points points;
    for (const auto& [index, sum] : sums)
        if (const auto value = roundMeasure(measure, sum))
            points.push_back(
                {static_cast<double>(index), {*value, {}, {}, static_cast<int>(sum.rounds)}});
    return points;
}

/// A band begins where the task changes.
void addTaskBands(const RunData& data,
                  const StreamAxis& axis,
                  const Selection& selection,
                  ResultFigure& figure) {
    std::string task;
    for (const AnsweredPrompt* run : selection.runs) {
        if (run->place.task == task)
            continue;
        task = run->place.task;
        const double begin = figure.bands.empty() ? 0.0 : axis.at(run->place);
        figure.bands.emplace_back(axis.isTime() ? begin : std::max(begin - 0.5, 0.0),
                                  data.label("task", task));
    }
    // A shuffled stream would be all bands.
    if (figure.bands.size() < 2 || figure.bands.size() > 12)
        figure.bands.clear();
}

/// The phases of a search: a band begins with the first trial of a kind and with the end.
void addPhaseBands(const StreamAxis& axis, const Selection& selection, ResultFigure& figure) {
    static const std::map<std::string_view, std::string> kPhases = {
        {"random", "random"}, {"bayesian", "Bayesian"}, {"influence", "influence"}};
    std::set<std::string_view> seen;
    double end = 0.0;
    for (const TrialRun* run : selection.trials) {
        const auto phase = kPhases.find(run->trial->kind);
        end = std::max(end, axis.at(run->place));
        if (phase != kPhases.end() && seen.insert(run->trial->kind).second)
            figure.bands.emplace_back(figure.bands.empty() ? 0.0 : axis.at(run->place),
                                      phase->second);
    }
    if (!figure.bands.empty() && !selection.runs.empty() &&
        axis.at(selection.runs.back()->place) > end)
        figure.bands.emplace_back(end, "search ended");
    if (figure.bands.size() < 2)
        figure.bands.clear();
}

/// Points along a value of the variants.
Points sweepPoints(const RunData& data,
                   const FigureWish& wish,
                   const std::string& stage,
                   std::initializer_list<const FigureGroup*> groups,
                   const std::string& measure,
                   ResultFigure& figure) {
    BrokenLine line(figure);
    for (const FigureGroup& group : figureGroups(data, wish, wish.x, stage)) {
        const auto x = numberOf(group.group);
        Selection selection = selectAll(data, wish, stage, groups);
        const auto isOther = [&](const auto* item) {
            return groupOf(item->place, wish.x) != group.group;
        };
        std::erase_if(selection.runs, isOther);
        std::erase_if(selection.trials, isOther);
        std::erase_if(selection.plans, isOther);
        if (const auto value = drawnValue(measure, selection, figure); x && value)
            line.add(*x, *value);
    }
    return line.take();
}

} // namespace

void fillLines(const RunData& data, const FigureWish& wish, ResultFigure& figure) {
    const std::string stage = data.stageOf(wish.stage);
    const bool isStream = wish.x == "prompt" || wish.x == "time";
    figure.x.title = wish.x == "prompt"       ? "prompts"
                     : wish.x == "round"      ? "rounds of an answer"
                     : wish.x == "time"       ? "seconds"
                     : wish.x == "parameters" ? "parameters"
                                              : settingName(wish.x);
    figure.x.isLogarithmic = wish.x == "parameters";
    StreamAxis axis(data, data.select(stage, {}, wish.variants), wish.x == "time");
    const std::vector<FigureGroup> series = figureGroups(data, wish, wish.series, stage);
    for (const FigureGroup& panel : figureGroups(data, wish, wish.panels, stage)) {
        FigurePanel made{panel.label, {}, {}, false};
        for (const FigureGroup& one : series) {
            for (const std::string& measure : wish.y) {
                if ((!one.measure.empty() && one.measure != measure) ||
                    (!panel.measure.empty() && panel.measure != measure))
                    continue;
                const std::string heading = measureLabel(measure);
                const bool isOnlyMeasure =
                    wish.y.size() == 1 || !panel.measure.empty() || !one.measure.empty();
                FigureSeries line;
                line.name = one.label.empty() ? heading
                            : isOnlyMeasure   ? one.label
                                              : one.label + ", " + heading;
                if (isStream) {
                    const Selection own = selectAll(data, wish, stage, {&panel, &one});
                    axis.beginLine(own);
                    line.points = streamPoints(axis, own, measure, figure);
                    if (figure.bands.empty() && !own.runs.empty() && wish.panels != "task" &&
                        wish.series != "task")
                        addTaskBands(data, axis, own, figure);
                    if (figure.bands.empty() && axis.isTime())
                        addPhaseBands(axis, own, figure);
                } else if (wish.x == "round") {
                    line.points =
                        roundPoints(selectAll(data, wish, stage, {&panel, &one}), measure);
                } else {
                    line.points = sweepPoints(data, wish, stage, {&panel, &one}, measure, figure);
                }
                if (!line.points.empty())
                    made.series.push_back(std::move(line));
            }
        }
        if (made.series.empty())
            continue;
        // The last of several measures is the one that sums up; lines of groups are alike.
        const bool areMeasures = wish.series.empty() || wish.series == "measure";
        made.series.back().isEmphasised = made.series.size() == 1 || areMeasures;
        if (measureInfo(panel.measure).isOverVanilla)
            made.reference = 1.0;
        figure.panels.push_back(std::move(made));
    }
    if (wish.panels == "measure")
        figure.y.reference = {}; // each lane has its own
}

void fillScatter(const RunData& data, const FigureWish& wish, ResultFigure& figure) {
    const std::string stage = data.stageOf(wish.stage);
    figure.x.title = wish.x == "time" ? "seconds" : "prompts";
    StreamAxis axis(data, data.select(stage, {}, wish.variants), wish.x == "time");
    FigurePanel panel;
    for (const FigureGroup& one : figureGroups(data, wish, wish.series, stage)) {
        for (const std::string& measure : wish.y) {
            const Selection own = selectAll(data, wish, stage, {&one});
            axis.beginLine(own);
            FigureSeries dots{one.label.empty() ? measureLabel(measure) : one.label, {}};
            if (measure == "matchness" || measure == "best_matchness" || wish.x == "prompt") {
                dots.points = streamPoints(axis, own, measure, figure);
                if (figure.bands.empty() && axis.isTime())
                    addPhaseBands(axis, own, figure);
            } else if (const auto value = drawnValue(measure, own, figure)) {
                const auto seconds = measured("search_seconds", own);
                dots.points.push_back({seconds ? seconds->value : 0.0, *value});
            }
            if (!dots.points.empty())
                panel.series.push_back(std::move(dots));
        }
    }
    if (!panel.series.empty())
        figure.panels.push_back(std::move(panel));
}

} // namespace engine
