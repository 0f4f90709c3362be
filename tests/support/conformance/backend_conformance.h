// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/model/backends/backend_registry.h"
#include "tests/support/few_cases.h"
#include "tests/support/models/tiny_model.h"

#include <QCoreApplication>
#include <QObject>
#include <QTest>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace support {

/// One variant of a backend: its settings, and their meaning.
struct BackendVariant {
    std::string name;
    engine::SettingValues settings;
    engine::Precision precision = engine::Precision::F32;
};

/// The requirements for every backend, whatever hardware it uses. BACKEND_CONFORMANCE_TEST runs
/// them for one backend; the variants come from the backend's own description: each precision, and
/// each other choice of each setting. SWIFT_STUDIO_FULL_EXACTNESS=1 runs each function with each of
/// them. Golden models: golden_models_test.
class BackendConformance : public QObject {
    Q_OBJECT

public:
    /// `add` brings a backend that is in no module.
    BackendConformance(std::string backend,
                       const std::string& moduleFolder,
                       const std::function<void(engine::BackendRegistry&)>& add = {});

    /// Takes few rows, for a backend that is slow to test, as all are where few cases are taken;
    /// unless all are taken.
    void takeFewRows() { m_takesFewRows = m_takesSample; }

private slots:
    void initTestCase();

    // A row's numbers are bit for bit the same whatever runs with it (conformance_exactness.cpp).
    void rowsDoNotDependOnHowManyRunTogether_data() { addVariantsAndConfigs(); }

    void rowsDoNotDependOnHowManyRunTogether();

    void realSizesDoNotDependOnHowManyRunTogether_data() { addPrecisions(); }

    void realSizesDoNotDependOnHowManyRunTogether();

    void longPromptsDoNotDependOnTheirPieces_data() { addVariants(); }

    void longPromptsDoNotDependOnTheirPieces();

    void treeNodesEqualTheirPathsAsChains_data() { addVariantsAndConfigs(); }

    void treeNodesEqualTheirPathsAsChains();

    void aTreeDraftedNodeByNodeEqualsOnePass_data() { addVariants(); }

    void aTreeDraftedNodeByNodeEqualsOnePass();

    void theCapacityOfTheCacheDoesNotMatter_data() { addVariantsAndConfigs(); }

    void theCapacityOfTheCacheDoesNotMatter();

    void draftRowsAreOverwrittenByVerification_data() { addVariants(); }

    void draftRowsAreOverwrittenByVerification();

    void rowsOutsideThePathAreNotSeen_data() { addVariants(); }

    void rowsOutsideThePathAreNotSeen();

    void aKeptPathIsTheChainOfItsTokens_data() { addVariants(); }

    void aKeptPathIsTheChainOfItsTokens();

    // Plans, ranges of layers, requested outputs (conformance_passes.cpp).
    void numbersAreThoseOfTheReference_data() { addVariants(); }

    void numbersAreThoseOfTheReference();

    void attentionIsThatOfTheReference_data() { addVariants(); }

    void attentionIsThatOfTheReference();

    void layerRangesChainedEqualTheWhole_data() { addVariants(); }

    void layerRangesChainedEqualTheWhole();

    void anExitIsTheHiddenStateOfItsLayer_data() { addVariants(); }

    void anExitIsTheHiddenStateOfItsLayer();

    void aPassWithoutLayersIsTheHead_data() { addVariants(); }

    void aPassWithoutLayersIsTheHead();

    void skippedSublayersAddNothing_data() { addPrecisions(); }

    void skippedSublayersAddNothing();

    void onlyAskedLogitsAreGiven_data() { addVariants(); }

    void onlyAskedLogitsAreGiven();

    void onlyAskedSummariesAreGiven_data() { addVariants(); }

    void onlyAskedSummariesAreGiven();

    void tokensThatAreLeftOutAreNotChosen_data() { addVariants(); }

    void tokensThatAreLeftOutAreNotChosen();
    void wrongRequestsAreBugs();

    // What a pass leaves with its backend (conformance_handles.cpp).
    void hiddenStatesAreJoinedFromPieces_data() { addVariants(); }

    void hiddenStatesAreJoinedFromPieces();

    void hiddenStatesCanBeRead_data() { addVariants(); }

    void hiddenStatesCanBeRead();
    void hiddenStatesServeTheirOwnTransformerAlone();

    void logitsAreGoneWithTheNextPass_data() { addVariants(); }

    void logitsAreGoneWithTheNextPass();
    void cachesOfOthersAreBugs();

    // Loading, and numbers that are not finite (conformance_loading.cpp).
    void theForecastIsWhatALoadedModelTakes_data() { addVariants(); }

    void theForecastIsWhatALoadedModelTakes();
    void overflowNamesTheTensor_data();
    void overflowNamesTheTensor();
    void afterAnOverflowTheNextPassIsRight();

    void anInputThatOverflowsIsAnError_data() { addPrecisions(); }

    void anInputThatOverflowsIsAnError();

    void weightsThatAreNotFiniteNameTheTensor_data() { addPrecisions(); }

    void weightsThatAreNotFiniteNameTheTensor();
    void aMissingTensorIsNamed();
    void aWrongShapeNamesBothShapes();
    void loadingCanBeCancelled();
    void progressGrowsToTheEnd();

private:
    // A sample has half of the variants, if they are many, and each network with one variant or
    // each variant with one network; which ones, differs from function to function.
    void addVariants() const;
    void addPrecisions() const;
    void addVariantsAndConfigs() const;

    /// For the current row.
    const BackendVariant& variant() const;

    /// These numbers of rows at a time, or the first half of them.
    std::vector<std::size_t> sampled(std::vector<std::size_t> rows) const {
        rows.resize(m_takesFewRows ? rows.size() / 2 : rows.size());
        return rows;
    }

    /// Of a text whose rows are computed one by one; beyond the networks' windows.
    std::size_t rowCount() const { return m_takesFewRows ? 20 : 40; }

    /// Fails by exception.
    std::unique_ptr<engine::Transformer> make(const BackendVariant& variant,
                                              const engine::ModelConfig& config,
                                              const engine::WeightSource& weights);

    /// The tiny model with random weights.
    std::unique_ptr<engine::Transformer> makeTiny(const BackendVariant& variant);

    /// The same of the current row, one for all functions.
    engine::Transformer* tiny();

    engine::Result<std::unique_ptr<engine::Transformer>>
    load(const engine::ModelConfig& config,
         const engine::WeightSource& weights,
         const engine::SettingValues& settings = {},
         engine::TransformerOptions options = {});

    std::string m_backend;
    engine::BackendRegistry m_registry;
    std::vector<BackendVariant> m_variants; // precisions first
    std::map<const BackendVariant*, std::unique_ptr<engine::Transformer>> m_tiny;
    bool m_takesSample = !takesAllCases();
    bool m_takesFewRows = takesFewCases();
    std::size_t m_precisions = 0;
};

/// Sizes that fit no vector register evenly, and the shapes of real families.
std::vector<std::pair<const char*, engine::ModelConfig>> conformanceConfigs();

/// Seeded ids of a vocabulary.
std::vector<engine::TokenId> conformanceIds(std::size_t count, int vocabSize = 160);

} // namespace support

/// A test program that checks all of it for one backend.
#define BACKEND_CONFORMANCE_TEST(backend)                                                          \
    int main(int argc, char** argv) {                                                              \
        const QCoreApplication application(argc, argv);                                            \
        support::BackendConformance test(backend, SWIFT_STUDIO_MODULE_DIR);                        \
        return QTest::qExec(&test, argc, argv);                                                    \
    }
