// SPDX-License-Identifier: Apache-2.0
#include "engine/loading/licence.h"
#include "tests/engine/loading/tiny_models.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

using namespace engine;
using namespace test_support;

namespace {

QString licenceIn(const std::filesystem::path& path) {
    const auto files = ModelFiles::open(path);
    if (!files)
        qFatal("%s", files.error().message.c_str());
    return QString::fromStdString(licenceOf(files.value()));
}

} // namespace

class LicenceTest : public QObject {
    Q_OBJECT

private slots:

    void aModelCardTellsItInItsHead_data() {
        QTest::addColumn<QString>("card");
        QTest::addColumn<QString>("licence");
        QTest::newRow("plain") << "---\nlanguage: en\nlicense: apache-2.0\n---\ntext"
                               << "apache-2.0";
        QTest::newRow("quoted, DOS lines") << "---\r\nlicense: \"mit\"\r\n---\r\n"
                                           << "mit";
        QTest::newRow("behind the head") << "---\nlanguage: en\n---\nlicense: mit\n"
                                         << "";
        QTest::newRow("no head") << "license: mit\n"
                                 << "";
        QTest::newRow("head without an end") << "---\nlicense: mit"
                                             << "mit";
        QTest::newRow("another member") << "---\nlicense_name: own\n---\n"
                                        << "";
        QTest::newRow("control characters") << "---\nlicense: m\x1b[31mit\n---\n"
                                            << "m?[31mit";
        QTest::newRow("empty") << ""
                               << "";
        QTest::newRow("a long line")
            << "---\ntags: " + QString(100'000, 'x') + "\nlicense: mit\n---\n"
            << "";
    }

    void aModelCardTellsItInItsHead() {
        QFETCH(QString, card);
        QFETCH(QString, licence);
        const TemporaryFolder folder;
        folder.write("config.json", tinyConfigJson());
        QCOMPARE(licenceIn(folder.path()), QString());
        folder.write("README.md", card.toStdString());
        QCOMPARE(licenceIn(folder.path()), licence);
    }

    void aGgufTellsItInItsMetadataAndElseTheCardBesideIt() {
        const TemporaryFolder folder;
        TinyGguf named = tinyGgufMetadata();
        named.addString("general.license", " llama3.2 ");
        addTinyTensors(named);
        TinyGguf nameless = tinyGgufMetadata();
        addTinyTensors(nameless);
        const auto first = folder.write("named.gguf", named.toBytes());
        const auto second = folder.write("nameless.gguf", nameless.toBytes());
        QCOMPARE(licenceIn(second), QString());
        folder.write("README.md", "---\nlicense: mit\n---\n");
        QCOMPARE(licenceIn(first), QString("llama3.2"));
        QCOMPARE(licenceIn(second), QString("mit"));
    }
};

QTEST_MAIN(LicenceTest)
#include "licence_test.moc"
