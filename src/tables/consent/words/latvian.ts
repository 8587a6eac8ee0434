/** Words of consent in Latvian. What each line means is said in `../words.ts`. */
export const latvian = {
  cells: {
    yes: "jā",
    no: "nē, nekad",
    active: "aktīvs, aktīva, apstiprināts, piekrīt",
    subscribed: "abonē, abonents, pierakstījies, pierakstījusies",
    gone: `atteicies, atteikusies, atrakstījies, atrakstījusies, neabonē, vairs neabonē, piekrišana atsaukta,
      atsaukts, bez piekrišanas, nepiekrīt, melnais saraksts`,
    notSubscribed: "neaktīvs, neaktīva, neapstiprināts, gaida, bloķēts, dzēsts, noraidīts",
  },
  names: {
    optIn: `piekrišana, piekrišana saņemt jaunumus, ir piekritis, piekrīt, abonents, abonē, pierakstījies,
      pierakstījusies`,
    optOut: `atteicies, atteikusies, atteikšanās, atrakstījies, atrakstījusies, neabonē, nepiekrīt,
      bez piekrišanas, nav piekrišanas, piekrišana atsaukta, atsaukta piekrišana, nesūtīt, melnais saraksts`,
    status: "statuss, stāvoklis, abonements, abonementa statuss, piekrišanas statuss",
    around: "jaunumi, jaunumu, e pasts, saraksts, kontakts, klients, datums, laiks",
    reasons: "iemesls, kampaņa",
    others: "pilsēta, vārds, uzvārds, uzņēmums, iela, piezīme",
  },
  hints: {
    anywhere: "piekrit, piekriš, abon, jaunum, atteic, atteik, atsauk, reklām",
    alone: "stop, bloķēts, dzēsts, nē",
  },
  channels: {
    words: "tālrunis, zvans",
    email: "e pasts",
  },
};
