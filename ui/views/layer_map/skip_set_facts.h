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

/// How many sublayers two sets have in common. A plain value.
struct SetComparison {
    int both = 0;
    int onlyFirst = 0;
    int onlySecond = 0;

    int hamming() const { return onlyFirst + onlySecond; }

    /// Of two empty sets: 1.
    double jaccard() const;
};

SetComparison compare(const engine::SkipSet& first, const engine::SkipSet& second);

/// The layers that the chosen decoder's skip sets never name, ascending.
std::vector<int> lockedLayers(const RunStore& store, int layerCount);

/// Milliseconds that one skipped sublayer saves in a draft pass, averaged over all that are
/// skipped; none until measured, or when the sets of this run were not of one size.
std::optional<double> savedMsPerSublayer(const RunStore& store);

/// What the layer map shows. A plain value.
struct LayerMapState {
    int layerCount = 0;
    engine::SkipSet skipped;                  ///< including everything after the exit
    std::optional<engine::SkipSet> reference; ///< outlined where `skipped` differs from it
    QString referenceName;                    ///< "live set", "pinned set"
    std::vector<int> lockedLayers;            ///< ascending
    int exitAfterLayer = -1;                  ///< -1: a draft runs to the last layer

    bool operator==(const LayerMapState&) const = default;

    bool differs(const Cell& cell) const;

    bool isLocked(int layer) const;

    bool isBehindExit(int layer) const { return exitAfterLayer >= 0 && layer > exitAfterLayer; }
};

QString sublayerName(Sublayer kind); ///< "attention", "MLP"

/// {"attention":[...],"mlp":[...]} of a set, as the engine reads it.
QString setText(const engine::SkipSet& set);

} // namespace ui
