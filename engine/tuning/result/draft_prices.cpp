// SPDX-License-Identifier: Apache-2.0
#include "engine/tuning/result/draft_prices.h"

#include "engine/base/counter_random.h"
#include "engine/base/to_size.h"

#include <algorithm>
#include <numeric>

namespace engine {

namespace {

constexpr int kMostRows = DraftPrices::kMostDrafted + 1;

/// Behind so many tokens, as in the middle of an answer.
constexpr int kCachedRows = 64;

constexpr int kMostRounds = 30;
constexpr int kFewestRounds = 5;
constexpr double kLongestMs = 3000.0;

double leastOf(const std::vector<double>& samples) {
    return *std::min_element(samples.begin(), samples.end());
}

/// One network and its cache.
class TimedNetwork {
public:
    TimedNetwork(Transformer& network, KvCache cache)
        : m_network(&network)
        , m_cache(std::move(cache))
        , m_plan(LayerPlan::full(network.config().layerCount))
        , m_tokens(toSize(kCachedRows)) {
        const int vocabSize = network.config().vocabSize;
        for (std::size_t i = 0; i < m_tokens.size(); ++i)
            m_tokens[i] = static_cast<TokenId>(i) % vocabSize;
        if (network.config().isDraft()) {
            m_streams.resize(toSize(kCachedRows) * toSize(network.config().hiddenSize));
            for (std::size_t i = 0; i < m_streams.size(); ++i)
                m_streams[i] = counterUniform(1, 0, static_cast<TokenId>(i)) - 0.5;
        }
        m_rowNumbers.resize(toSize(kCachedRows));
        std::iota(m_rowNumbers.begin(), m_rowNumbers.end(), 0);
    }

    Result<void> readTokens() {
        ENGINE_TRY_DO(pass(kCachedRows, 0));
        m_cache.commit(kCachedRows);
        return {};
    }

    /// Of so many rows behind the tokens, with the head of each.
    Result<void> pass(int rows) { return pass(rows, rows); }

private:
    Result<void> pass(int rows, int headRows) {
        const std::size_t width = toSize(m_network->config().hiddenSize);
        return m_network->forwardInto(
            {.plan = m_plan,
             .layout = AttentionLayout::chain(m_cache.length(), rows),
             .tokens = std::span(m_tokens).first(toSize(rows)),
             .streams = m_streams.empty() ? std::span<const double>()
                                          : std::span(m_streams).first(toSize(rows) * width),
             .summaryRows = std::span(m_rowNumbers).first(toSize(headRows))},
            m_cache,
            m_result);
    }

    Transformer* m_network;
    KvCache m_cache;
    LayerPlan m_plan;
    ForwardResult m_result; // kept, so that a pass allocates nothing
    std::vector<TokenId> m_tokens;
    std::vector<double> m_streams; // of a network that drafts
    std::vector<int> m_rowNumbers;
};

Result<TimedNetwork> timed(Transformer& network) {
    ENGINE_TRY(KvCache cache, network.makeCache(kCachedRows + kMostRows));
    TimedNetwork made(network, std::move(cache));
    ENGINE_TRY_DO(made.readTokens());
    return made;
}

/// The acceptance at which a round of so many drafted tokens writes as many tokens as it costs.
std::optional<double> acceptanceFor(double tokens, int drafted) {
    const auto written = [drafted](double acceptance) {
        double sum = 1.0;
        double part = 1.0;
        for (int depth = 0; depth < drafted; ++depth)
            sum += part *= acceptance;
        return sum;
    };
    if (tokens > written(1.0))
        return std::nullopt;
    double low = 0.0;
    double high = 1.0;
    constexpr int kHalvings = 50;
    for (int i = 0; i < kHalvings; ++i) {
        const double middle = (low + high) / 2.0;
        (written(middle) < tokens ? low : high) = middle;
    }
    return high;
}

} // namespace

double DraftPrices::round(int drafted) const {
    return drafted * draft + rows.at(toSize(drafted - 1));
}

bool areCredible(const DraftPrices& prices) {
    constexpr double kNoise = 1.05;
    double fewer = 1.0;
    for (const double price : prices.rows) {
        if (price * kNoise < fewer)
            return false;
        fewer = price;
    }
    return prices.plainMs > 0.0 && prices.draft > 0.0;
}

std::optional<BreakEven> breakEvenOf(const DraftPrices& prices) {
    std::optional<BreakEven> first;
    for (int drafted = 1; drafted <= DraftPrices::kMostDrafted; ++drafted) {
        const auto acceptance = acceptanceFor(prices.round(drafted), drafted);
        if (acceptance && (!first || *acceptance < first->acceptance))
            first = {*acceptance, drafted};
    }
    return first;
}

Result<DraftPrices> measurePrices(Transformer& model,
                                  DraftModel& draft,
                                  const std::function<double()>& nowMs,
                                  const std::stop_token& stop) {
    ENGINE_TRY(TimedNetwork whole, timed(model));
    ENGINE_TRY(TimedNetwork network, timed(*draft.network));
    std::vector<double> draftMs;
    std::array<std::vector<double>, kMostRows> wholeMs;
    const double startMs = nowMs();
    for (int round = 0; round <= kMostRounds; ++round) {
        if (round > kFewestRounds && nowMs() - startMs > kLongestMs)
            break;
        for (int rows = 1; rows <= kMostRows; ++rows) {
            if (stop.stop_requested())
                return Error{ErrorCode::Cancelled, "Measuring was cancelled.", ""};
            const double begin = nowMs();
            for (int depth = 0; depth < DraftPrices::kMostDrafted; ++depth)
                ENGINE_TRY_DO(network.pass(1));
            const double middle = nowMs();
            ENGINE_TRY_DO(whole.pass(rows));
            if (round == 0)
                continue; // everything is cold
            wholeMs.at(toSize(rows - 1)).push_back(nowMs() - middle);
            draftMs.push_back((middle - begin) / DraftPrices::kMostDrafted);
        }
    }
    DraftPrices prices;
    prices.rounds = static_cast<int>(wholeMs[0].size());
    prices.plainMs = leastOf(wholeMs[0]);
    prices.draft = leastOf(draftMs) / prices.plainMs;
    for (std::size_t i = 0; i < prices.rows.size(); ++i)
        prices.rows.at(i) = std::max(1.0, leastOf(wholeMs.at(i + 1)) / prices.plainMs);
    if (!areCredible(prices))
        return Error{ErrorCode::Unsupported,
                     "The computer had too much other work to measure what drafting costs.",
                     ""};
    return prices;
}

DraftAdapter adapterToMeasure(const DraftSizes& sizes, int headTokens) {
    DraftAdapter adapter;
    adapter.sizes = sizes;
    adapter.headIds.resize(toSize(headTokens));
    std::iota(adapter.headIds.begin(), adapter.headIds.end(), 0);
    for (const auto& [network, tensor] : adapterTensors(sizes)) {
        std::vector<float>& numbers = adapter.tensors[network];
        numbers.resize(tensor.count());
        for (std::size_t i = 0; i < numbers.size(); ++i)
            numbers[i] = static_cast<float>(static_cast<int>(i % 31) - 15) / 512.0F;
    }
    return adapter;
}

} // namespace engine
