/** Words of consent in Vietnamese. What each line means is said in `../words.ts`. */
export const vietnamese = {
  cells: {
    yes: "có, đúng, vâng",
    no: "không, sai, không bao giờ",
    active: "hoạt động, đã xác nhận, đồng ý",
    subscribed: "đã đăng ký, đang đăng ký",
    gone: `hủy đăng ký, đã hủy đăng ký, huỷ đăng ký, đã huỷ đăng ký, không đăng ký, không còn đăng ký,
      chưa đăng ký, không đồng ý, rút lại đồng ý, từ chối nhận tin, danh sách đen`,
    notSubscribed: "không hoạt động, chưa xác nhận, đang chờ, bị chặn, đã xóa, từ chối",
  },
  names: {
    optIn: `đồng ý, đồng ý nhận email, đồng ý nhận tin, đồng ý nhận bản tin, đã đăng ký, đã đăng ký nhận tin,
      đăng ký nhận tin, đăng ký nhận email`,
    optOut: `hủy đăng ký, đã hủy đăng ký, huỷ đăng ký, đã huỷ đăng ký, chưa đăng ký, không đồng ý,
      chưa đồng ý, rút lại đồng ý, từ chối nhận tin, từ chối nhận email, không nhận email, không nhận tin,
      không gửi, danh sách đen`,
    status: "trạng thái, tình trạng, trạng thái đăng ký, tình trạng đăng ký",
    around: "thư điện tử, bản tin, danh sách, liên hệ, khách hàng, ngày, thời gian",
    reasons: "lý do",
    others: "thành phố, tên, họ, công ty, đường, ghi chú",
  },
  hints: {
    anywhere: "đồng ý, đăng ký, nhận tin, nhận email, bản tin, từ chối, quảng cáo, tiếp thị",
    alone: "dừng, chặn, đã xóa, không",
  },
  channels: {
    words: "điện thoại, tin nhắn",
    email: "thư điện tử, bản tin",
  },
};
