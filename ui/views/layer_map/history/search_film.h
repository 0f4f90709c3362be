// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/export/film.h"
#include "ui/views/layer_map/grid/layer_map_model.h"
#include "ui/views/layer_map/history/history_columns.h"

#include <vector>

namespace ui {

/// A search as a film: trial by trial the best skip set in the layer map, and below it the history
/// of best sets as far as it has come. Text grows with the width. Thread: UI.
class SearchFilm : public Film {
public:
    /// More trials than this share pictures.
    static constexpr int kMostFrames = 240;

    /// Keeps what the store knows now, and the look that the theme has now.
    SearchFilm(const Theme& theme, const RunStore& store, int width);

    QString title() const override;

    QString fileName() const override { return QStringLiteral("search"); }

    int frameCount() const override { return static_cast<int>(m_moments.size()); }

    FilmFrame frame(int index) override;

    /// Trials that a picture has seen.
    int trialsAt(int index) const { return m_moments.at(static_cast<std::size_t>(index)); }

    /// Best sets by then.
    int columnsAt(int index) const;

private:
    QString sentence(int index, int columns) const;

    Theme m_theme;
    std::vector<HistoryColumn> m_columns;
    std::vector<int> m_moments; ///< [frames] trials
    LayerMapState m_state;
    LayerMapModel m_model;
    QSize m_size;
};

} // namespace ui
