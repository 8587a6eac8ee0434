/** Words of consent in Finnish. What each line means is said in `../words.ts`. */
export const finnish = {
  cells: {
    yes: "kyllä, k, tosi",
    no: "ei, epätosi, ei koskaan, kielletty",
    active: "aktiivinen, vahvistettu, hyväksytty, suostunut, sallittu",
    subscribed: "tilaaja, tilannut, tilattu",
    gone: `peruuttanut tilauksen, perunut tilauksen, tilaus peruttu, tilaus peruutettu, poistunut listalta,
      ei tilaaja, ei enää tilaaja, ei tilannut, markkinointikielto, ei markkinointia, ei suostumusta,
      suostumus peruttu, suostumus peruutettu`,
    notSubscribed:
      "ei aktiivinen, passiivinen, vahvistamaton, odottaa, estetty, poistettu, peruttu, peruutettu, hylätty",
  },
  names: {
    optIn: `suostumus, suostumus annettu, markkinointisuostumus, markkinointilupa, sähköpostilupa,
      uutiskirjelupa, on suostunut, tilannut uutiskirjeen, tilaaja, uutiskirjeen tilaaja,
      suoramarkkinointilupa`,
    optOut: `markkinointikielto, suoramarkkinointikielto, sähköpostikielto, uutiskirjekielto,
      ei markkinointia, ei sähköpostia, ei uutiskirjettä, ei saa lähettää, ei suostumusta, ei lupaa,
      suostumus peruttu, suostumus peruutettu, suostumus evätty, tilaus peruttu, tilaus peruutettu,
      perunut tilauksen, peruuttanut tilauksen, poistunut listalta, ei tilaaja, mustalla listalla`,
    status: "tila, tilanne, tilaus, tilauksen tila, tilaustila, uutiskirjeen tila",
    around: `uutiskirje, uutiskirjeet, sähköposti, lista, yhteystieto, asiakas, henkilö, pvm, päivä,
      päivämäärä, aika`,
    reasons: "syy, peruste, kampanja",
    others: "kaupunki, nimi, etunimi, sukunimi, yritys, katu, huomautus",
  },
  hints: {
    anywhere: `vastaanot, suoramark, suostu, uutiskirje, tilaaja, tilaus, tilannut, markkinoin, peruut,
      peruttu, kielto, kieltä, mainos`,
    alone: "esto, estetty, poistettu, kielto, lupa, ei",
    besideEmail: "ei",
    email: "sähköposti",
  },
  channels: {
    words: "puhelin, soitto, matkapuhelin, tekstiviesti, kirje",
    email: "sähköposti, uutiskirje",
  },
};
