// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/bridge/run_store.h"
#include "ui/shell/figure_text.h"

#include <QString>

#include <optional>
#include <vector>

namespace ui {

enum class Sublayer { Attention, Mlp };

/// A sublayer of a model. A plain value.
struct Cell {
    Sublayer kind = Sublayer::Attention;
    int layer = 0;

    bool operator==(const Cell&) const = default;
};

bool isSkipped(const engine::SkipSet& set, const Cell& cell);

/// The set with one sublayer toggled.
engine::SkipSet flipped(engine::SkipSet set, const Cell& cell);

/// How much of a lesson model's near-silent copies a set leaves out. A plain value.
struct CopiesFound {
    int whole = 0;     ///< copies of which both sublayers are skipped
    int half = 0;      ///< copies of which one sublayer is skipped
    int total = 0;     ///< copies of the model
    int originals = 0; ///< skipped sublayers that belong to no copy
};

CopiesFound copiesFound(const engine::SkipSet& set, const std::vector<int>& copies);

/// " · 27 of 30 copies found, 1 more by half, sublayers of originals skipped: 2"; empty without
/// copies.
QString copiesText(const engine::SkipSet& set, const std::vector<int>& copies);

/// " · 3 cells differ from the live set, Jaccard .40".
QString
differenceText(const engine::SkipSet& set, const engine::SkipSet& reference, const QString& name);

/// The near-silent copies of the loaded model, as far as they are layers of a plan of this many;
/// ascending. None if it is not a lesson model.
std::vector<int> silentCopies(const RunStore& store, int layerCount);

/// Milliseconds that one skipped sublayer saves in a draft pass, averaged over all that are
/// skipped; none until measured, or when the sets of this run were not of one size, or when the
/// decoder drafts in other ways, too.
std::optional<double> savedMsPerSublayer(const RunStore& store);

/// How many rounds of an answer were drafted by the layer of a draft adapter. A plain value.
struct AdapterRounds {
    int drafted = 0;
    int all = 0;
};

/// Of the newest answer; as long as it has none such, of the one before, so that the layer does not
/// come and go with each answer.
AdapterRounds adapterRounds(const RunStore& store);

/// What the layer map shows. A plain value.
struct LayerMapState {
    int layerCount = 0;
    engine::SkipSet skipped;                  ///< including everything after the exit
    std::optional<engine::SkipSet> reference; ///< outlined where `skipped` differs from it
    QString referenceName;                    ///< "live set", "pinned set"
    std::vector<int> lockedLayers;            ///< ascending
    std::vector<int> silentCopies = {};       ///< of a lesson model, ascending
    int exitAfterLayer = -1;                  ///< -1: a draft runs to the last layer
    /// Of `skipped`, set A, with `reference`, set B: each cell shows both.
    bool isComparison = false;
    /// A layer beside the model drafts: a column of its own behind the model's layers, numbered on.
    bool hasDraftLayer = false;

    bool operator==(const LayerMapState&) const = default;

    bool differs(const Cell& cell) const;

    bool isLocked(int layer) const;

    bool isSilentCopy(int layer) const;

    bool isBehindExit(int layer) const { return exitAfterLayer >= 0 && layer > exitAfterLayer; }

    bool isDraftLayer(int layer) const { return layer >= layerCount && layer < columnCount(); }

    /// None without layers.
    int columnCount() const {
        return layerCount > 0 && hasDraftLayer ? layerCount + 1 : layerCount;
    }
};

QString sublayerName(Sublayer kind); ///< "attention", "MLP"

/// {"attention":[...],"mlp":[...]} of a set, as the engine reads it.
QString setText(const engine::SkipSet& set);

} // namespace ui
