// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/plots/figure_table.h"
#include "ui/views/layer_map/skip_set_facts.h"
#include "ui/views/learn/lens/lens_reader.h"

#include <QAbstractTableModel>

#include <optional>
#include <vector>

namespace ui {

/// What the colour of a cell says about the token that stands there in the end.
enum class LensColouring { Probability, Rank, Lead };

/// The worst rank whose colour differs from that of those behind it.
constexpr int kWorstRank = 1000;

/// The share of the scale of a cell in which the token leads, where only that is coloured.
constexpr double kLeadHeat = 0.6;

/// The step of Colours::heat for a share of the scale.
std::size_t heatStep(double heat);

/// What is shown over the colours.
enum class LensOverlay { SkipSet, Exits, Nothing };

/// A cell of the lens: a token of the answer and a depth (see lensDepths).
struct LensPlace {
    int token = 0;
    int depth = 0;

    bool operator==(const LensPlace&) const = default;
};

/// The heat map as a table: two lines a token, behind attention and behind the MLP; columns are the
/// token, the layer behind which it is final, the embedding, and the layers. Thread: UI.
class LensModel : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Column { TokenColumn, FinalColumn, EmbeddingColumn, FirstLayerColumn };

    using QAbstractTableModel::QAbstractTableModel;

    /// Takes over what was read; tokens that are already there stay. Returns whether there was
    /// anything new.
    bool setAnswer(const LensAnswer& answer);

    /// Every how many layers the header has a number.
    void setNumberStep(int layers);

    void setColouring(LensColouring colouring);

    void setOverlay(LensOverlay overlay);

    /// The sublayers that drafts skip now, or that the best set found beside them would.
    void setSkipped(engine::SkipSet skipped, bool isUsed);

    /// [tokens] the layer after which the draft of a token left the network; -1 = it did not.
    void setExits(std::vector<int> exits);

    const LensAnswer& answer() const { return m_answer; }

    int tokenCount() const { return static_cast<int>(m_answer.tokens.size()); }

    int layerCount() const { return m_answer.layerCount(); }

    const engine::LensToken& token(int index) const {
        return m_answer.tokens[static_cast<std::size_t>(index)];
    }

    const engine::LensCell& cell(const LensPlace& place) const {
        return token(place.token).cells[static_cast<std::size_t>(place.depth)];
    }

    QString tokenText(int index) const;

    /// None for the first two columns.
    std::optional<LensPlace> placeOf(const QModelIndex& index) const;

    QModelIndex indexOf(const LensPlace& place) const;

    /// From 0 to 1 by the colouring: the share of the scale.
    double heatOf(const LensPlace& place) const;

    /// The token leads there and at every further depth.
    bool isFinalAt(const LensPlace& place) const;

    bool isHatched(const LensPlace& place) const;

    bool isExit(const LensPlace& place) const;

    /// [layers] tokens that are final behind this layer.
    std::vector<int> finalBy() const;

    /// The layer behind which it is final: "21"; "first" before all layers; "never".
    QString finalText(int index) const;

    /// What the layers show of early exits, and of so many near-silent copies among them; empty
    /// while there is nothing to tell.
    QString finding(int copies) const;

    /// "chlorophyll, layer 21, after the MLP: probability .23, rank 1; final after layer 29".
    QString sentenceOf(const LensPlace& place) const;

    /// One row a token, one column a depth; then what the layers are to all of them.
    FigureTable table() const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;

private:
    void repaint();

    LensAnswer m_answer;
    LensColouring m_colouring = LensColouring::Probability;
    LensOverlay m_overlay = LensOverlay::SkipSet;
    engine::SkipSet m_skipped;
    bool m_isSkipUsed = false;
    std::vector<int> m_exits;
    int m_numberStep = 1;
};

/// "after the MLP of layer 21", "after the embedding".
QString depthText(int depth);

/// A token's text within a sentence or on a button, which it must not widen: some tokens are rules
/// of 64 dashes. Lists have all of it.
QString shortTokenText(const QString& token);

/// [tokens] the layer after which the draft that wrote a token left the network; -1: it did not, or
/// no draft wrote it, or its round is no longer known.
std::vector<int> exitsOf(const Answer& answer, const engine::RoundLog& rounds);

} // namespace ui
