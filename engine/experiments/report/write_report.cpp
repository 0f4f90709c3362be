// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/report/write_report.h"

#include "engine/experiments/report/figures/draw_figure.h"
#include "engine/experiments/report/film/set_film.h"
#include "engine/experiments/report/writers/pdf.h"
#include "engine/experiments/report/writers/svg.h"
#include "engine/loading/files/atomic_file.h"

#include <set>
#include <system_error>

namespace engine {

namespace {

constexpr double kPrintedWidth = 720.0;

Result<void> makeFolder(const std::filesystem::path& folder) {
    std::error_code problem;
    std::filesystem::create_directories(folder, problem);
    if (problem)
        return Error{
            ErrorCode::Io,
            fmt::format("{}: the folder cannot be made: {}.", folder.string(), problem.message()),
            "Choose another folder, or make room for it."};
    return {};
}

} // namespace

Result<void> writeReport(const std::filesystem::path& folder,
                         const ExperimentResult& result,
                         const std::string& configuration,
                         const std::vector<FoundSkipSet>& sets) {
    const std::filesystem::path figures = folder / "figures";
    ENGINE_TRY_DO(makeFolder(folder));
    if (!result.figures.empty())
        ENGINE_TRY_DO(makeFolder(figures));
    for (const ResultFigure& figure : result.figures) {
        const Drawing drawing = drawFigure(figure, {.width = kPrintedWidth});
        ENGINE_TRY(const std::string pdf, pdfDocument(drawing, lightPalette()));
        ENGINE_TRY_DO(writeFileAtomically(figures / (figure.id + ".svg"),
                                          svgDocument(drawing, lightPalette())));
        ENGINE_TRY_DO(writeFileAtomically(figures / (figure.id + ".pdf"), pdf));
        if (!isFilm(figure))
            continue;
        const std::vector<Drawing> frames = filmFrames(figure, {.width = kPrintedWidth});
        const FilmPace pace{filmFrameMs(frames.size()), kFilmEndMs};
        ENGINE_TRY_DO(writeFileAtomically(figures / (figure.id + ".film.svg"),
                                          filmSvgDocument(frames, pace, lightPalette())));
    }
    for (const ResultTable& table : result.tables) {
        ENGINE_TRY_DO(writeFileAtomically(folder / (table.id + ".csv"), tableCsv(table)));
        ENGINE_TRY_DO(writeFileAtomically(folder / (table.id + ".tex"), tableLatex(table)));
    }
    if (!result.origins.empty())
        ENGINE_TRY_DO(writeFileAtomically(folder / "tokens.tex", originsLatex(result.origins)));
    if (!sets.empty())
        ENGINE_TRY_DO(writeFileAtomically(folder / kFoundSetsName, foundSetsJson(sets)));
    ENGINE_TRY_DO(writeFileAtomically(folder / "report.md", reportMarkdown(result, configuration)));
    return writeFileAtomically(folder / "report.html", reportHtml(result, configuration));
}

Result<void> removeOutdated(const std::filesystem::path& folder,
                            const Recipe& recipe,
                            const ExperimentResult& result,
                            const std::vector<FoundSkipSet>& sets) {
    std::set<std::filesystem::path> outdated;
    for (const TableWish& wish : recipe.tables)
        for (const char* ending : {".csv", ".tex"})
            outdated.insert(folder / (wish.id + ending));
    for (const FigureWish& wish : recipe.figures)
        for (const char* ending : {".svg", ".pdf", ".film.svg"})
            outdated.insert(folder / "figures" / (wish.id + ending));
    if (result.origins.empty())
        outdated.insert(folder / "tokens.tex");
    if (sets.empty())
        outdated.insert(folder / kFoundSetsName);
    for (const ResultTable& table : result.tables)
        for (const char* ending : {".csv", ".tex"})
            outdated.erase(folder / (table.id + ending));
    for (const ResultFigure& figure : result.figures)
        for (const char* ending : {".svg", ".pdf", isFilm(figure) ? ".film.svg" : ".svg"})
            outdated.erase(folder / "figures" / (figure.id + ending));
    for (const std::filesystem::path& file : outdated) {
        std::error_code problem;
        std::filesystem::remove(file, problem);
        if (problem)
            return Error{ErrorCode::Io,
                         fmt::format("{} is of an earlier report and cannot be removed: {}.",
                                     file.string(),
                                     problem.message()),
                         "Remove it by hand."};
    }
    return {};
}

} // namespace engine
