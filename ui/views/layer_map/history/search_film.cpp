// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/layer_map/history/search_film.h"

#include "ui/shell/figure_text.h"
#include "ui/views/layer_map/grid/cell_painter.h"
#include "ui/views/layer_map/grid/grid_geometry.h"
#include "ui/views/layer_map/history/history_painting.h"

#include <QCoreApplication>
#include <QPainter>

#include <algorithm>

namespace ui {

namespace {

constexpr int kWidthAt100 = 960; ///< of a film whose text has 100 %
constexpr int kHeading = 36;     ///< pixels at 100 %
constexpr int kMap = 130;
constexpr int kGapOfMap = 16;
constexpr int kHistory = 330;
constexpr int kFrameMs = 120;
constexpr int kBetterMs = 700; ///< a better set stays longer
constexpr int kEndMs = 3000;

QString say(const char* text) { return QCoreApplication::translate("SearchFilm", text); }

} // namespace

SearchFilm::SearchFilm(const Theme& theme, const RunStore& store, int width)
    : m_columns(historyColumns(store.search())) {
    m_theme.setChoice(theme.lastingChoice());
    m_theme.setTextPercent(width * 100 / kWidthAt100);
    m_size = {width, m_theme.scaled(kHeading + kMap + kGapOfMap + kHistory)};
    if (m_columns.empty())
        return;
    m_state.layerCount = store.search().current()->change.plan.layerCount;
    m_state.lockedLayers = store.lockedLayers(m_state.layerCount);
    m_state.silentCopies = silentCopies(store, m_state.layerCount);
    const int first = m_columns.front().step;
    const int last = std::max(m_columns.back().step, store.search().countedTrials());
    const int stride = std::max(1, (last - first + kMostFrames) / kMostFrames);
    for (int trials = first; trials < last; trials += stride)
        m_moments.push_back(trials);
    m_moments.push_back(last);
}

QString SearchFilm::title() const { return say("the search"); }

int SearchFilm::columnsAt(int index) const {
    const auto next =
        std::ranges::upper_bound(m_columns, trialsAt(index), {}, &HistoryColumn::step);
    return static_cast<int>(next - m_columns.begin());
}

QString SearchFilm::sentence(int index, int columns) const {
    const int trials = trialsAt(index);
    const QString step = say("Search step %1 of %2").arg(trials).arg(m_moments.back());
    const HistoryColumn& best = m_columns[static_cast<std::size_t>(columns - 1)];
    return step + QStringLiteral(" \u00B7 ") + say("best set: %1").arg(columnWords(best));
}

FilmFrame SearchFilm::frame(int index) {
    const int columns = std::max(1, columnsAt(index));
    const std::vector<HistoryColumn> seen(m_columns.begin(), m_columns.begin() + columns);
    LayerMapState state = m_state;
    state.skipped = seen.back().skipped;
    m_model.setState(state);
    const Colours& colours = m_theme.colours();
    QImage picture(m_size, QImage::Format_RGB32);
    picture.fill(colours.panel);
    QPainter painter(&picture);
    const int side = m_theme.scaled(12);
    const QRect whole = picture.rect().adjusted(side, 0, -side, -side);
    QRect heading = whole;
    heading.setHeight(m_theme.scaled(kHeading));
    painter.setFont(m_theme.font(TextRole::Interface));
    painter.setPen(colours.text);
    painter.drawText(heading,
                     Qt::AlignLeft | Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(
                         sentence(index, columns), Qt::ElideRight, heading.width()));
    QRect map = whole;
    map.setTop(heading.bottom() + 1);
    map.setHeight(m_theme.scaled(kMap));
    const GridGeometry grid = GridGeometry::make(m_theme, map, state.layerCount);
    paintGridLabels(painter, grid, m_model, m_theme, std::nullopt);
    for (const Sublayer kind : {Sublayer::Attention, Sublayer::Mlp})
        for (int layer = 0; layer < state.layerCount; ++layer) {
            const Cell cell{kind, layer};
            paintCell(painter, grid.cell(cell), m_model.look(cell), colours);
        }
    QRect below = whole;
    below.setTop(map.bottom() + m_theme.scaled(kGapOfMap));
    // As many columns as there will be, so that none moves.
    const HistoryGeometry history =
        HistoryGeometry::make(m_theme, below, static_cast<int>(m_columns.size()), state.layerCount);
    paintHistoryNames(painter, history, state.layerCount, m_theme);
    paintCellsAsRectangles(painter, history, seen, colours);
    paintMarkers(painter, history, seen, m_theme);
    paintHistoryTexts(painter, history, seen, columns - 1, m_theme);
    paintCurrentColumn(painter, history, columns - 1, colours);
    painter.end();
    const bool isLast = index + 1 == frameCount();
    const bool isBetter = index > 0 && columnsAt(index) > columnsAt(index - 1);
    return {picture, isLast ? kEndMs : isBetter ? kBetterMs : kFrameMs};
}

} // namespace ui
