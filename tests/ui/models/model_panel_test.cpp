// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/accessible_names.h"
#include "tests/ui/support/run_events.h"
#include "tests/ui/support/shown_words.h"
#include "tests/ui/support/view_stage.h"
#include "ui/language/catalogue.h"
#include "ui/shell/bars/banner.h"
#include "ui/views/models/figure_list.h"
#include "ui/views/models/model_chooser.h"
#include "ui/views/models/model_panel.h"

#include <QComboBox>
#include <QFile>
#include <QMenu>
#include <QSettings>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <chrono>

using namespace engine;
using namespace support;
using namespace ui;

namespace {

constexpr std::uint64_t kGiB = 1ULL << 30;

ModelReport report(std::uint64_t freeBytes) {
    return {.path = "/models/tiny.gguf",
            .name = {},
            .family = "llama",
            .layerCount = 30,
            .types = "bf16",
            .arithmetic = "bfloat16",
            .tokenizer = "GPT2 (smollm, 49152 tokens)",
            .chatTemplate = {},
            .licence = {},
            .modelContextLength = 4096,
            .memory = {{"Weights, bf16", 13 * kGiB},
                       {"Context of 4,096 tokens", 2 * kGiB},
                       {"Draft tree and search", kGiB / 2}},
            .freeBytes = freeBytes};
}

} // namespace

class ModelPanelTest : public QObject {
    Q_OBJECT

    std::unique_ptr<ViewStage> m_stage;
    QTemporaryDir m_folder;
    std::unique_ptr<QSettings> m_settings;
    std::unique_ptr<RecentModels> m_recent;
    std::unique_ptr<ModelLibrary> m_library;
    std::unique_ptr<ModelPanel> m_panel;

    void say(EventContent content) {
        m_stage->engine->say(std::move(content));
        m_stage->bridge.tick();
        m_stage->bridge.refreshPictures();
    }

    QPushButton* button(const QString& text) {
        for (auto* found : m_panel->findChildren<QPushButton*>())
            if (found->text() == text && !found->isHidden())
                return found;
        return nullptr;
    }

    static QString value(const FigureList& list, const QString& name) {
        for (const FigureList::Row& row : list.rows())
            if (row.name == name)
                return row.value;
        return {};
    }

private slots:

    void init() {
        m_stage = std::make_unique<ViewStage>();
        m_settings = std::make_unique<QSettings>(m_folder.filePath("s.ini"), QSettings::IniFormat);
        m_settings->clear();
        m_recent = std::make_unique<RecentModels>(*m_settings);
        m_library = std::make_unique<ModelLibrary>(m_stage->bridge, m_stage->store, *m_settings);
        m_panel = std::make_unique<ModelPanel>(m_stage->context(),
                                               *m_recent,
                                               *m_library,
                                               engine::knownBackends(SWIFT_STUDIO_MODULE_DIR));
        m_panel->show();
        m_stage->bridge.tick();
    }

    void cleanup() {
        m_panel.reset();
        m_library.reset();
        m_recent.reset();
        m_stage.reset();
    }

    void namesBreakAfterTheirPointsAndNumbersDoNot() {
        QCOMPARE(breakable(QStringLiteral("tokenizer.chat_template 92.1 MiB")),
                 QStringLiteral("tokenizer.\u200bchat_\u200btemplate 92.1 MiB"));
        QCOMPARE(breakable(QStringLiteral("Q8_0, Q4_K_M and F32")),
                 QStringLiteral("Q8_0, Q4_K_M and F32"));
    }

    void aBuildBreaksAnywhereAndAUnitOrALongWordNowhere() {
        QCOMPARE(breakable(QStringLiteral("0.1.0-2a848e1bc9a21ecc")),
                 QStringLiteral("0.1.0-\u200b2a848e1bc9a2\u200b1ecc"));
        QCOMPARE(breakable(QStringLiteral("28.4 tok/s")), QStringLiteral("28.4 tok/\u2060s"));
        QCOMPARE(breakable(QStringLiteral("Zwischenspeicher")), QStringLiteral("Zwischenspeicher"));
    }

    void aProposedModelIsInspectedAndLoadedAsTheOptionsSay() {
        m_panel->propose("/models/tiny.gguf");
        QCOMPARE(m_stage->engine->lastSent<InspectModel>()->path, std::string("/models/tiny.gguf"));
        auto* backend = m_panel->findChildren<QComboBox*>().first();
        backend->setCurrentIndex(backend->findData("plain"));
        emit backend->activated(backend->currentIndex());
        QCOMPARE(m_stage->engine->lastSent<InspectModel>()->backend, std::string("plain"));
        QVERIFY(m_stage->engine->lastSent<LoadModel>() == nullptr);
        button("Load")->click();
        QCOMPARE(m_stage->engine->lastSent<LoadModel>()->path, std::string("/models/tiny.gguf"));
        QCOMPARE(m_stage->engine->lastSent<LoadModel>()->backend, std::string("plain"));
        QCOMPARE(m_panel->stage(), ModelPanel::Stage::Loading);
    }

    void weightsAndKeysAreTheCpuBackendsChoice() {
        m_panel->propose("/models/tiny.gguf");
        const auto box = [this](const char* name) {
            for (QComboBox* each : m_panel->findChildren<QComboBox*>())
                if (each->accessibleName() == QLatin1String(name))
                    return each;
            return static_cast<QComboBox*>(nullptr);
        };
        const auto choose = [&](const char* name, const char* data) {
            box(name)->setCurrentIndex(box(name)->findData(data));
            emit box(name)->activated(box(name)->currentIndex());
        };
        QVERIFY(box("Weights")->isEnabled() && !box("Precision")->isEnabled());
        choose("Weights", "int8");
        choose("Keys and values", "f32");
        const SettingValues chosen = {{"weights", "int8"}, {"kv", "f32"}};
        QCOMPARE(m_stage->engine->lastSent<InspectModel>()->settings, chosen);
        choose("Backend", "plain");
        choose("Precision", "float64");
        QVERIFY(!box("Weights")->isEnabled() && box("Precision")->isEnabled());
        const SettingValues wide = {{"precision", "float64"}};
        QCOMPARE(m_stage->engine->lastSent<InspectModel>()->settings, wide);
        choose("Backend", "cpu");
        button("Load")->click();
        QCOMPARE(m_stage->engine->lastSent<LoadModel>()->settings, chosen);
    }

    void aModelIsProposedAsItWasLoadedFromHereLast() {
        const auto proposed = [this](const char* path) {
            m_panel->propose(path);
            const auto* sent = m_stage->engine->lastSent<InspectModel>();
            return QStringLiteral("%1 %2")
                .arg(QString::fromStdString(sent->backend))
                .arg(sent->contextLength);
        };
        QCOMPARE(proposed("/models/tiny.gguf"), QString(" 0"));
        auto* backend = m_panel->findChildren<QComboBox*>().first();
        backend->setCurrentIndex(backend->findData("plain"));
        for (QSpinBox* spin : m_panel->findChildren<QSpinBox*>())
            if (spin->accessibleName() == QLatin1String("Context, tokens"))
                spin->setValue(2048);
        button("Load")->click();
        say(loadedModel());
        QCOMPARE(proposed("/models/other.gguf"), QString(" 0"));
        QCOMPARE(proposed("/models/tiny.gguf"), QString("plain 2048"));
        m_stage->bridge.send(LoadModel{.path = "/models/tiny.gguf", .backend = "cpu"});
        say(loadedModel()); // as the program was started, for example
        QCOMPARE(proposed("/models/tiny.gguf"), QString("plain 2048"));
    }

    void aRecordingsModelIsNotAmongTheRecentOnes() {
        m_stage->engine->recording =
            std::make_unique<Playback>(0.0, 1.0, std::chrono::steady_clock::now);
        say(loadedModel());
        QVERIFY(m_recent->list().empty());
    }

    void aBackendThatCannotBeUsedHereIsGreyAndSaysWhy() {
        std::vector<BackendInfo> backends = knownBackends(SWIFT_STUDIO_MODULE_DIR);
        backends.resize(1);
        BackendInfo other = backends.front();
        other.name = "other";
        other.settings = {loadChoice("device", "Device", {"0", "1"}, {}, "Which one computes.")};
        other.devices = [] {
            return Error{ErrorCode::Unsupported, "It needs <b> & a driver.", "Install one."};
        };
        backends.push_back(std::move(other));
        const LoadOptions options(std::move(backends));
        const auto boxes = options.findChildren<QComboBox*>();
        const QComboBox& names = *boxes.front();
        const QModelIndex item = names.model()->index(names.findData("other"), 0);
        QVERIFY(!(item.flags() & Qt::ItemIsEnabled));
        QCOMPARE(shownTip(item.data(Qt::ToolTipRole).toString()),
                 QString("It needs <b> & a driver. Install one."));
        QCOMPARE(boxes.back()->accessibleName(), QString("Device"));
        QVERIFY(!boxes.back()->isEnabled()); // the usual backend does not take it
    }

    void whatDoesNotFitIsSaidBeforeLoading() {
        m_panel->propose("/models/tiny.gguf");
        m_panel->showReport(report(22 * kGiB));
        QVERIFY(button("Load anyway") == nullptr);
        m_panel->showReport(report(8 * kGiB));
        QVERIFY(button("Load anyway") != nullptr);
        const auto lists = m_panel->findChildren<FigureList*>();
        QCOMPARE(value(*lists.first(), "Tokenizer"), QString("GPT2 (smollm, 49,152 tokens)"));
        const FigureList::Row sum = lists.last()->rows().back();
        QCOMPARE(sum.name, QString("Needed, of 8.0 GiB free"));
        QCOMPARE(sum.value, QString("15.5 GiB"));
        QVERIFY(sum.isAlarm);
    }

    void onlyTheNewestInspectionIsShown() {
        m_panel->propose("/models/tiny.gguf");
        ModelInspected inspected;
        inspected.path = "/models/tiny.gguf";
        inspected.model = loadedModel(30).model;
        inspected.model.name = "Tiny <b>Model</b>";
        inspected.model.weightTypes = "Q4_1 210";
        inspected.model.parameterCount = 134'515'008;
        inspected.model.fileBytes = 96ULL << 20;
        inspected.model.licence = "apache-2.0";
        inspected.memory = {.weightBytes = 4 * kGiB,
                            .cacheBytes = kGiB,
                            .scratchBytes = 0,
                            .passBytes = 0,
                            .totalBytes = 5 * kGiB,
                            .freeBytes = 4 * kGiB,
                            .copyBytes = kGiB};
        inspected.requestId = m_stage->engine->lastSent<InspectModel>()->requestId + 1;
        say(inspected);
        QVERIFY(button("Load anyway") == nullptr);
        inspected.requestId = m_stage->engine->lastSent<InspectModel>()->requestId;
        say(inspected);
        QVERIFY(button("Load anyway") != nullptr);
        const auto lists = m_panel->findChildren<FigureList*>();
        QCOMPARE(value(*lists.first(), "Weights"), QString("Q4_1 210"));
        QCOMPARE(value(*lists.first(), "Parameters"), QString("135M"));
        QCOMPARE(value(*lists.first(), "Size in the file"), QString("96.0 MiB"));
        QCOMPARE(value(*lists.first(), "Licence"), QString("apache-2.0"));
        QCOMPARE(lists.last()->rows().back().value, QString("5.0 GiB"));
        QVERIFY(value(*lists.first(), "Note").contains("to draft with: 1.0 GiB more, if twice"));
    }

    void anInspectionThatFailsTellsWhyUntilTheNextOne() {
        m_panel->propose("/models/tiny.gguf");
        m_panel->showReport(report(22 * kGiB));
        EngineFailed failed =
            failedTask("inspect_model", {ErrorCode::InvalidInput, "It is too long.", ""});
        failed.requestId = m_stage->engine->lastSent<InspectModel>()->requestId;
        say(failed);
        QTRY_VERIFY(shownWords(*m_panel).contains("It is too long."));
        QVERIFY(m_panel->findChildren<FigureList*>().last()->rows().empty()); // of other options
        auto* backend = m_panel->findChildren<QComboBox*>().first();
        emit backend->activated(backend->currentIndex());
        ModelInspected inspected;
        inspected.path = "/models/tiny.gguf";
        inspected.requestId = m_stage->engine->lastSent<InspectModel>()->requestId;
        say(inspected);
        QTRY_VERIFY(m_panel->findChild<Banner*>() == nullptr);
        QVERIFY(!m_panel->findChildren<FigureList*>().last()->rows().empty());
    }

    void whatIsInspectedWhileItLoadsIsKept() {
        m_panel->propose("/models/tiny.gguf");
        m_panel->load();
        ModelInspected inspected;
        inspected.path = "/models/tiny.gguf";
        inspected.requestId = m_stage->engine->lastSent<InspectModel>()->requestId;
        say(inspected);
        say(failedTask("load_model", {ErrorCode::Cancelled, "Stopped.", ""}));
        QCOMPARE(m_panel->stage(), ModelPanel::Stage::Chosen);
        QVERIFY(!m_panel->findChildren<FigureList*>().last()->rows().empty());
    }

    void whatIsNotInspectedYetIsSoBehindItsLoad() {
        say(ModelLoadProgress{"/models/default.gguf", "files", 0.0}); // begun elsewhere
        QVERIFY(m_stage->engine->lastSent<InspectModel>() == nullptr);
        say(failedTask("load_model", {ErrorCode::Cancelled, "Stopped.", ""}));
        QCOMPARE(m_stage->engine->lastSent<InspectModel>()->path,
                 std::string("/models/default.gguf"));
    }

    void theMemoryOfAnUnloadedModelIsFreeForTheNext() {
        say(loadedModel());
        m_panel->propose("/models/other.gguf");
        const std::uint64_t before = m_stage->engine->lastSent<InspectModel>()->requestId;
        say(ModelUnloaded{});
        QCOMPARE(m_stage->engine->lastSent<InspectModel>()->requestId, before + 1);
        QCOMPARE(m_panel->stage(), ModelPanel::Stage::Chosen);
    }

    void theReportOfAnotherModelIsIgnored() {
        m_panel->propose("/models/other.gguf");
        m_panel->showReport(report(8 * kGiB));
        QVERIFY(button("Load anyway") == nullptr);
    }

    void loadingGoesThroughTwoStages() {
        m_panel->propose("/models/tiny.gguf");
        m_panel->showReport(report(22 * kGiB));
        m_panel->load();
        auto* stages = m_panel->findChild<LoadStages*>();
        say(ModelLoadProgress{"/models/tiny.gguf", "tokenizer", 0.0});
        QVERIFY(stages->part(0) > 0.0 && !stages->isDone(0));
        QCOMPARE(stages->part(1), 0.0);
        say(ModelLoadProgress{"/models/tiny.gguf", "weights", 0.5});
        QVERIFY(stages->isDone(0));
        QCOMPARE(stages->figure(1), QString("6.5 GiB of 13.0 GiB"));
        say(loadedModel());
        QCOMPARE(m_panel->stage(), ModelPanel::Stage::Loaded);
        QCOMPARE(m_recent->list().front().path, QString("/models/tiny.gguf"));
    }

    void escapeEndsTheLoadAndTheProposalStays() {
        m_panel->propose("/models/tiny.gguf");
        m_panel->load();
        QTest::keyClick(m_panel.get(), Qt::Key_Escape);
        QVERIFY(m_stage->engine->lastSent<StopLoading>() != nullptr);
        say(failedTask("load_model", {ErrorCode::Cancelled, "Stopped.", ""}));
        QCOMPARE(m_panel->stage(), ModelPanel::Stage::Chosen);
        QVERIFY(m_panel->findChild<Banner*>() == nullptr);
        QTest::keyClick(m_panel.get(), Qt::Key_Escape);
        QCOMPARE(m_panel->stage(), ModelPanel::Stage::Idle);
    }

    void aFailedLoadSaysWhatAndWhatToDo() {
        m_panel->propose("/models/tiny.gguf");
        m_panel->load();
        say(failedTask("load_model",
                       {ErrorCode::CorruptFile, "The file ends too early.", "Fetch it again."}));
        const auto* banner = m_panel->findChild<Banner*>();
        QVERIFY(banner != nullptr);
        QCOMPARE(banner->notice().headline, QString("The file ends too early."));
        QCOMPARE(banner->notice().sentence, QString("Fetch it again."));
        QVERIFY(button("Load") != nullptr);
    }

    void unloadIsAskedForAndShown() {
        say(loadedModel());
        button("Unload")->click();
        QVERIFY(m_stage->engine->lastSent<UnloadModel>() != nullptr);
        say(ModelUnloaded{});
        QCOMPARE(m_panel->stage(), ModelPanel::Stage::Idle);
    }

    void aLoadBegunElsewhereIsShown() {
        m_panel->propose("/models/tiny.gguf");
        ModelReport other = report(22 * kGiB);
        other.name = "Another";
        m_panel->showReport(other);
        QVERIFY(shownWords(*m_panel).contains("Another"));
        say(ModelLoadProgress{"/models/default.gguf", "files", 0.0});
        QCOMPARE(m_panel->stage(), ModelPanel::Stage::Loading);
        QVERIFY(shownWords(*m_panel).contains("Opening default"));
        QVERIFY(m_panel->findChildren<FigureList*>().last()->rows().empty());
    }

    void aRecordingSaysWhyNothingCanBeOpened() {
        m_stage->engine->recording =
            std::make_unique<Playback>(0.0, 1.0, std::chrono::steady_clock::now);
        ModelPanel panel(m_stage->context(), *m_recent, *m_library, {});
        panel.show();
        QVERIFY(shownWords(panel).contains("A recording is shown, so no model can be loaded."));
    }

    void aLoadThatIsNotTakenTellsTheTrueReason() {
        m_panel->propose("/models/tiny.gguf");
        m_stage->engine->isBusy = true;
        m_panel->load();
        QCOMPARE(m_panel->stage(), ModelPanel::Stage::Chosen);
        QCOMPARE(m_panel->findChild<Banner*>()->notice().headline,
                 QString("The engine accepts no commands at the moment. Try again soon."));
        m_stage->engine->isBusy = false;
        m_panel->load();
        QCOMPARE(m_panel->stage(), ModelPanel::Stage::Loading);
        QTRY_VERIFY(m_panel->findChild<Banner*>() == nullptr);
    }

    void whatBackendsSayOfThemselvesIsInTheWindowsLanguage() {
        const auto german = Catalogue::read(QStringLiteral("resources/translations/de"));
        QVERIFY(german);
        QVERIFY(QCoreApplication::installTranslator(german.value().get()));
        const LoadOptions options(knownBackends(SWIFT_STUDIO_MODULE_DIR));
        const auto boxes = options.findChildren<QComboBox*>();
        QVERIFY(std::ranges::any_of(boxes, [](const QComboBox* box) {
            return box->findText(QStringLiteral("Wie in der Datei")) >= 0;
        }));
        QCOMPARE(
            boxes.front()->itemData(boxes.front()->findData("cpu"), Qt::ToolTipRole).toString(),
            QStringLiteral("gepackte Gewichte, alle Kerne"));
    }

    void sizesHaveThreeFigures() {
        QCOMPARE(sizeText(13851891302ULL), QString("12.9 GiB"));
        QCOMPARE(sizeText(400ULL << 20), QString("400 MiB"));
        QCOMPARE(sizeText(0), QString("0.0 MiB"));
    }

    void theChooserNamesTheModelAndOffersTheRecentOnes() {
        QFile file(m_folder.filePath("there & here.gguf"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        m_recent->add({m_folder.filePath("gone.gguf"), {}});
        m_recent->add({file.fileName(), {}});
        ModelChooser chooser(m_stage->context(), *m_recent);
        QCOMPARE(chooser.name(), QString("No model"));
        say(loadedModel(1));
        QCOMPARE(chooser.facts(), QString("f64 \u00b7 1 layer"));
        say(loadedModel(30));
        QCOMPARE(chooser.name(), QString("tiny"));
        QCOMPARE(chooser.facts(), QString("f64 \u00b7 30 layers"));
        ModelLoaded named = loadedModel(30);
        named.model.name = "R&D \"best\"";
        say(named);
        QCOMPARE(shownTip(chooser.toolTip()), chooser.accessibleName());
        QVERIFY(chooser.accessibleName().contains("R&D \"best\""));
        emit chooser.menu()->aboutToShow();
        QSignalSpy wanted(&chooser, &ModelChooser::modelWanted);
        const QList<QAction*> actions = chooser.menu()->actions();
        const auto find = [&](const QString& text) {
            for (QAction* action : actions)
                if (action->text().contains(text))
                    return action;
            return static_cast<QAction*>(nullptr);
        };
        QCOMPARE(find("there")->text(), QString("there && here"));
        find("there")->trigger();
        QCOMPARE(wanted.at(0).at(0).toString(), file.fileName());
        QVERIFY(!find("gone")->isEnabled());
        find("Unload")->trigger();
        QVERIFY(m_stage->engine->lastSent<UnloadModel>() != nullptr);
    }

    void everyControlHasAName() {
        m_recent->add({"/m/a.gguf", {}});
        m_panel->propose("/models/tiny.gguf");
        QCOMPARE(namelessWidgets(*m_panel), QStringList());
    }
};

QTEST_MAIN(ModelPanelTest)
#include "model_panel_test.moc"
