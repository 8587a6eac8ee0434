/** Words of consent in Polish. What each line means is said in `../words.ts`. */
export const polish = {
  cells: {
    yes: "tak, prawda",
    no: "nie, fałsz, nigdy",
    active: "aktywny, aktywna, potwierdzony, potwierdzona, zgoda, wyrażona, zgadzam się",
    subscribed: "zapisany, zapisana, subskrybent, subskrybuje, subskrybowany",
    gone: `wypisany, wypisana, wyrejestrowany, wyrejestrowana, rezygnacja, zrezygnował, zrezygnowała,
      nie subskrybuje, już nie subskrybuje, niezapisany, niezapisana, sprzeciw, czarna lista,
      anulowana subskrypcja, brak zgody, bez zgody, cofnięta, cofnięta zgoda, zgoda cofnięta, wycofana zgoda,
      zgoda wycofana`,
    notSubscribed:
      "nieaktywny, nieaktywna, niepotwierdzony, oczekujący, zablokowany, usunięty, odmowa, odrzucony",
    aroundGone: "dnia",
  },
  names: {
    optIn: `zgoda, zgoda marketingowa, zgody marketingowe, zgoda na marketing, zgoda na newsletter,
      zgoda na email, zgoda na e mail, zgoda na mailing, zgoda udzielona, wyrażona zgoda, wyraził zgodę,
      wyraziła zgodę, zapisany, zapisana, zapisany na newsletter, subskrybent, subskrybuje`,
    optOut: `wypisany, wypisana, data wypisania, wyrejestrowany, wyrejestrowana, rezygnacja, data rezygnacji,
      zrezygnował, zrezygnowała, niezapisany, nie zapisany, nie subskrybuje, sprzeciw,
      sprzeciw wobec marketingu, brak zgody, bez zgody, nie wyraził zgody, zgoda cofnięta, zgoda wycofana,
      cofnięta zgoda, wycofana zgoda, cofnięcie zgody, wycofanie zgody, odmowa zgody, nie wysyłać,
      nie kontaktować, nie mailować, czarna lista, na czarnej liście, anulowana subskrypcja`,
    status: "status, stan, subskrypcja, status subskrypcji, stan subskrypcji, status zgody",
    around:
      "newsletter, newslettera, poczta, lista, kontakt, klient, osoba, data, godzina, dnia, rodo, tak nie",
    reasons: "powód, przyczyna, kampania",
    others: "miasto, imię, nazwisko, firma, ulica, kraj, uwagi",
  },
  hints: {
    anywhere: `otrzymyw, zakaz, zgod, zgód, subskry, newsletter, zapisan, wypisan, rezygn, sprzeciw,
      marketing, cofni, wycof, reklam, rodo, wyrejestr`,
    alone: "stop, zablokowany, wykluczony, usunięty, nie",
    besideEmail: "brak, nie, bez",
  },
  channels: {
    words: "telefon, telefoniczny, rozmowa, komórka, list papierowy",
    email: "poczta",
  },
};
