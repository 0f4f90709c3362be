// SPDX-License-Identifier: GPL-3.0-only
#include "ui/store/sqlite/chat_database.h"

#include "ui/files/whole_file.h"
#include "ui/store/sqlite/chat_queries.h"
#include "ui/store/sqlite/chat_schema.h"
#include "ui/store/sqlite/searched_text.h"

#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>
#include <QSqlDriver>
#include <QSqlError>
#include <QSqlQuery>
#include <QTemporaryDir>
#include <QUuid>
#include <QVariant>

#include <algorithm>
#include <sqlite3.h>
#include <utility>

namespace ui {

namespace {

constexpr int kLongestValueBytes = 256 << 20;
const QStringList kFileSuffixes = {QString(), QStringLiteral("-wal"), QStringLiteral("-shm")};

QString unusedName(const QString& path, const QString& word) {
    const QString stamp = QDateTime::currentDateTime().toString(QStringLiteral("yyyyMMdd-HHmmss"));
    const QString first = path + u'.' + word + u'-' + stamp;
    QString name = first;
    for (int i = 2; QFileInfo::exists(name); ++i)
        name = first + u'-' + QString::number(i);
    return name;
}

/// A file that cannot be read at the moment is not necessarily damaged.
bool isReadFailure(int code) {
    return (code & 0xff) == SQLITE_IOERR || (code & 0xff) == SQLITE_NOMEM;
}

/// The result of a quick check also lists pages that could not be read: "unable to get the page.
/// error code=266".
int codeOf(const QString& verdict) {
    static const QRegularExpression told(QStringLiteral("error code=(\\d+)"));
    const int code = told.match(verdict).captured(1).toInt();
    return isReadFailure(code) ? code : SQLITE_CORRUPT;
}

QString valueText(sqlite3_value* value) {
    const auto* units = static_cast<const QChar*>(sqlite3_value_text16(value));
    return QString(units, sqlite3_value_bytes16(value) / 2);
}

/// holds_all(text, words with a space between two): see containsAll(). SQLite's own LIKE knows the
/// case of ASCII letters only, and cannot be asked for very many words.
void holdsAll(sqlite3_context* context, int, sqlite3_value** values) {
    const QStringList words = valueText(values[1]).split(u' ', Qt::SkipEmptyParts);
    sqlite3_result_int(context, containsAll(valueText(values[0]), words) ? 1 : 0);
}

} // namespace

ChatDatabase::ChatDatabase(QString path)
    : m_path(std::move(path))
    , m_connectionName(QUuid::createUuid().toString()) {}

ChatDatabase::~ChatDatabase() { close(); }

void ChatDatabase::close() {
    m_isWritable = false;
    m_isReadable = false;
    m_hasFullText = false;
    if (QSqlDatabase::contains(m_connectionName))
        QSqlDatabase::removeDatabase(m_connectionName);
    m_copyFolder.reset();
}

QSqlDatabase ChatDatabase::connection() const {
    return QSqlDatabase::database(m_connectionName, false);
}

sqlite3* ChatDatabase::handle() const {
    const QSqlDatabase database = connection();
    if (!database.isOpen())
        return nullptr;
    const QVariant variant = database.driver()->handle();
    return *static_cast<sqlite3* const*>(variant.constData());
}

QList<StoreFault> ChatDatabase::open() {
    close();
    QList<StoreFault> faults;
    std::optional<StoreFault> fault = prepareFolder();
    if (!fault)
        fault = openFile();
    // SQLite reports a single failed read as damage; a damaged file is damaged when it is read
    // again, too.
    if (fault && fault->kind == StoreFaultKind::Damaged) {
        closeUntouched();
        fault = openFile();
    }
    if (!fault && std::exchange(m_isKnownDamaged, false))
        fault = faultOf(SQLITE_CORRUPT, tr("Writing failed."));
    if (fault && !fault->isLasting())
        fault = setAside(*fault, faults);
    if (fault) {
        faults.append(*fault);
        close();
        if (fault->kind != StoreFaultKind::Locked)
            openCopy();
    }
    return faults;
}

std::optional<StoreFault> ChatDatabase::prepareFolder() const {
    const QString folder = QFileInfo(m_path).absolutePath();
    if (QDir().mkpath(folder))
        return std::nullopt;
    return faultOf(SQLITE_CANTOPEN, tr("The folder %1 cannot be created.").arg(folder));
}

std::optional<StoreFault> ChatDatabase::openFile() {
    QSqlDatabase database = QSqlDatabase::addDatabase(QStringLiteral("QSQLITE"), m_connectionName);
    database.setDatabaseName(m_path);
    database.setConnectOptions(QStringLiteral("QSQLITE_BUSY_TIMEOUT=200"));
    if (!database.open())
        return faultOf(database.lastError().nativeErrorCode().toInt(), database.lastError().text());
    harden();
    if (const std::optional<StoreFault> fault = check())
        return fault;
    m_isReadable = true;
    m_isWritable = true;
    return std::nullopt;
}

// The file may have been put there by anyone.
void ChatDatabase::harden() {
    sqlite3* const raw = handle();
    sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(raw, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
    sqlite3_db_config(raw, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
    sqlite3_limit(raw, SQLITE_LIMIT_LENGTH, kLongestValueBytes);
    run(QStringLiteral("PRAGMA cell_size_check = ON"));
    sqlite3_create_function_v2(raw,
                               "holds_all",
                               2,
                               SQLITE_UTF16 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY,
                               nullptr,
                               &holdsAll,
                               nullptr,
                               nullptr,
                               nullptr);
}

std::optional<StoreFault> ChatDatabase::check() {
    if (sqlite3_db_readonly(handle(), "main") == 1)
        return faultOf(SQLITE_READONLY, tr("The file is write-protected."));
    // The exclusive mode keeps a second program out until this one ends in whatever way.
    if (!run(QStringLiteral("PRAGMA locking_mode = EXCLUSIVE")))
        return currentFault();
    const std::optional<QVariant> version = firstValue(QStringLiteral("PRAGMA user_version"));
    if (!version)
        return currentFault();
    // Before the journal mode, which is written into the file: it may be another program's.
    if (const std::optional<StoreFault> fault = checkOrigin(version->toInt()))
        return fault;
    if (!run(QStringLiteral("PRAGMA journal_mode = WAL")) ||
        !run(QStringLiteral("PRAGMA synchronous = FULL")) ||
        !run(QStringLiteral("BEGIN IMMEDIATE")) || !run(QStringLiteral("COMMIT")))
        return currentFault();
    if (const std::optional<StoreFault> fault = migrate(version->toInt()))
        return fault;
    const std::optional<QVariant> fullText = firstValue(
        QStringLiteral("SELECT count(*) FROM sqlite_schema WHERE name = 'message_search'"));
    m_hasFullText = fullText && fullText->toInt() == 1;
    // A file that claims to be ours but has other columns fails here.
    if (!readChats(connection()) || !readMessages(connection(), 0)) {
        const int code = sqlite3_extended_errcode(handle());
        return faultOf(isReadFailure(code) ? code : SQLITE_CORRUPT,
                       QString::fromUtf8(sqlite3_errmsg(handle())));
    }
    return std::nullopt;
}

std::optional<StoreFault> ChatDatabase::checkOrigin(int version) {
    const std::optional<QVariant> verdict = firstValue(QStringLiteral("PRAGMA quick_check(1)"));
    if (!verdict)
        return currentFault();
    if (verdict->toString() != QLatin1String("ok"))
        return faultOf(codeOf(verdict->toString()), verdict->toString());
    const std::optional<QVariant> owner = firstValue(QStringLiteral("PRAGMA application_id"));
    const std::optional<QVariant> tables =
        firstValue(QStringLiteral("SELECT count(*) FROM sqlite_schema"));
    if (!owner || !tables)
        return currentFault();
    const bool isEmpty = version == 0 && tables->toInt() == 0;
    if (!isEmpty && (owner->toInt() != kStoreApplicationId || version <= 0))
        return faultOf(SQLITE_NOTADB, tr("It is another program's database."));
    if (version <= storeVersion())
        return std::nullopt;
    StoreFault fault = faultOf(SQLITE_CORRUPT,
                               tr("The file has version %1, this program writes version %2.")
                                   .arg(version)
                                   .arg(storeVersion()));
    fault.kind = StoreFaultKind::Newer;
    return fault;
}

std::optional<StoreFault> ChatDatabase::migrate(int version) {
    if (version == storeVersion())
        return std::nullopt;
    if (version > 0 && !keepCopy(version))
        return currentFault();
    if (run(QStringLiteral("BEGIN IMMEDIATE")) && applySteps(version) &&
        run(QStringLiteral("COMMIT")))
        return std::nullopt;
    const StoreFault fault = currentFault();
    run(QStringLiteral("ROLLBACK"));
    return fault;
}

bool ChatDatabase::applySteps(int version) {
    const std::optional<QVariant> fullText =
        firstValue(QStringLiteral("SELECT sqlite_compileoption_used('ENABLE_FTS5')"));
    const bool hasFullText = fullText && fullText->toInt() == 1;
    for (; version < storeVersion(); ++version)
        for (const QString& statement : schemaStep(version, hasFullText))
            if (!run(statement))
                return false;
    return run(QStringLiteral("PRAGMA application_id = %1").arg(kStoreApplicationId)) &&
           run(QStringLiteral("PRAGMA user_version = %1").arg(storeVersion()));
}

// Written under another name first, so that a copy cut short by a full disk never gets this name.
bool ChatDatabase::keepCopy(int version) {
    const QString name = m_path + QStringLiteral(".before-version-%1").arg(version + 1);
    const QString draft = name + QStringLiteral(".part");
    QFile::remove(draft);
    QSqlQuery query(connection());
    query.prepare(QStringLiteral("VACUUM INTO ?"));
    query.addBindValue(draft);
    if (!query.exec() || !syncToDisk(draft))
        return false;
    QFile::remove(name);
    return QFile::rename(draft, name);
}

bool ChatDatabase::run(const QString& statement) {
    QSqlQuery query(connection());
    return query.exec(statement);
}

std::optional<QVariant> ChatDatabase::firstValue(const QString& statement) {
    QSqlQuery query(connection());
    if (!query.exec(statement) || !query.next())
        return std::nullopt;
    return query.value(0);
}

/// Closing alone would write the log into a damaged file, which must stay as it was found.
void ChatDatabase::closeUntouched() {
    if (sqlite3* const raw = handle())
        sqlite3_db_config(raw, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    close();
}

std::optional<StoreFault> ChatDatabase::setAside(const StoreFault& reason,
                                                 QList<StoreFault>& faults) {
    closeUntouched();
    const bool isNewer = reason.kind == StoreFaultKind::Newer;
    const QString name =
        unusedName(m_path, isNewer ? QStringLiteral("newer") : QStringLiteral("damaged"));
    for (const QString& suffix : kFileSuffixes)
        if (QFileInfo::exists(m_path + suffix) && !QFile::rename(m_path + suffix, name + suffix))
            return faultOf(SQLITE_READONLY, reason.details);
    StoreFault fault = reason;
    fault.path = name;
    fault.sentence =
        (isNewer ? tr("The chats were saved by a newer version of the program, so a new list was "
                      "started. The old chats are kept as %1; open them with that version.")
                 : tr("The chat file is damaged, so a new one was started. The old one is kept as "
                      "%1; a backup of it may still be readable."))
            .arg(QDir::toNativeSeparators(name));
    faults.append(fault);
    return openFile();
}

// WAL needs a writable folder even for reading, so what is there is shown from a copy elsewhere.
void ChatDatabase::openCopy() {
    if (!QFileInfo::exists(m_path))
        return;
    m_copyFolder = std::make_unique<QTemporaryDir>();
    const QString copy = m_copyFolder->filePath(QStringLiteral("chats.sqlite"));
    for (const char* suffix : {"", "-wal"})
        QFile::copy(m_path + QLatin1String(suffix), copy + QLatin1String(suffix));
    QFile::setPermissions(copy, QFile::ReadOwner | QFile::WriteOwner);
    QSqlDatabase database = QSqlDatabase::addDatabase(QStringLiteral("QSQLITE"), m_connectionName);
    database.setDatabaseName(copy);
    if (!database.open())
        return;
    harden();
    const std::optional<QVariant> version = firstValue(QStringLiteral("PRAGMA user_version"));
    m_isReadable = version && !checkOrigin(version->toInt()) && applySteps(version->toInt()) &&
                   readChats(database).has_value();
}

std::optional<StoreFault> ChatDatabase::write(const UnsavedRecords& records) {
    std::optional<StoreFault> fault = tryWrite(records);
    if (fault && fault->kind == StoreFaultKind::Damaged && m_hasFullText && remakeSearchTable())
        fault = tryWrite(records);
    if (!fault)
        return std::nullopt;
    // After a full disk the connection is still valid; after any other fault the file is opened and
    // checked again.
    m_isWritable = fault->kind == StoreFaultKind::Full;
    m_isKnownDamaged = fault->kind == StoreFaultKind::Damaged;
    return fault;
}

std::optional<StoreFault> ChatDatabase::tryWrite(const UnsavedRecords& records) {
    const QSqlDatabase database = connection();
    const bool isWritten =
        run(QStringLiteral("BEGIN IMMEDIATE")) &&
        std::all_of(records.chats.cbegin(),
                    records.chats.cend(),
                    [&](const ChatRecord& chat) { return writeChat(database, chat); }) &&
        std::all_of(records.messages.cbegin(),
                    records.messages.cend(),
                    [&](const StoredMessage& message) {
                        return writeMessage(database, message, m_hasFullText);
                    }) &&
        writeDrafts(records.drafts) && run(QStringLiteral("COMMIT"));
    if (isWritten)
        return std::nullopt;
    const StoreFault fault = currentFault();
    run(QStringLiteral("ROLLBACK"));
    return fault;
}

bool ChatDatabase::writeDrafts(const QMap<ChatId, Draft>& drafts) {
    for (auto draft = drafts.cbegin(); draft != drafts.cend(); ++draft)
        if (!writeDraft(connection(), draft.key(), draft.value()))
            return false;
    return true;
}

// It can be rebuilt from the messages, so its damage is no reason to give up the file.
bool ChatDatabase::remakeSearchTable() {
    const QStringList statements = schemaStep(kFullTextStep, true);
    const bool isMade = run(QStringLiteral("BEGIN IMMEDIATE")) &&
                        std::all_of(statements.cbegin(),
                                    statements.cend(),
                                    [this](const QString& statement) { return run(statement); }) &&
                        run(QStringLiteral("COMMIT"));
    if (!isMade)
        run(QStringLiteral("ROLLBACK"));
    return isMade;
}

QList<StoredMessage> ChatDatabase::tidy() {
    std::optional<QList<StoredMessage>> unfinished = readStreaming(connection());
    if (!unfinished)
        return {};
    UnsavedRecords records;
    for (StoredMessage& message : *unfinished) {
        message.state = MessageState::Recovered;
        records.messages.insert(message.id, message);
    }
    if (run(QStringLiteral("BEGIN IMMEDIATE")) &&
        (!purgeDeleted(connection(), m_hasFullText) || !run(QStringLiteral("COMMIT"))))
        run(QStringLiteral("ROLLBACK"));
    if (records.isEmpty() || write(records))
        return {};
    return *unfinished;
}

StoreFault ChatDatabase::currentFault() const {
    sqlite3* const raw = handle();
    return faultOf(sqlite3_extended_errcode(raw), QString::fromUtf8(sqlite3_errmsg(raw)));
}

StoreFault ChatDatabase::faultOf(int code, const QString& details) const {
    const QString file = QDir::toNativeSeparators(m_path);
    const QString technical = tr("%1 (SQLite code %2)").arg(details, QString::number(code));
    switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    // What we write breaks no constraint of an intact file.
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
        return {StoreFaultKind::Damaged,
                tr("The chat file is damaged: %1.").arg(file),
                technical,
                m_path};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return {StoreFaultKind::Locked,
                tr("Another window of the program has the chats open. Close it. Until then, new "
                   "chats are kept in memory; they are saved as soon as it is closed."),
                technical,
                m_path};
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return {
            StoreFaultKind::ReadOnly,
            tr("Chats cannot be saved, because %1 cannot be written. Allow writing there. Until "
               "then, new chats are kept in memory.")
                .arg(file),
            technical,
            m_path};
    case SQLITE_FULL:
        return {StoreFaultKind::Full,
                tr("Chats cannot be saved, because the disk of %1 is full. Free some space. Until "
                   "then, new chats are kept in memory.")
                    .arg(file),
                technical,
                m_path};
    case SQLITE_NOMEM:
        return {StoreFaultKind::DiskError,
                tr("Chats cannot be saved, because there is not enough memory. Close other "
                   "programs. Until then, new chats are kept in this window."),
                technical,
                m_path};
    default:
        return {StoreFaultKind::DiskError,
                tr("Chats cannot be saved, because writing %1 failed. Check the disk. Until then, "
                   "new chats are kept in memory.")
                    .arg(file),
                technical,
                m_path};
    }
}

} // namespace ui
