import iconv from "iconv-lite";
import { expect, test } from "vitest";
import { notesOf, read, refuses } from "./reading.ts";

const japanese =
  "メールアドレス,姓,名\ntaro@example.jp,田中,太郎\nhanako@example.jp,髙橋,花子①\nken@example.jp,山田,健一\n";
const german =
  "E-Mail,Vorname,Nachname\nkaethe@example.de,Käthe,Weiß\njoerg@example.de,Jörg,Müller – „Süß“ €\n";
const russian = "Email,Имя,Фамилия\nivan@example.ru,Иван,Иванов\nanna@example.ru,Анна,Каренина\n";
const chinese = "邮箱,First Name,Last Name\nwang@example.cn,伟,王先生您好\nli@example.cn,娜,李小姐谢谢\n";
const korean = "이메일,First Name,Last Name\nkim@example.kr,민준,김선생님\nlee@example.kr,서연,이사장님\n";

test.each([
  ["utf-8", japanese, "utf8", "utf-8"],
  ["utf-8 with a mark", japanese, "utf8-mark", "utf-8"],
  ["UTF-16 LE with a mark", japanese, "utf16le-mark", "utf-16le"],
  ["UTF-16 LE", japanese, "utf16le", "utf-16le"],
  ["UTF-16 BE with a mark", german, "utf16be-mark", "utf-16be"],
  ["UTF-16 BE", german, "utf16be", "utf-16be"],
  ["Shift_JIS", japanese, "cp932", "shift_jis"],
  ["EUC-JP", japanese.replace("髙", "高").replace("①", ""), "eucjp", "euc-jp"],
  ["ISO-2022-JP", japanese.replace("髙", "高").replace("①", ""), "iso2022jp", "iso-2022-jp"],
  ["windows-1252", german, "cp1252", "windows-1252"],
  ["the commonest of those that give one text", "Email,City\na@x.org,Köln\n", "cp1252", "windows-1252"],
  ["windows-1251", russian, "cp1251", "windows-1251"],
  ["KOI8-R", russian, "koi8-r", "koi8-r"],
  ["Mac Cyrillic", russian, "maccyrillic", "maccyrillic"],
  ["GB18030", chinese, "gb18030", "gb18030"],
  ["EUC-KR", korean, "euckr", "euc-kr"],
])("%s is found and read", async (_name, text, written, encoding) => {
  const { understood, rows } = await read(encode(text, written));
  expect(understood.facts.form.encoding).toBe(encoding);
  const [, ...lines] = text.trimEnd().split("\n");
  expect(rows.map((row) => row.cells.join(","))).toEqual(lines);
  expect(rows.map((row) => row.line)).toEqual(lines.map((_, index) => index + 2));
});

function encode(text: string, name: string): Buffer {
  if (name === "iso2022jp") return toIso2022jp(text);
  if (name === "utf8-mark") return Buffer.from(`\ufeff${text}`);
  if (!name.startsWith("utf16")) return iconv.encode(text, name);
  const bytes = Buffer.from(name.endsWith("-mark") ? `\ufeff${text}` : text, "utf16le");
  return name.startsWith("utf16be") ? bytes.swap16() : bytes;
}

/** What is not ASCII stands between escapes; each character is two bytes of EUC-JP less the high bits. */
function toIso2022jp(text: string): Buffer {
  const parts = text.split(/([^\x00-\x7f]+)/).map((part, index) => {
    if (index % 2 === 0) return Buffer.from(part);
    const characters = iconv.encode(part, "eucjp").map((byte) => byte & 0x7f);
    return Buffer.concat([Buffer.from("\x1b$B"), characters, Buffer.from("\x1b(B")]);
  });
  return Buffer.concat(parts);
}

test("a guess is always said, with the first line that it decodes", async () => {
  const rows = Array.from({ length: 300 }, (_, index) => `a${index}@example.jp,x,y`).join("\n");
  const bytes = iconv.encode(`Email,First Name,Last Name\n${rows}\ntaro@example.jp,田中,太郎\n`, "cp932");
  const { understood } = await read(bytes);
  expect(notesOf(understood)).toContainEqual(
    "Read as shift_jis (detected; override with --encoding); the first line that is not plain ASCII is line 302: taro@example.jp,田中,太郎",
  );
});

const latin = iconv.encode("Email,City\na@example.com,Köln\n", "cp1252");
const nearlyUtf8 = Buffer.concat([
  Buffer.from("Email,City\r\na@example.com,Köln\r\nb@example.com,Zürich\r\nc@example.com,M"),
  Buffer.from("\xfcnchen\n", "latin1"),
]);
const marked = "\ufeffEmail,City\na@example.com,Köln\n";

const klingon = ["hex", "base64", "klingon", "utf-9"];
test.each<[title: string, Buffer | string, encoding: string | undefined, message: RegExp]>([
  ["one that is not UTF-8", nearlyUtf8, undefined, /people\.csv:4: byte 71 is not UTF-8, while the rest/],
  ["a zero byte", "Email\na@x.org\nb\0@x.org\n", undefined, /people\.csv:3: a zero byte \(offset 15\)/],
  ["not in the encoding that is told", latin, "shift_jis", /:2: the bytes of this line are not shift_jis/],
  ["not in UTF-8, which is told", latin, "utf-8", /:2: byte 26 is not UTF-8/],
  ["with a mark that is another encoding's", marked, "windows-1252", /people\.csv is marked as UTF-8/],
  ...klingon.map((name): [string, string, string, RegExp] => [
    ...([`in no encoding: ${name}`, "Email\n", name] as const),
    new RegExp(`--encoding "${name}" is not an encoding`),
  ]),
])("bytes that do not belong are refused: %s", async (_title, bytes, encoding, message) => {
  await refuses(read(bytes, { encoding }), message);
});

test.each<[Buffer | string, encoding: string, cell: string, found: string]>([
  ["Email,City\na@example.com,Köln\n", "latin1", "KÃ¶ln", "windows-1252"],
  [iconv.encode("Email,City\na@example.com,Köln\n", "cp850"), "CP850", "Köln", "cp850"],
  [marked, "utf-8", "Köln", "utf-8"],
])("--encoding overrides what bytes look like: case %#", async (bytes, encoding, cell, found) => {
  const { rows, understood } = await read(bytes, { encoding });
  expect([rows[0]?.cells[1], understood.facts.form.encoding]).toEqual([cell, found]);
});

test.each(["utf-8", "utf-16le", "gb18030"])("characters of %s are whole across chunks", async (encoding) => {
  for (const shift of [0, 1, 2, 3]) {
    const city = `${"x".repeat(shift)}${"é漢😀".repeat(4000)}`;
    const { rows } = await read(iconv.encode(`Email,City\na@example.com,${city}\n`, encoding), { encoding });
    expect(rows[0]?.cells[1] === city).toBe(true);
  }
});

test.each(
  // Of each file its names.
  Object.entries({
    "windows-1252": [["Íñigo Muñoz"], ["L’Hôpital “Œuvre”"], ["O’Neill"], ["Åke Öberg"]],
    "windows-1250": [["Jiří Dvořák"], ["Łukasz Żółć"]],
    "windows-1251": [["Анна Каренина"]],
    "koi8-r": [["Анна Каренина"]],
    "windows-1253": [["Ελένη Νικολαΐδου"]],
    "windows-1254": [["Işıl Yılmaz"]],
    "windows-1255": [["משה כהן"]],
    "windows-1256": [["محمد علي"]],
    shift_jis: [["田中 太郎"], ["ﾔﾏﾀﾞ ﾀﾛｳ"]],
    "euc-jp": [["田中", "太郎", "山田 花子"]],
    big5: [["王偉明"], ["王偉明", "台北市"]],
    "euc-kr": [["김민준"], ["김민준", "이서연"]],
    gb18030: [["刘洋"], ["王伟", "李娜", "张敏", "北京市朝阳区"]],
    cp850: [["Günther"], ["Müller", "Köln", "Käthe Weiß", "José Muñoz", "François"]],
    macintosh: [["José Muñoz"], ["Müller", "Köln", "Käthe Weiß", "José Muñoz", "L’Hôpital"]],
    ibm866: [["Екатерина"], ["Иван", "Анна Каренина", "Москва"]],
  }).flatMap(([encoding, files]) => files.map((names): [string, string[]] => [encoding, names])),
)("one name is enough to read %s, and more are read: %s", async (encoding, names) => {
  const lines = names.map((name, index) => `a${index}@example.com,${name}\n`).join("");
  const { rows, understood } = await read(iconv.encode(`Email,City\n${lines}`, encoding));
  expect(rows.map((row) => row.cells[1])).toEqual(names);
  expect(notesOf(understood)[0]).toMatch(/^Read as \S+ \(detected; override with --encoding/);
});

test("where two encodings make sense of a file, it is refused with both texts", async () => {
  await refuses(
    read(iconv.encode("Email,City\na@example.com,Weiß\n", "cp850")),
    /people\.csv:2: the encoding cannot be determined; it could be .*\("Weiß"\)/,
    /--encoding \S+, or save the file as UTF-8/,
  );
});

test("a last byte that begins no character of UTF-8 is not taken for one that was cut", async () => {
  const { rows } = await read(Buffer.from("Email,City\na@example.com,Zü", "latin1"));
  expect(rows[0]?.fields.get("f3")).toBe("Zü");
});

test.each([
  ["two bytes", [0xc3]],
  ["three bytes", [0xe6, 0x9d]],
  ["four bytes", [0xf0, 0x9f, 0x98]],
])("a file that ends inside a character of %s is not read as something else", async (_name, end) => {
  for (const [line, above] of Object.entries({ 2: "", 3: "b@example.com,Köln\n" })) {
    const bytes = Buffer.concat([Buffer.from(`Email,City\n${above}a@example.com,K`), Buffer.from(end)]);
    await refuses(read(bytes), `people.csv:${line}: the file ends in the middle of a UTF-8 character`);
  }
});
