// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/studio/engine_stage.h"
#include "ui/studio/program/single_instance.h"

#include <QTemporaryDir>

#include <filesystem>
#include <utility>

using namespace engine;
using namespace support;
using namespace ui;

/// Models come and go, also in ways nobody wants: what was there before stays, and works.
class StudioModelsTest : public EngineStageTest {
    Q_OBJECT

    bool m_isKept = false; ///< the window, for the next function

    QString other() const { return m_folder->filePath(QStringLiteral("others")); }

    std::string loadedPath() {
        const ModelLoaded* loaded = studio().run().model();
        return loaded == nullptr ? std::string() : loaded->path;
    }

    void answerWithText(const QString& words) {
        answer(words);
        QVERIFY(!m_stage->lastAnswer().text.isEmpty());
    }

    /// The load came to nothing: said so, and all that was there is there.
    void verifyOldModelWorks(qsizetype messages) {
        QTRY_VERIFY(m_stage->hasNotice(QStringLiteral("load_model")));
        QCOMPARE(loadedPath(), m_stage->modelPath().toStdString());
        QVERIFY(studio().run().loading() == nullptr);
        QCOMPARE(studio().session().branch().size(), messages);
        studio().session().newChat();
        answerWithText(QStringLiteral("de"));
    }

    /// For the next function.
    void keepTheWindow() {
        studio().window().messages().withdraw(QStringLiteral("load_model"));
        studio().session().newChat();
        m_isKept = true;
    }

private slots:

    void init() {
        if (m_stage == nullptr)
            begin();
        m_stage->onLoad = nullptr;
        writeLetterModel(other(), 5);
    }

    void cleanup() {
        if (!std::exchange(m_isKept, false))
            m_stage.reset();
    }

    void anotherModelTakesThePlaceOfAnUnloadedOne() {
        answerWithText(QStringLiteral("abc"));
        studio().window().actionCatalog().find(QStringLiteral("model.unload"))->trigger();
        QTRY_VERIFY(studio().run().model() == nullptr);
        QCOMPARE(studio().session().obstacle(QStringLiteral("abc")), SendObstacle::NoModel);
        studio().loadModel(other());
        QTRY_COMPARE(loadedPath(), other().toStdString());
        const QString first = studio().session().branch().last().text;
        studio().session().newChat();
        answerWithText(QStringLiteral("abc"));
        QVERIFY(studio().session().branch().last().text != first);
    }

    void theLessonModelIsMadeOfTheLoadedOneAndBack() {
        QAction* lesson = studio().window().actionCatalog().find(QStringLiteral("model.lesson"));
        const int layers = studio().run().model()->model.layerCount;
        QVERIFY(lesson->isEnabled() && !lesson->isChecked());
        lesson->trigger();
        QTRY_COMPARE(studio().run().model()->model.layerCount, 2 * layers);
        QCOMPARE(static_cast<int>(studio().run().model()->model.silentCopies.size()), layers);
        QTRY_VERIFY(lesson->isChecked());
        QVERIFY(m_stage->hasNotice(QStringLiteral("lesson")));
        answerWithText(QStringLiteral("abc"));
        lesson->trigger();
        QTRY_COMPARE(studio().run().model()->model.layerCount, layers);
        QTRY_VERIFY(!lesson->isChecked());
        QVERIFY(!m_stage->hasNotice(QStringLiteral("lesson")));
        m_isKept = true;
    }

    /// The notice's way back would load another model, the default one's lesson model.
    void whatIsToldOfAModelGoesWithIt() {
        const QString none = QStringLiteral("SWIFT Studio");
        QVERIFY(studio().window().windowTitle() != none);
        m_stage->trigger("model.lesson");
        QTRY_VERIFY(m_stage->hasNotice(QStringLiteral("lesson")));
        m_stage->trigger("model.unload");
        QTRY_VERIFY(studio().run().model() == nullptr);
        QVERIFY(!m_stage->hasNotice(QStringLiteral("lesson")));
        QCOMPARE(studio().window().windowTitle(), none);
    }

    void aFurtherStartWithAnotherBackendOffersToLoadTheModelAgain() {
        const QString id = QStringLiteral("backend");
        const std::size_t loads = m_stage->count<ModelLoaded>();
        studio().takeStart({{}, QStringLiteral("plain"), {}, {}}); // the one in use
        QVERIFY(!m_stage->hasNotice(id));
        studio().takeStart({{}, QStringLiteral("cpu"), {}, {}});
        QVERIFY(m_stage->hasNotice(id));
        for (const Notice* notice : studio().window().messages().notices())
            if (notice->id == id) {
                const auto loadAgain = notice->choices.front().act; // the notice goes
                loadAgain();
                break;
            }
        QTRY_VERIFY(!m_stage->hasNotice(id));
        QCOMPARE(m_stage->count<ModelLoaded>(), loads + 1);
        m_isKept = true;
    }

    void theLessonOffersSwiftWhileAnotherDecoderRuns() {
        const auto offers = [this] {
            QStringList texts;
            for (const Notice* notice : studio().window().messages().notices())
                if (notice->id == QStringLiteral("lesson"))
                    for (const Notice::Choice& choice : notice->choices)
                        texts << choice.label;
            return texts;
        };
        const QString use = QStringLiteral("Use SWIFT");
        const QString back = QStringLiteral("Back to the model itself");
        m_stage->trigger("model.lesson");
        QTRY_COMPARE(offers(), QStringList{back}); // SWIFT is the decoder
        studio().bridge().send(ChooseDecoder{"vanilla"});
        QTRY_COMPARE(offers(), (QStringList{use, back}));
        for (const Notice* notice : studio().window().messages().notices())
            if (notice->id == QStringLiteral("lesson")) {
                const auto useSwift = notice->choices.front().act; // the notice goes
                useSwift();
                break;
            }
        QTRY_COMPARE(offers(), QStringList{back});
        QCOMPARE(numberOf(studio().run().settings(), "r"), 0.5); // the share of the copies
        QTRY_VERIFY(studio().undoStack().canUndo());
    }

    void aModelWithoutSamplingOfItsOwnGetsTheGeneralOne() {
        const auto heat = [this] { return studio().run().sampling().temperature; };
        const auto change = [&](double temperature) {
            SamplingOptions sampling = studio().run().sampling();
            sampling.temperature = temperature;
            studio().bridge().send(ChangeSampling{sampling});
            QTRY_COMPARE(heat(), temperature);
        };
        const auto load = [this](const QString& path) {
            studio().loadModel(path);
            QTRY_COMPARE(loadedPath(), path.toStdString());
        };
        change(0.5);
        load(other());
        QTRY_COMPARE(heat(), 0.5);
        change(1.3);
        QAction* save =
            studio().window().actionCatalog().find(QStringLiteral("model.save_defaults"));
        QTRY_VERIFY(save->isEnabled());
        save->trigger();
        load(m_stage->modelPath());
        QTRY_COMPARE(heat(), 0.5);
        load(other());
        QTRY_COMPARE(heat(), 1.3);
        change(1.1); // of this model alone
        load(m_stage->modelPath());
        QTRY_COMPARE(heat(), 0.5);
        open();
        QTRY_COMPARE(heat(), 0.5);
    }

    /// As the other one has fewer layers, it would refuse every message with this set.
    void aSkipSetMadeByHandComesBackForItsOwnModelAlone() {
        const QString few = m_folder->filePath(QStringLiteral("few"));
        writeLetterModel(few, 5, letterConfig(4));
        const auto set = [this] { return textOf(studio().run().settings(), "skip_set"); };
        const std::string byHand = skipSetJson({{4}, {4}});
        studio().bridge().send(ChangeSettings{
            {{"start", std::string("manual")}, {"skip_set", byHand}, {"optimise", 0.0}}});
        QTRY_COMPARE(set(), byHand);
        studio().loadModel(few);
        QTRY_COMPARE(loadedPath(), few.toStdString());
        QTRY_COMPARE(set(), std::string());
        QVERIFY(textOf(studio().run().settings(), "start") != "manual");
        answer(QStringLiteral("abc"));
        studio().loadModel(m_stage->modelPath());
        QTRY_COMPARE(loadedPath(), m_stage->modelPath().toStdString());
        QTRY_COMPARE(set(), byHand);
        studio().loadModel(few);
        QTRY_COMPARE(set(), std::string());
        studio().loadModel(m_stage->modelPath());
        studio().bridge().send(ChooseDecoder{"vanilla"}); // before it is there
        QTRY_COMPARE(loadedPath(), m_stage->modelPath().toStdString());
        studio().session().newChat(); // the other one is full
        answer(QStringLiteral("abc"));
        QCOMPARE(lastAnswer().figures.decoderName, QStringLiteral("vanilla"));
    }

    void whatWasMeantForLayersOrTokensGoesWithItsModel() {
        const auto load = [this](const QString& path) {
            const std::size_t loads = m_stage->count<ModelLoaded>();
            studio().loadModel(path);
            QTRY_COMPARE(m_stage->count<ModelLoaded>(), loads + 1);
        };
        const auto sampling = [this] { return studio().run().sampling(); };
        const Selection& selection = studio().selection();
        const PlanOutline pinned{6, {{2}, {2}}, 5};
        SamplingOptions own = sampling();
        own.temperature = 0.5;
        own.logitBias = {{3, -1.0}};
        own.grammar = {GrammarKind::Regex, "[a-e]*"};
        studio().bridge().send(ChangeSampling{own});
        QTRY_VERIFY(sampling() == own);
        studio().selection().setPinnedSet(pinned);
        load(m_stage->modelPath());
        QVERIFY(selection.pinnedSet() == pinned);
        load(other());
        QVERIFY(!selection.pinnedSet());
        QTRY_VERIFY(sampling().logitBias.empty());
        QVERIFY(sampling().grammar.isOff());
        QCOMPARE(sampling().temperature, 0.5);
        studio().selection().setPinnedSet(pinned);
        m_stage->trigger("model.unload");
        QTRY_VERIFY(studio().run().model() == nullptr);
        QVERIFY(!selection.pinnedSet());
    }

    void theModelUsedLastComesAgainWhileItIsThere() {
        studio().loadModel(other());
        QTRY_COMPARE(loadedPath(), other().toStdString());
        open();
        QCOMPARE(loadedPath(), other().toStdString());
        std::filesystem::remove_all(other().toStdString());
        open();
        QCOMPARE(loadedPath(), m_stage->modelPath().toStdString());
        QVERIFY(m_stage->hasNotice(QStringLiteral("missing_model")));
        writeLetterModel(other(), 5);
        open();
        QCOMPARE(loadedPath(), other().toStdString());
        QVERIFY(!m_stage->hasNotice(QStringLiteral("missing_model")));
    }

    void aModelRemovedBeforeItsLoadIsToldOf() {
        answerWithText(QStringLiteral("abc"));
        m_stage->onLoad = [](const std::string& path, std::string_view stage) {
            if (stage.empty())
                std::filesystem::remove_all(path);
        };
        studio().loadModel(other());
        verifyOldModelWorks(2);
        keepTheWindow();
    }

    void weightsCutOffDuringTheirLoadAreToldOf() {
        answerWithText(QStringLiteral("abc"));
        m_stage->onLoad = [](const std::string& path, std::string_view stage) {
            const std::filesystem::path weights = std::filesystem::path(path) / "model.safetensors";
            if (!stage.empty() && std::filesystem::exists(weights))
                std::filesystem::resize_file(weights, 100);
        };
        studio().loadModel(other());
        verifyOldModelWorks(2);
        keepTheWindow();
    }

    void aModelThatIsNotThereIsToldOf() {
        answerWithText(QStringLiteral("abc"));
        studio().loadModel(m_folder->filePath(QStringLiteral("nowhere")));
        verifyOldModelWorks(2);
        studio().loadModel(other());
        QTRY_COMPARE(loadedPath(), other().toStdString());
        QVERIFY(!m_stage->hasNotice(QStringLiteral("load_model")));
    }
};

QTEST_MAIN(StudioModelsTest)
#include "studio_models_test.moc"
