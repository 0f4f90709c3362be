// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/engine_event.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ui {

/// A scored candidate, as a point of the matchness curve. A plain value.
struct TrialPoint {
    int place = 0;      ///< the search step: see SearchLog
    double time = 0.0;  ///< seconds since the session began
    std::string kind;   ///< "start", "random", "bayesian", "rescore", "manual", ...
    bool counts = true; ///< false: it measures the set in use, and is no step of its own
    double score = 0.0;
    double best = 0.0; ///< the best score after this trial
    bool isBest = false;
};

/// The best set, valid from one trial on. A plain value.
struct BestSet {
    int place = 0; ///< the search step that found it; 0 = it was there before the first
    double time = 0.0;
    engine::PlanChanged change;
    std::optional<engine::TrialFinished> trial; ///< the newest trial that measured it; none
                                                ///< while unmeasured
    std::string kind;                           ///< of the first trial that measured it

    void measureBy(const engine::TrialFinished& newest);
};

/// The decoder's phase from one trial on.
struct PhaseSpan {
    int firstPlace = 0; ///< search steps before it
    double time = 0.0;
    engine::DecoderPhase phase = engine::DecoderPhase::Plain;
};

/// What the trials show about one sublayer.
struct SublayerScores {
    std::int64_t skipped = 0; ///< trials that skipped it
    std::int64_t kept = 0;
    double skippedSum = 0.0; ///< of their scores
    double keptSum = 0.0;

    std::optional<double> meanSkipped() const {
        return skipped > 0 ? std::optional(skippedSum / static_cast<double>(skipped))
                           : std::nullopt;
    }

    std::optional<double> meanKept() const {
        return kept > 0 ? std::optional(keptSum / static_cast<double>(kept)) : std::nullopt;
    }
};

/// The searches of a decoder, one for each task: trials, best sets, phases. What it gives belongs
/// to one task, the one that was searched or got a plan last, so that no curve mixes two. It starts
/// again with another model or decoder; only the forecast stays with the model.
///
/// A search step, a set tried and a trial are one thing everywhere in the window: a trial that
/// counts. What only measures the set in use, for the first time or on other tokens, belongs to the
/// step before it; before the first one this is step 0. Thread: UI.
class SearchLog {
public:
    bool apply(const engine::EngineEvent& event);

    /// The task that the following belongs to; empty = it was never named.
    const std::string& task() const { return m_task; }

    /// Tasks that have trials or plans.
    int taskCount() const;

    /// Those that do not count, too.
    const std::vector<TrialPoint>& trials() const { return shown().trials; }

    const std::vector<BestSet>& bestSets() const { return shown().bestSets; }

    const std::vector<PhaseSpan>& phases() const { return shown().phases; }

    /// Number of search steps before each answer began: the borders between instances.
    const std::vector<int>& answerPlaces() const { return shown().answerPlaces; }

    /// The set that drafts use now or, if it was found beside them, the best one so far; null
    /// before the first.
    const BestSet* current() const {
        return shown().bestSets.empty() ? nullptr : &shown().bestSets.back();
    }

    /// The set that drafts use now; null while they use none.
    const BestSet* used() const {
        const BestSet* newest = current();
        return newest == nullptr || newest->change.isBeside ? nullptr : newest;
    }

    /// The best set found beside the drafts, which do not use it; null while there is none.
    const BestSet* foundBeside() const {
        const BestSet* newest = current();
        return newest != nullptr && newest->change.isBeside ? newest : nullptr;
    }

    /// What drafting with the best set found beside the drafts would give; null before it is known.
    const engine::DraftForecast* forecast() const { return m_forecast ? &*m_forecast : nullptr; }

    /// Layers of the sets, 0 before the first.
    int layerCount() const { return static_cast<int>(shown().attention.size()); }

    /// What the search steps show about a layer's attention or MLP: those of earlier searches, with
    /// another r or on an earlier text, are forgotten.
    const SublayerScores& attention(int layer) const {
        return shown().attention[static_cast<std::size_t>(layer)];
    }

    const SublayerScores& mlp(int layer) const {
        return shown().mlp[static_cast<std::size_t>(layer)];
    }

    /// Number of search steps.
    int countedTrials() const { return shown().counted; }

    /// Those of the newest search, which other settings may have begun anew.
    int trialsOfSearch() const { return shown().counted - shown().firstOfSearch; }

private:
    /// The search of one task.
    struct Course {
        std::vector<TrialPoint> trials;
        std::vector<BestSet> bestSets;
        std::vector<PhaseSpan> phases;
        std::vector<int> answerPlaces;
        std::optional<engine::TrialFinished> latest;
        std::vector<SublayerScores> attention;
        std::vector<SublayerScores> mlp;
        int counted = 0;
        int firstOfSearch = 0; // steps before it

        void addTrial(const engine::TrialFinished& trial, double time);
        void addPlan(const engine::PlanChanged& change, double time);
        void beginSearch(const std::string& reason);
        void learn(const engine::TrialFinished& trial);
    };

    const Course& shown() const { return m_courses.at(m_task); }

    void clear();
    void beginAnswer(const std::string& task);
    Course& courseOf(const std::string& task);
    Course& show(const std::string& task);

    std::map<std::string, Course> m_courses = {{std::string(), Course()}}; // by task
    std::string m_task; // of m_courses, the one that is shown
    std::optional<engine::DraftForecast> m_forecast;
    std::string m_answer; // the task of the newest answer: what names no task belongs to it
};

} // namespace ui
