// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/layer_map/grid/layer_map_model.h"

#include <utility>

namespace ui {

void LayerMapModel::setState(const LayerMapState& state) {
    if (state == m_state)
        return;
    if (state.layerCount != m_state.layerCount || state.lockedLayers != m_state.lockedLayers ||
        state.silentCopies != m_state.silentCopies ||
        state.exitAfterLayer != m_state.exitAfterLayer ||
        state.hasDraftLayer != m_state.hasDraftLayer) {
        beginResetModel();
        m_state = state;
        endResetModel();
        return;
    }
    const LayerMapState before = std::exchange(m_state, state);
    const bool hasOtherName = before.referenceName != state.referenceName;
    for (const Sublayer kind : {Sublayer::Attention, Sublayer::Mlp})
        for (int layer = 0; layer < state.layerCount; ++layer) {
            const Cell cell{kind, layer};
            const bool isOther =
                isSkipped(before.skipped, cell) != isSkipped(state.skipped, cell) ||
                before.differs(cell) != state.differs(cell) ||
                (hasOtherName && state.differs(cell));
            if (isOther)
                emit dataChanged(indexOf(cell), indexOf(cell));
        }
}

QString comparedWords(const CellLook& look) {
    if (look.isSkipped && look.isSkippedBySecond)
        return LayerMapModel::tr("both");
    if (look.isSkipped != look.isSkippedBySecond)
        return look.isSkipped ? LayerMapModel::tr("only A") : LayerMapModel::tr("only B");
    return LayerMapModel::tr("neither");
}

CellLook LayerMapModel::look(const Cell& cell) const {
    if (m_state.isDraftLayer(cell.layer))
        return {.kind = cell.kind, .isDraftLayer = true};
    const bool isCompared = m_state.isComparison && m_state.reference;
    return {.kind = cell.kind,
            .isSkipped = isSkipped(m_state.skipped, cell),
            .isLocked = m_state.isLocked(cell.layer),
            .differs = m_state.differs(cell) && !isCompared,
            .isCopy = m_state.isSilentCopy(cell.layer),
            .isCompared = isCompared,
            .isSkippedBySecond = isCompared && isSkipped(*m_state.reference, cell)};
}

QString LayerMapModel::words(const Cell& cell) const {
    const CellLook known = look(cell);
    if (known.isDraftLayer)
        return tr("Draft layer beside the model, %1, drafts").arg(sublayerName(cell.kind));
    if (known.isCompared)
        return tr("Layer %1, %2, skipped by %3")
            .arg(QString::number(cell.layer), sublayerName(cell.kind), comparedWords(known));
    const QString how = m_state.isBehindExit(cell.layer) ? tr("not run, after the exit")
                        : known.isSkipped                ? tr("skipped")
                        : known.isLocked                 ? tr("kept, locked")
                                                         : tr("kept");
    QString words =
        tr("Layer %1, %2, %3").arg(QString::number(cell.layer), sublayerName(cell.kind), how);
    if (known.isCopy)
        words = tr("%1, silent copy").arg(words);
    return known.differs ? tr("%1, differs from the %2").arg(words, m_state.referenceName) : words;
}

Cell LayerMapModel::cellAt(const QModelIndex& index) {
    return {index.row() == 0 ? Sublayer::Attention : Sublayer::Mlp, index.column()};
}

QModelIndex LayerMapModel::indexOf(const Cell& cell) const {
    return index(cell.kind == Sublayer::Attention ? 0 : 1, cell.layer);
}

int LayerMapModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() || m_state.layerCount == 0 ? 0 : 2;
}

int LayerMapModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : m_state.columnCount();
}

QVariant LayerMapModel::data(const QModelIndex& index, int role) const {
    if (index.isValid() && role == Qt::AccessibleTextRole)
        return words(cellAt(index));
    return {};
}

QVariant LayerMapModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (role != Qt::DisplayRole)
        return {};
    if (orientation == Qt::Horizontal)
        return m_state.isDraftLayer(section) ? QVariant(tr("draft layer")) : QVariant(section);
    return section == 0 ? tr("Attention") : tr("MLP");
}

} // namespace ui
