// SPDX-License-Identifier: Apache-2.0
#include "engine/search/stream/stream_front.h"

#include "engine/search/stream/stream_path.h"

#include <algorithm>
#include <cmath>

namespace engine {

namespace {

/// A dearer sublayer never counts more: a set of more cells costs more to find.
constexpr double kMostWorth = 3.0;

/// Consecutive sublayers of one layer that are left out together.
struct StreamItem {
    int layer = 0;
    bool hasAttention = true;
    bool hasMlp = true;
    int worth = 0; ///< 0 = always runs
};

/// The layers behind the first one, in the order in which they run; the last one always runs.
std::vector<StreamItem>
itemsOf(const ModelConfig& config, StreamItems items, const SublayerWorths& worths) {
    std::vector<StreamItem> made;
    for (int layer = 1; layer + 1 < config.layerCount; ++layer) {
        if (items == StreamItems::Layers) {
            made.push_back({layer, true, true, 1});
            continue;
        }
        made.push_back({layer, true, false, worths.attention});
        made.push_back({layer, false, true, worths.mlp});
    }
    made.push_back({config.layerCount - 1, true, true, 0});
    return made;
}

/// A plan that runs one item only.
LayerPlan only(const StreamItem& item, int layerCount) {
    LayerPlan plan = LayerPlan::full(layerCount);
    const auto layer = static_cast<std::size_t>(item.layer);
    plan.attention.assign(plan.attention.size(), SublayerAction::Skip);
    plan.mlp.assign(plan.mlp.size(), SublayerAction::Skip);
    if (item.hasAttention)
        plan.attention[layer] = SublayerAction::Run;
    if (item.hasMlp)
        plan.mlp[layer] = SublayerAction::Run;
    return plan;
}

/// The passes of a search.
class StreamPasses {
public:
    StreamPasses(Transformer& transformer, KvCache& cache, const StreamTerms& terms)
        : m_transformer(transformer)
        , m_cache(cache)
        , m_terms(terms)
        , m_width(static_cast<std::size_t>(transformer.config().hiddenSize))
        , m_mostRows(std::min(kStreamRows, cache.capacity() - cache.length())) {}

    Position firstPosition() const {
        return m_cache.length() - static_cast<Position>(m_terms.references.size());
    }

    /// The references' streams behind the first layer, one behind the other.
    Result<std::vector<double>> start() {
        const int layerCount = m_transformer.config().layerCount;
        const LayerPlan plan = LayerPlan::full(layerCount);
        const HandOut handOut{0, &m_in};
        for (std::size_t at = 0; at < m_terms.references.size(); ++at) {
            const auto position = firstPosition() + static_cast<Position>(at);
            ENGINE_TRY_DO(runPass({.plan = plan,
                                   .layout = strangers(position, 1),
                                   .tokens = m_terms.references.subspan(at, 1),
                                   .endLayer = 1,
                                   .handOuts = {&handOut, 1}}));
        }
        std::vector<double> streams(m_terms.references.size() * m_width);
        ENGINE_TRY_DO(m_in.read(0, streams));
        return streams;
    }

    /// One item on all cells, token by token. Shapes: cells [n, references, hidden size].
    Result<void> run(const StreamItem& item, std::span<double> cells) {
        const std::size_t references = m_terms.references.size();
        const std::size_t stride = references * m_width;
        const std::size_t count = cells.size() / stride;
        for (std::size_t at = 0; at < references; ++at)
            for (std::size_t first = 0; first < count; first += toRows(m_mostRows)) {
                const std::size_t rows = std::min(toRows(m_mostRows), count - first);
                ENGINE_TRY_DO(runRows(item, at, cells.subspan(first * stride, rows * stride)));
            }
        return {};
    }

private:
    static std::size_t toRows(int rows) { return static_cast<std::size_t>(rows); }

    /// Rows at one position that see the cached keys before it and themselves, not each other.
    AttentionLayout strangers(Position position, std::size_t rows) const {
        const std::vector<int> parents(rows, -1);
        return AttentionLayout::tree(position, parents, 0, m_cache.length());
    }

    /// The rows of one reference token, gathered from the cells and put back.
    Result<void> runRows(const StreamItem& item, std::size_t reference, std::span<double> cells) {
        const std::size_t stride = m_terms.references.size() * m_width;
        const std::size_t rows = cells.size() / stride;
        m_rows.clear();
        for (std::size_t row = 0; row < rows; ++row) {
            const auto stream = cells.subspan(row * stride + reference * m_width, m_width);
            m_rows.insert(m_rows.end(), stream.begin(), stream.end());
        }
        const auto position = firstPosition() + static_cast<Position>(reference);
        const LayerPlan plan = only(item, m_transformer.config().layerCount);
        m_in.clear();
        m_out.clear();
        ENGINE_TRY_DO(m_in.append(m_rows));
        const HiddenPiece in(m_in);
        const HandOut handOut{item.layer, &m_out};
        ENGINE_TRY_DO(runPass({.plan = plan,
                               .layout = strangers(position, rows),
                               .hidden = {&in, 1},
                               .firstLayer = item.layer,
                               .endLayer = item.layer + 1,
                               .handOuts = {&handOut, 1}}));
        ENGINE_TRY_DO(m_out.read(0, m_rows));
        for (std::size_t row = 0; row < rows; ++row)
            std::copy_n(m_rows.begin() + static_cast<std::ptrdiff_t>(row * m_width),
                        m_width,
                        cells.begin() +
                            static_cast<std::ptrdiff_t>(row * stride + reference * m_width));
        return {};
    }

    Result<void> runPass(const ForwardRequest& request) {
        if (m_terms.stop.stop_requested())
            return Error{ErrorCode::Cancelled, "The search for a skip set was cancelled.", ""};
        return m_transformer.forwardInto(request, m_cache, m_pass);
    }

    Transformer& m_transformer;
    KvCache& m_cache;
    const StreamTerms& m_terms;
    std::size_t m_width;
    int m_mostRows;
    std::vector<double> m_rows; // of the newest pass, its memory used again
    HiddenRows m_in;            // what a pass goes on from; at first what the first layer gave
    HiddenRows m_out;           // what it hands out
    ForwardResult m_pass;
};

LayerPlan planWithout(const std::vector<StreamItem>& items,
                      const std::vector<std::uint8_t>& skipped,
                      int layerCount) {
    LayerPlan plan = LayerPlan::full(layerCount);
    for (std::size_t i = 0; i < items.size(); ++i) {
        const auto layer = static_cast<std::size_t>(items[i].layer);
        if (skipped[i] == 0)
            continue;
        if (items[i].hasAttention)
            plan.attention[layer] = SublayerAction::Skip;
        if (items[i].hasMlp)
            plan.mlp[layer] = SublayerAction::Skip;
    }
    return plan;
}

} // namespace

SublayerWorths SublayerWorths::fromCosts(double attention, double mlp) {
    if (attention <= 0.0 || mlp <= 0.0)
        return {};
    const double ratio = std::max(attention, mlp) / std::min(attention, mlp);
    const int dearer = static_cast<int>(std::lround(std::min(ratio, kMostWorth)));
    return mlp >= attention ? SublayerWorths{1, dearer} : SublayerWorths{dearer, 1};
}

int streamWorth(const ModelConfig& config, StreamItems items, const SublayerWorths& worths) {
    int sum = 0;
    for (const StreamItem& item : itemsOf(config, items, worths))
        sum += item.worth;
    return sum;
}

Result<std::vector<StreamPoint>>
streamFront(Transformer& transformer, KvCache& cache, const StreamTerms& terms) {
    const auto references = static_cast<int>(terms.references.size());
    ENGINE_CHECK(references > 0 && references <= cache.length() &&
                     cache.length() < cache.capacity(),
                 "{} references for a cache of {} tokens in {} slots",
                 references,
                 cache.length(),
                 cache.capacity());
    const ModelConfig& config = transformer.config();
    const std::vector<StreamItem> items = itemsOf(config, terms.items, terms.worths);
    const int all = streamWorth(config, terms.items, terms.worths);
    StreamPathOptions options{.weights = {},
                              .most = std::min(terms.most, all),
                              .least = std::max(terms.least, 1),
                              .width = references * config.hiddenSize,
                              .rows = references};
    if (options.most < options.least)
        return std::vector<StreamPoint>();
    for (const StreamItem& item : items)
        options.weights.push_back(item.worth);
    StreamPasses passes(transformer, cache, terms);
    ENGINE_TRY(const std::vector<double> start, passes.start());
    ENGINE_TRY(const StreamPath path,
               StreamPath::find(start, options, [&](int item, std::span<double> cells) {
                   return passes.run(items[static_cast<std::size_t>(item)], cells);
               }));
    std::vector<StreamPoint> front;
    for (int worth = options.least; worth <= path.most(); ++worth)
        if (path.isFilled(worth))
            front.push_back({worth,
                             path.loss(worth) / references,
                             planWithout(items, path.skipped(worth), config.layerCount)});
    return front;
}

} // namespace engine
