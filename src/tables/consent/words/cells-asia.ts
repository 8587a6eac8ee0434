/** What a cell says, in the languages of Asia and the Middle East. */
import type { CellWords, Language } from "./languages.ts";

export const asianCells = {
  japanese: {
    yes: "はい, 有, 有り, あり, 可, 要, する, 真, オン",
    no: "いいえ, 否, 無, 無し, なし, 不可, 不要, しない, 偽, オフ",
    active:
      "有効, 希望, 希望する, 希望します, 同意, 同意する, 同意します, 同意済み, 同意済, 承諾, 承諾する, 許可, 許諾, 了承, 登録, 登録済み, 登録済, 受け取る, 受信する, 配信可, 受信可",
    subscribed: "購読, 購読中, 購読者, 配信中, 配信希望, 受信希望, オプトイン",
    gone: `配信停止, 配信停止中, 配信停止済み, 配信停止済, 送信停止, 配信解除, 配信解除済み, 購読解除, 購読停止, 購読中止, 登録解除, 登録解除済み, 解除済み, 解除済, 退会, 退会済み, 退会済, 配信拒否, 受信拒否, 配信不可, 配信不要, 受信不可, 配信ng, 送信ng,
      オプトアウト, 未購読, 不達, 不着, バウンス, 苦情, 迷惑メール報告, ブラックリスト, 同意撤回, 撤回, 撤回済み, 同意しない, 同意しません, 不同意, 希望しない, 希望しません, 受け取らない, 受信しない, 配信しない`,
    notSubscribed:
      "無効, 停止, 停止中, 停止済み, 解除, 拒否, 休止, 休止中, 未登録, 未同意, 未承諾, 未確認, 仮登録, 保留, 削除, 削除済み, エラー, 除外",
  },
  chinese: {
    yes: "是, 有, 真, 启用, 啟用",
    no: "否, 不, 无, 無, 假",
    active: "有效, 同意, 已同意, 确认, 已确认, 確認, 已確認, 接收, 接受, 允许, 允許",
    subscribed: "订阅, 已订阅, 订阅中, 訂閱, 已訂閱, 訂閱中",
    gone: `退订, 已退订, 退訂, 已退訂, 取消订阅, 已取消订阅, 取消訂閱, 已取消訂閱, 未订阅, 未訂閱, 不再订阅, 不再訂閱, 拒收, 黑名单, 黑名單, 退信, 硬退信, 投诉, 投訴, 垃圾邮件投诉, 请勿发送, 請勿發送, 已撤回, 撤回同意, 同意已撤回, 不同意, 不接收, 不接受, 不允许,
      不允許, 拒绝接收, 拒絕接收`,
    notSubscribed:
      "无效, 無效, 未激活, 待确认, 待確認, 未确认, 未確認, 已删除, 已刪除, 禁用, 停用, 已停用, 拒绝, 拒絕, 未同意, 撤回",
  },
  korean: {
    yes: "예, 네, 참, 있음",
    no: "아니요, 아니오, 거짓, 없음",
    active: "활성, 동의, 동의함, 수신동의, 수신 동의, 수신, 확인됨, 허용",
    subscribed: "구독, 구독중, 구독 중, 구독자",
    gone: `수신거부, 수신 거부, 수신거부됨, 구독취소, 구독 취소, 구독취소됨, 구독해지, 구독 해지, 구독안함, 구독 안함, 미구독, 탈퇴, 탈퇴함, 반송, 반송됨, 스팸신고, 스팸 신고, 블랙리스트, 동의철회, 동의 철회, 철회, 철회됨, 동의안함, 동의 안함,
      동의하지 않음, 비동의, 미동의`,
    notSubscribed: "비활성, 거부, 해지, 대기, 대기중, 미확인, 차단, 삭제, 삭제됨, 중지, 제외",
  },
  arabic: {
    yes: "نعم, صحيح",
    no: "لا, خطأ, أبدا",
    active: "نشط, مؤكد, موافق",
    subscribed: "مشترك",
    gone: "ألغى الاشتراك, تم إلغاء الاشتراك, إلغاء الاشتراك, غير مشترك, لم يعد مشتركا, غير موافق, سحب الموافقة, القائمة السوداء",
    notSubscribed: "غير نشط, غير مؤكد, قيد الانتظار, محظور, محذوف, مرفوض",
  },
  hebrew: {
    yes: "כן, נכון",
    no: "לא, שגוי",
    active: "פעיל, מאושר, מאשר, מסכים",
    subscribed: "רשום, מנוי",
    gone: "הוסר, הוסר מהרשימה, הסרה, ביטל מנוי, לא רשום, לא מנוי, כבר לא מנוי, ללא הסכמה, אין הסכמה, לא לשלוח, רשימה שחורה",
    notSubscribed: "לא פעיל, לא מאושר, ממתין, חסום, נמחק, נדחה",
  },
  vietnamese: {
    yes: "có, đúng, vâng",
    no: "không, sai, không bao giờ",
    active: "hoạt động, đã xác nhận, đồng ý",
    subscribed: "đã đăng ký, đang đăng ký",
    gone: "hủy đăng ký, đã hủy đăng ký, huỷ đăng ký, đã huỷ đăng ký, không đăng ký, không còn đăng ký, chưa đăng ký, không đồng ý, rút lại đồng ý, từ chối nhận tin, danh sách đen",
    notSubscribed: "không hoạt động, chưa xác nhận, đang chờ, bị chặn, đã xóa, từ chối",
  },
  indonesian: {
    yes: "ya, benar",
    no: "tidak, salah, tidak pernah",
    active: "aktif, dikonfirmasi, setuju",
    subscribed: "berlangganan, pelanggan",
    gone: "berhenti berlangganan, tidak berlangganan, tidak lagi berlangganan, batal berlangganan, tidak setuju, persetujuan ditarik, ditarik, tanpa persetujuan, daftar hitam",
    notSubscribed: "tidak aktif, belum dikonfirmasi, menunggu, diblokir, dihapus, ditolak",
  },
} satisfies Partial<Record<Language, CellWords>>;
