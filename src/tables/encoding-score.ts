/** Reading: a file that is not UTF-8: how far from it, and which encodings would make sense of it. */
import type { InputFile } from "./source.ts";
import { decodeAll, readWholeLines, resolveEncoding } from "./text.ts";

/** What no table of people holds, and so shows a wrong guess: C1 controls, private use, what is no text. */
export const unclean = /[\ufffd\u0080-\u009f\ue000-\uf8ff\u0000]/;

interface ByteSurvey {
  /** Characters beyond ASCII that are well-formed UTF-8, and what is not. */
  good: number;
  bad: number;
  /** Offset of the first byte that is not. */
  firstBad: number;
  /** Cells that hold a byte beyond ASCII, one on each line. */
  cells: Buffer;
}

const surveyBytes = 64 * 1024;

/** Looks at a file that is not UTF-8: how far from it, and the cells that make it so. */
export async function surveyUtf8(file: InputFile): Promise<ByteSurvey> {
  const survey = { good: 0, bad: 0, firstBad: -1 };
  let cells = "";
  let offset = 0;
  for await (const bytes of readWholeLines({ file, encoding: "iso-8859-1", markBytes: 0 })) {
    const text = Buffer.from(bytes, "latin1").toString("utf8");
    if (survey.bad === 0 && text.includes("\ufffd"))
      survey.firstBad = offset + Buffer.byteLength(text.slice(0, text.indexOf("\ufffd")));
    survey.good += countMatches(text, /[^\x00-\x7f\ufffd]/gu);
    survey.bad += countMatches(text, /\ufffd/g);
    // None of these separators is the second byte of a character in any encoding that is left here.
    const isOpen = cells.length < surveyBytes;
    for (const cell of isOpen ? bytes.split(/[,;\t\n\r]/) : [])
      if (/[\x80-\xff]/.test(cell)) cells += `${cell}\n`;
    offset += bytes.length;
  }
  return { ...survey, cells: Buffer.from(cells, "latin1") };
}

/** Tried whether or not the statistics think of them: the commonest first. */
const candidates =
  `windows-1252 windows-1250 windows-1254 windows-1251 shift_jis gb18030 big5 euc-kr euc-jp windows-1253
  windows-1255 windows-1256 windows-1257 koi8-r iso-8859-2 ibm866 cp850 macintosh maccyrillic`.split(/\s+/);
/** A text that no language explains better than this is not understood. */
const minLikeness = 0.4;
/** They know pairs of letters, but need more text than a few names: so many bytes for their whole weight. */
const statisticsWeight = 0.4;
const bytesForStatistics = 2000;
const minShare = 0.4;
/** What a rarer encoding must be better by than a commoner one. */
const stepInRank = 0.004;
/** The bonus of the first candidate. */
const mostCommonBonus = 0.08;

export interface Guess {
  encoding: string;
  /** The cells in this encoding. */
  text: string;
  /** About 0 to 1. */
  score: number;
}

/** So much better than any other text the best must be, or nobody can tell. */
export const clearMargin = 0.04;

/** Encodings in which the cells decode cleanly, likeliest first; the commonest of those with one text. */
export async function rankGuesses(cells: Buffer): Promise<Guess[]> {
  const confidences = await readStatistics(cells);
  const weight = statisticsWeight * Math.max(minShare, Math.min(1, cells.length / bytesForStatistics));
  const byText = new Map<string, Guess>();
  for (const [rank, encoding] of [...new Set([...candidates, ...confidences.keys()])].entries()) {
    const text = await decodeAll(cells, encoding);
    const share = unclean.test(text) ? 0 : computeLikeness(text, encoding);
    if (share < minLikeness) continue;
    const bonus = rank === 0 ? mostCommonBonus : -rank * stepInRank;
    const score = share + (confidences.get(encoding) ?? 0) * weight + bonus;
    const sameText = byText.get(text);
    if (!sameText) byText.set(text, { encoding, text, score });
    else sameText.score = Math.max(sameText.score, score);
  }
  return [...byText.values()].sort((one, other) => other.score - one.score);
}

/** Encoding → confidence from 0 to 1, for those that can be decoded. */
async function readStatistics(cells: Buffer): Promise<Map<string, number>> {
  // By its default export: a bundled CommonJS package has no other.
  const { default: chardet } = await import("chardet");
  const confidences = new Map<string, number>();
  for (const { name, confidence } of chardet.analyse(cells)) {
    if (/^(?:utf|ascii|iso-2022)/i.test(name)) continue;
    const encoding = await resolveEncoding(name).catch(() => undefined);
    if (encoding !== undefined && !confidences.has(encoding)) confidences.set(encoding, confidence / 100);
  }
  return confidences;
}

/** Letters beyond ASCII by language. */
const western = [
  "äöüß", // German
  "áéíóúñüªº¿¡", // Spanish
  "àâæçèéêëîïôœùûüÿ", // French
  "ãõáéíóúâêôçàªº", // Portuguese
  "àèéìíòóù", // Italian
  "åäöéü", // Swedish, Finnish
  "æøåéö", // Danish, Norwegian
  "ëïéèöüêôáó", // Dutch
];
/** So rare that a text is Icelandic only when nothing else explains it. */
const icelandic = "áéíóúýþæöð";
const rarity = 0.15;
const central = [
  "äöüß", // German
  "ąćęłńóśźż", // Polish
  "áčďéěíňóřšťúůýž", // Czech
  "áéíóöőúüű", // Hungarian
  "ăâîșțşţ", // Romanian
  "čćđšž", // Croatian
  "áäčďéíĺľňóôŕšťúýž", // Slovak
];
const baltic = [
  "ąčęėįšųūž", // Lithuanian
  "āčēģīķļņšūž", // Latvian
  "äöõüšž", // Estonian
];

/** The languages that are written in an encoding of one byte for each character. */
const alphabets: Record<string, string[]> = {
  "windows-1250": central,
  "iso-8859-2": central,
  "windows-1254": ["çğıİi̇öşüâî"],
  "windows-1257": baltic,
};

/** The characters of names and places, and a few of addresses. */
const simplifiedChinese = new Set(
  "王李张刘陈杨黄赵吴周徐孙马朱胡郭何林高罗郑梁谢宋唐许韩邓冯曹彭曾肖田董潘袁蔡蒋余于杜叶程魏苏吕丁任卢姚沈钟姜崔谭陆范汪廖石金韦贾夏付方邹熊白孟秦邱侯江尹薛闫段雷龙黎史陶贺毛郝顾龚邵万钱严赖覃洪武莫孔汤向常温康施文牛樊葛邢安齐易乔伍庞颜倪庄聂章鲁岳翟殷詹申欧耿关兰焦俞左柳甘祝包宁尚符舒阮柯纪梅童凌毕单季裴霍涂成苗谷盛曲翁骆蓝路游辛管柴蒙鲍华房解艾尤阳时司古吉简车项连麦党宫费卫米宗全应边师和商沙荣明诸马光亮" +
    "伟芳娜秀英敏静丽强磊军洋勇艳杰娟涛超霞平刚桂玉红鹏辉飞玲建国斌宇浩凯健俊帆帅旭鑫波晶晨雪婷慧颖倩佳琳欣雨怡梦洁琪嘉峰志新海东生春永小晓子美云莉燕萍天德才福翔宏博思诗涵轩泽瑞睿俪" +
    "北京上海广州深圳天津重庆都武汉杭南苏西长沙阳青岛大连厦门济合肥昆市区省县路号街道先生姐女士您好谢你公司有限楼室朝中山一二三",
);

const traditionalChinese = new Set(
  "王李張劉陳楊黃趙吳周徐孫馬朱胡郭何林高羅鄭梁謝宋唐許韓鄧馮曹彭曾蕭田董潘袁蔡蔣余于杜葉程魏蘇呂丁任盧姚沈鍾姜崔譚陸范汪廖石金賴邱侯江洪莊游簡詹方白康施溫柯翁顏阮連歐鄒戴傅夏鍾熊" +
    "偉美玲志家豪雅婷怡君淑芬惠明華建國文俊宏麗秀英珍雯欣宜佳穎慧敏芳龍小傑倫龍銘哲承宗翰冠廷柏育子涵品語晴詠如心安瑜筱琪萱芷彥" +
    "台臺北市高雄新竹中南香港九龍區路號街姐先生您好謝公司有限縣鄉鎮東西大一二三段樓",
);

const japanese = new Set(
  "田中山本佐藤鈴木高橋伊渡辺小林加吉斎松井村上原川清水森池阿部石野岡前長谷後近青坂遠西福太三岩島崎金宮内横河平今増丸菅千葉大久保杉武新酒工竹柴桜安永沢和東京都府県市区町道北海阪名古屋浜神戸札幌" +
    "郎子一二花美香恵由紀健翔真優奈菜々愛結陽樹明智正博幸雄夫男彦之介輔也哉弘康隆茂誠裕浩学光秀英義徳孝行洋克哲髙﨑様株式会社目丁番地号",
);

const korean = new Set(
  "김이박최정강조윤장임한오서신권황안송류전홍고문양손배백허유남심노하곽성차주우구민진나지엄채원천방공현함변염여추도소석선설마길연위표명기반왕금옥육인맹제모탁국어은편용예경봉사부" +
    "준훈수빈영희철미혜아름다운늘별빛라동순자숙상호재태시환승범규리율건생님과대울산광충북특별역로번가애란형병욱종찬호보람슬혁섭빈람솔",
);

const commonCharacters: Record<string, ReadonlySet<string>> = {
  gb18030: simplifiedChinese,
  gbk: simplifiedChinese,
  big5: traditionalChinese,
  shift_jis: japanese,
  "euc-jp": japanese,
  "iso-2022-jp": japanese,
  "euc-kr": korean,
};

const typography = new Set("’‘“”„–—…€«»°®©™·£\u00a0");

const cased = /[\p{Script=Cyrillic}\p{Script=Greek}]/u;
const caseless = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Thai}]/u;
const letter = /\p{L}/u;
/** A word of two scripts is half accented letters of a Latin word, read in a wrong encoding. */
const mixedWord =
  /[A-Za-z](?!\p{Script=Latin})\p{L}|(?!\p{Script=Latin})\p{L}[A-Za-z]|\p{Script=Hangul}\p{Script=Han}|\p{Script=Han}\p{Script=Hangul}/gu;
/** What no name holds: each shows that an encoding is the wrong one. */
const oddities = [
  // A sign within a word; a dash is one only before a small letter.
  /\p{L}[^\x00-\x7f\p{L}\p{M}\p{Nd}’‐‑·–—・ー]+\p{L}/gu,
  /\p{L}[–—\u00a0]\p{Ll}/gu,
  // Quotation marks on the wrong side, or closed without being opened.
  /\p{L}[‘¿¡]|(?<![“„”][^\n]*)”/gu,
  /[®™¿¤¦§¨¬¯¶¸†‡•‰›£€¥¢][a-z]|\u00ad/gu,
  // A capital within a word that is not written in capitals.
  /\p{Ll}(?![A-Z])(?=\p{Script=Latin})\p{Lu}|\p{Lu}(?![A-Z])(?=\p{Script=Latin})\p{Lu}\p{Ll}/gu,
  // Letters where no language has them.
  /(?<![aeiouyäöüAEIOUÄÖÜ])ß|ß[^aeioutnlbg\W]|[aeou]á|[iu]á(?![bcdgjklmnrstvz])|\p{L}[ºª]|ç(?![aeiouâãáéêôóõAEIOU\W])|[ou]æ|[eio]œ|[uo]û|ì\p{L}/gu,
  /[A-Z][ﾞﾟ]/gu,
];

/** A word of accented letters alone, which is none in western languages. */
const accentedWord = /(?<!\p{L})(?:(?![a-zA-Z])\p{Script=Latin}){2,}(?!\p{L})/gu;

const kana = /[\p{Script=Hiragana}\p{Script=Katakana}ー々・]/u;
const halfWidthKana = /[\uff66-\uff9f]/;
/** Voicing marks follow certain letters alone: hardly any other encoding has its bytes so. */
const voicedKana = /[ｳｶ-ﾄﾊ-ﾎ]ﾞ|[ﾊ-ﾎ]ﾟ/;
const ideographs = /[\p{Script=Han}\p{Script=Hangul}]/u;

/** 0 to 1: the share of characters beyond ASCII that a language of this encoding explains. */
function computeLikeness(text: string, encoding: string): number {
  const foreign = text.match(/[^\x00-\x7f]/gu) ?? [];
  if (foreign.length === 0) return 0;
  const common = commonCharacters[encoding];
  const explained = common
    ? computeEastAsianLikeness(foreign, common, text)
    : Math.max(
        computeLatinLikeness(foreign, alphabets[encoding] ?? western),
        computeScriptLikeness(foreign, text),
      );
  const odd = oddities.reduce(
    (sum, pattern) => sum + countMatches(text, pattern),
    countMatches(text, mixedWord),
  );
  const accented = alphabets[encoding] ? 0 : countMatches(text, accentedWord);
  return explained - (odd + accented) / foreign.length;
}

function computeShare(characters: string[], holds: (character: string) => boolean): number {
  return characters.filter(holds).length / characters.length;
}

function computeLatinLikeness(foreign: string[], languages: readonly string[]): number {
  const lower = foreign.map((character) => character.toLowerCase());
  const computeShareIn = (letters: string) =>
    computeShare(lower, (each) => letters.includes(each) || typography.has(each));
  const shares = languages.map(computeShareIn);
  if (languages === western) shares.push(computeShareIn(icelandic) - rarity);
  return Math.max(...shares);
}

/** Alphabets with capitals: a wrong one shows in words that begin small, or change their size inside. */
function computeScriptLikeness(foreign: string[], text: string): number {
  const isOwn = (each: string) => letter.test(each) && (cased.test(each) || caseless.test(each));
  const share = computeShare(foreign, (each) => isOwn(each) || typography.has(each));
  if (share <= 0 || !foreign.some(isOwn)) return 0;
  const words = (text.match(/\p{L}+/gu) ?? []).filter((word) => cased.test(word));
  if (words.length === 0) return share;
  const oddness = words.reduce((sum, word) => sum + computeOddness(word), 0) / words.length;
  return share * (1 - oddness);
}

/** A word of small letters, and one of capitals: some in any file, many under a wrong alphabet. */
const oddnessOfSmall = 0.15;
const oddnessOfCapitals = 0.2;

/** Rows hold names, which begin large; prose begins small, and neither changes its size inside a word. */
function computeOddness(word: string): number {
  if (/\p{Ll}\p{Lu}|\p{Lu}{2}\p{Ll}/u.test(word)) return 1;
  if (/^\p{Ll}/u.test(word)) return oddnessOfSmall;
  return /^\p{Lu}{2}/u.test(word) ? oddnessOfCapitals : 0;
}

/** A character of a rare name, or two bytes that look like one; or unvoiced half-width kana. */
const doubtfulWeight = 0.5;

/** Nearly every pair of high bytes is an ideograph somewhere: those of names tell encodings apart. */
function computeEastAsianLikeness(foreign: string[], common: ReadonlySet<string>, text: string): number {
  const ofKana = common === japanese ? 1 : 0;
  const ofHalfWidthKana = voicedKana.test(text) ? ofKana : ofKana * doubtfulWeight;
  const weigh = (character: string): number => {
    if (common.has(character)) return 1;
    if (halfWidthKana.test(character)) return ofHalfWidthKana;
    if (kana.test(character)) return ofKana;
    return ideographs.test(character) ? doubtfulWeight : 0;
  };
  return foreign.reduce((sum, each) => sum + weigh(each), 0) / foreign.length;
}

function countMatches(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}
