// SPDX-License-Identifier: GPL-3.0-only
#include "tests/support/programs/swift_run.h"
#include "tests/ui/studio/letter_model.h"

#include <QImage>
#include <QTemporaryDir>
#include <QTest>

using namespace support;

/// swift-studio as it is started from a shell.
class StudioProgramTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

    QString path(const char* name) const { return m_folder.filePath(QLatin1String(name)); }

    static QString program(const char* name) {
        return QFileInfo(QStringLiteral(SWIFT_STUDIO_BIN_DIR "/") + QLatin1String(name))
            .absoluteFilePath();
    }

    static ProgramRun run(const QStringList& arguments) {
        return runProgram(program("swift-studio"), arguments);
    }

    ProgramRun picture(const QStringList& arguments) const {
        return run(QStringList{QStringLiteral("--screenshot"), path("window.png")} + arguments);
    }

    QStringList letters() const {
        return {QStringLiteral("--model"),
                path("letters"),
                QStringLiteral("--backend"),
                QStringLiteral("plain"),
                QStringLiteral("--prompt"),
                QStringLiteral("abc ab")};
    }

    static void verifyOneSentence(const ProgramRun& ended, int exitCode) {
        QCOMPARE(ended.exitCode, exitCode);
        QVERIFY2(ended.errors.startsWith("error: "), ended.errors.constData());
        QCOMPARE(ended.errors.count('\n'), qsizetype{1});
        QVERIFY(ended.errors.trimmed().endsWith('.'));
        QVERIFY(ended.output.isEmpty());
    }

    void verifyPicture(int width, int height) const {
        const QImage image(path("window.png"));
        QCOMPARE(image.size(), QSize(width, height));
        QSet<QRgb> colours;
        for (int y = 0; y < height; y += 7)
            for (int x = 0; x < width; x += 7)
                colours.insert(image.pixel(x, y));
        QVERIFY2(colours.size() > 20, "the picture is empty");
    }

private slots:

    void initTestCase() {
        writeLetterModel(path("letters"), 3);
        qputenv("XDG_DATA_HOME", path("data").toUtf8());
        qputenv("XDG_CONFIG_HOME", path("config").toUtf8());
        qputenv("SWIFT_STUDIO_DATA", path("memory").toUtf8());
        qputenv("SWIFT_STUDIO_CACHE", path("cache").toUtf8());
    }

    void init() { QFile::remove(path("window.png")); }

    void helpNamesEveryOption() {
        const ProgramRun help = run({QStringLiteral("--help")});
        QCOMPARE(help.exitCode, 0);
        for (const char* option : {"--model",
                                   "--backend",
                                   "--ask",
                                   "--replay",
                                   "--replay-speed",
                                   "--screenshot",
                                   "--prompt",
                                   "--workspace",
                                   "--theme",
                                   "--size",
                                   "--version"})
            QVERIFY2(help.output.contains(option), option);
    }

    void theVersionIsToldWithTheName() {
        const ProgramRun version = run({QStringLiteral("--version")});
        QCOMPARE(version.exitCode, 0);
        QVERIFY(version.output.startsWith("swift-studio 0."));
    }

    void wrongOptionsAreToldInOneSentence_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::newRow("unknown") << QStringList{"--nonsense"};
        QTest::newRow("value") << QStringList{"--theme", "pink"};
        QTest::newRow("nothing") << QStringList{"--model"};
        QTest::newRow("number") << QStringList{"--replay-speed", "0"};
        QTest::newRow("size") << QStringList{"--size", "large"};
        QTest::newRow("half a size") << QStringList{"--size", "800x600x"};
        QTest::newRow("together") << QStringList{"--ask", "a", "--screenshot", "b.png"};
    }

    void wrongOptionsAreToldInOneSentence() {
        QFETCH(QStringList, arguments);
        verifyOneSentence(run(arguments), 2);
    }

    void withoutADisplayTheWayOutIsNamed_data() {
        QTest::addColumn<QString>("display");
        QTest::newRow("none") << QString();
        QTest::newRow("one that is gone") << QStringLiteral(":98765");
    }

    void withoutADisplayTheWayOutIsNamed() {
        QFETCH(const QString, display);
        QProcess process;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
            environment.remove(QLatin1String(name));
        if (!display.isEmpty())
            environment.insert(QStringLiteral("DISPLAY"), display);
        process.setProcessEnvironment(environment);
        process.start(program("swift-studio"), {});
        QVERIFY(process.waitForFinished(-1));
        QCOMPARE(process.exitStatus(), QProcess::NormalExit);
        QCOMPARE(process.exitCode(), 2);
        QVERIFY(process.readAllStandardError().contains("--screenshot"));
        // A picture needs none.
        process.start(program("swift-studio"),
                      QStringList{QStringLiteral("--screenshot"), path("window.png")} + letters());
        QVERIFY(process.waitForFinished(-1));
        QCOMPARE(process.exitCode(), 0);
        QVERIFY(QFileInfo::exists(path("window.png")));
    }

    void thePictureComesWithTheAnswer() {
        const ProgramRun shown =
            picture(letters() << QStringLiteral("--size") << QStringLiteral("1200x800")
                              << QStringLiteral("--workspace") << QStringLiteral("inspect"));
        QVERIFY2(shown.exitCode == 0, shown.errors.constData());
        const ProgramRun spoken = runProgram(program("swift-run"),
                                             QStringList{"generate",
                                                         "--chat",
                                                         "--max-tokens",
                                                         "1024",
                                                         "--temperature",
                                                         "0.7",
                                                         "--top-p",
                                                         "0.9",
                                                         "--seed",
                                                         "1"} +
                                                 letters());
        QVERIFY2(spoken.exitCode == 0, spoken.errors.constData());
        QVERIFY(spoken.output.size() > 100);
        QCOMPARE(shown.output, spoken.output);
        verifyPicture(1200, 800);
        // Nobody's chats and settings were touched.
        QVERIFY(!QFileInfo::exists(path("data/swift-studio/chats.sqlite")));
        QVERIFY(!QFileInfo::exists(path("config/swift-studio/swift-studio.ini")));
    }

    void aPromptOfNothingButSpacesIsNoneAndThePictureComes() {
        QStringList arguments = letters();
        arguments.last() = QStringLiteral("  ");
        const ProgramRun shown = picture(arguments);
        QVERIFY2(shown.exitCode == 0, shown.errors.constData());
        QVERIFY(shown.output.isEmpty());
        verifyPicture(1440, 900);
    }

    void aRecordingIsDrawnWithoutAModel() {
        writeText(path("data.jsonl").toStdString(),
                  "{\"task\":\"letters\",\"prompt\":\"abc ab\"}\n");
        const ProgramRun recorded = runProgram(program("swift-run"),
                                               {"stream",
                                                "--data",
                                                path("data.jsonl"),
                                                "--model",
                                                path("letters"),
                                                "--backend",
                                                "plain",
                                                "--decoder",
                                                "swift",
                                                "--max-tokens",
                                                "80",
                                                "--out",
                                                path("run.swiftrun")});
        QVERIFY2(recorded.exitCode == 0, recorded.errors.constData());
        const ProgramRun shown = picture({QStringLiteral("--replay"),
                                          path("run.swiftrun"),
                                          QStringLiteral("--size"),
                                          QStringLiteral("1000x700")});
        QVERIFY2(shown.exitCode == 0, shown.errors.constData());
        QVERIFY(shown.output.size() > 20);
        verifyPicture(1000, 700);
    }

    void aRecordingThatCannotBeReadIsToldOf() {
        verifyOneSentence(picture({QStringLiteral("--replay"), path("none.swiftrun")}), 3);
        writeText(path("wrong.swiftrun").toStdString(), "this is no recording\n");
        verifyOneSentence(picture({QStringLiteral("--replay"), path("wrong.swiftrun")}), 5);
        QVERIFY(!QFileInfo::exists(path("window.png")));
    }

    void aModelThatIsNotThereIsToldOf() {
        verifyOneSentence(picture({QStringLiteral("--model"), path("nowhere")}), 3);
        verifyOneSentence(picture({}), 3); // the default one was not fetched
        QVERIFY(!QFileInfo::exists(path("window.png")));
    }

    void aPictureWithoutAPlaceIsToldOfBeforeTheAnswer() {
        const QStringList noFolder{QStringLiteral("--screenshot"), path("none/window.png")};
        verifyOneSentence(run(noFolder + letters()), 3);
        const QStringList aFolder{QStringLiteral("--screenshot"), m_folder.path()};
        verifyOneSentence(run(aFolder + letters()), 2);
    }
};

QTEST_MAIN(StudioProgramTest)
#include "studio_program_test.moc"
