// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/lossless_case.h"

#include <QObject>

#include <functional>
#include <string>
#include <vector>

namespace support {

/// How many cases, and from which seed on.
struct LosslessCases {
    int all = 0;    ///< with SWIFT_STUDIO_FULL_EXACTNESS=1
    int sample = 0; ///< otherwise
    std::uint64_t firstSeed = 0;
    int leastDrafted = 10; ///< see LosslessRun
};

/// What settings are made for.
struct LosslessTask {
    std::string decoder;
    bool samples = false; ///< tokens are drawn
    int layerCount = 0;   ///< of the network
};

/// The decoders of one module and their cases.
struct LosslessSubject {
    std::vector<std::string> decoders;
    LosslessCases greedy;
    LosslessCases sampled;
    std::function<engine::SettingValues(CaseRandom& random, const LosslessTask& task)> settings;
};

/// What the exactness test of every decoder shows: its answers, greedy ones and by the rule Match
/// sampled ones, are vanilla's own token by token, whatever its settings and however they change.
/// The default run takes a sample of the cases; SWIFT_STUDIO_FULL_EXACTNESS=1 runs all of them.
/// A test derives from it, says which settings there are, and adds what else its decoders show.
class LosslessTest : public QObject {
    Q_OBJECT

public:
    LosslessTest(engine::DecoderRegistry& registry, LosslessSubject subject);

protected:
    /// Fails the test function, unless `fault` is empty.
    static void check(const std::string& fault);

    /// The random network that is always there.
    engine::Transformer& transformer() { return *m_models.front().transformer; }

    /// The data of a test function: a row for each decoder.
    void addDecoders() const;

    /// The cases of the present row's decoder.
    LosslessRun runOfRow(bool samples) const;

    /// The same with other laws of the next token: half as many, but all of them when all are run.
    LosslessRun lawRunOfRow(bool samples) const;

    /// Fails the test function where one of the cases has other tokens than vanilla.
    void compare(const LosslessRun& run);

private slots:

    void initTestCase() { m_models = caseModels(); }

    void greedyEqualsVanilla_data() { addDecoders(); }

    void greedyEqualsVanilla();

    void samplingEqualsVanillaTokenByToken_data() { addDecoders(); }

    void samplingEqualsVanillaTokenByToken();

    void greedyEqualsVanillaUnderAnyLaw_data() { addDecoders(); }

    void greedyEqualsVanillaUnderAnyLaw();

    void samplingEqualsVanillaUnderAnyLaw_data() { addDecoders(); }

    void samplingEqualsVanillaUnderAnyLaw();

    void settingsChangedWhileRunningChangeNoToken_data() { addDecoders(); }

    void settingsChangedWhileRunningChangeNoToken();

private:
    engine::DecoderRegistry& m_registry;
    LosslessSubject m_subject;
    std::vector<CaseModel> m_models;
};

} // namespace support
