// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/learn/lens/lens_model.h"

#include "ui/origin/token_mark.h"
#include "ui/shell/figure_text.h"
#include "ui/theme/tip_text.h"

#include <algorithm>
#include <cmath>

namespace ui {

using namespace engine;

std::size_t heatStep(double heat) {
    return static_cast<std::size_t>(std::clamp(static_cast<int>(heat * 7.0), 0, 6));
}

QString depthText(int depth) {
    if (depth == 0)
        return LensModel::tr("after the embedding");
    return (isBehindMlp(depth) ? LensModel::tr("after the MLP of layer %1")
                               : LensModel::tr("after the attention of layer %1"))
        .arg(layerOfDepth(depth));
}

QString shortTokenText(const QString& token) {
    constexpr qsizetype kMostLetters = 24;
    return token.size() <= kMostLetters ? token : token.left(kMostLetters - 1) + u'\u2026';
}

bool LensModel::setAnswer(const LensAnswer& answer) {
    const bool isSameAnswer = answer.promptId == m_answer.promptId && tokenCount() > 0;
    const std::size_t known = m_answer.tokens.size();
    if (isSameAnswer && answer.tokens.size() == known) {
        const bool isNew = answer.influenceTokens != m_answer.influenceTokens;
        m_answer.influence = answer.influence;
        m_answer.influenceTokens = answer.influenceTokens;
        return isNew;
    }
    if (isSameAnswer && answer.tokens.size() > known) {
        beginInsertRows({}, rowCount(), 2 * static_cast<int>(answer.tokens.size()) - 1);
        m_answer = answer;
        endInsertRows();
        return true;
    }
    if (tokenCount() == 0 && answer.tokens.empty())
        return false;
    beginResetModel();
    m_answer = answer;
    endResetModel();
    return true;
}

void LensModel::setNumberStep(int layers) {
    if (layers == m_numberStep)
        return;
    m_numberStep = layers;
    if (columnCount() > 0)
        emit headerDataChanged(Qt::Horizontal, FirstLayerColumn, columnCount() - 1);
}

void LensModel::setColouring(LensColouring colouring) {
    m_colouring = colouring;
    repaint();
}

void LensModel::setOverlay(LensOverlay overlay) {
    m_overlay = overlay;
    repaint();
}

void LensModel::setSkipped(SkipSet skipped, bool isUsed) {
    if (skipped == m_skipped && isUsed == m_isSkipUsed)
        return;
    m_skipped = std::move(skipped);
    m_isSkipUsed = isUsed;
    repaint();
}

void LensModel::setExits(std::vector<int> exits) {
    if (exits == m_exits)
        return;
    m_exits = std::move(exits);
    repaint();
}

void LensModel::repaint() {
    if (rowCount() > 0)
        emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
}

QString LensModel::tokenText(int index) const {
    return visibleTokenText(m_answer.textOf(token(index).token));
}

std::optional<LensPlace> LensModel::placeOf(const QModelIndex& index) const {
    if (!index.isValid() || index.column() < EmbeddingColumn)
        return std::nullopt;
    const int layer = index.column() - FirstLayerColumn;
    const int depth = layer < 0 ? 0 : 2 * layer + 1 + index.row() % 2;
    return LensPlace{index.row() / 2, depth};
}

QModelIndex LensModel::indexOf(const LensPlace& place) const {
    if (place.depth == 0)
        return index(2 * place.token, EmbeddingColumn);
    return index(2 * place.token + (isBehindMlp(place.depth) ? 1 : 0),
                 FirstLayerColumn + layerOfDepth(place.depth));
}

/// Ranks on a logarithmic scale: the first is 1, the worst 0.
double LensModel::heatOf(const LensPlace& place) const {
    const LensCell& shown = cell(place);
    switch (m_colouring) {
    case LensColouring::Probability:
        return shown.probability;
    case LensColouring::Rank:
        return std::max(0.0, 1.0 - std::log10(1.0 + shown.rank) / std::log10(kWorstRank));
    case LensColouring::Lead:
        return shown.isInTheLead() ? kLeadHeat : 0.0;
    }
    return 0.0;
}

bool LensModel::isFinalAt(const LensPlace& place) const {
    if (place.token < 0 || place.token >= tokenCount())
        return false;
    const int depth = token(place.token).finalDepth();
    return depth >= 0 && place.depth >= depth;
}

bool LensModel::isHatched(const LensPlace& place) const {
    const Cell sublayer{isBehindMlp(place.depth) ? Sublayer::Mlp : Sublayer::Attention,
                        layerOfDepth(place.depth)};
    return m_overlay == LensOverlay::SkipSet && place.depth > 0 && isSkipped(m_skipped, sublayer);
}

bool LensModel::isExit(const LensPlace& place) const {
    const auto index = static_cast<std::size_t>(place.token);
    return m_overlay == LensOverlay::Exits && index < m_exits.size() && m_exits[index] >= 0 &&
           place.depth == 2 * m_exits[index] + 2;
}

std::vector<int> LensModel::finalBy() const {
    std::vector<int> counts(static_cast<std::size_t>(layerCount()), 0);
    for (const LensToken& each : m_answer.tokens) {
        const int depth = each.finalDepth();
        for (int layer = 0; depth >= 0 && layer < layerCount(); ++layer)
            counts[static_cast<std::size_t>(layer)] += depth <= 2 * layer + 2 ? 1 : 0;
    }
    return counts;
}

QString LensModel::finalText(int index) const {
    const int depth = token(index).finalDepth();
    if (depth < 0)
        return tr("never");
    return depth == 0 ? tr("first") : QString::number(layerOfDepth(depth));
}

QString LensModel::sentenceOf(const LensPlace& place) const {
    const LensCell& shown = cell(place);
    QString sentence = tr("%1, %2: probability %3, rank %4")
                           .arg(tokenText(place.token),
                                depthText(place.depth),
                                shareText(shown.probability),
                                QString::number(shown.rank + 1)); // at once: a token may be "%3"
    const int depth = token(place.token).finalDepth();
    sentence = depth < 0 ? tr("%1; it does not lead in the end").arg(sentence)
                         : tr("%1; final %2").arg(sentence, depthText(depth));
    if (isHatched(place))
        sentence = (m_isSkipUsed ? tr("%1; skipped in drafts")
                                 : tr("%1; skipped by the best set found, which no draft uses"))
                       .arg(sentence);
    if (isExit(place))
        sentence = tr("%1; the draft left the network here").arg(sentence);
    return sentence;
}

FigureTable LensModel::table() const {
    FigureTable figure{{tr("token"), tr("final after"), tr("embedding")}, {}};
    for (int layer = 0; layer < layerCount(); ++layer)
        figure.header << tr("%1 attention").arg(layer) << tr("%1 MLP").arg(layer);
    for (int index = 0; index < tokenCount(); ++index) {
        QStringList row{tokenText(index), finalText(index)};
        for (const LensCell& each : token(index).cells)
            row << numberCell(each.probability);
        figure.rows.push_back(row);
    }
    if (tokenCount() > 0) {
        QStringList counts{tr("final by here"), QString(), QString()};
        for (const int count : finalBy()) // behind the MLP of each layer
            counts << QString() << QString::number(count);
        figure.rows.push_back(counts);
    }
    if (m_answer.influence.empty())
        return figure;
    QStringList influence{tr("influence"), QString(), QString()};
    const auto layers = static_cast<std::size_t>(layerCount());
    for (std::size_t layer = 0; layer < layers; ++layer)
        influence << numberCell(m_answer.influence[layer])
                  << numberCell(m_answer.influence[layers + layer]);
    figure.rows.push_back(influence);
    return figure;
}

int LensModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : 2 * tokenCount();
}

int LensModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() || layerCount() == 0 ? 0 : FirstLayerColumn + layerCount();
}

QVariant LensModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid())
        return {};
    if (role == Qt::ToolTipRole)
        return tipOf(data(index, Qt::AccessibleTextRole).toString());
    const int at = index.row() / 2;
    if (const auto place = placeOf(index))
        return role == Qt::AccessibleTextRole ? sentenceOf(*place) : QVariant();
    const bool isToken = index.column() == TokenColumn;
    if (role == Qt::DisplayRole)
        return isToken ? tokenText(at) : finalText(at);
    if (role == Qt::AccessibleTextRole)
        return isToken ? tokenText(at) : tr("final after: %1").arg(finalText(at));
    return {};
}

QVariant LensModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case TokenColumn:
        return tr("Token");
    case FinalColumn:
        return tr("Final");
    case EmbeddingColumn:
        return tr("E");
    default:
        break;
    }
    const int layer = section - FirstLayerColumn;
    return layer % m_numberStep == 0 ? QString::number(layer) : QString();
}

Qt::ItemFlags LensModel::flags(const QModelIndex& index) const {
    if (!index.isValid())
        return Qt::NoItemFlags;
    return placeOf(index) ? Qt::ItemIsEnabled | Qt::ItemIsSelectable : Qt::ItemIsEnabled;
}

QString LensModel::finding(int copies) const {
    const int layers = layerCount();
    if (tokenCount() == 0 || layers < 3)
        return {};
    const std::vector<int> counts = finalBy();
    const auto at = [&](int layer) { return counts[static_cast<std::size_t>(layer)]; };
    QString sentence = countText(tokenCount(),
                                 tr("After layer %1 the token that was written leads for good in "
                                    "%2 of 1 place, after layer %3 in %4."),
                                 tr("After layer %2 the token that was written leads for good in "
                                    "%3 of %1 places, after layer %4 in %5."))
                           .arg(layers * 2 / 3)
                           .arg(at(layers * 2 / 3))
                           .arg(layers - 2)
                           .arg(at(layers - 2));
    sentence += ' ';
    sentence += 2 * at(layers * 2 / 3) >= tokenCount()
                    ? tr("Much of the network only confirms: an early exit can draft here.")
                    : tr("Most tokens are decided late: an early exit would often be wrong.");
    if (copies > 0)
        sentence +=
            ' ' + countText(copies,
                            tr("1 layer is a near-silent copy: behind it nothing changes."),
                            tr("%1 layers are near-silent copies: behind them nothing changes."));
    return sentence;
}

std::vector<int> exitsOf(const Answer& answer, const RoundLog& rounds) {
    std::vector<int> exits;
    for (const AnswerToken& token : answer.tokens) {
        exits.push_back(-1);
        const bool isDrafted =
            token.fact.origin == TokenOrigin::Draft || token.fact.origin == TokenOrigin::Sibling;
        const RoundGround* round = rounds.find(answer.promptId, token.step);
        if (isDrafted && round != nullptr && round->plan != nullptr &&
            round->plan->exitAfterLayer < round->plan->layerCount - 1)
            exits.back() = round->plan->exitAfterLayer;
    }
    return exits;
}

} // namespace ui
