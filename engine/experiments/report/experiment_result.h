// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace engine {

// The result of an experiment as people read it: plain values, stored in result.json.

/// A measured value and its 95 % interval over prompts. `count` tells of how many prompts it is; of
/// answers, rounds or trials where these are what is counted.
struct Estimate {
    double value = 0.0;
    std::optional<double> low = {};
    std::optional<double> high = {};
    int count = 0; ///< n; 0 = nothing was counted, as of a paper's own figures
};

/// A cell of a table: text, or a number with the text that shows it.
struct ResultCell {
    std::string text;
    std::optional<Estimate> value = {};
};

struct ResultTable {
    std::string id; ///< also its file's name: "main"
    std::string title;
    std::vector<std::string> columns;
    std::vector<std::vector<ResultCell>> rows; ///< [rows][columns]
    std::string note = {};                     ///< sentence below it
};

/// One series of a figure. A point is (x, y); a category is an index into the axis' names.
struct FigureSeries {
    std::string name;

    struct Point {
        double x = 0.0;
        Estimate y;
        /// No line joins it with the point before: a speedup between them was refused.
        bool isBehindGap = false;
        /// Of a paper's value that belongs to no single place: it holds from x to here.
        std::optional<double> until = {};
    };

    std::vector<Point> points;
    bool isPaper = false; ///< a paper's own figures: faint, never joined to ours
    bool isEmphasised = false;
};

struct FigurePanel {
    std::string title; ///< "Summarization"
    std::vector<FigureSeries> series;
    /// Of a matrix: [rows][columns]; a count of 0 is an empty cell. Of a layer grid: [attention,
    /// MLP][layers], 1 = skipped.
    std::vector<std::vector<Estimate>> cells = {};
    bool isSummary = false; ///< all groups together
    std::optional<double> reference =
        {};                 ///< as FigureAxis::reference, of a lane of its own measure
    std::string group = {}; ///< of a film: whose search, see film/set_film.h
};

enum class FigureKind { Dots, Bars, Lines, Stack, Matrix, LayerGrids };

struct FigureAxis {
    std::string title;
    std::vector<std::string> names = {};  ///< categories; none: numbers
    std::optional<double> reference = {}; ///< a full line: 1.0 of a speedup
    bool isLogarithmic = false;
};

struct ResultFigure {
    std::string id;
    std::string title;
    FigureKind kind = FigureKind::Dots;
    FigureAxis x;
    FigureAxis y;
    std::vector<FigurePanel> panels;                        ///< small multiples with common axes
    std::vector<std::pair<double, std::string>> bands = {}; ///< x where a band begins, its name
    std::string overlayLabel = {};                          ///< "paper, LLaMA-2-13B, RTX A6000"
    std::string note = {};
    int refusedPoints = 0; ///< speedups beside which the baseline moved; the note tells them
};

enum class VerdictKind { Gain, NoGain, Finding, Refused };

/// The band above the pictures. `headline` has the number, `cause` the reason in numbers.
struct ExperimentVerdict {
    VerdictKind kind = VerdictKind::Finding;
    std::string headline;
    std::string cause;
};

/// An answer whose tokens say where they come from.
struct OriginText {
    std::string title; ///< "SWIFT, prompt 3"; with several seeds "SWIFT, prompt 3, seed 1"

    struct Token {
        std::string text; ///< never empty: whole characters, see ShardRound::tokens
        int rank = 0;     ///< 1 = first choice of the draft, 2, ... = sibling, 0 = full model
    };

    std::vector<Token> tokens;
};

struct ExperimentResult {
    std::string recipe; ///< its name
    std::string title;
    std::string source; ///< "Tables 2 and 4 of arXiv 2410.06916"
    std::string size;   ///< "quick", "standard", "paper" or "own"
    ExperimentVerdict verdict;
    std::vector<ResultTable> tables;
    std::vector<ResultFigure> figures;
    std::vector<std::pair<std::string, std::string>>
        measured;                   ///< "Order" to "vanilla, A, A, vanilla", ...
    std::vector<std::string> notes; ///< dropped variants, prompts left out, unequal answers
    bool isComplete = true;         ///< false: merged while shards are missing
    std::vector<OriginText> origins = {};
};

} // namespace engine
