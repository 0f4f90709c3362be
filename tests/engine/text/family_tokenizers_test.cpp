// SPDX-License-Identifier: Apache-2.0
// Tokenizers of the model families as tokenizer.json and as GGUF: nasty texts get the ids that the
// tokenizers library gives (tests/data/make_family_tokenizers.py).
#include "engine/text/tokenizer.h"
#include "tests/support/golden_tensors.h"
#include "tests/support/models/tiny_gguf.h"
#include "tests/support/temporary_folder.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

#include <map>

using namespace engine;
using namespace test_support;

namespace {

std::vector<TokenId> idsOf(const QJsonValue& value) {
    std::vector<TokenId> ids;
    for (const QJsonValue id : value.toArray())
        ids.push_back(id.toInt());
    return ids;
}

QString spelled(const std::vector<TokenId>& ids) {
    QStringList words;
    for (const TokenId id : ids)
        words << QString::number(id);
    return words.join(' ');
}

/// Added tokens, which have the first ids, and the shared ones that are none of them.
std::vector<std::string> tokensOf(const QJsonObject& family, const QJsonObject& shared) {
    std::vector<std::string> tokens;
    for (const QJsonValue token : family["definition"].toObject()["added_tokens"].toArray())
        tokens.push_back(token.toObject()["content"].toString().toStdString());
    const std::size_t added = tokens.size();
    for (const QJsonValue token : shared["tokens"].toArray()) {
        const std::string text = token.toString().toStdString();
        const auto end = tokens.begin() + static_cast<std::ptrdiff_t>(added);
        if (std::find(tokens.begin(), end, text) == end)
            tokens.push_back(text);
    }
    return tokens;
}

std::string jsonFileOf(const QJsonObject& family, const QJsonObject& shared) {
    QJsonObject whole = family["definition"].toObject();
    QJsonObject model = whole["model"].toObject();
    QJsonObject vocabulary;
    int id = 0;
    for (const std::string& token : tokensOf(family, shared))
        vocabulary[QString::fromStdString(token)] = id++;
    model["vocab"] = vocabulary;
    model["merges"] = shared["merges"];
    whole["model"] = model;
    return QJsonDocument(whole).toJson().toStdString();
}

std::string ggufFileOf(const QJsonObject& family, const QJsonObject& shared) {
    const QJsonObject told = family["gguf"].toObject();
    const bool isPieces = told.contains("model");
    const std::vector<std::string> tokens = tokensOf(family, shared);
    TinyGguf file;
    file.addString("general.architecture", told["architecture"].toString("llama").toStdString());
    file.addString("tokenizer.ggml.model", isPieces ? "llama" : "gpt2");
    file.addStrings("tokenizer.ggml.tokens", tokens);
    const QJsonArray added = family["definition"].toObject()["added_tokens"].toArray();
    std::vector<std::int32_t> types;
    std::vector<float> scores;
    for (std::size_t id = 0; id < tokens.size(); ++id) {
        const bool isByte = isPieces && tokens[id].size() == 6 && tokens[id].starts_with("<0x");
        types.push_back(isByte ? 6 : 1);
        scores.push_back(-static_cast<float>(id));
        if (static_cast<qsizetype>(id) < added.size())
            types.back() = tokens[id] == "<unk>"                                              ? 2
                           : added[static_cast<qsizetype>(id)].toObject()["special"].toBool() ? 3
                                                                                              : 4;
        if (tokens[id] == "<s>" || tokens[id] == "<bos>")
            file.addU32("tokenizer.ggml.bos_token_id", static_cast<std::uint32_t>(id));
    }
    file.addArray<std::int32_t>("tokenizer.ggml.token_type", GgufType::I32, types);
    if (isPieces) {
        file.addArray<float>("tokenizer.ggml.scores", GgufType::F32, scores);
        file.addValue("tokenizer.ggml.add_space_prefix",
                      GgufType::Bool,
                      bytesOf(told["add_space_prefix"].toBool()));
        return file.toBytes();
    }
    file.addString("tokenizer.ggml.pre", told["pre"].toString().toStdString());
    std::vector<std::string> merges;
    for (const QJsonValue pair : shared["merges"].toArray())
        merges.push_back((pair[0].toString() + ' ' + pair[1].toString()).toStdString());
    file.addStrings("tokenizer.ggml.merges", merges);
    return file.toBytes();
}

std::unique_ptr<Tokenizer> load(const std::string& name, const std::string& bytes) {
    const TemporaryFolder folder;
    const auto path = folder.write(name, bytes);
    const auto files = ModelFiles::open(name == "m.gguf" ? path : folder.path());
    ENGINE_CHECK(files.hasValue(), "{}", files.error().message);
    auto tokenizer = loadTokenizer(files.value());
    ENGINE_CHECK(tokenizer.hasValue(), "{}", tokenizer.error().message);
    return std::move(tokenizer).value();
}

} // namespace

class FamilyTokenizersTest : public QObject {
    Q_OBJECT

private slots:
    void textsGetTheIdsOfTheLibrary_data();
    void textsGetTheIdsOfTheLibrary();

    void textsThatAreNoUtf8AreRefused_data() { addFamilies(); }

    void textsThatAreNoUtf8AreRefused();
    void namesThatAreNotKnownAreRefused();

private:
    void addFamilies() const;

    QJsonObject sharedBy(const QJsonObject& family) const {
        return m_data[family["byte_level"].toBool() ? "byte_level" : "pieces"].toObject();
    }

    const QJsonObject m_data =
        support::readJsonObject(SWIFT_STUDIO_TEST_DATA_DIR "/family_tokenizers/families.json");
};

void FamilyTokenizersTest::addFamilies() const {
    QTest::addColumn<QJsonObject>("family");
    QTest::addColumn<bool>("isGguf");
    for (const QJsonValue family : m_data["families"].toArray())
        for (const bool isGguf : {false, true})
            QTest::addRow(
                "%s, %s", qPrintable(family["name"].toString()), isGguf ? "GGUF" : "tokenizer.json")
                << family.toObject() << isGguf;
}

void FamilyTokenizersTest::textsGetTheIdsOfTheLibrary_data() {
    QVERIFY(m_data["families"].toArray().size() >= 11);
    addFamilies();
}

void FamilyTokenizersTest::textsGetTheIdsOfTheLibrary() {
    QFETCH(QJsonObject, family);
    QFETCH(bool, isGguf);
    const QJsonObject shared = sharedBy(family);
    const auto tokenizer = isGguf ? load("m.gguf", ggufFileOf(family, shared))
                                  : load("tokenizer.json", jsonFileOf(family, shared));
    int failures = 0;
    for (const QJsonValue one : family["cases"].toArray()) {
        const std::string text = one[0].toString().toStdString();
        const std::vector<TokenId> expected = idsOf(one[1]);
        const auto ids = tokenizer->encode(text, false);
        QVERIFY2(ids.hasValue(), ids ? "" : ids.error().message.c_str());
        const auto decoded = tokenizer->decode(expected, false);
        QVERIFY2(decoded.hasValue(), decoded ? "" : decoded.error().message.c_str());
        if (ids.value() == expected && decoded.value() == one[2].toString().toStdString())
            continue;
        ++failures;
        qWarning("'%s':\n  got    %s\n  wanted %s\n  decoded '%s'",
                 text.c_str(),
                 qPrintable(spelled(ids.value())),
                 qPrintable(spelled(expected)),
                 decoded.value().c_str());
    }
    QCOMPARE(failures, 0);
    if (!isGguf || family["definition"].toObject()["post_processor"].isObject())
        QCOMPARE(spelled(tokenizer->encode("x", true).value()),
                 spelled(idsOf(family["with_special"])));
}

void FamilyTokenizersTest::textsThatAreNoUtf8AreRefused() {
    QFETCH(QJsonObject, family);
    QFETCH(bool, isGguf);
    const QJsonObject shared = sharedBy(family);
    const auto tokenizer = isGguf ? load("m.gguf", ggufFileOf(family, shared))
                                  : load("tokenizer.json", jsonFileOf(family, shared));
    for (const char* bytes : {"a\x80", "\xC3", "\xED\xA0\x80", "\xF5\x80\x80\x80", "\xC0\xAF"}) {
        const auto ids = tokenizer->encode(bytes, false);
        QVERIFY(!ids);
        QVERIFY(QString::fromStdString(ids.error().message).contains("UTF-8"));
    }
}

void FamilyTokenizersTest::namesThatAreNotKnownAreRefused() {
    QJsonObject family;
    for (const QJsonValue one : m_data["families"].toArray())
        if (one["name"] == "qwen3")
            family = one.toObject();
    family["gguf"] = QJsonObject{{"pre", "qwen35"}}; // cuts marks in another way than qwen2
    const TemporaryFolder folder;
    const auto path = folder.write("m.gguf", ggufFileOf(family, sharedBy(family)));
    const auto files = ModelFiles::open(path);
    QVERIFY(files.hasValue());
    const auto tokenizer = loadTokenizer(files.value());
    QVERIFY(!tokenizer);
    QVERIFY2(tokenizer.error().message.find("the pre-tokenizer 'qwen35' is not supported") !=
                 std::string::npos,
             tokenizer.error().message.c_str());
}

QTEST_GUILESS_MAIN(FamilyTokenizersTest)
#include "family_tokenizers_test.moc"
