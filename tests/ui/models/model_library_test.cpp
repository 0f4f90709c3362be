// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/run_events.h"
#include "tests/ui/support/shown_words.h"
#include "tests/ui/support/view_stage.h"
#include "ui/views/models/library/library_list.h"
#include "ui/views/models/library/two_line_delegate.h"

#include <QDir>
#include <QFile>
#include <QMenu>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QThreadPool>

using namespace engine;
using namespace support;
using namespace ui;

namespace {

constexpr std::uint64_t kGiB = 1ULL << 30;

} // namespace

class ModelLibraryTest : public QObject {
    Q_OBJECT

    std::unique_ptr<ViewStage> m_stage;
    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<QSettings> m_settings;
    std::unique_ptr<ModelLibrary> m_library;

    QString path(const QString& name) const { return m_folder->filePath(name); }

    void write(const QString& name, const QByteArray& content = "x") const {
        QDir().mkpath(QFileInfo(path(name)).path());
        QFile file(path(name));
        if (!file.open(QIODevice::WriteOnly) || file.write(content) != content.size())
            qFatal("%s cannot be written.", qPrintable(name));
    }

    void begin() {
        m_library.reset();
        m_stage = std::make_unique<ViewStage>();
        m_settings = std::make_unique<QSettings>(path("s.ini"), QSettings::IniFormat);
        m_library = std::make_unique<ModelLibrary>(m_stage->bridge, m_stage->store, *m_settings);
    }

    /// The models that the library lists, by their paths below the test's folder.
    QStringList models() const {
        QStringList names;
        for (const LibraryFolder& folder : m_library->folders())
            for (const LibraryModel& model : folder.models)
                names.append(QDir(m_folder->path()).relativeFilePath(model.path));
        return names;
    }

    const InspectModel* asked() const { return m_stage->engine->lastSent<InspectModel>(); }

    QString askedFor() const {
        return asked() == nullptr ? QString() : QString::fromStdString(asked()->path);
    }

    void answer(std::uint64_t needed, std::uint64_t freeNow = 8 * kGiB, bool isOfDevice = false) {
        ModelInspected inspected;
        inspected.requestId = asked()->requestId;
        inspected.path = asked()->path;
        inspected.model = loadedModel(30).model;
        inspected.model.name = "Small";
        inspected.model.weightTypes = "Q4_1 210, F32 61";
        inspected.model.parameterCount = 1'700'000'000;
        inspected.model.fileBytes = kGiB;
        inspected.memory.weightBytes = needed;
        inspected.memory.freeBytes = freeNow;
        inspected.memory.isOfDevice = isOfDevice;
        m_stage->tell(inspected);
    }

    void refuse(const std::string& sentence) {
        EngineFailed failed = failedTask("inspect_model", {ErrorCode::Unsupported, sentence, ""});
        failed.requestId = asked()->requestId;
        m_stage->tell(failed);
    }

    static QString second(const LibraryList& list, int row) {
        return list.item(row)->data(TwoLineDelegate::SecondLineRole).toString();
    }

private slots:

    void init() {
        m_folder = std::make_unique<QTemporaryDir>();
        QDir().mkpath(path("models"));
        begin();
    }

    void cleanup() {
        m_library.reset();
        m_stage.reset();
    }

    void ggufFilesAndModelFoldersAreFound() {
        write("models/b.gguf");
        write("models/publisher/repo/A.GGUF");
        write("models/big-00001-of-00002.gguf");
        write("models/big-00002-of-00002.gguf");
        write("models/folder/config.json");
        write("models/folder/model.safetensors");
        write("models/no_weights/config.json");
        write("models/notes.txt");
        m_library->addFolder(path("models"));
        QTRY_COMPARE(models(),
                     (QStringList{"models/b.gguf",
                                  "models/big-00001-of-00002.gguf",
                                  "models/folder",
                                  "models/publisher/repo/A.GGUF"}));
    }

    void eachIsInspectedOnceAndTellsWhetherItRunsHere() {
        write("models/a.gguf");
        write("models/b.gguf");
        write("models/c.gguf");
        m_library->addFolder(path("models"));
        QTRY_COMPARE(askedFor(), path("models/a.gguf"));
        answer(kGiB);
        QCOMPARE(askedFor(), path("models/b.gguf"));
        answer(9 * kGiB);
        QCOMPARE(askedFor(), path("models/c.gguf"));
        refuse((path("models/c.gguf") + ": architecture mamba is not supported").toStdString());
        const LibraryFolder& folder = m_library->folders().front();
        QVERIFY(folder.models[0].runsHere());
        QVERIFY(!folder.models[1].runsHere());
        QVERIFY(!folder.models[2].runsHere());
        LibraryList list(m_stage->theme, *m_library);
        QCOMPARE(list.count(), 4);
        QCOMPARE(second(list, 0), QDir::toNativeSeparators(path("models")));
        QCOMPARE(second(list, 1),
                 QString("runs here \u00b7 llama \u00b7 1.7B \u00b7 Q4_1 \u00b7 1.0 GiB"));
        QVERIFY(second(list, 2).startsWith("needs 9.0 GiB, 8.0 GiB are free \u00b7 "));
        QCOMPARE(second(list, 3),
                 QString("does not run here: architecture mamba is not supported"));
        list.setOnlyRunning(true);
        QCOMPARE(list.count(), 2);
        // What is known is not asked again.
        const std::size_t before = m_stage->engine->sent.size();
        QSignalSpy changed(m_library.get(), &ModelLibrary::changed);
        m_library->addFolder(path("models"));
        QTRY_VERIFY(changed.count() >= 2);
        QCOMPARE(m_stage->engine->sent.size(), before);
        QVERIFY(m_library->folders().front().models[0].runsHere());
    }

    void whileAnAnswerIsMadeNothingIsInspected() {
        m_stage->tell(promptStarted(1));
        write("models/a.gguf");
        m_library->addFolder(path("models"));
        QTRY_COMPARE(models().size(), 1);
        QVERIFY(asked() == nullptr);
        m_stage->tell(promptFinished(1));
        QCOMPARE(askedFor(), path("models/a.gguf"));
    }

    void whatComesIntoTheFolderAppearsAndWhatGoesGoes() {
        m_library->addFolder(path("models"));
        QSignalSpy changed(m_library.get(), &ModelLibrary::changed);
        QTRY_VERIFY(!changed.isEmpty());
        QCOMPARE(models(), QStringList());
        write("models/new.gguf");
        QTRY_COMPARE(models(), QStringList{"models/new.gguf"});
        refuse("The file ends too early.");
        // It was still being written.
        write("models/new.gguf", "more of it");
        QTRY_VERIFY(asked()->requestId == ModelLibrary::kFirstRequest + 2);
        answer(kGiB);
        QVERIFY(m_library->folders().front().models.front().runsHere());
        QVERIFY(QFile::remove(path("models/new.gguf")));
        QTRY_COMPARE(models(), QStringList());
    }

    void aModelThatIsStillBeingFetchedIsInspectedAgain() {
        write("models/folder/config.json");
        write("models/folder/a.safetensors");
        m_library->addFolder(path("models"));
        QTRY_COMPARE(askedFor(), path("models/folder"));
        refuse("a.safetensors ends too early.");
        write("models/folder/a.safetensors", "more of it"); // the folder itself does not change
        QTRY_VERIFY(asked()->requestId == ModelLibrary::kFirstRequest + 2);
        refuse("b.safetensors is missing.");
        write("models/folder/b.safetensors");
        QTRY_VERIFY(asked()->requestId == ModelLibrary::kFirstRequest + 3);
        answer(kGiB);
        QVERIFY(m_library->folders().front().models.front().runsHere());
    }

    void theSecondPartOfAFileIsPartOfTheModel() {
        write("models/big-00001-of-00002.gguf");
        m_library->addFolder(path("models"));
        QTRY_COMPARE(askedFor(), path("models/big-00001-of-00002.gguf"));
        refuse("The second part is missing.");
        write("models/big-00002-of-00002.gguf");
        QTRY_VERIFY(asked()->requestId == ModelLibrary::kFirstRequest + 2);
        QCOMPARE(askedFor(), path("models/big-00001-of-00002.gguf"));
    }

    void theFreeMemoryIsTheSameForAllAndThatOfNow() {
        const auto freeFor = [this](std::size_t at) {
            return m_library->folders().front().models[at].report->freeBytes;
        };
        write("models/a.gguf");
        write("models/b.gguf");
        m_library->addFolder(path("models"));
        QTRY_COMPARE(askedFor(), path("models/a.gguf"));
        answer(4 * kGiB, 8 * kGiB);
        answer(4 * kGiB, 6 * kGiB);
        QSignalSpy changed(m_library.get(), &ModelLibrary::changed);
        m_library->addFolder(path("models")); // looks again
        QTRY_VERIFY(changed.count() >= 2);
        QCOMPARE(freeFor(0), 6 * kGiB);
        QCOMPARE(freeFor(1), 6 * kGiB);
        const std::uint64_t before = asked()->requestId;
        ModelLoaded loaded = loadedModel();
        loaded.path = path("models/a.gguf").toStdString();
        m_stage->tell(loaded);
        QCOMPARE(asked()->requestId, before + 1);
        answer(4 * kGiB, 2 * kGiB);
        LibraryList list(m_stage->theme, *m_library);
        QVERIFY(second(list, 1).startsWith("is loaded"));
        QVERIFY(second(list, 2).startsWith("needs 4.0 GiB, 2.0 GiB are free"));
        list.setOnlyRunning(true);
        QCOMPARE(list.count(), 2);
        m_stage->tell(ModelUnloaded{});
        QCOMPARE(asked()->requestId, before + 2);
        answer(4 * kGiB, 7 * kGiB);
        QCOMPARE(freeFor(1), 7 * kGiB);
        QCOMPARE(list.count(), 3);
    }

    void ofAGpuIsToldWhatItHas() {
        write("models/a.gguf");
        m_library->addFolder(path("models"));
        QTRY_COMPARE(askedFor(), path("models/a.gguf"));
        answer(9 * kGiB, 8 * kGiB, true);
        const LibraryList list(m_stage->theme, *m_library);
        QVERIFY(second(list, 1).startsWith("needs 9.0 GiB, the GPU has 8.0 GiB"));
    }

    void whatChangesBehindTheFirstLookIsSeenToo() {
        write("models/a.gguf");
        m_library->addFolder(path("models"));
        m_library->findChild<QThreadPool*>()->waitForDone(); // looked at, and not watched yet
        write("models/b.gguf");
        QTRY_COMPARE(models(), (QStringList{"models/a.gguf", "models/b.gguf"}));
    }

    void aFolderThatIsGoneSaysSoAndComesBack() {
        write("models/a.gguf");
        m_library->addFolder(path("models"));
        QTRY_COMPARE(models().size(), 1);
        QVERIFY(QDir().rename(path("models"), path("elsewhere")));
        QTRY_VERIFY(m_library->folders().front().isGone);
        QCOMPARE(models(), QStringList());
        LibraryList list(m_stage->theme, *m_library);
        QVERIFY(second(list, 0).startsWith("missing: "));
        QVERIFY(QDir().rename(path("elsewhere"), path("models")));
        QTRY_COMPARE(models().size(), 1);
    }

    void theTipsAreThePathsAsTheyAre() {
        write("R&D/a \"b\".gguf");
        m_library->addFolder(path("R&D"));
        QTRY_COMPARE(models().size(), 1);
        const LibraryList list(m_stage->theme, *m_library);
        QCOMPARE(shownTip(list.item(0)->toolTip()), QDir::toNativeSeparators(path("R&D")));
        QVERIFY(shownTip(list.item(1)->toolTip()).contains("R&D/a \"b\".gguf\n"));
    }

    void deleteTakesAModelOffTheListAndLeavesItOnTheDisk() {
        write("models/a.gguf");
        write("models/b.gguf");
        m_library->addFolder(path("models"));
        QTRY_COMPARE(models().size(), 2);
        LibraryList list(m_stage->theme, *m_library);
        QSignalSpy opened(&list, &LibraryList::opened);
        list.setCurrentRow(1);
        QTest::keyClick(&list, Qt::Key_Return);
        QCOMPARE(opened.last().first().toString(), path("models/a.gguf"));
        QTest::keyClick(&list, Qt::Key_Delete);
        QCOMPARE(models(), QStringList{"models/b.gguf"});
        QVERIFY(list.item(0)->data(Qt::AccessibleTextRole).toString().contains(", 1 model;"));
        QVERIFY(QFile::exists(path("models/a.gguf")));
        begin();
        QTRY_COMPARE(models(), QStringList{"models/b.gguf"});
        m_library->addFolder(path("models")); // asks for all of it again
        QTRY_COMPARE(models().size(), 2);
        LibraryList other(m_stage->theme, *m_library);
        QVERIFY(other.item(0)->data(Qt::AccessibleTextRole).toString().contains(", 2 models;"));
        other.setCurrentRow(0);
        QTest::keyClick(&other, Qt::Key_Delete);
        QVERIFY(m_library->folders().empty());
        QVERIFY(QFile::exists(path("models/b.gguf")));
        begin();
        QVERIFY(m_library->folders().empty());
    }
};

QTEST_MAIN(ModelLibraryTest)
#include "model_library_test.moc"
