/** Words of consent in Turkish. What each line means is said in `../words.ts`. */
export const turkish = {
  cells: {
    yes: "evet, doğru, var",
    no: "hayır, yanlış, asla, yok, onaysız",
    active: "aktif, onaylı, onaylandı, izinli",
    subscribed: "abone, abone oldu",
    gone: `abonelikten çıktı, abonelikten ayrıldı, abonelikten çıkmış, abone değil, artık abone değil,
      abonelik iptal, abonelik iptal edildi, izinsiz, izin yok, izin geri çekildi, geri çekildi, iptal etti,
      kara liste`,
    notSubscribed: "pasif, inaktif, beklemede, engellendi, silindi, reddetti, iptal, iptal edildi",
  },
  names: {
    optIn: `ticari ileti izni, ileti izni, eposta izni, e posta izni, email izni, pazarlama izni,
      iletişim izni, izin verildi, izin verdi, onay verildi, abone, abone oldu, açık rıza, rıza, bülten izni`,
    optOut: `abonelikten çıktı, abonelikten ayrıldı, abonelikten çıkış, abone değil, abonelik iptal,
      abonelik iptal edildi, izin yok, izni yok, ileti izni yok, izinsiz, izin iptal, izin geri çekildi,
      izin vermedi, onay yok, onaysız, rıza yok, rıza geri çekildi, ret, reddetti, gönderme, göndermeyin,
      mail gönderme, iletişime geçme, kara liste, kara listede`,
    status: "durum, abonelik, abonelik durumu, izin durumu, onay durumu, üyelik durumu",
    around: "bülten, eposta, e posta, liste, kişi, müşteri, tarih, tarihi, zaman, zamanı, kvkk, evet hayır",
    reasons: "neden, nedeni, sebep, sebebi, kampanya",
    others: "şehir, il, ad, soyad, firma, sokak, ülke, not",
  },
  hints: {
    anywhere: "izin, izni, onay, abone, bülten, rıza, ileti, iptal, reddet, kara liste, kvkk, pazarlama",
    alone: "dur, engelli, engellendi, hariç, silindi, hayır",
    besideEmail: "yok",
    email: "eposta, e posta",
  },
  channels: {
    words: "telefon, arama, cep",
    email: "eposta, e posta, bülten",
  },
};
