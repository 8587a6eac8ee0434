/** Words of consent in Indonesian. What each line means is said in `../words.ts`. */
export const indonesian = {
  cells: {
    yes: "ya, benar",
    no: "tidak, salah, tidak pernah",
    active: "aktif, dikonfirmasi, setuju",
    subscribed: "berlangganan, pelanggan",
    gone: `berhenti berlangganan, tidak berlangganan, tidak lagi berlangganan, batal berlangganan,
      tidak setuju, persetujuan ditarik, ditarik, tanpa persetujuan, daftar hitam`,
    notSubscribed: "tidak aktif, belum dikonfirmasi, menunggu, diblokir, dihapus, ditolak",
  },
  names: {
    optIn: `persetujuan, persetujuan email, persetujuan pemasaran, setuju, setuju menerima email,
      setuju menerima newsletter, berlangganan, pelanggan newsletter`,
    optOut: `berhenti berlangganan, tidak berlangganan, batal berlangganan, tidak setuju, tanpa persetujuan,
      tidak ada persetujuan, persetujuan ditarik, penarikan persetujuan, jangan kirim, jangan hubungi,
      daftar hitam`,
    status: "status, keadaan, status langganan, langganan, status berlangganan, status persetujuan",
    around: "surel, buletin, daftar, kontak, pelanggan, tanggal, waktu",
    reasons: "alasan",
    others: "kota, nama, perusahaan, jalan, catatan",
  },
  hints: {
    anywhere:
      "menyetujui, menerima, setuju, langganan, newsletter, pemasaran, buletin, berhenti, persetujuan",
    alone: "berhenti, diblokir, dihapus, tidak",
  },
  channels: {
    words: "telepon, ponsel",
    email: "surel",
  },
};
